"""The shape of a table: a plain list of records, or one of the layouts that school and shops use."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from chameleon.modules.offline.grammar.lexicon import MONTHS, TOTAL_LABELS, WEEKDAYS, word_set
from chameleon.modules.offline.grammar.words import stem, stem_set, stems, tokenize
from chameleon.table import Column, Table, Value, read_value

_CURRENCIES = "$€£¥₹"


@lru_cache(maxsize=256)
def with_first_line(table: Table) -> Table:
    """The table as a list of records: where the first line is data, it becomes a row and names go blank.

    The first line is data when every cell of it after the first reads as money or as a time of day,
    like the cells below.
    """
    rest = table.header[1:]
    if not rest or not table.rows or not all(_is_data(name) for name in rest):
        return table
    if any(read_value(cell).kind == "text" for row in table.rows for cell in row[1:]):
        return table
    return Table([""] * len(table.header), [table.header, *table.rows], table.caption)


def _is_data(name: str) -> bool:
    value = read_value(name)
    if value.kind == "number" and value.number is not None:
        return is_money(value) or (value.number.denominator != 1 and not value.unit)
    return value.kind == "time"


def is_headerless(table: Table) -> bool:
    """Whether the first line is data, or all names are blank because it was moved into the rows."""
    return with_first_line(table) is not table or not any(name.strip() for name in table.header)


def is_money(value: Value) -> bool:
    return value.kind == "number" and any(sign in value.unit for sign in _CURRENCIES)


def is_total_label(cell: str) -> bool:
    words = cell.lower().replace(":", " ").replace("-", " ").split()
    return bool(words) and (words[0] in TOTAL_LABELS or " ".join(words) in TOTAL_LABELS)


@lru_cache(maxsize=4)
def total_rows(table: Table) -> dict[int, frozenset[int]]:
    """The rows that hold totals, by the column of names that calls them so."""
    found = {
        column.index: frozenset(i for i, cell in enumerate(column.cells) if is_total_label(cell))
        for column in labels(table)
    }
    return {index: rows for index, rows in found.items() if rows}


@dataclass(frozen=True)
class StemAndLeaf:
    """The single numbers that a stem-and-leaf table stands for, in order."""

    numbers: tuple[int, ...]


def stem_and_leaf(table: Table) -> StemAndLeaf | None:
    if [name.strip().lower() for name in table.header] not in (["stem", "leaf"], ["stem", "leaves"]):
        return None
    numbers: list[int] = []
    for stem_cell, leaf_cell in table.rows:
        leaves = [leaf for leaf in leaf_cell.replace(",", " ").split() if leaf]
        if not stem_cell.strip().isdigit() or not all(len(leaf) == 1 and leaf.isdigit() for leaf in leaves):
            return None
        numbers += [int(stem_cell.strip() + leaf) for leaf in leaves]
    return StemAndLeaf(tuple(numbers)) if numbers else None


@dataclass(frozen=True)
class Frequencies:
    """How often each number occurs: what was counted, and (number, how often) pairs."""

    counted: str
    pairs: tuple[tuple[Fraction, int], ...]


def frequencies(table: Table) -> Frequencies | None:
    if len(table.header) != 2 or table.header[1].strip().lower() not in {"frequency", "frequencies"}:
        return None
    pairs = []
    for cell, count in table.rows:
        value, often = read_value(cell).number, read_value(count).number
        if value is None or often is None or often.denominator != 1 or often < 0:
            return None
        pairs.append((value, int(often)))
    return Frequencies(table.header[0], tuple(pairs)) if pairs else None


def is_two_way(table: Table) -> bool:
    """Counts by two properties: a blank corner, names along both sides, whole numbers inside."""
    return (
        not table.header[0].strip()
        and len(table.header) >= 3
        and bool(table.rows)
        and all(name.strip() and read_value(name).kind != "time" for name in table.header[1:])
        and all(_is_count(cell) for row in table.rows for cell in row[1:])
    )


def _is_count(cell: str) -> bool:
    value = read_value(cell)
    return value.number is not None and value.number.denominator == 1 and value.number >= 0 and not value.unit


def is_numeric(column: Column) -> bool:
    return column.kind == "number"


_ALONE = stem_set("year season date rank place position number no id code zip postcode phone")
_LAST = stem_set("id code zip phone number no")


def is_identifier(column: Column) -> bool:
    """Whether the numbers only tell rows apart, as order numbers and postcodes do."""
    names = stems(column.name.split("(")[0].replace("#", " number "))
    return bool(names) and names[-1] in _LAST and is_label(column)


def is_label(column: Column) -> bool:
    """Whether a column names its rows; numbers do where they are years, ranks or identifiers."""
    if column.kind != "number":
        return column.kind in {"text", "date", "time"}
    units = {value.unit for value in column.values if value.number is not None}
    if len(units) > 1 and all(len(unit) == 1 and unit.isupper() for unit in units):
        return True  # "1A", "1B"
    if is_address(column) or is_year(column) or is_numbering(column) or is_running(column):
        return True
    names = stems(column.name.split("(")[0].replace("#", " number "))
    return bool(names) and (
        (len(names) == 1 and names[0] in _ALONE) or (len(names) == 2 and names[1] in _LAST)
    )


def is_running(column: Column) -> bool:
    """Whether numbers from a hundred on run row by row without a gap, as those of tickets and orders do."""
    numbers = [value.number for value in column.values]
    if len(numbers) < 3 or numbers[0] is None or numbers[0] < 100:
        return False
    return numbers == [numbers[0] + row for row in range(len(numbers))]


_NUMBERED = word_set(
    """
    week day month grade room lap round trial stage chapter level game match floor lane group period
    episode lesson unit team section test attempt quarter
    """
)


def is_numbering(column: Column) -> bool:
    """Whether a first column only numbers the rows by what they are: "Week" with 1, 2, 3."""
    if column.index or column.name.strip().lower() not in _NUMBERED or column.unit:
        return False
    numbers = {value.number for value in column.values}
    return len(numbers) == len(column.values) and all(
        number is not None and number.denominator == 1 and 0 <= number < 1000 for number in numbers
    )


def is_year(column: Column) -> bool:
    """Whether the numbers are years, as "Release year", "Born" and "First climbed" say."""
    words = [word.text.lower() for word in tokenize(column.name)]
    in_range = all(
        value.kind == "empty" or (len(value.text.strip()) == 4 and value.text.strip().isdigit())
        for value in column.values
    )
    return in_range and (bool({"year", "born", "built"} & set(words)) or any(w.endswith("ed") for w in words))


def is_address(column: Column) -> bool:
    """Whether the numbers belong to names, as in "12 Mill Lane"."""
    units = [value.unit for value in column.values if value.kind == "number"]
    return len(set(units)) > 1 and all(unit[:1].isupper() and len(unit) > 2 for unit in units)


def measures(table: Table) -> tuple[Column, ...]:
    """The columns that hold quantities."""
    return tuple(column for column in table.columns if is_numeric(column) and not is_label(column))


def labels(table: Table) -> tuple[Column, ...]:
    return tuple(column for column in table.columns if is_label(column))


def spread_columns(table: Table) -> tuple[Column, ...]:
    """The columns that hold one quantity split by day, month, year or kind; () where they differ in kind.

    "Zoo | Brown bears | Grizzly bears" and "Crop | 2005 | 2006" are such tables; "Team | Games | Goals"
    is not.
    """
    columns = tuple(column for column in measures(table) if not is_total_label(column.name))
    if len(columns) < 2 or len({column.unit for column in columns}) > 1:
        return ()
    names = [stems(column.name) for column in columns]
    if any(not name for name in names):
        return ()
    if all(is_period_name(column.name) for column in columns) or all(
        " ".join(name) in _PEOPLE for name in names
    ):
        return columns
    return columns if len({name[-1] for name in names}) == 1 and len(set(names)) == len(names) else ()


_PEOPLE = stem_set("boys girls men women males females adults children parents teachers students")
_PERIODS = frozenset(stem(word) for word in (*WEEKDAYS, *MONTHS, "spring", "summer", "autumn", "winter"))


def is_period_name(name: str) -> bool:
    """Whether a column is called by a time only: "2015", "1980s", "May", "Q2"."""
    words = stems(name)
    return bool(words) and all(
        word in _PERIODS or word in _QUARTERS or re.fullmatch(r"\d{4}s?", word) for word in words
    )


_QUARTERS = frozenset({"q1", "q2", "q3", "q4"})
