"""Dates as people write them in tables, whole or in part: "may 2 , 1999", "2 may", "april 2008"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_NAMES = """january february march april may june july august september october november december"""
MONTHS = {name: number for number, name in enumerate(_NAMES.split(), 1)}
MONTHS |= {name[:3]: number for name, number in MONTHS.items()} | {"sept": 9}
_ISO = re.compile(r"\d{4}")
_DAY = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?")
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d|2100")


class Date(NamedTuple):
    """A date of which some parts may be open (0)."""

    year: int = 0
    month: int = 0
    day: int = 0

    def __str__(self) -> str:
        return f"{self.year:04}-{self.month:02}-{self.day:02}"

    def fits(self, other: Date) -> bool:
        """Whether the parts that both name are the same."""
        return all(mine == theirs for mine, theirs in zip(self, other, strict=True) if mine and theirs)


def date_at(words: Sequence[str], place: int) -> tuple[Date, int] | None:
    """The date that begins at a word, and how many words it has; at least a month and another part."""
    rest = [*words[place : place + 6], "", "", "", "", "", ""]
    if rest[1] == "-" == rest[3] and _ISO.fullmatch(rest[0]) and rest[5] != "-":
        month, day = _day(rest[2]), _day(rest[4])
        if day and 1 <= month <= 12:
            return Date(int(rest[0]), month, day), 5
    day, month = _day(rest[0]), MONTHS.get(rest[1], 0)
    if day and month:
        return _with_year(month, day, rest[2:], 2)
    if day and rest[1] == "of" and rest[2] in MONTHS:
        return _with_year(MONTHS[rest[2]], day, rest[3:], 3)
    month = MONTHS.get(rest[0], 0)
    if month and (day := _day(rest[1])):
        return _with_year(month, day, rest[2:], 2)
    if month:
        skipped = 1 + (rest[1] in {",", "of", "in"})
        if _YEAR.fullmatch(rest[skipped]):
            return Date(int(rest[skipped]), month), skipped + 1
    return None


def _with_year(month: int, day: int, rest: Sequence[str], length: int) -> tuple[Date, int]:
    skipped = int(rest[0] in {",", "of", "in"})
    if _YEAR.fullmatch(rest[skipped]):
        return Date(int(rest[skipped]), month, day), length + skipped + 1
    return Date(0, month, day), length


def _day(word: str) -> int:
    match = _DAY.fullmatch(word)
    return int(match[1]) if match and 1 <= int(match[1]) <= 31 else 0
