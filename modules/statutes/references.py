"""Find and resolve references in texts, such as "section 152(d)(2)(A) through (G)" or "this paragraph".

The grammar; each rule is a function or a pattern in this file:

    phrase    = [relation] word [number] labels {next} [of]
    relation  = "this" | "such"
    word      = "section" | "subsection" | … | "sec." | "§" | nothing before a number with labels
    next      = ("," | "and" | "through") (labels | number labels)
    of        = ("of" | "in" | "under") (phrase | name of another law)
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from chameleon.modules.statutes.tree import LABEL, SECTION, Node, path_name, readings

_MAX_DEPTH = 8  # of "clause (i) of paragraph (1) of …"
_LOOKBACK_CHARS = 100  # characters before a reference where the name of its law may begin
_WORD = r"(?:sub)?(?:section|paragraph|clause|item)s?\b|secs?\.|§{1,2}"
_LEAD = re.compile(
    r"(?<!\w)(?:(?P<relation>this|such)\s{1,9})?"
    rf"(?P<word>{_WORD})\s{{0,9}}|(?<![\w$.,§])(?=[0-9]{{1,5}}[A-Z]?\()",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[0-9]{1,5}[A-Za-z]{0,2}(?:[.–-][0-9]{1,4}[A-Za-z]{0,2})*(?![A-Za-z0-9%])")
_LABEL = re.compile(rf"\s?({LABEL})")
_NEXT = re.compile(
    r"\s{0,9}(?P<through>through|thru|to(?=\s{0,9}\()|–|-(?=\s?[(0-9]))\s{0,9}"
    r"|\s{0,9},?\s{0,9}(?:and/or|and|or|nor|as\s{1,9}well\s{1,9}as)\s{1,9}(?:of\s{1,9})?"
    r"|\s{0,9}[,&/]\s{0,9}(?=[(0-9])",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:19|20)[0-9]{2}")
_AFTER_NUMBER = re.compile(
    r"\s{0,9}(?:$|[.,;:)?!]|(?:of|and|or|apply|applies|for|is|are|does|do|to|in|by|the|shall|when|if)\b)"
)
_OF = re.compile(r",?\s{1,9}(?:of|in|under)\s{1,9}(?:the\s{1,9})?", re.IGNORECASE)
_LAW = (
    r"[0-9]{1,3}\s{1,9}(?:U\.?\s?S\.?\s?C\.?(?:\s?A\.?)?|C\.?\s?F\.?\s?R\.?)"
    r"|[Tt]itle\s{1,9}[0-9]{1,3}[A-Z]?(?![\w(])"
    r"|(?:[A-Z][\w'’.-]*\s{1,9}(?:(?:of|and|for)\s{1,9}){0,2}){0,8}"
    r"(?:Act|ACT|Code|CODE|Law|Rules|Charter|Constitution|Regulations?|Ordinance|Statutes?|Treaty)"
    r"(?:\s{1,9}of\s{1,9}[0-9]{4})?(?!\w)"
)
_NAMED_LAW = re.compile(rf"{_LAW}|[A-Z]{{3,6}}\b|(?:lease|contract|agreement|constitution|treaty)\b")
_LAW_BEFORE = re.compile(rf"(?<![\w$.])({_LAW})(?:['’]s)?,?\s{{0,9}}$")
Lack = Literal["", "missing", "elsewhere"]

_MAX_RECENT = 50  # referents that "such paragraph" may mean
_ANY_LAW = re.compile(r"act|code|law|statutes?|ordinance|rules|charter|regulations?")
_TAX_LAW = re.compile(
    r"(?:(?:us|federal) )?(?:internal revenue code|code|irc)(?: of 19[0-9]{2})?|title 26|26 usca?|futa"
)


@dataclass(frozen=True, slots=True)
class Citation:
    """One provision named in a text.

    Attributes:
        text: the phrase that names it, at `start` to `end` of the whole text.
        labels: they start below `section`, or below the provision that `relation` and `level` refer to;
            otherwise the first one has that level: "paragraph (2) of subsection (b)" has the level
            "subsection" and the labels b and 2.
        through: the last label of a range that begins with the citation.
        relation: "this" or "such", as in "this paragraph".
        act: the law that it belongs to, if the text names one.
    """

    text: str
    start: int
    end: int
    section: str = ""
    level: str = ""
    labels: tuple[str, ...] = ()
    through: str = ""
    relation: str = ""
    act: str = ""


def citations_in(text: str) -> list[Citation]:
    """Return all provisions named in a text, in order; a list gives several citations, a range one.

    Each item of a list continues the labels before it: "section 63(c)(2)(A), (B)" names 63(c)(2)(A) and
    63(c)(2)(B), "section 151(c) or (d)(1)" names 151(c) and 151(d)(1). Units above the section, such as "this
    title", are ignored.
    """
    citations, at = list[Citation](), 0
    reader = _PhraseReader(text)
    while (start := _LEAD.search(text, at)) is not None:
        phrase, end = reader.phrase(start)
        if phrase and phrase[0].section and not phrase[0].act:
            law = _LAW_BEFORE.search(text[max(start.start() - _LOOKBACK_CHARS, 0) : start.start()])
            phrase = [replace(each, act=law[1]) for each in phrase] if law else phrase
        citations += phrase
        at = max(end, start.start() + 1)
    return citations


class _PhraseReader:
    """Reads the phrases of a text by the grammar above."""

    def __init__(self, text: str) -> None:
        self.text = text

    def phrase(self, lead: re.Match[str], depth: int = 0) -> tuple[list[Citation], int]:
        """Return the citations of the phrase that begins with `lead`, and where it ends."""
        start, word = lead.start(), (lead["word"] or "section").lower()
        word = word.rstrip(".").removesuffix("s")
        level = "section" if word in ("sec", "§", "§§") else word
        number = _NUMBER.match(self.text, lead.end()) if level == "section" else None
        labels, end = self.labels(number.end() if number else lead.end())
        if not labels and not number:
            relation = (lead["relation"] or "").lower()
            if not relation:
                return [], lead.end()
            end = start + len(lead[0].rstrip())
            alone = Citation(self.text[start:end], start, end, "", level, (), "", relation)
            return self.within([alone], depth)
        if (level == "section" and not number) or not (lead["word"] or labels):
            return [], lead.end()
        section = number[0].replace("–", "-") if number else ""
        first = Citation(self.text[start:end], start, end, section, level, labels)
        return self.within(self.listed(first), depth)

    def labels(self, at: int) -> tuple[tuple[str, ...], int]:
        """Return the labels at this position, such as "(d)(2)" or "(d) (2)", and where they end."""
        labels = list[str]()
        while (match := _LABEL.match(self.text, at)) is not None and readings(match[1]):
            labels.append(match[1][1:-1])
            at = match.end()
        return tuple(labels), at

    def listed(self, first: Citation) -> list[Citation]:
        """Return the citation and the ones that a list or a range adds to it."""
        citations, text = [first], self.text
        while (step := _NEXT.match(text, citations[-1].end)) is not None:
            last, start = citations[-1], step.end()
            labels, end = self.labels(start)
            if labels and (last.labels or not last.section):
                # The first label replaces the last one of its kind.
                *kinds, new = ({each.level for each in readings(n)} for n in (*last.labels, labels[0]))
                alike = [place for place, kind in enumerate(kinds) if kind & new]
                place = alike[-1] if alike else max(len(last.labels) - 1, 0)
                citation = replace(last, labels=(*last.labels[:place], *labels), through="")
            elif last.section and (number := _NUMBER.match(text, start)) and not _YEAR.fullmatch(number[0]):
                labels, end = self.labels(number.end())
                if not labels and not _AFTER_NUMBER.match(text, end):
                    break
                citation = replace(last, section=number[0], labels=labels, through="")
            else:
                break
            if step["through"]:
                through = citation.labels[-1] if citation.labels else citation.section
                citations[-1] = replace(last, through=through, end=end, text=text[last.start : end])
            else:
                citations.append(replace(citation, text=text[start:end], start=start, end=end))
        return citations

    def within(self, items: list[Citation], depth: int) -> tuple[list[Citation], int]:
        """Return the citations, qualified by a phrase such as "of paragraph (2)" or "of the Trade Act"."""
        end = items[-1].end
        step = _OF.match(self.text, end)
        if step is None or depth == _MAX_DEPTH:
            return items, end
        lead = _LEAD.match(self.text, step.end())
        outer, after = self.phrase(lead, depth + 1) if lead else ([], end)
        if outer and items[0].section:
            return items, end
        if outer and items[0].relation:
            return items + outer[1:], after
        if outer:
            base = outer[0]
            inner = [replace(each, section=base.section, level=base.level, act=base.act) for each in items]
            labels = base.labels
            inner = [replace(each, labels=labels + each.labels, relation=base.relation) for each in inner]
            return inner + outer[1:], after
        law = _NAMED_LAW.match(self.text, step.end())
        return ([replace(each, act=law[0]) for each in items], law.end()) if law else (items, end)


@dataclass(frozen=True, slots=True)
class Referent:
    """The provision that a citation refers to.

    Attributes:
        node: the provision; if it does not exist, the nearest one that would contain it, or None.
        lack: "" if it exists; "elsewhere" for a provision of another law, else "missing".
    """

    path: tuple[str, ...]
    node: Node | None
    citation: Citation
    lack: Lack = ""

    @property
    def name(self) -> str:
        """Return the path, such as "152(d)(2)", or the words of the text if the path is unknown."""
        name = path_name(self.path) if self.path else self.citation.text
        return f"{name} of {self.citation.act}" if self.lack == "elsewhere" else name


def references_in(text: str, sections: Mapping[str, Node], home: Node | None = None) -> list[Referent]:
    """Return everything that a text refers to. `home` is the provision it is part of; None for a question.

    In a question, "paragraph (2)" is looked up in the section, if the statutes have only one, else in the
    last provision named before it.
    """
    results = list[Referent]()
    for citation in citations_in(text):
        last = results[-1].node if results and not results[-1].lack else None
        here = home or (next(iter(sections.values())) if len(sections) == 1 else last)
        is_own = home is None and citation.act and _is_at_hand(citation.act, sections)
        referents = resolve(replace(citation, act="") if is_own else citation, sections, here, results)
        results += [each for each in referents if citation.relation != "such" or not each.lack]
    return results


def references_of(node: Node, sections: Mapping[str, Node]) -> list[Referent]:
    """Return all referents of a provision and its children, each resolved from where it is written."""
    return [referent for inner in node.nodes for referent in references_in(inner.wording, sections, inner)]


def resolve(
    citation: Citation, sections: Mapping[str, Node], home: Node | None, earlier: Sequence[Referent] = ()
) -> list[Referent]:
    """Return the referents of one citation: at least one, even if the provision does not exist.

    Args:
        home: "paragraph (2)" is looked up in the provisions around it, innermost first.
        earlier: the referents named before; "such paragraph" is the last paragraph among them, else the one
            around `home`.
    """
    path = (citation.section, *citation.labels) if citation.section else ()
    if citation.act:
        return [Referent(path, None, citation, "elsewhere")]
    if citation.section and citation.through and not citation.labels:
        return _range(sections.values(), citation.section, citation)
    if citation.section:
        section = sections.get(citation.section)
        return _descended(section, citation) if section else [Referent(path, None, citation, "missing")]
    if not citation.relation:
        return _from_within(citation, home)
    nodes = [each.node for each in reversed(earlier[-_MAX_RECENT:]) if not each.lack]
    places = [*nodes, home] if citation.relation == "such" else [home]
    around = (node for place in places if place for node in place.outwards)
    here = next((node for node in around if node.is_of(citation.level)), None)
    if here is None:
        return [Referent((), home, citation, "missing")]
    return _descended(here, citation)


def _is_at_hand(act: str, sections: Mapping[str, Node]) -> bool:
    """Return whether the law named in a question is the one being searched.

    It is if the question only says "the Act" or the like, or if a line above the sections has the name.
    Without any lines above the sections, the statutes count as the Internal Revenue Code.
    """
    roots = {node.parent for node in sections.values() if node.parent}
    titles = [line.content.lower() for root in roots for line in root.own_lines if line.content]
    name = re.sub(r"[^\w ]", "", act).lower()
    is_own = any(name in title for title in titles) if titles else bool(_TAX_LAW.fullmatch(name))
    return is_own or bool(_ANY_LAW.fullmatch(name))


def _descended(base: Node, citation: Citation) -> list[Referent]:
    """Return the provision with these labels below another one, through the end of a range."""
    node, labels = base, list(citation.labels)
    while labels and (child := node.child(labels[0])) is not None:
        node = child
        del labels[0]
    if labels:
        return [Referent((*node.path, *labels), node, citation, "missing")]
    if citation.through and node.parent is not None:
        return _range(node.parent.children, node.label, citation, node.parent, node.level)
    return [Referent(node.path, node, citation)]


def _range(
    siblings: Iterable[Node], first: str, citation: Citation, parent: Node | None = None, level: str = SECTION
) -> list[Referent]:
    """Return the provisions of a level from one label to another; a nonexistent end is "missing"."""
    alike = [node for node in siblings if node.level == level]
    labels = [node.label for node in alike]
    unknown = [end for end in (first, citation.through) if end not in labels]
    low = 0 if first in unknown else labels.index(first)
    high = len(labels) if citation.through in unknown else labels.index(citation.through) + 1
    above = parent.path if parent else ()
    missing = [Referent((*above, end), parent, citation, "missing") for end in unknown]
    return [Referent(node.path, node, citation) for node in alike[low:high]] + missing


def _from_within(citation: Citation, home: Node | None) -> list[Referent]:
    """Return a provision named only by level and label: the nearest one around `home`."""
    outwards = list(home.outwards) if home else []
    for place in (*outwards, *(node for around in outwards for node in _named_in(around))):
        if place.child(citation.labels[0], citation.level) is not None:
            return _descended(place, citation)
    return [Referent((), home, citation, "missing")]


@lru_cache(maxsize=1024)
def _named_in(node: Node) -> tuple[Node, ...]:
    """Return the provisions that its own text names: "Paragraph (2) shall be applied by …"."""
    nodes = dict[Node, None]()
    for citation in citations_in(node.wording):
        if citation.labels and not citation.section and not citation.relation:
            children = (around.child(citation.labels[0], citation.level) for around in node.outwards)
            nodes |= dict.fromkeys([child for child in children if child is not None][:1])
    return tuple(nodes)
