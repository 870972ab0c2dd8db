"""Write numbers the way people and the table's columns do."""

import re
from collections.abc import Iterable
from fractions import Fraction
from statistics import mode

from chameleon.modules.offline.sheet import Number, SheetColumn, amount_in, plain, with_places

_DECIMALS = re.compile(r"\.(\d+)(?![\dkKmMbB])")
_POWERS = {"billion": 10**9, "million": 10**6}
_SWAPPED_MARKS = str.maketrans(".,", ",.")


def as_written(number: Number, column: SheetColumn | None, rows: Iterable[int]) -> str:
    """Write a number as a column does in these rows: unit and its position, cents, thousands separators."""
    if column is None:
        return plain(number)
    unit, value, cells = column.unit, Fraction(number), column.sample
    if column.meaning.is_converted:  # in the unit that these rows have
        amounts = (amount_in(column.cells[row]) for row in rows)
        unit, factor = mode((each.unit, each.factor) for each in amounts if each)
        value *= column.meaning.factor / factor
    if column.meaning.mark == ",":
        cells = [cell.translate(_SWAPPED_MARKS) for cell in cells]
    decimals = [len(match[1]) for cell in cells if (match := _DECIMALS.search(cell))]
    places = max(decimals, default=0)
    digits = plain(round(value, min(places, 6) + 4))
    is_money = unit[-1:] in tuple("$€£¥₹")
    for name, power in _POWERS.items():
        if is_money and abs(value) >= power and any(name in cell for cell in cells):
            return f"{unit}{plain(value / power)} {name}"
    if is_money and (places == 2 or "." in digits):
        digits = with_places(value, 2)
    elif len(decimals) == len(cells) and places == min(decimals) > len(digits.partition(".")[2]):
        digits = with_places(value, places)  # 20.50, as all cells have it
    whole, dot, part = digits.lstrip("-").partition(".")
    whole = f"{int(whole):,}" if any("," in cell for cell in cells) else whole
    sign, figure = "-" if digits.startswith("-") else "", whole + dot + part
    if is_money and not any(cell.endswith(unit) for cell in cells):
        is_apart = any(cell.startswith(f"{unit} ") for cell in cells)
        return f"{sign}{unit}{' ' * is_apart}{figure}"
    return sign + figure + (f" {unit}" if is_money or any(map(str.isalpha, unit)) else unit)
