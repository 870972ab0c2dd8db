"""Order the cells of a column as numbers, dates or text, and find cells that have no order."""

import re
from typing import Any, Literal

from chameleon import StepRejected, Table
from chameleon.table import Column

Datatype = Literal["number", "date", "text"]

_NUMBER = re.compile(r"(?<![\w.])[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
_GLUED = re.compile(r"\d+(?:\.\d+)?")  # after letters, as in "No12"
_PLAIN = re.compile(
    r"(?P<sign>[+−-]?)(?P<whole>\d{1,3}(?:[, \u00a0]\d{3}){1,4}|\d{1,15}|(?=\.\d))(?P<part>\.\d{1,15})?\.?",
    re.ASCII,
)


def keys_of(column: Column, datatype: Datatype) -> list[Any]:
    """Return the sort key of each cell; None for a cell without a value of that type.

    Numbers and dates are read as the whole column suggests. In a text column, the first number in a cell
    counts, as in the published code. Raises `StepRejected` for an unclear column.
    """
    if datatype == "text":
        return [cell.strip().casefold() or None for cell in column.cells]
    column = comparable(column)
    if column.meaning.is_ordered:
        return column.meaning.keys
    return list(map(_first_number, column.cells)) if datatype == "number" else [None] * len(column.cells)


def datatype_of(column: Column) -> Datatype:
    """Return the type of the cells: numbers, dates or times, else text."""
    meaning = column.meaning
    if meaning.is_number or meaning.unit == "year" or meaning.read_as == "number":
        return "number"
    return "date" if meaning.is_ordered or meaning.read_as else "text"


def comparable(column: Column) -> Column:
    """Return the column with cells that can be compared, without those such as "DNF" among times.

    A cell such as "DNF" is neither below nor above a figure. Raises `StepRejected` if other cells make the
    column unclear.
    """
    meaning = column.meaning
    if meaning.kind != "unclear":
        return column
    odd = [column.cells[place] for place in meaning.odd]
    if meaning.read_as == "time" or not odd or any(any(map(str.isdigit, cell)) for cell in odd):
        raise unclear(column)
    cells = ("" if place in meaning.odd else cell for place, cell in enumerate(column.cells))
    result = Table([column.name], zip(cells), hints=[column.table.hint(column.index)]).columns[0]
    if result.meaning.kind == "unclear":
        raise unclear(result)
    return result


def unclear(column: Column) -> StepRejected:
    """Return the refusal of an unclear column."""
    return StepRejected(f"the column {column.name!r} is not clear: {column.meaning.why}")


def plain_number(text: str) -> int | float | None:
    """Return a text such as "47,678", "930 251", "+1.50", ".5" or "3." as a number, or None."""
    match = _PLAIN.fullmatch(text)
    if match is None:
        return None
    digits = ("-" if match["sign"] in ("-", "−") else "") + re.sub(r"\D", "", match["whole"])
    return float(digits + match["part"]) if match["part"] else int(digits)


def _first_number(cell: str) -> float | None:
    match = _NUMBER.search(cell) or _GLUED.search(cell)
    return float(match[0].replace(",", "").replace("−", "-")) if match else None
