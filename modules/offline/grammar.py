"""The grammar: what the items that no condition took ask for, as typed forms, each with its cost.

A form counts only where it uses every item that says something; few kinds may be left, at a price.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from typing import Any

from chameleon.modules.offline.algebra import (
    Compares,
    Count,
    Either,
    Fold,
    Form,
    Is,
    Pick,
    Unfit,
    Where,
)  # fmt: skip
from chameleon.modules.offline.conditions import Bound, Frame
from chameleon.modules.offline.links import Item
from chameleon.modules.offline.sheet import SheetColumn
from chameleon.modules.offline.words import ENGLISH

Costed = tuple[float, Form]
Target = tuple[float, int, Item | None]  # what it costs, the column, and the item that names it
# What a form may leave unused, and what that costs; of other kinds none may be left.
_SPARE = {
    "noun": 0.0, "thing": 0.05, "ask": 0.1, "and": 0.0, "exists": 0.0, "each": 0.1, "unit": 0.15,
    "dates": 0.0, "between": 0.05, "than": 0.05, "distinct": 0.15, "how": 0.3, "verb": 0.0, "spend": 0.3,
}  # fmt: skip
_LEADS = (
    "count", "ask", "each", "number", "ordinal", "most", "superlative", "distinct", "share", "fold", "first",
    "last",
)  # fmt: skip
_SORTS = {"who": "person", "where": "place", "when": "time"}
_PARTS = {"century": 0, "decade": 0, "year": 1, "month": 2}  # what a date tells beyond them, as a place in it
_MONEY = frozenset(ENGLISH.stem(word) for word in ("price", "cost", "amount"))
_NAME = ENGLISH.stem("name")


class Grammar:
    """What is asked of the rows that meet some conditions. Templates are in its subclass."""

    def __init__(self, frame: Frame, bounds: Sequence[Bound], items: Sequence[Item]) -> None:
        self.frame, self.bounds, self.items, self.sheet = frame, bounds, items, frame.sheet
        self.kinds = [item.kind for item in items]
        self.where = Where(tuple(each.condition for each in bounds))
        ask = self.one("ask")
        self.asks: str = ask.value if ask is not None else ""
        self.word = frame.low(ask.start) if ask is not None else ""  # "which" or "what" as it is written
        cells = [each.condition for each in bounds if isinstance(each.condition, Is | Either)]
        cells = [condition for condition in cells if not getattr(condition, "negated", False)]
        self.celled = {column for condition in cells for column in condition.columns}
        key = self.sheet.key
        tested = (each.condition for each in bounds if not isinstance(each.condition, Compares))
        self.names_row = key is not None and any(key.index in condition.columns for condition in tested)

    # Items.

    def col(self, item: Item) -> SheetColumn:
        column: SheetColumn = self.sheet.columns[item.value]
        return column

    def has(self, *kinds: str) -> bool:
        return any(kind in self.kinds for kind in kinds)

    def of(self, *kinds: str) -> list[Item]:
        return [item for item in self.items if item.kind in kinds]

    def one(self, kind: str) -> Item | None:
        return next((item for item in self.items if item.kind == kind), None)

    def columns(self, *kinds: str) -> list[Item]:
        return [item for item in self.of("column") if not kinds or self.col(item).kind in kinds]

    def _words(self, item: Item) -> set[str]:
        return {token.low for token in self.frame.tokens[item.start : item.end]}

    def after(self, item: Item | None, step: int = 1) -> Item | None:
        """The item that comes after another."""
        place = next((place for place, each in enumerate(self.items) if each is item), len(self.items)) + step
        return self.items[place] if 0 <= place < len(self.items) else None

    @property
    def sums(self) -> list[Item]:
        return [item for item in self.of("fold") if item.value == "sum"]

    def few(self) -> Item | None:
        """A number that may tell how many rows are wanted, as in "the three longest"."""
        numbers = (item for item in self.of("number") if not item.value.base)
        return next((item for item in numbers if item.value.number in range(1, 101)), None)

    def also(self, *conditions: Any) -> Where:
        """The rows that meet further conditions as well."""
        return Where((*self.where.conditions, *conditions))

    # What is used up.

    def yields(self, cost: float, form: Form, *used: Item | None) -> Iterator[Costed]:
        """Yield a form with its cost if it accounts for every item."""
        left = [item for item in self.items if not any(item is each for each in used)]
        told = next((item for item in left if item.kind == "number"), None)
        may_tell = told is not None and not told.value.base and isinstance(getattr(form, "of", None), Where)
        if told and may_tell and told.value.number == len(self.where.rows(self.sheet)) > 1:
            cost, left = cost + 0.1, [item for item in left if item is not told]  # "the two cats"
        columns = set(form.own_columns)
        units = {item.value for item in self.of("unit")}
        told_units = [self.sheet.columns[index].units for index in columns]
        if units and (isinstance(form, Count) or any(each and not each & units for each in told_units)):
            return
        if isinstance(form, Pick) and columns <= self.celled:
            return
        form = self._part_of(form)
        prices = [self._spare(item, used) for item in left]
        if form is not None and None not in prices and not self.divides(form):
            yield cost + sum(price or 0.0 for price in prices), form

    def divides(self, form: Form) -> bool:
        """Whether some rows of a text meet what is denied: "which teams have no red people"."""
        kinds, of = self.frame.kinds, getattr(form, "of", None)
        free = [each for each in self.bounds if all(kinds[place] != "none" for place in each.taken)]
        index = next(iter(getattr(form, "wanted", ())), getattr(form, "distinct", None))
        if index is None or len(free) == len(self.bounds) or of != self.where:
            return False
        cells, rows = self.sheet.columns[index].cells, of.rows(self.sheet)
        others = set(Where(tuple(each.condition for each in free)).rows(self.sheet)).difference(rows)
        return not {cells[row] for row in rows}.isdisjoint(cells[row] for row in others)

    def _part_of(self, form: Form) -> Any:
        """The form with the part of its dates that "which year" asks for; None where several may share it."""
        ask, of = self.one("ask"), getattr(form, "of", None)
        part: Any = (
            next((token.stem for token in self.frame.tokens[ask.end : ask.end + 1]), "") if ask else ""
        )
        place, told = _PARTS.get(part, 3), {*getattr(form, "wanted", ()), getattr(form, "by", None)}
        columns = (self.sheet.columns[index] for index in {*told, getattr(form, "column", None)} - {None})
        dates = [each for each in columns if each.kind == "date" and part not in each.stems]
        if place == 3 or not any(at and at[0][place] for each in dates for at in each.moments):
            return form
        return (
            replace(form, part=part) if isinstance(form, Pick) and isinstance(of, Where) and place else None
        )

    def pick(self, cost: float, index: int, *used: Item | None) -> Iterator[Costed]:
        """Yield the one value of a column."""
        return self.yields(cost, Pick(self.where, (index,), True), *used)

    def total(self, cost: float, index: int, *used: Item | None) -> Iterator[Costed]:
        """Yield the sum of a column."""
        return self.yields(cost, Fold(self.where, index, "sum"), *used)

    def _spare(self, item: Item, used: Sequence[Item | None]) -> float | None:
        """What it costs to leave an item unused; None where it may not be left."""
        before = self.after(item, -1)
        match item.kind:
            case "unknown":
                stems = {token.stem for token in self.frame.tokens[item.start : item.end]}
                return 0.0 if self._is_subject(item) and stems.isdisjoint(ENGLISH.ideas) else None
            case "verb" if (item.cost > 0.2 and not self.bounds) or (
                before is not None and before.end == item.start and before.kind in ("count", "most")
            ):
                return None
            case "column" if item.value in self.where.columns:
                named = {self.frame.items[place].start for each in self.bounds for place in each.columns}
                return None if self.frame.is_owned(item) else 0.0 if item.start in named else 0.05
            case "column" if any(
                each is not None and each.kind == "column" and each.value == item.value for each in used
            ):
                return 0.05
            case "each" if self.frame.low(item.start) == "per" or self.has("count"):
                return None
            case "dates" if item.value not in ("in", "<=", ">="):
                return None
        extra = 0.3 if item.kind == "thing" and not self._is_subject(item) else 0.0
        return _SPARE[item.kind] + extra if item.kind in _SPARE else None

    def _is_subject(self, item: Item) -> bool:
        """Whether a word stands where the rows are named, and no row is named by its key."""
        before, key = self.after(item, -1), self.sheet.key
        if before is None or before.kind not in _LEADS:
            return False
        if not self.frame.between(before, item) <= {"of", "the", "these", "those", "all", "other"}:
            return False
        cells = [each.condition for each in self.bounds if isinstance(each.condition, Is)]
        return key is None or all(each.column != key.index for each in cells)

    # Where the answer stands.

    def targets(self) -> Iterator[Target]:
        """The columns that may hold what is asked: named, of the sort of the question word, or the key."""
        same = {self.sheet.columns[index].name for index in self.celled}
        named = [item for item in self.columns() if self._may_be(self.col(item))]
        named = [item for item in named if self.col(item).name not in same]
        for item in named:
            if self.frame.low(item.start - 1) != "by":
                yield self._price(item), item.value, item
        if any(item.value == "how much" for item in self.of("how")):
            return
        used = {column.index for column in self.sheet.columns if column.name in same}
        sorts = [_SORTS[self.asks]] if self.asks in _SORTS else []
        sorts = [] if self.asks == "who" and self.names_row else sorts  # who met Ann: not her manager
        key = self.sheet.key
        has_names = self.asks == "who" and key is not None and _NAME in key.stems and key.index not in used
        for sort in sorts:
            yield from self.of_sort(sort, used, 0.35 if has_names else 0.05)
        if key is not None and key.index not in used and self.asks != "when":
            cost = self._key_price(key, bool(named))
            if cost is not None:
                yield cost, key.index, None

    def _price(self, item: Item) -> float:
        """What it costs to take a named column for what is asked."""
        column, key = self.col(item), self.sheet.key
        if column.is_running and any(
            each.kind == "value" and each.end <= item.start for each in self.frame.items
        ):
            return 1.2  # what did they order: no number of theirs
        sort = {"who": "person", "where": "place"}.get(self.asks, "")
        odd = bool(sort) and not self.fits(column, sort) and self.any_of(sort)
        if self.asks == "who" and key is not None and _NAME in key.stems and column is not key:
            odd = odd or not self.fits(column, "person")
        return (0.03 if self.asks in ("", "which") else 0.15) + 0.5 * odd

    def _key_price(self, key: SheetColumn, has_named: bool) -> float | None:
        """What it costs to answer with the name of a row; None where that is not asked."""
        if self.asks == "where" and not has_named:
            return None if self.any_of("place") else 0.3
        price = 0.05 if self.asks in ("which", "who") or self.has("noun", "thing") else 0.25
        if self.asks == "who" and not self.fits(key, "person") and _NAME not in key.stems:
            price += 0.8 if any(self.fits(key, sort) for sort in ("place", "work", "time")) else 0.0
            price += 0.3 if self.any_of("person") else 0.0
        return price

    def _may_be(self, column: SheetColumn) -> bool:
        """Whether a column may hold what a question word asks for."""
        if any(item.value == "how much" for item in self.of("how")) and column.kind != "number":
            return False
        kinds = {"who": ("text",), "where": ("text",), "when": ("date", "time")}
        return column.kind in kinds.get(self.asks, (column.kind,))

    def any_of(self, sort: str) -> bool:
        return any(self.fits(column, sort) for column in self.sheet.columns)

    def fits(self, column: SheetColumn, sort: str) -> bool:
        """Whether a column by its name holds a sort of thing: persons, places, times."""
        if sort == "time":
            return column.kind == "date"
        return column.kind == "text" and any(sort in ENGLISH.things.get(stem, ()) for stem in column.stems)

    def of_sort(self, sort: str, used: Container[int], cost: float) -> Iterator[Target]:
        """The columns of a sort; of several the one with a plain name first."""
        free = (each for each in self.sheet.columns if each.index not in used)
        fitting = [each for each in free if self.fits(each, sort)]
        plain = [column for column in fitting if len(column.stems) == 1]
        for column in fitting:
            extra = 0.0 if len(fitting) == 1 else 0.1 if plain == [column] else 0.5
            extra += 1.0 if sort == "time" and not column.is_plain_time else 0.0
            yield cost + extra, column.index, None

    # What several templates need.

    def money(self) -> list[SheetColumn]:
        """The columns of money."""
        numbers = (column for column in self.sheet.columns if column.kind == "number")
        return [each for each in numbers if each.unit_stems & set("$€£¥") or _MONEY & set(each.stems)]

    def counted(self) -> Form:
        """How many rows, or where a column tallies them, what it adds up to."""
        tally = self.sheet.tally
        return Count(self.where) if tally is None else Fold(self.where, tally.index, "sum")

    def repeats(self, index: int) -> bool:
        """Whether several of the rows have the same text in a column."""
        cells, rows = self.sheet.columns[index].cells, self.where.rows(self.sheet)
        return len({cells[row] for row in rows}) < len(rows)

    def amount(self, marks: Sequence[Item]) -> Iterator[Target]:
        """The column of numbers that a comparison is about: named, of a unit, graded, or the only one."""
        named = self.columns("number", "date", "time")
        yield from ((0.05, item.value, item) for item in named)
        if named:
            return
        for mark in marks:
            if mark.kind in ("comparative", "superlative", "degree"):
                yield from ((cost, index, None) for _, index, cost in self.frame.graded(mark.value))
        if len(self.sheet.amounts) == 1:
            cost = 0.35 if any(mark.kind != "difference" for mark in marks) else 0.7
            yield cost, self.sheet.amounts[0].index, None


def costed(frame: Frame, grammar: type[Grammar]) -> Iterator[Costed]:
    """The forms of all bindings of a frame with their costs, beyond those of the items."""
    for cost, bounds, left in frame.bindings():
        try:
            for extra, form in grammar(frame, bounds, left).forms():  # type: ignore[attr-defined]
                yield cost + extra, form
        except Unfit:  # conditions that the table does not bear
            continue
