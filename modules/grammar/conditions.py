"""Conditions on rows: a cell's text, a bound on a number, a span of dates; as tests and as code."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chameleon.errors import Declined
from chameleon.modules.grammar.bounds import Bound
from chameleon.modules.grammar.lexicon import MONTHS
from chameleon.modules.grammar.programs import literal
from chameleon.modules.grammar.words import Word, stem
from chameleon.table import Column, Table

_FORMATS = ("%Y-%m-%d", "%m/%d/%Y", "%Y/%m/%d", "%d.%m.%Y", "%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y")


@dataclass(frozen=True)
class Condition:
    """Some rows of the table, why they are meant (`said`), and how a program finds them (`code`)."""

    column: int
    rows: frozenset[int]
    said: str
    code: str
    places: frozenset[int] = frozenset()


def where_cells(table: Table, column: int, rows: Iterable[int], places: Iterable[int]) -> Condition:
    """The rows whose cell in `column` is one of those that these rows hold."""
    chosen = list(rows)
    written = list(dict.fromkeys(table.rows[row][column] for row in chosen))
    said = f"{_name(table, column)} is {' or '.join(cell.strip() for cell in written)}"
    code = f"row[{column}] == {_cell(table, column, chosen[0])}"
    if len(written) > 1:
        code = f"row[{column}] in ({', '.join(dict.fromkeys(_cell(table, column, row) for row in chosen))})"
    return Condition(column, frozenset(chosen), said, code, frozenset(places))


def where_filled(table: Table, column: int, places: Iterable[int]) -> Condition:
    """The rows that have anything in `column`."""
    rows = {i for i, value in enumerate(table.columns[column].values) if value.kind != "empty"}
    said, code = f"{_name(table, column)} is given", f'row[{column}] not in (None, "")'
    return Condition(column, frozenset(rows), said, code, frozenset(places))


def where_empty(table: Table, column: int, places: Iterable[int]) -> Condition:
    """The rows that have nothing in `column`."""
    rows = {i for i, value in enumerate(table.columns[column].values) if value.kind == "empty"}
    said, code = f"{_name(table, column)} is missing", f'row[{column}] in (None, "")'
    return Condition(column, frozenset(rows), said, code, frozenset(places))


def where_not(table: Table, condition: Condition, places: Iterable[int]) -> Condition:
    """The rows that a condition leaves out, empty cells aside."""
    filled = {i for i, cell in enumerate(table.columns[condition.column].cells) if cell.strip()}
    said = condition.said.replace(" is ", " is not ", 1).replace(" or ", " nor ")
    code = f'not ({condition.code}) and row[{condition.column}] not in (None, "")'
    used = condition.places | frozenset(places)
    return Condition(condition.column, frozenset(filled - condition.rows), said, code, used)


_YES, _NO = frozenset({"yes", "y", "true", "x", "✓"}), frozenset({"no", "n", "false"})


def is_flag(column: Column) -> bool:
    """Whether a column says yes or no of each row."""
    said = {cell.strip().lower() for cell in column.cells if cell.strip()}
    return bool(said & _YES) and said <= _YES | _NO


def where_flag(table: Table, column: int, places: Iterable[int]) -> Condition:
    """The rows of which a column of yes and no says yes."""
    rows = [i for i, cell in enumerate(table.columns[column].cells) if cell.strip().lower() in _YES]
    return where_cells(table, column, rows, places)


def _cell(table: Table, column: int, row: int) -> str:
    value = table.columns[column].values[row]
    if table.columns[column].kind == "number" and value.number is not None:
        return literal(value.number)
    return repr(table.rows[row][column])


def _name(table: Table, column: int) -> str:
    return table.header[column].strip() or "the first column"


def where_bound(table: Table, column: int, bound: Bound, places: Iterable[int]) -> Condition:
    """The rows whose number in `column` is within the bound; empty cells never are."""
    values = table.columns[column].values
    rows = {i for i, value in enumerate(values) if value.number is not None and bound.accepts(value.number)}
    code = f"row[{column}] is not None and {bound.code(f'row[{column}]')}"
    return Condition(
        column, frozenset(rows), f"{_name(table, column)} is {bound.say()}", code, frozenset(places)
    )


def without_rows(table: Table, column: int, rows: Iterable[int]) -> Condition:
    """All rows but these, which hold totals."""
    left_out = set(rows)
    cells = ", ".join(sorted({repr(table.rows[row][column]) for row in left_out}))
    kept = frozenset(range(len(table.rows))) - left_out
    return Condition(column, kept, "totals left out", f"row[{column}] not in ({cells},)")


def find_dates(table: Table, words: Sequence[Word], places: Sequence[int]) -> tuple[Condition, ...]:
    """The condition that a month, a year, both, or a day puts on the only column of dates.

    Nothing where the table has no such column, or more than one.
    """
    columns = [column for column in table.columns if column.kind == "date"]
    if len(columns) != 1:
        return ()
    column = columns[0]
    return tuple(
        _where_date(column, parts, sign, " ".join(words[i].text for i in used), used)
        for parts, sign, used in _date_phrases(words, places)
    )


_Phrase = tuple[dict[str, int], str, tuple[int, ...]]
_SIGNS = {"before": "<", "until": "<=", "through": "<=", "after": ">", "since": ">=", "from": ">="}


def _date_phrases(words: Sequence[Word], places: Sequence[int]) -> list[_Phrase]:
    """(parts of a date, sign, places) for the one date that is named; nothing where there are two."""
    parts: dict[str, int] = {}
    used: list[int] = []
    for place in places:
        for part, number in _date_parts(words[place], parts).items():
            if part in parts:
                return []
            parts[part] = number
            used += [place] if place not in used else []
    if not ("month" in parts or set(parts) == {"year"}):
        return []
    before = words[used[0] - 1].text.lower() if used[0] else ""
    sign = _SIGNS.get(before, "==")
    return [(parts, sign, tuple(used) if sign == "==" else (used[0] - 1, *used))]


def _date_parts(word: Word, known: dict[str, int]) -> dict[str, int]:
    if word.kind == "date" and word.value.date is not None:
        day = word.value.date
        return {"year": day.year, "month": day.month, "day": day.day}
    if word.kind == "word" and word.stem in _MONTH_STEMS and (word.is_name or word.stem != "may"):
        return {"month": _MONTH_STEMS.index(word.stem) + 1}
    if word.kind == "number" and word.text.isdigit() and 1800 <= int(word.text) <= 2200:
        return {"year": int(word.text)}
    if word.kind in {"number", "word"} and "month" in known and (day_number := _day(word)):
        return {"day": day_number}
    return {}


def _day(word: Word) -> int:
    digits = word.text.lower().rstrip("stndrh")
    return int(digits) if digits.isdigit() and 1 <= int(digits) <= 31 else 0


_MONTH_STEMS = [stem(month) for month in MONTHS]


def _where_date(
    column: Column, parts: dict[str, int], sign: str, said: str, used: tuple[int, ...]
) -> Condition:
    names = [part for part in ("year", "month", "day") if part in parts]
    asked = tuple(parts[part] for part in names)
    dates = [value.date for value in column.values if value.date is not None]
    if sign != "==" and "year" not in parts and len({day.year for day in dates}) > 1:
        raise Declined(f'the dates span several years, and "{said}" names none')
    rows = frozenset(
        i
        for i, value in enumerate(column.values)
        if value.date is not None
        and _compare(tuple(getattr(value.date, part) for part in names), sign, asked)
    )
    written = format_of(column)
    code = f"row[{column.index}] in {(*sorted({column.cells[i] for i in rows}), '')!r}"
    if written:
        day = f"datetime.datetime.strptime(row[{column.index}], {written!r})"
        got = ", ".join(f"{day}.{part}" for part in names)
        code = f"row[{column.index}] and ({got},) {sign} {asked!r}"
    return Condition(column.index, rows, f"{column.name or 'the date'} is {said}", code, frozenset(used))


def _compare(got: tuple[int, ...], sign: str, asked: tuple[int, ...]) -> bool:
    return {
        "==": got == asked,
        "<": got < asked,
        "<=": got <= asked,
        ">": got > asked,
        ">=": got >= asked,
    }[sign]


def format_of(column: Column) -> str:
    """The strptime format that reads every filled cell of the column; "" for none."""
    for written in _FORMATS:
        if all(
            _reads(cell, written)
            for cell, value in zip(column.cells, column.values, strict=True)
            if value.date
        ):
            return written
    return ""


def _reads(cell: str, written: str) -> bool:
    try:
        dt.datetime.strptime(cell, written)
    except ValueError:
        return False
    return True
