"""A question over a plain table of records: the rows that its names, bounds and dates leave."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from chameleon.errors import Declined
from chameleon.modules.offline.grammar.bounds import Bound
from chameleon.modules.offline.grammar.conditions import (
    Condition,
    where_bound,
    where_cells,
    where_not,
    without_rows,
)
from chameleon.modules.offline.grammar.gaps import find_gaps, negation_before
from chameleon.modules.offline.grammar.linking import CellMention
from chameleon.modules.offline.grammar.links import Links
from chameleon.modules.offline.grammar.selection import Selection
from chameleon.modules.offline.grammar.shapes import total_rows


@dataclass(frozen=True)
class Frame(Links):
    """The asked sentence with the rows that it means."""

    def select(self, without: Iterable[CellMention] = (), *, bounds: bool = True) -> Selection:
        """The rows that the named cells, bounds and dates leave, totals aside.

        Cells of one column widen ("on Monday and Friday"), those of several columns narrow. `without`
        are mentions that the caller uses otherwise. Raises `Declined` for a cell found in two columns.
        """
        skipped = set(without)
        by_column: dict[int, list[CellMention]] = {}
        for mention in self.cells:
            if mention not in skipped:
                by_column.setdefault(self.column_of_cell(mention), []).append(mention)
        conditions = [self._where(column, mentions) for column, mentions in by_column.items()]
        if bounds:
            conditions += [
                where_bound(self.table, self.column_of(bound).index, bound, bound.places)
                for bound in self.bounds
            ]
        conditions += [condition for condition in self.dates if condition.column not in by_column]
        gaps = find_gaps(self.table, self.texts, self.columns)
        conditions += [condition for condition in gaps if condition.column not in by_column]
        return Selection(self.table, (*conditions, *self._totals()), self._joints(conditions))

    def select_with_numbers(self) -> Selection:
        """The selection, with a bare number ("Who scored 12 goals?") as one more condition."""
        selection = self.select()
        used = selection.places
        for place in self.problem.asked:
            number = self.problem.words[place].number
            if (
                self.problem.words[place].kind in {"number", "word"}
                and number is not None
                and place not in used
            ):
                bound = Bound("==", number, (place,), place)
                column = self.column_of(bound).index
                selection = selection.narrowed(where_bound(self.table, column, bound, bound.places))
        return selection

    def _where(self, column: int, mentions: list[CellMention]) -> Condition:
        rows = [row for mention in mentions for row in dict(mention.rows_of)[column]]
        condition = where_cells(self.table, column, rows, (place for m in mentions for place in m.places))
        negated = negation_before(self.texts, mentions[0].places[0])
        return where_not(self.table, condition, negated) if negated else condition

    def _totals(self) -> list[Condition]:
        for index, rows in total_rows(self.table).items():
            if not any(rows & set(dict(m.rows_of).get(index, ())) for m in self.cells):
                return [without_rows(self.table, index, rows)]
        return []

    def _joints(self, conditions: list[Condition]) -> frozenset[int]:
        """The "and" or "but" between two conditions, and the "or" between two names in one column."""
        used = {place: condition.column for condition in conditions for place in condition.places}
        joints: set[int] = set()
        for place in self.places_of("and", "or", "but"):
            before = next((used[i] for i in range(place - 1, place - 9, -1) if i in used), None)
            after = next((used[i] for i in range(place + 1, place + 9) if i in used), None)
            is_or = self.texts[place] == "or"
            if before is not None and after is not None and (not is_or or before == after):
                joints.add(place)
        return frozenset(joints) | self._fillings(set(used))

    def require_no_both(self) -> None:
        """Raises `Declined` for "tea and coffee" where both and either would be different rows."""
        columns = [self.column_of_cell(mention) for mention in self.cells]
        if len(set(columns)) < len(columns) and self.has("and"):
            raise Declined(
                'it is not clear whether "and" means both or either', hint='Say "or", or ask twice.'
            )

    def _fillings(self, used: set[int]) -> frozenset[int]:
        """ "times" after a number that is part of a bound: "more than 2 times"."""
        return frozenset(i for i in self.places_of("times") if i - 1 in used)
