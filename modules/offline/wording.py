"""Forms in pandas and in words, by templates that their fields fill; numbers as their columns write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from statistics import mode
from string import Formatter
from typing import Any, ClassVar

from chameleon.modules.offline.sheet import Number, Sheet, SheetColumn, amounts_in
from chameleon.table.dates import Moment

COLUMNS = ("column", "distinct", "by", "wanted")  # fields that tell places of columns
_TOLD = {
    "<": ("<", "under"), "<=": ("<=", "at most"), "==": ("==", "exactly"), "!=": ("!=", "not"),
    ">=": (">=", "at least"), ">": (">", "over"), "in": ("==", "in"),
    "sum": ("sum()", "total"), "mean": ("mean()", "average"), "median": ("median()", "median"),
    "max": ("max()", "highest"), "min": ("min()", "lowest"),
    "month": ("month_name()", "month"),
    "most": ("nlargest", "most"), "least": ("nsmallest", "least"),
}  # fmt: skip
_DECIMALS = re.compile(r"\.(\d+)(?![\dkKmMbB])")
_POWERS = {"billion": 10**9, "million": 10**6}


class NoLine(Exception):
    """Pandas would give something else."""


class Told:
    """A part of a form that says itself. Of its templates the last whose fields are all given counts."""

    templates: ClassVar[tuple[tuple[str, ...], tuple[str, ...]]]  # in pandas, and in words
    joined: ClassVar[tuple[str, str]] = (" & ", " and ")
    item: ClassVar[str] = ""  # what makes a value of it in pandas

    def code(self, sheet: Sheet) -> str | None:
        """Return it in pandas over `df = table.to_pandas()`; None if that would give something else."""
        try:
            return self.line(sheet)
        except NoLine:
            return None

    def line(self, sheet: Sheet) -> str:
        """Return it in pandas. Raises `NoLine`."""
        return self.told(sheet, 0)

    def told(self, sheet: Sheet, way: int) -> str:
        """Say it in pandas (0) or in words (1)."""
        for template in reversed(self.templates[way]):
            fields = {name: getattr(self, name) for _, name, _, _ in Formatter().parse(template) if name}
            if not any(value is None or value is False or value == () for value in fields.values()):
                break
        return template.format_map({name: self._field(sheet, way, name, fields[name]) for name in fields})

    def _field(self, sheet: Sheet, way: int, name: str, value: Any) -> str:
        if isinstance(value, Moment):
            return "-".join(f"{part:02}" for part in value[:3] if part)
        if isinstance(value, Told):
            return value.told(sheet, way) if way else value.line(sheet) + value.item
        if name in COLUMNS:
            columns = [sheet.columns[index] for index in (value if isinstance(value, tuple) else (value,))]
            if way:
                return " and ".join(each.plain or f"column {each.index + 1}" for each in columns)
            names = [each.name for each in columns]
            unfit = {"column": ("text", ""), "wanted": ("",)}.get(name, ())
            if any(each.dtype in unfit or sheet.table.header.count(each.name) > 1 for each in columns):
                raise NoLine
            return repr(names if len(names) > 1 else names[0])
        if isinstance(value, tuple):
            return self.joined[way].join(self._field(sheet, way, "", each) for each in value)
        if isinstance(value, bool):
            return ""  # it only chooses the template
        is_number = isinstance(value, Number)
        return plain(value, 4 if way else 16) if is_number else _TOLD.get(value, (value, value))[way]


def said(form: Told, sheet: Sheet) -> str:
    """Say in words what a form asks for: "total Salary where Team is red"."""
    return form.told(sheet, 1)


def plain(number: Number, places: int = 4) -> str:
    """Write a number as people do: whole, or with as many places as it has; endless ones with `places`."""
    if number.denominator == 1:
        return str(number.numerator)
    digits = places + 2 if -1 < number < 1 else places
    exact = number.denominator
    while exact % 2 == 0:
        exact //= 2
    while exact % 5 == 0:
        exact //= 5
    return _with_places(number, 10 if exact == 1 else digits).rstrip("0").rstrip(".")


def _with_places(number: Number, places: int) -> str:
    """Write a number with so many digits behind the point, rounded from its exact value."""
    units = round(number * 10**places)
    whole, part = divmod(abs(units), 10**places)
    return f"{'-' if units < 0 else ''}{whole}.{part:0{places}}"


def as_written(number: Number, column: SheetColumn | None, rows: Iterable[int]) -> str:
    """Write a number as a column does in these rows: its unit and where it stands, its cents, its marks."""
    if column is None:
        return plain(number)
    unit, value, cells = column.unit, Fraction(number), column.sample
    if column.meaning.is_converted:  # in the unit that these rows have
        told = [(each.unit, each.factor) for row in rows for each in amounts_in(column.cells[row])]
        unit, factor = mode(told)
        value *= column.meaning.factor / factor
    is_money = unit[-1:] in tuple("$€£¥₹")
    for name, power in _POWERS.items():
        if is_money and abs(value) >= power and any(name in cell for cell in cells):
            return f"{unit}{plain(value / power)} {name}"
    parts = (match[1] for cell in cells if (match := _DECIMALS.search(cell)))
    places = max(map(len, parts), default=0)
    digits = plain(round(value, min(places, 6) + 4))
    if is_money and (places == 2 or "." in digits):
        digits = _with_places(value, 2)
    whole, dot, part = digits.lstrip("-").partition(".")
    whole = f"{int(whole):,}" if any("," in cell for cell in cells) else whole
    sign, figure = "-" if digits.startswith("-") else "", whole + dot + part
    if is_money and any(cell.endswith(unit) for cell in cells):
        return f"{sign}{figure} {unit}"
    if is_money and any(cell.startswith(f"{unit} ") for cell in cells):
        return f"{sign}{unit} {figure}"
    if is_money or not unit:
        return f"{sign}{unit}{figure}"
    return sign + figure + (f" {unit}" if any(map(str.isalpha, unit)) else unit)
