"""The outline of a paper: which lines are headings, how deep they stand, and what stands below each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from chameleon.documents.numbering import (
    BELOW_NUMBERS,
    DECIMALS,
    LEADERS,
    UNNUMBERED,
    Number,
    clause,
    follows,
    heading_level,
    is_bare,
    is_title,
    number_depth,
    number_of,
)
from chameleon.documents.units import unit_in
from chameleon.table import Table

__all__ = [
    "BELOW_NUMBERS",
    "DECIMALS",
    "LEADERS",
    "UNNUMBERED",
    "Outline",
    "Section",
    "heading_level",
    "number_depth",
]

_LONGEST_SHOWN = 300  # characters of a heading in the title of a passage; the rest is in the text
_LONGEST_CAPTION = 200
_LEFT_OUT = 3  # a heading's number may be so much larger than that of the last
_CAPTION = re.compile(r"(?:table|tab\.)\s+[A-Z]?\d[\w.]*\b.*[^.;:,]|\(.*\)", re.IGNORECASE)

Part = tuple[str | Table, int | None]


@dataclass
class Section:
    """What stands below one heading: paragraphs and tables, each with its page (from 1) if known.

    `page` is that of the heading.
    """

    headings: tuple[str, ...] = ()
    parts: list[Part] = field(default_factory=list)
    page: int | None = None


class Outline:
    """Collects headings and parts in the order of the paper; `structure` counts headings beyond doubt."""

    def __init__(self) -> None:
        self.sections: list[Section] = [Section()]
        self.structure = 0
        self.number: Number = ()
        """The decimal number of the last heading that has one."""
        self._open: list[tuple[int, str]] = []

    def heading(self, level: int, text: str, page: int | None = None) -> None:
        """Begin a section; it lies in the last one of a smaller level. Levels are compared, no more."""
        text = " ".join(text.split())
        if not text:
            return
        number = number_of(f"{text} .")
        self.structure += len(number) != 1 or number == (1,) or follows(number, self.number)
        self.number = number or self.number
        shown = _shortened(text)
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        self._open.append((level, shown))
        self.sections.append(Section(tuple(name for _, name in self._open), page=page))
        if shown != text:
            self.sections[-1].parts.append((text, page))

    def paragraph(self, text: str, page: int | None = None, *, may_head: bool = True) -> None:
        """Add a paragraph; one that begins with a number, such as 7.2 or Section 7, begins a section as well.

        `may_head`: whether a short numbered one is taken for a heading, or for the title of a number above.
        """
        text = text.strip()
        if not text:
            return
        if may_head and (level := heading_level(text)) is not None and self._is_in_order(number_of(text)):
            self.heading(self._level(level, number_of(text)), text, page)
            return
        if may_head and self._awaits_title() and is_title(text):
            self._open[-1] = (self._open[-1][0], f"{self._open[-1][1]} {text}")
            self.sections[-1].headings = tuple(name for _, name in self._open)
            return
        if (begun := clause(text, self.number)) is not None:
            self.heading(self._level(begun[0], number_of(text)), begun[1], page)
        self.sections[-1].parts.append((text, page))

    def bold_number(self, text: str) -> None:
        """Begin the section of a number in bold letters that a paragraph begins with: "1. Scope.", "3.1"."""
        title = text.rstrip(" .:")
        number = number_of(f"{title} .")
        if number and self._is_in_order(number) and (len(number) > 1 or heading_level(title) is not None):
            self.heading(self._level(DECIMALS + len(number) - 1, number), title)

    def table(self, table: Table, page: int | None = None) -> None:
        """Add a table. A line above that is its caption is taken as such, and so is a unit that it gives.

        One that follows a table with the same header, as on the next page, has the caption of that one.
        """
        parts = self.sections[-1].parts
        before = parts[-1][0] if parts else None
        if isinstance(before, Table) and before.header == table.header and not table.caption:
            table = table.with_caption(before.caption)
        above = before if parts and parts[-1][1] == page else None
        if isinstance(above, str) and len(above) <= _LONGEST_CAPTION and "\n" not in above:
            if _CAPTION.fullmatch(above) and not (table.caption and above in table.caption):
                parts.pop()
                table = table.with_caption(": ".join(filter(None, [above, table.caption])))
            elif not table.caption and unit_in(above):
                table = table.with_caption(above)
        parts.append((table, page))

    def filled(self) -> Iterator[Section]:
        """The sections that hold something, without any word lost.

        A heading with nothing below it is in the titles of those inside it; where there are none it is text
        of the section around it, or, with a number such as 7.2, of that number.
        """
        found = list[Section]()
        for section, following in pairwise([*self.sections, Section()]):
            headings, parts = section.headings, section.parts
            if not parts:
                if not headings or len(following.headings) > len(headings):
                    continue
                parts = [(headings[-1], section.page)]
                number = number_of(headings[-1])
                own = (".".join(map(str, number)),) if len(number) > 1 else ()
                headings = (*headings[:-1], *own)
            if found and found[-1].headings == headings:
                found[-1].parts += parts
            else:
                found.append(Section(headings, list(parts), section.page))
        return iter(found)

    def _level(self, level: int, number: Number) -> int:
        """The level of a number: that of the one before it where that is open, as "## 2" before "3"."""
        before = (
            at
            for at, name in self._open
            if len(other := number_of(f"{name} .")) == len(number) > 0 and follows(number, other)
        )
        return next(before, level)

    def _is_in_order(self, number: Number) -> bool:
        """Whether a number without a point goes on from the last one, as that of "12 Cranes" need not."""
        if len(number) != 1 or number == (1,) or not self.number:
            return True
        return 0 < number[0] - self.number[0] <= _LEFT_OUT

    def _awaits_title(self) -> bool:
        last = self.sections[-1]
        return bool(last.headings) and not last.parts and is_bare(last.headings[-1])


def _shortened(text: str) -> str:
    """A heading for the titles of passages, cut between words."""
    if len(text) <= _LONGEST_SHOWN:
        return text
    at = text.rfind(" ", _LONGEST_SHOWN // 2, _LONGEST_SHOWN)
    return f"{text[: at if at > 0 else _LONGEST_SHOWN]} …"
