"""What the words of a question name in a plain table of records: cells, columns, dates and bounds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from chameleon.errors import Declined
from chameleon.modules.offline.grammar.asked import Asked
from chameleon.modules.offline.grammar.bounds import Bound, find_bounds
from chameleon.modules.offline.grammar.conditions import (
    Condition,
)
from chameleon.modules.offline.grammar.dates import find_dates
from chameleon.modules.offline.grammar.deeds import goes_both_ways, is_trade
from chameleon.modules.offline.grammar.lexicon import PARTICULAR
from chameleon.modules.offline.grammar.linking import (
    CellMention,
    ColumnMention,
    find_cells,
    find_columns,
    ideas,
    name_stems,
    roots,
)
from chameleon.modules.offline.grammar.routes import route, side_of
from chameleon.modules.offline.grammar.shapes import (
    is_identifier,
    is_money,
    is_numbering,
    labels,
    measures,
    spread_columns,
)
from chameleon.modules.offline.grammar.units import numbers_of
from chameleon.modules.offline.grammar.words import stems
from chameleon.table import Column, Table

_AMOUNTS = ("many", "more", "fewer", "less", "most", "fewest", "least")


@dataclass(frozen=True)
class Links(Asked):
    """The links between the asked sentence and the table."""

    @property
    def table(self) -> Table:
        return self.problem.table

    @cached_property
    def bounds(self) -> tuple[Bound, ...]:
        """The bounds on numbers; years are left to the column of dates, where there is one."""
        found = find_bounds(self.problem.words, self.problem.asked)
        has_dates = any(column.kind == "date" for column in self.table.columns)
        return tuple(bound for bound in found if not (has_dates and bound.is_year))

    @cached_property
    def _bound_places(self) -> frozenset[int]:
        return frozenset(place for bound in self.bounds for place in bound.places)

    @cached_property
    def cells(self) -> tuple[CellMention, ...]:
        free = [i for i in self.problem.asked if i not in self._bound_places]
        named = [m for m in find_columns(self.table, self.problem.words, free) if m.exact]
        taken = {place: len(mention.places) for mention in named for place in mention.places}
        found = find_cells(self.table, self.problem.words, free)
        return tuple(m for m in found if all(self._outweighs(m, taken.get(i, 0)) for i in m.places))

    def ends_of(self, bound: Bound) -> tuple[CellMention, CellMention] | None:
        """The rows that the two numbers of "between 2014 and 2016" name, where they name one each."""
        numbers = [i for i in bound.places if self.problem.words[i].number is not None]
        found = find_cells(self.table, self.problem.words, numbers)
        return (found[0], found[1]) if len(found) == 2 else None

    def _outweighs(self, mention: CellMention, length: int) -> bool:
        """Whether words name a cell rather than a column whose name has `length` words there."""
        is_name = all(self.problem.words[i].is_name for i in mention.places)
        return len(mention.places) > length or (is_name and len(mention.places) == length)

    @cached_property
    def dates(self) -> tuple[Condition, ...]:
        dates = [column for column in self.table.columns if column.kind == "date"]
        if len(dates) > 1:
            mentions = find_columns(self.table, self.problem.words, self._places_without_cells)
            named = {i for mention in mentions if len(mention.columns) == 1 for i in mention.columns}
            dates = [column for column in dates if column.index in named]
        return find_dates(dates[0], self.problem.words, self._places_without_cells) if len(dates) == 1 else ()

    @cached_property
    def _places_without_cells(self) -> list[int]:
        used = {place for mention in self.cells for place in mention.places} | self._bound_places
        return [i for i in self.problem.asked if i not in used]

    @cached_property
    def columns(self) -> tuple[ColumnMention, ...]:
        dated = {place for condition in self.dates for place in condition.places}
        free = [i for i in self._places_without_cells if i not in dated]
        found = find_columns(self.table, self.problem.words, free)
        return tuple(m for m in found if not (m.hinted and self._needs_direction(m)))

    def _needs_direction(self, mention: ColumnMention) -> bool:
        """Whether a verb of trade points to amounts that go both ways, so that it would choose rows."""
        trades = any(is_trade(self.problem.words[i]) for i in mention.places)
        return trades and goes_both_ways(self.table, mention.columns)

    @cached_property
    def measures(self) -> tuple[Column, ...]:
        return measures(self.table)

    @cached_property
    def spread(self) -> tuple[Column, ...]:
        return spread_columns(self.table) or (measures(self.table) if self._are_kinds else ())

    @cached_property
    def _are_kinds(self) -> bool:
        """Whether all columns count kinds of what is asked about: ducks and swans, told to be birds.

        The caption or the story calls the numbers "the number of birds", and the question asks for
        birds, which no column is called.
        """
        asked = {word.stem for i in self.places_of(*_AMOUNTS) for word in self.problem.words[i + 1 : i + 2]}
        names = {word for name in self.table.header for word in stems(name)}
        if not asked & numbers_of(self.problem.topic_texts) - names:
            return False
        columns = measures(self.table)
        if len(columns) < 2 or any(c.unit or not c.name.strip().endswith("s") for c in columns):
            return False
        return all(v.number is None or v.number.denominator == 1 for c in columns for v in c.values)

    @cached_property
    def label(self) -> Column | None:
        """The column that names the rows: the first one that is no quantity."""
        found = labels(self.table)
        return found[0] if found else None

    def numeric_mentions(self) -> list[ColumnMention]:
        """The mentions of columns that hold quantities."""
        indexes = {column.index for column in self.measures}
        return [mention for mention in self.columns if set(mention.columns) & indexes]

    def has_no_measure_named(self) -> bool:
        """Whether the only quantities named are those that bounds speak of."""
        bounded = {self.column_of(bound).index for bound in self.bounds}
        return all(set(mention.columns) <= bounded for mention in self.numeric_mentions())

    def text_mentions(self) -> list[ColumnMention]:
        indexes = {column.index for column in self.measures}
        return [mention for mention in self.columns if not set(mention.columns) & indexes]

    def measure(self, skip: Iterable[int] = ()) -> Column:
        """The one column of quantities that the question is about, columns in `skip` left aside.

        Raises `Declined` where it names none of several, or more than one.
        """
        left = [column for column in self.measures if column.index not in set(skip)]
        wanted = {column.index for column in left}
        mentions = [mention for mention in self.numeric_mentions() if set(mention.columns) & wanted]
        outright = [mention for mention in mentions if not mention.hinted]
        named = [set(mention.columns) & wanted for mention in outright or mentions]
        common = set.intersection(*named) if named else wanted
        for mention in mentions if len(common) > 1 and outright else ():
            common = common & set(mention.columns) or common
        if len(common) == 1:
            found = self.table.columns[common.pop()]
            return found if mentions else self._unnamed(found)
        if not left:
            raise Declined("the table has no column of numbers that fits")
        names = ", ".join(self.table.header[i] or f"column {i + 1}" for i in sorted(wanted))
        raise Declined(
            "the question does not say which column of numbers is meant", hint=f"There are: {names}."
        )

    def _unnamed(self, column: Column) -> Column:
        """The only column of numbers; raises `Declined` beside one that a few cells of words keep from it."""
        for other in self.table.columns:
            filled = [value for value in other.values if value.kind != "empty"]
            words = [value.text for value in filled if value.kind != "number"]
            if other.kind == "text" and 2 * len(words) < len(filled):
                hint = 'Write "-" where there is none.'
                raise Declined(f"{other.name} is not all numbers: {words[0][:40]!r}", hint=hint)
        self.require_sense(column)
        return column

    def require_sense(self, column: Column) -> None:
        """Raises `Declined` for "the shortest" or "older" over a column that no such word points to."""
        pointing = ideas(column.name)
        for place, text in self.texts.items():
            says_of = roots(self.problem.words[place])
            if text in PARTICULAR and not says_of & pointing and not self.has("zero") and not self.has("sea"):
                raise Declined(f"it is not clear that {column.name or 'the column'} says what is {text}")

    def column_of(self, bound: Bound) -> Column:
        """The column that a bound speaks of: named beside it, of its currency, or the only one."""
        numbers = {
            column.index: column
            for column in self.table.columns
            if column.kind == "number" and not is_identifier(column)
        }
        if is_money(self.problem.words[bound.at].value):
            numbers = {i: c for i, c in numbers.items() if not is_numbering(c)}
            numbers = {i: c for i, c in numbers.items() if any(map(is_money, c.values))} or numbers
        years = [i for i, column in numbers.items() if name_stems(column.name) == ("year",)]
        if bound.is_year and len(years) == 1 and self.problem.words[bound.at].text.isdigit():
            return numbers[years[0]]
        inside = find_columns(self.table, self.problem.words, [i for i in bound.places if i != bound.at])
        beside = self._beside(bound, set(numbers))
        for mention in sorted((*inside, *beside), key=lambda mention: mention.hinted):
            options = [i for i in mention.columns if i in numbers]
            if len(options) == 1:
                return numbers[options[0]]
        if is_money(self.problem.words[bound.at].value):
            money = [c for c in self.measures if all(is_money(v) or v.kind == "empty" for v in c.values)]
            if len(money) == 1:
                return money[0]
        if len(self.measures) == 1:
            return self._unnamed(self.measures[0])
        ages = [column for column in self.measures if name_stems(column.name) == ("age",)]
        if len(ages) == 1 and not self.numeric_mentions() and self.problem.words[bound.at].text.isdigit():
            following = self.texts.get(bound.places[-1] + 1, "")
            if bound.sign in {"<", ">"} and not following.isalpha():
                return ages[0]
        names = ", ".join(column.name or f"column {column.index + 1}" for column in self.measures)
        raise Declined(f"the question does not say what is {bound.say()}", hint=f"There are: {names}.")

    def _beside(self, bound: Bound, numbers: set[int]) -> list[ColumnMention]:
        """The mentions next to a bound: right after its number, else right before it, else the nearest."""
        fitting = [mention for mention in self.columns if set(mention.columns) & numbers]

        def distance(mention: ColumnMention) -> tuple[int, int]:
            after = mention.places[0] - bound.places[-1]
            before = bound.places[0] - mention.places[-1]
            gap = after if after > 0 else before
            order = 0 if after in {1, 2} else 1
            return (order, gap) if gap <= 5 else (9, gap)

        return [mention for mention in sorted(fitting, key=distance) if distance(mention)[0] < 9]

    def column_of_cell(self, mention: CellMention) -> int:
        """The column that holds the cell; where several do, the one that the question names beside it."""
        options = [column for column, _ in mention.rows_of]
        side = side_of(self.table, self.texts, mention.places[0])
        if side is not None and set(options) & set(route(self.table) or ()):
            if side not in options:
                raise Declined(f"{self.table.header[side]} is never {mention.text.strip()}")
            return side
        if len(options) > 1:
            said = self.texts.get(mention.places[0] - 1, "")
            called = [column for column in options if self.table.header[column].strip().lower() == said]
            options = called or options
        if len(options) > 1:
            near = range(mention.places[0] - 2, mention.places[-1] + 3)
            beside = {
                i for m in self.text_mentions() for i in m.columns if any(place in near for place in m.places)
            }
            options = [column for column in options if column in beside]
        if len(options) != 1:
            raise Declined(f"{mention.text.strip()!r} stands in several columns, and the question names none")
        return options[0]

    def rows_of(self, mention: CellMention) -> tuple[int, ...]:
        return dict(mention.rows_of)[self.column_of_cell(mention)]
