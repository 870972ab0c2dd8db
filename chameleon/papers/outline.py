"""The outline of a paper: which lines are headings, how deep they stand, and what stands below each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from chameleon.table import Table

_LONGEST_HEADING = 120
_NUMBERED = 10
"""Levels of headings known by their number alone begin here, below those of marked headings."""
UNNUMBERED, DECIMALS, BELOW_NUMBERS = _NUMBERED + 2, _NUMBERED + 3, _NUMBERED + 20
"""Headings that only their letters show stand below "Item 7", and above "7 Notice" or below all numbers."""

_NAMED = re.compile(
    r"(part|item|article|chapter|section|clause|schedule|annex|appendix|§)\s*([IVXLC]+|\d+[\w.]*|[A-Z])\b[.:)]?",
    re.I,
)
_NAMED_LEVELS = {"part": 0, "chapter": 0, "schedule": 0, "annex": 0, "appendix": 0}
_DECIMAL = re.compile(r"(\d{1,3}(?:\.\d{1,3}){0,5})[.)]?\s+(?=\S)")
LEADERS = re.compile(r"(?:\. ?){4}")
"""Dots that lead, in a list of contents, to the number of a page."""
_TITLE = re.compile(r"[^\W\d_a-z]|[\"“(]")


@dataclass
class Section:
    """What stands below one heading: paragraphs and tables, each with its page (from 1) if known."""

    headings: tuple[str, ...] = ()
    parts: list[tuple[str | Table, int | None]] = field(default_factory=list)


class Outline:
    """Collects headings and parts in the order of the paper."""

    def __init__(self) -> None:
        self.sections: list[Section] = [Section()]
        self._open: list[tuple[int, str]] = []

    def heading(self, level: int, text: str) -> None:
        """Begin a section; it lies in the last one of a smaller level. Levels are compared, no more."""
        text = " ".join(text.split())[:_LONGEST_HEADING]
        if not text:
            return
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        self._open.append((level, text))
        self.sections.append(Section(tuple(name for _, name in self._open)))

    def paragraph(self, text: str, page: int | None = None, *, may_head: bool = True) -> None:
        """Add a paragraph; one that begins with a decimal number, such as 7.2, begins a section as well.

        `may_head`: whether a short numbered one is taken for a heading.
        """
        text = text.strip()
        if not text:
            return
        if may_head and (level := heading_level(text)) is not None:
            self.heading(level, text)
            return
        if (number := _DECIMAL.match(text)) and "." in number[1]:
            self.heading(DECIMALS + number[1].count("."), number[1])
        self.sections[-1].parts.append((text, page))

    def table(self, table: Table, page: int | None = None) -> None:
        self.sections[-1].parts.append((table, page))

    def filled(self) -> Iterator[Section]:
        """The sections that hold something; a heading with nothing below it is kept by those inside it."""
        return (section for section in self.sections if section.parts)


def heading_level(line: str) -> int | None:
    """The level of a line that its number shows to be a heading, such as "7.2 Notice"; None for others.

    A heading is short, one line, begins with a capital letter after its number and ends without a full stop.
    """
    if len(line) > _LONGEST_HEADING or "\n" in line or (line[-1:] in ".;,:" and not _is_bare(line)):
        return None
    if LEADERS.search(line):
        return None
    if named := _NAMED.match(line):
        rest = line[named.end() :].strip(" .:—–-")
        if rest and not _TITLE.match(rest):
            return None  # "Section 3 applies to …"
        return _NUMBERED + _NAMED_LEVELS.get(named[1].lower(), 1)
    number = _DECIMAL.match(line)
    if number and _TITLE.match(line, number.end()):
        return DECIMALS + number[1].count(".")
    return None


def number_depth(line: str) -> int:
    """How deep a heading's number is among headings of one size: 1 for "7.2" and "Item 7", 0 for "7"."""
    if named := _NAMED.match(line):
        return _NAMED_LEVELS.get(named[1].lower(), 1)
    number = _DECIMAL.match(line)
    return number[1].count(".") if number else 0


def _is_bare(line: str) -> bool:
    """Whether a line is a number of a heading alone: "Item 7."."""
    return (named := _NAMED.match(line)) is not None and named.end() == len(line)
