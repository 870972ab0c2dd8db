"""A number for each name: of single rows, of groups of rows, or of the columns of a spread table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from chameleon.errors import Declined
from chameleon.modules.offline.grammar.conditions import is_numbered_name
from chameleon.modules.offline.grammar.frame import Frame
from chameleon.modules.offline.grammar.quantities import is_added
from chameleon.modules.offline.grammar.selection import LITERAL_LIMIT, Selection
from chameleon.modules.offline.grammar.superlatives import Superlative
from chameleon.table import Column


@dataclass(frozen=True)
class Scores:
    """Names with their numbers; code that sets `scores` to the same; how both are called in a reading."""

    values: dict[str, Fraction]
    code: list[str]
    named: str
    said: str
    columns: frozenset[int]
    read: frozenset[int] = frozenset()


def score_groups(
    frame: Frame, found: Superlative, selection: Selection, target: Column, columns: tuple[int, ...]
) -> Scores:
    """The number of each name in `target`; where a name has several rows, their sum, mean or extreme.

    "average" and "total" decide which. Without them quantities that add up are summed, others (prices,
    ages) compared row by row. Raises `Declined` where a sum and single rows would name different winners
    and the question does not say "most" or "total".
    """
    rows = _rows_by_name(selection, target, columns)
    several = any(len(numbers) > 1 for numbers in rows.values())
    average, total = frame.places_of("average", "mean"), frame.places_of("total", "overall", "combined")
    adds = all(is_added(frame.table.columns[i]) for i in columns)
    if average:
        how = "mean"
    elif adds or (total and several):
        how = "sum"
    else:
        how = "max" if found.is_high else "min"
    if total and several and not adds:
        raise Declined(f"the numbers of {frame.table.header[columns[0]]} do not add up")
    values = {name: _COMBINE[how](numbers) for name, numbers in rows.items()}
    if (
        how == "sum"
        and several
        and not total
        and found.word not in {"most", "fewest", "least", "more", "less"}
    ):
        _require_agreement(rows, values, found)
    kind = {"sum": "total ", "mean": "average "}.get(how, "") if several or len(columns) > 1 else ""
    names = " and ".join(frame.table.header[i] for i in columns)
    code = _code(selection, target, columns, how, several=several)
    return Scores(
        values, code, target.name or "Row", kind + names, frozenset({*columns, target.index}), average | total
    )


def _require_agreement(
    rows: dict[str, list[Fraction]], totals: dict[str, Fraction], found: Superlative
) -> None:
    pick = max if found.is_high else min
    single = {name: pick(numbers) for name, numbers in rows.items()}
    by_total = {name for name in totals if totals[name] == pick(totals.values())}
    by_single = {name for name in single if single[name] == pick(single.values())}
    if by_total != by_single or found.rank > 1:
        raise Declined(
            "the totals and the single rows give different answers",
            hint='Say "total" or name the row, as in "highest total revenue".',
        )


_COMBINE: dict[str, Callable[[list[Fraction]], Fraction]] = {
    "sum": lambda numbers: sum(numbers, Fraction(0)),
    "mean": lambda numbers: sum(numbers, Fraction(0)) / len(numbers),
    "max": max,
    "min": min,
}
_COMBINE_CODE = {
    "sum": "sum(numbers)",
    "mean": "Fraction(sum(numbers), len(numbers))",
    "max": "max(numbers)",
    "min": "min(numbers)",
}


def _rows_by_name(
    selection: Selection, target: Column, columns: tuple[int, ...]
) -> dict[str, list[Fraction]]:
    selection.numbers(columns)
    rows: dict[str, list[Fraction]] = {}
    for row in selection.rows:
        numbers = [selection.table.columns[i].values[row].number for i in columns]
        found = [number for number in numbers if number is not None]
        if found and target.cells[row].strip():
            rows.setdefault(target.cells[row].strip(), []).append(sum(found, Fraction(0)))
    if not rows:
        raise Declined(f"no number stands there{selection.said}")
    return rows


def _code(
    selection: Selection, target: Column, columns: tuple[int, ...], how: str, *, several: bool
) -> list[str]:
    lines = selection.pairs_code(target, columns, "pairs")
    if not several:
        return [*lines, "scores = dict(pairs)"]
    return [
        *lines,
        "groups = {}",
        "for name, number in pairs:",
        "    groups.setdefault(name, []).append(number)",
        f"scores = {{name: {_COMBINE_CODE[how]} for name, numbers in groups.items()}}",
    ]


def count_rows(selection: Selection, target: Column) -> Scores:
    """How many of the selected rows each name has."""
    values: dict[str, Fraction] = {}
    for row in selection.rows:
        name = target.cells[row].strip()
        if name:
            values[name] = values.get(name, Fraction(0)) + 1
    if not values:
        raise Declined(f"{target.name} is empty there")
    count = ["scores = {}", "for name in names:", "    scores[name] = scores.get(name, 0) + 1"]
    code = [*_names_code(selection, target), *count]
    return Scores(values, code, target.name or "Name", "count of rows", frozenset({target.index}))


def _names_code(selection: Selection, target: Column) -> list[str]:
    if len(selection.rows) <= LITERAL_LIMIT or is_numbered_name(target):
        names = [target.cells[row].strip() for row in selection.rows if target.cells[row].strip()]
        return [f"names = {names!r}"]
    cell = f"row[{target.index}]"
    return [
        *selection.rows_code(),
        f'names = [str({cell}).strip() for row in rows if {cell} not in (None, "")]',
    ]


def score_columns(selection: Selection, columns: tuple[int, ...]) -> Scores:
    """The sum of the selected rows in each column: "In which month did we spend the most on food?"."""
    lines, values = ["scores = {}"], {}
    for column in columns:
        name = selection.table.header[column].strip()
        values[name] = sum(selection.numbers((column,)), Fraction(0))
        more, variable = selection.numbers_code((column,), "numbers")
        lines += [*more, f"scores[{name!r}] = sum({variable})"]
    return Scores(values, lines, "Column", "total", frozenset(columns))
