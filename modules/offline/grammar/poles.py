"""The two sides of a comparison: "A than B", "A or B", "between A and B"."""

from __future__ import annotations

from dataclasses import dataclass

from chameleon.errors import Declined
from chameleon.modules.offline.grammar.conditions import where_cells
from chameleon.modules.offline.grammar.frame import Frame
from chameleon.modules.offline.grammar.linking import CellMention, ColumnMention
from chameleon.modules.offline.grammar.quantities import is_added, measured
from chameleon.modules.offline.grammar.selection import Selection


@dataclass(frozen=True)
class Pole:
    """One side: its name, the rows and the columns whose numbers it stands for."""

    name: str
    selection: Selection
    columns: tuple[int, ...]


@dataclass(frozen=True)
class Poles:
    """Both sides in the order of the question, and the words read."""

    first: Pole
    second: Pole
    read: frozenset[int]
    measured: tuple[int, ...]


def find_poles(frame: Frame, split: frozenset[int]) -> Poles | None:
    """The two sides around the joining word at `split`: two cells of one column, or two columns."""
    if not split:
        return None
    return _cell_poles(frame, min(split)) or _column_poles(frame, min(split))


def _around(mentions: list[tuple[int, int]], split: int) -> tuple[int, int] | None:
    """The mentions next to the joining word: (place, index) pairs in order."""
    after = [index for place, index in mentions if place > split]
    before = [index for place, index in mentions if place < split]
    return (before[-1], after[0]) if before and after else None


def _cell_poles(frame: Frame, split: int) -> Poles | None:
    by_column: dict[int, list[tuple[int, int]]] = {}
    for index, mention in enumerate(frame.cells):
        by_column.setdefault(frame.column_of_cell(mention), []).append((mention.places[0], index))
    pairs = {column: found for column, found in by_column.items() if len(found) == 2}
    if len(pairs) != 1:
        return None
    column, found = next(iter(pairs.items()))
    chosen = _around(found, split)
    if chosen is None:
        return None
    first, second = (frame.cells[index] for index in chosen)
    base = frame.select(without=(first, second))
    columns, named = measured(frame)
    places = {*first.places, *second.places} | base.places | named
    return Poles(
        _pole(frame, first, column, base, columns),
        _pole(frame, second, column, base, columns),
        frozenset(places),
        columns,
    )


def _pole(frame: Frame, mention: CellMention, column: int, base: Selection, columns: tuple[int, ...]) -> Pole:
    rows = dict(mention.rows_of)[column]
    selection = base.narrowed(where_cells(frame.table, column, rows, mention.places))
    return _checked(frame, Pole(mention.text.strip(), selection, columns))


def _checked(frame: Frame, pole: Pole) -> Pole:
    selection = pole.selection
    if not selection.numbers(pole.columns):
        raise Declined(f"no number stands there for {pole.name}")
    if len(selection.rows) > 1 and not all(is_added(frame.table.columns[i]) for i in pole.columns):
        raise Declined(f"{pole.name} has several rows, and their numbers do not add up")
    return pole


def _column_poles(frame: Frame, split: int) -> Poles | None:
    """Two columns of one quantity: "in June than in May", "more boys than girls"."""
    numeric = {column.index for column in frame.measures}
    named = [m for m in frame.numeric_mentions() if len(set(m.columns) & numeric) == 1]
    found = [(mention.places[0], index) for index, mention in enumerate(named)]
    chosen = _around(found, split)
    if chosen is None or len(named) != 2:
        return None
    first, second = (named[index] for index in chosen)
    if {
        frame.table.columns[_index(m, numeric)].unit for m in (first, second)
    } and first.columns == second.columns:
        return None
    selection = frame.select().require_rows()
    read = selection.places | frozenset((*first.places, *second.places))
    poles = [
        _checked(frame, Pole(frame.table.header[_index(m, numeric)], selection, (_index(m, numeric),)))
        for m in (first, second)
    ]
    units = {frame.table.columns[pole.columns[0]].unit for pole in poles}
    if len(units) > 1:
        raise Declined("the two columns are in different units")
    return Poles(poles[0], poles[1], read, (poles[0].columns[0], poles[1].columns[0]))


def _index(mention: ColumnMention, numeric: set[int]) -> int:
    return min(set(mention.columns) & numeric)
