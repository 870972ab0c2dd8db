"""Other laws that a reference names: "section 5 of the Trade Act", and whether that is the law at hand."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property

from chameleon.modules.statutes.tree import Node

_PLAIN = "Act|Code|Constitution|Regulations?|Ordinance|Statutes?|Treaty|Convention|Directive"
_KINDS = f"(?:{_PLAIN}|Law|Charter|Rules|Bill)"
_CITES = r"[0-9]{1,3}\s{1,9}(?:U\.?\s?S\.?\s?C\.?(?:\s?A\.?)?|C\.?\s?F\.?\s?R\.?)"
_JOINERS = "of|and|for|the|on|in|to"
_YEAR = r"(?:,?\s{1,9}(?i:of\s{1,9})?[0-9]{4}(?![0-9]))?"
_WORDS = rf"(?:[A-Z][\w'’.-]*\s{{1,9}}(?:(?:{_JOINERS}|{_JOINERS.upper()})\s{{1,9}})*+)"
_TITLE = r"(?i:title)\s{1,9}[0-9]+[A-Z]?(?:,?\s{1,9}(?:of\s{1,9}the\s{1,9})?United\s{1,9}States\s{1,9}Code)?"
_LETTERS = r"(?:[A-Z]{3,6}|(?:[A-Z]\.){3,6})"
_STOPS = "an?|as|at|by|if|on|that|the|this|to|under|which|who|whose|with|such|same|said"
_LOWER = (
    rf"(?:(?!(?:{_STOPS})\b)[a-z]{{2,20}}\s{{1,9}}){{1,4}}(?:act|code|ordinance)"
    r"|(?:lease|contract|agreement|by-?laws|treaty|constitution|regulations)"
)
_NAMED = rf"{_TITLE}|{_WORDS}{{0,24}}(?:{_KINDS}|{_KINDS.upper()}){_YEAR}|{_CITES}"
_NAME = re.compile(rf"(?<![\w'’.-])(?:the\s{{1,9}}|THE\s{{1,9}})?(?P<name>{_NAMED})(?![\w-])")
_ANY_NAME = re.compile(rf"(?:the\s{{1,9}}|THE\s{{1,9}})?(?P<name>{_NAMED}|{_LETTERS}|{_LOWER})(?![\w-])")
_BESIDE = re.compile(
    rf"\s{{0,9}}[,(]?\s{{0,9}}(?:the\s{{1,9}})?(?P<name>{_WORDS}+(?:{_PLAIN}){_YEAR})(?![\w-])"
)
_BEFORE = re.compile(
    rf"(?<![\w$.])(?P<name>{_CITES})\s{{0,9}}$"
    rf"|(?<![\w.])(?P<act>(?:[A-Z][\w'’-]*\s{{1,9}}(?:(?:{_JOINERS})\s{{1,9}})*){{1,8}}(?:Act|Code|Ordinance)"
    rf"{_YEAR}|{_TITLE})(?:['’]s)?(?:,\s{{0,9}}|\s{{1,9}})(?:at\s|in\s|under\s)?$"
)
_BACK = 100  # characters before a reference where the name of its law may begin
_LEADS = re.compile(
    r"(?:(?:the|under|in|of|does|do|did|is|are|was|by|if|for|to|and|or|that|can|may|must|has|have|when|where|which"
    r"|what|how|why|see|cf|since|because|as|with|from|per|according|pursuant|applying)\s{1,9})+",
    re.IGNORECASE,
)
_CITED = re.compile(r"\bcited\s{1,9}as\s{1,9}(?:the\s{1,9})?([^.;”\"]{3,120}|[\"“][^\"”]{3,120})")
_GENERIC = frozenset(
    ["act", "code", "law", "statute", "statutes", "ordinance", "rules", "bill", "regulation", "regulations"]
)
_TAX = frozenset(
    f"{country}{name}"
    for country in ("", "us ", "federal ", "united states ")
    for name in (
        *("internal revenue code", "revenue code", "tax code", "tax law", "tax act", "code", "irc"),
        *(
            "title 26",
            "title 26 united states code",
            "title 26 of the united states code",
            "26 usc",
            "26 usca",
        ),
        *("unemployment tax act", "futa"),
    )
)


def act_after(text: str, at: int, before: str = "of") -> tuple[str, int] | None:
    """The law whose name begins there, without "the", and where it ends.

    `before` is the word before it: after "of" letters or words in lower case count too ("ERISA", "lease"),
    after "in" and "under" a name as of an act, and after "to" none.
    """
    pattern = {"of": _ANY_NAME, "to": None}.get(before.lower(), _NAME)
    found = pattern.match(text, at) if pattern else None
    return (found["name"], found.end()) if found else None


def act_beside(text: str, at: int) -> tuple[str, int] | None:
    """The law that is named right after a reference: "section 5, Trade Act of 1931"."""
    found = _BESIDE.match(text, at)
    return (found["name"], found.end()) if found else None


def act_before(text: str, start: int) -> str:
    """The law that is named right before a reference: "42 U.S.C. § 5", "the Trade Act, section 5"."""
    found = _BEFORE.search(text[max(start - _BACK, 0) : start])
    if found is None:
        return ""
    name = found["name"] or found["act"]
    lead = _LEADS.match(name)
    return name[lead.end() :] if lead else name


class OwnNames:
    """What the statutes at hand call themselves: in lines above their sections, and where to cite them as."""

    def __init__(self, sections: Mapping[str, Node]) -> None:
        self.sections = sections

    @cached_property
    def _said(self) -> list[str]:
        roots = {id(node.parent): node.parent for node in self.sections.values() if node.parent is not None}
        titles = [line.content for root in roots.values() for line in root.own_lines if line.content]
        cited = [found[1] for root in roots.values() for found in _CITED.finditer(root.text)]
        return [*titles, *cited]

    def have(self, act: str) -> bool:
        """Whether an act that a question names is the law at hand.

        It is where nothing but "the Act" or the like is said, or the statutes say the name themselves. Of
        statutes that give themselves no name it is where the name is one of the Internal Revenue Code.
        """
        name, year = _plain(act)
        if name in _GENERIC:
            return True
        if not any(_NAME.search(said) for said in self._said):
            return name in _TAX
        for said in self._said:
            its_name, its_year = _plain(said)
            initials = "".join(word[0] for word in re.findall(r"\b[A-Z][a-z]+", said)).lower()
            if f" {name} " in f" {its_name} " or (len(name) > 2 and name == initials):
                return not (year and its_year) or year == its_year
        return False


def _plain(name: str) -> tuple[str, str]:
    """A name in lower case without marks and year, and the year, "" for none."""
    year = re.search(r"(?:\bof\s+)?\b((?:1[89]|20)[0-9]{2})\b", name)
    text = name[: year.start()] + name[year.end() :] if year else name
    words = re.sub(r"[^\w\s-]", "", text).lower().split()
    return " ".join(words).removeprefix("the "), year[1] if year else ""
