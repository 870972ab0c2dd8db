"""What a reference is written with: words such as "paragraph", numbers of sections, and labels below them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from chameleon.modules.statutes.labels import LABEL, LEVELS, readings

_WORDS = r"(?:sub)?sections?|(?:sub)?paragraphs?|(?:sub)?clauses?|(?:sub)?items?"
SHORT = {
    "sec": "section",
    "§": "section",
    "subsec": "subsection",
    "par": "paragraph",
    "para": "paragraph",
    "subpar": "subparagraph",
    "subpara": "subparagraph",
    "cl": "clause",
    "subcl": "subclause",
}
_NUMBER = r"[0-9]{1,5}[A-Za-z]{0,2}(?:[.–-][0-9]{1,4}[A-Za-z]{0,2})*(?![A-Za-z0-9%])"
LEADS = (
    r"(?<!\w)(?:(?P<relation>this|such|(?:the\s{1,9})?(?:preceding|foregoing|succeeding|following))\s{1,9})?"
    rf"(?:(?P<word>{_WORDS})\b|(?P<short>(?:sub)?(?:secs?|paras?|pars?|cl)\.|§+))\s{{0,9}}"
)
LEAD = re.compile(LEADS, re.IGNORECASE)
"""The word before a number or labels, as a pattern."""

OF = re.compile(r",?\s{1,9}(?:of|in|under|to)\s{1,9}", re.IGNORECASE)
_SECTION_NUMBER = re.compile(_NUMBER)
_COUNTED = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_SPELT = re.compile(rf"({'|'.join(_COUNTED)})\b(?![-–]|\s{{1,9}}(?:hundred|thousand))", re.IGNORECASE)
_SPACED = re.compile(rf"(?P<space>\s?)(?P<label>{LABEL})")
_DOWN = re.compile(
    r"(?P<tie>\s{0,9},\s{0,9}|\s{1,9}|['’]s?\s{1,9})"
    rf"(?P<word>(?:{_WORDS})\b|(?:sub(?:s|d|sec|sect|par|para|cl)?|paras?|pars?|cl)\b\.?)\s{{0,9}}(?=\()",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Atom:
    """The number of a section with labels, or labels alone, and where they stand."""

    number: str
    labels: tuple[str, ...]
    start: int
    end: int


def atom_at(text: str, at: int, numbered: bool = False) -> Atom | None:
    """The number or labels that stand there.

    Labels may have blanks between them, "152 (d) (2)", where each is of a deeper level than the one before.
    """
    number = _SECTION_NUMBER.match(text, at) if numbered else None
    if numbered and number is None:
        return None
    labels, depth, end = list[str](), -1, number.end() if number else at
    end += number is not None and text.startswith(".(", end)
    while (found := _SPACED.match(text, end)) is not None:
        label = found["label"][1:-1]
        levels = [LEVELS.index(reading.level) for reading in readings(label)]
        deeper = [level for level in levels if level > depth]
        if not levels or (found["space"] and labels and not deeper):
            break
        labels.append(label)
        depth, end = min(deeper or levels), found.end()
    if not number and not labels:
        return None
    end -= not labels and text.startswith(".", end - 1)
    blank = 0 if number else len(text[at:end]) - len(text[at:end].lstrip())
    return Atom(number[0] if number else "", tuple(labels), at + blank, end)


def spelt_at(text: str, at: int, level: str) -> Atom | None:
    """A section whose number is a word: "section one(a)"."""
    found = _SPELT.match(text, at) if level == "section" else None
    if found is None:
        return None
    inner = atom_at(text, found.end())
    number = str(_COUNTED.index(found[1].lower()) + 1)
    return Atom(number, inner.labels if inner else (), at, inner.end if inner else found.end())


def with_lower(text: str, atom: Atom, level: str, is_question: bool) -> Atom:
    """The number or labels with those below them: "section 63, subsection (c), paragraph (2)" is 63(c)(2).

    After a comma that holds in questions alone, and for the next level alone.
    """
    place = LEVELS.index(level) + len(atom.labels) - (level != "section" and bool(atom.labels))
    while (step := _DOWN.match(text, atom.end)) is not None:
        word = step["word"].lower().rstrip(".")
        word = {"sub": "subsection", "subs": "subsection", "subd": "subsection"}.get(word, word.rstrip("s"))
        below = LEVELS.index(SHORT.get(word, word)) if SHORT.get(word, word) in LEVELS else place + 1
        inner = atom_at(text, step.end())
        is_below = below == place + 1 and is_question if "," in step["tie"] else below > place
        if inner is None or not is_below or _goes_out(text, inner.end, level):
            break
        atom, place = replace(atom, labels=(*atom.labels, *inner.labels), end=inner.end), below
        place += len(inner.labels) - 1
    return atom


def _goes_out(text: str, at: int, level: str) -> bool:
    """Whether "of paragraph (2)" and the like follow, so that what is before them is counted from within."""
    of = OF.match(text, at)
    lead = LEAD.match(text, of.end()) if of else None
    return lead is not None and (level == "section" or not (lead["word"] or "").lower().startswith("section"))
