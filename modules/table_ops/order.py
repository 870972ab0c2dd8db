"""In what order cells stand: as numbers, as dates, or as text; and which cannot be compared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from chameleon import StepRejected
from chameleon.table import read_value
from chameleon.table.typed import MONTHS

Datatype = Literal["number", "date", "text"]

_SPAN = re.compile(r"(?:(\d{1,3}):)?(\d{1,3}):(\d{2}(?:\.\d+)?)")
_NUMBER = re.compile(r"(?<![\w.])[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
_GLUED = re.compile(r"\d+(?:\.\d+)?")
_GOES_ON = re.compile(r"[.,]\d")  # as in "1.200,50 €"
_TOO_LARGE = 10**308
_PLAIN = re.compile(
    r"(?P<sign>[+−-]?)(?P<whole>\d{1,3}(?:[, \u00a0]\d{3}){1,4}|\d{1,15}|(?=\.\d))(?P<part>\.\d{1,15})?\.?",
    re.ASCII,
)
_WORD = re.compile(r"[a-z]{3,9}", re.IGNORECASE)
_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
_DAY = re.compile(r"(?<![\d:])(\d{1,2})(?:st|nd|rd|th)?(?![\d:])")
_MONTH_AND_YEAR = re.compile(r"([a-z]{3,9})\.?,? \d{4}", re.IGNORECASE)
_SPELLINGS = (
    "mg milligram milligrams, g gram grams, kg kgs kilogram kilograms, t tonne tonnes ton tons",
    "lb lbs pound pounds, oz ounce ounces, in inch inches, ft foot feet, mi mile miles",
    "mm millimetre millimetres millimeter millimeters, cm centimetre centimetres centimeter centimeters",
    "m metre metres meter meters, km kilometre kilometres kilometer kilometers",
    "ml millilitre millilitres milliliter milliliters, l L litre litres liter liters",
    "s sec secs second seconds, min mins minute minutes, h hr hrs hour hours, k K, M mn, bn B",
)
_UNITS = {name: unit.split()[0] for unit in ", ".join(_SPELLINGS).split(", ") for name in unit.split()}
_SIGNS = "$€£¥₹%"
_UNIT_SIGN = re.compile(rf"[{_SIGNS}]|[^\W\d_]+")


def keys_of(cells: Sequence[str], datatype: Datatype) -> list[Any]:
    """Return what each cell is sorted by; None for a cell that holds nothing of that type."""
    if datatype == "text":
        keys: list[Any] = list(map(str.strip, map(str.casefold, cells)))
        return [key or None for key in keys] if "" in keys else keys
    read = number_in if datatype == "number" else date_in
    known = {cell: read(cell) for cell in set(cells)}
    return list(map(known.__getitem__, cells))


def plain_number(text: str) -> int | float | None:
    """Return the number that a text is, such as "47,678", "930 251", "+1.50", ".5" or "3."; None if none."""
    match = _PLAIN.fullmatch(text)
    if match is None:
        return None
    digits = ("-" if match["sign"] in ("-", "−") else "") + re.sub(r"\D", "", match["whole"])
    return float(digits + match["part"]) if match["part"] else int(digits)


def number_in(cell: str) -> float | None:
    """Return the number that a cell is or begins with: "26 pts", "$4.5 million", "1:52.33", "w 20-7"."""
    if (plain := plain_number(cell)) is not None:  # most are: the rest takes ten times as long
        return float(plain)
    value = read_value(cell)
    if value.number is not None:
        return float(value.number) if abs(value.number) < _TOO_LARGE else None
    if span := _SPAN.fullmatch(cell.strip()):
        hours, minutes, seconds = span.groups(default="0")
        return int(hours) * 3600 + int(minutes) * 60 + float(seconds)
    found = _NUMBER.search(cell) or _GLUED.search(cell)
    if found and not _GOES_ON.match(cell, found.end()):
        return float(found[0].replace(",", "").replace("−", "-"))
    return None


def date_in(cell: str) -> tuple[int, ...] | None:
    """Return the date that a cell says, or a part: "May 4, 2024", "4 October", "Oct 2009", "2009", "9:45 am".

    As (year, month, day, hour, minute, second), 0 for what it does not say.
    """
    value = read_value(cell)
    if value.date is not None:
        return (value.date.year, value.date.month, value.date.day, 0, 0, 0)
    if value.time is not None:
        return (0, 0, 0, value.time.hour, value.time.minute, value.time.second)
    months = list(filter(None, map(_month, _WORD.findall(cell))))
    years, days = _YEAR.findall(cell), _DAY.findall(cell)
    if not (months or years):
        return None
    day = int(days[0]) if months and days else 0
    return (int(years[0]) if years else 0, months[0] if months else 0, day, 0, 0, 0)


def _month(word: str) -> int:
    """Return the number of a month that is named in full or by its first letters, 0 for another word."""
    return next((number for number, name in enumerate(MONTHS, 1) if name.startswith(word.lower())), 0)


def datatype_of(cells: Sequence[str]) -> Datatype:
    """Return what most of the filled cells hold: numbers, dates ("May 2020" is one), else text."""
    filled = [cell.strip() for cell in cells if cell.strip()][:200]
    kinds = list(map(_kind, filled))
    if 2 * kinds.count("number") > len(kinds):
        return "number"
    return "date" if 2 * max(kinds.count("date"), kinds.count("time")) > len(kinds) else "text"


def _kind(cell: str) -> str:
    dated = _MONTH_AND_YEAR.fullmatch(cell)
    return "date" if dated and _month(dated[1]) else read_value(cell).kind


def refuse_mixed_units(column: str, cells: Iterable[str]) -> None:
    """Raise `StepRejected` where cells of a column measure in different units, such as "950 g" and "1.2 kg".

    Units of measure, scales ("M€") and currencies count; words such as "pts" and "wins" do not, and neither
    does a cell without a unit.
    """
    units: dict[tuple[str, ...], str] = {}
    for cell in filter(lambda cell: plain_number(cell) is None, dict.fromkeys(cells)):
        signs = _UNIT_SIGN.findall(read_value(cell).unit)
        known = [_UNITS.get(sign, sign if sign in _SIGNS else "") for sign in signs]
        if known and all(known):
            units.setdefault(tuple(sorted(known)), read_value(cell).unit)
    if len(units) > 1:
        raise StepRejected(f"the column {column!r} has different units: {', '.join(units.values())}")
