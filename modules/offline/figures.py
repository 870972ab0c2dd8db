"""Numbers as people write them, and as their columns do."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from statistics import mode

from chameleon.modules.offline.sheet import Number, SheetColumn, amounts_in, plain, with_places

_POWERS = {"billion": 10**9, "million": 10**6}


def as_written(number: Number, column: SheetColumn | None, rows: Iterable[int]) -> str:
    """Write a number as a column does in these rows: its unit and where it stands, its cents, its marks."""
    if column is None:
        return plain(number)
    unit, value, cells = column.unit, Fraction(number), column.figures
    if column.meaning.is_converted:  # in the unit that these rows have
        told = [(each.unit, each.factor) for row in rows for each in amounts_in(column.cells[row])]
        unit, factor = mode(told)
        value *= column.meaning.factor / factor
    is_money = unit[-1:] in tuple("$€£¥₹")
    for name, power in _POWERS.items():
        if is_money and abs(value) >= power and any(name in cell for cell in cells):
            return f"{unit}{plain(value / power)} {name}"
    places = max(column.decimals, default=0)
    digits = plain(round(value, min(places, 6) + 4))
    fixed = places if len(column.decimals) == len(cells) and places == min(column.decimals, default=0) else 0
    if len(digits.partition(".")[2]) < fixed:
        digits = with_places(value, places)  # 20.50, as all cells have it
    if is_money and (places == 2 or "." in digits):
        digits = with_places(value, 2)
    whole, dot, part = digits.lstrip("-").partition(".")
    whole = f"{int(whole):,}" if column.has_groups else whole
    sign, figure = "-" if digits.startswith("-") else "", whole + dot + part
    if is_money and any(cell.endswith(unit) for cell in cells):
        return f"{sign}{figure} {unit}"
    if is_money and any(cell.startswith(f"{unit} ") for cell in cells):
        return f"{sign}{unit} {figure}"
    if is_money or not unit:
        return f"{sign}{unit}{figure}"
    return sign + figure + (f" {unit}" if any(map(str.isalpha, unit)) else unit)
