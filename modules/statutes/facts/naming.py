"""Who a sentence is about: pronouns and kin words ("her son Ivo") put into names, where only one fits."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from chameleon.modules.statutes.facts.case import Facts
from chameleon.modules.statutes.facts.forms import NAME, NAMES
from chameleon.modules.statutes.facts.unifying import known
from chameleon.modules.statutes.facts.words import (
    AGE,
    AMONG_SEVERAL,
    GENDERS,
    KIN,
    KIN_OF_ANY_GENDER,
    SPOUSES,
    USUAL,
)

_OTHERS = r"(?:friend|neighbou?r|colleague|employee|tenant|lodger|roommate)"
_PRONOUN = re.compile(
    r"\b(she|he|They|they|She|He|[Hh]ers?|[Hh]is|him|[Tt]heirs?|them)\b(?: own\b)?(?= (\w+)| ?(\W|$))"
)
_CLUES = (
    re.compile(rf"\b(?P<kin>{KIN})(?:, (?:named |called )|(?: named| called| is)? )(?P<who>{NAME})\b"),
    re.compile(rf"\ba (?P<kin>{KIN}), (?P<who>{NAME})\b"),
    re.compile(rf"'s (?P<kin>{KIN}), (?P<who>{NAME}),"),
    re.compile(
        rf"\b(?P<who>{NAME})(?: (?:is|was|who is|has been)|,) "
        rf"(?:{NAME}(?:(?:'s)? and {NAME})?'s|her|his|their|the|a) "
        rf"{AGE}(?P<kin>{KIN})\b(?!,? {NAME})"
    ),
)
_NO_PEOPLE = re.compile(
    r"\b(?:in (?:[A-Z][\w.]*,? )+USA"
    r"|(?:as an? \w+ |for services (?:\w+ )?)(?:of|at|for|in) (?:the )?(?:[A-Z][\w'.]*(?: of)? ?)+)"
)
_AFTER_OBJECTS = re.compile(
    r"(?:in|for|to|on|from|at|and|with|as|by|during|since|while|until|is|was|has|have|had|who|that|which|too|both)$"
)


@dataclass(slots=True)
class People:
    """The names of a text so far, in order, what the facts tell of them, and who "they" are."""

    facts: Facts
    seen: list[str] = field(default_factory=list)
    groups: set[frozenset[str]] = field(default_factory=set)

    @classmethod
    def of(cls, text: str, facts: Facts) -> People:
        """What kin words anywhere in a text tell of genders is added to the facts."""
        people = cls(facts)
        for clue in _CLUES:
            for found in clue.finditer(text):
                if gender := GENDERS.get(found["kin"]):
                    facts.genders.setdefault(found["who"], set()).add(gender)
        return people

    def gender(self, name: str) -> str:
        """ "male", "female", "" where it is not known, "?" where the facts contradict one another."""
        told = self.facts.genders.get(name, set())
        if told:
            return next(iter(told)) if len(told) == 1 else "?"
        return USUAL.get(name, "")

    def see(self, names: list[str]) -> None:
        self.seen += [each for each in dict.fromkeys(names) if each not in self.seen]


def resolved(sentence: str, people: People) -> tuple[str, list[str]]:
    """A sentence with names for pronouns and kin words, and the clauses that kin words come to.

    What does not fit exactly one person stays as it is, and no form of a clause has it.
    """
    sentence = _names_for_pronouns(sentence, people)
    clauses: list[str] = []
    for pattern, put in _KIN_WORDS:
        start = 0
        while found := pattern.search(sentence, start):
            name, added = put(found, people)
            start = found.start() + len(name) if name else found.end()
            clauses += added
            if name:
                sentence = sentence[: found.start()] + name + sentence[found.end() :]
    people.see(_names(sentence))
    groups = [found[0] for found in re.finditer(rf"\b{NAMES}", sentence) if " and " in found[0]]
    people.groups |= {frozenset(re.findall(NAME, each)) for each in groups}
    return sentence, clauses


def _names(text: str) -> list[str]:
    """The names in a text, without those of places and employers."""
    return re.findall(rf"\b{NAME}", _NO_PEOPLE.sub("", text))


def _names_for_pronouns(sentence: str, people: People) -> str:
    done, rest = "", sentence
    while found := _PRONOUN.search(rest):
        before = done + rest[: found.start()]
        name = _name_for(found, before, people)
        done = before + (name or found[0])
        rest = rest[found.end() :]
    return done + rest


def _name_for(found: re.Match[str], before: str, people: People) -> str:
    word, following = found[1].lower(), found[2] or ""
    here = _names(before)
    is_object = not following or bool(_AFTER_OBJECTS.match(following)) or following[0].isdigit()
    is_possessive = word in ("his", "their") or (word == "her" and not is_object)
    if word in ("hers", "theirs"):
        return ""
    if word in ("they", "their", "them"):
        name = _group(before, people)
        return re.sub(NAME, r"\g<0>'s", name) if is_possessive else name
    gender = "male" if word in ("he", "his", "him") else "female"
    if bound := _bound(before, following, is_possessive, people, gender):
        return bound + "'s"
    beside = re.match(rf"(?:'s)? and ({NAME})", found.string[found.end() :])
    mentioned = [each for each in dict.fromkeys([*people.seen, *here]) if not beside or each != beside[1]]
    fitting = [each for each in mentioned if people.gender(each) in ("", gender)]
    if len(fitting) != 1 or any(people.gender(each) == "?" for each in mentioned):
        return ""
    people.facts.genders.setdefault(fitting[0], set()).add(gender)
    return fitting[0] + ("'s" if is_possessive else "")


def _bound(before: str, following: str, is_possessive: bool, people: People, gender: str) -> str:
    """Who "her" is in "Ann and her son", and in "Ann files with her husband": the one named before."""
    beside = re.search(rf"\b({NAME})(?:'s)? and $", before)
    first = _names(before)[:1]
    if not is_possessive or not (re.fullmatch(KIN, following) and (beside or following in SPOUSES)):
        return ""
    name = beside[1] if beside else next(iter(first), "")
    return name if people.gender(name) in ("", gender) else ""


def _group(before: str, people: People) -> str:
    """The names that "they" stands for: those joined last, or the only two people."""
    lists = [found[0] for found in re.finditer(rf"\b{NAMES}", before) if " and " in found[0]]
    if len({frozenset(re.findall(NAME, each)) for each in lists}) == 1:
        return lists[0]
    if lists:
        return ""
    if len(told := dict.fromkeys(_names(before))) == 2:
        return " and ".join(told)
    here = dict.fromkeys([*people.seen, *_names(before)])
    if len(here) == 2:
        return " and ".join(here)
    if len(here) == 1:
        (only,) = here
        spouses = people.facts.spouses(only)
        return f"{only} and {next(iter(spouses))}" if len(spouses) == 1 else ""
    if len(people.groups) == 1 and not _names(before):
        return " and ".join(sorted(next(iter(people.groups))))
    return ""


def _of_two(found: re.Match[str], people: People) -> tuple[str, list[str]]:
    return found["who"], [f"{found['who']} is {found['of']}'s and {found['of2']}'s {found['kin']}"]


def _of_one(found: re.Match[str], people: People) -> tuple[str, list[str]]:
    """The name itself; none where "Ann and Bo's son Ivo" may be Ann, and Bo's son, or the son of both."""
    who, of, kin, beside = found["who"], found["of"], found["kin"], found.groupdict().get("beside")
    is_kin = re.fullmatch(KIN, kin) is not None
    if is_kin and AMONG_SEVERAL.search(found[0]):
        people.facts.several.add((of, KIN_OF_ANY_GENDER[kin]))
    if beside and beside != of:
        if not is_kin or not _is_alone(found):
            return "", []
        return who, [f"{who} is {beside}'s and {of}'s {kin}"]
    clauses = [f"{who} is {of}'s {kin}"] if is_kin else []
    return (f"{beside} and {who}" if beside else who), clauses


def _is_alone(found: re.Match[str]) -> bool:
    """Whether "Ann and Bo's son" is one person, by what it does."""
    is_first = not found.string[: found.start()].strip() or found.string[: found.start()].endswith(", ")
    return is_first and bool(re.match(r",? (?:is|was|has|lives)\b", found.string[found.end() :]))


def _unnamed(found: re.Match[str], people: People) -> tuple[str, list[str]]:
    """The only one who is told to be that relative, or someone without a name."""
    of, kin, beside = found["of"], found["kin"], found["beside"]
    if AMONG_SEVERAL.search(found[0]) or _SAID.search(found.string[: found.start()]):
        return "", []
    owners, before = [of], ""
    if beside == of:
        before = f"{beside}{found['both'] or ''} and "
    elif beside and found["both"]:
        owners = [beside, of]
    elif beside:
        if not _is_alone(found):
            return "", []
        owners = [beside, of]
    called = "_".join([owners[0], *(each.lower() for each in owners[1:])])
    called += "_spouse" if kin in SPOUSES else f"_{kin.replace('-', '_')}"
    facts, told = people.facts, {known(people.facts, each, kin) for each in owners}
    before_this = called in facts.unnamed
    names = {facts.relative(each, kin, called, next(iter(told)) if len(told) == 1 else "") for each in owners}
    name = names.pop()
    if name != called or before_this:
        return before + name, []
    return before + name, [f"{name} is {_of(owners)} {kin}"]


def _of(owners: list[str]) -> str:
    return " and ".join(f"{each}'s" for each in owners)


_SAID = re.compile(rf"\b(?:is|was|been) {NAME}(?:'s)? and $")
_NOT_SAID = re.compile(
    rf"(?<!\bis )(?<!\bwas )(?<!\bbeen )\b(?:(?P<beside>{NAME})(?P<both>'s)? and )?(?P<of>{NAME})'s {AGE}"
    rf"(?P<kin>{KIN})\b(?!,? (?:is |was |called |named )*{NAME})(?! of )"
)
_KIN_WORDS = (
    (
        re.compile(
            rf"\b(?P<of>{NAME})'s and (?P<of2>{NAME})'s {AGE}(?P<kin>{KIN})"
            rf"(?P<c>,)? (?P<who>{NAME})\b(?(c)(?:,|$)|)"
        ),
        _of_two,
    ),
    (
        re.compile(
            rf"\b(?:(?P<beside>{NAME}) and )?(?P<of>{NAME})'s {AGE}(?P<kin>{KIN}|{_OTHERS})(?P<c>,)? "
            rf"(?P<who>{NAME})\b(?!'s {KIN})(?(c)(?:,|$)|)"
        ),
        _of_one,
    ),
    (
        re.compile(rf"\b(?P<who>{NAME}), (?P<of>{NAME})'s {AGE}(?P<kin>{KIN}|{_OTHERS})(?:,|$)"),
        _of_one,
    ),
    (_NOT_SAID, _unnamed),
)
