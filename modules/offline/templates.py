"""The templates: lookups, counts, sums, extremes, order, differences, comparisons, shares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from chameleon.modules.offline.algebra import (
    Compares,
    Count,
    Dates,
    Either,
    Exists,
    Fold,
    Form,
    Frequent,
    Gap,
    Greater,
    Is,
    Ordered,
    Pick,
    Share,
    Where,
)  # fmt: skip
from chameleon.modules.offline.conditions import Frame
from chameleon.modules.offline.grammar import _NAME, Costed, Grammar, costed
from chameleon.modules.offline.links import Item, Reading
from chameleon.modules.offline.sheet import Sheet, amounts_in
from chameleon.modules.offline.words import ENGLISH, Token
from chameleon.table.meaning import shown

_RANKS = ENGLISH.listed("rank_columns")
_TIMES = ENGLISH.listed("time_columns")
_ROWS = ENGLISH.data["row_words"]
_DATED = frozenset(("latest", "earliest", "newest", "oldest", "recent"))  # they need a date
_WHOLES = frozenset(ENGLISH.data["wholes"])
_GRADES = {"degree", "comparative", "superlative"}
_GRADED = {words[0] for words, told in ENGLISH.phrases.items() if not _GRADES.isdisjoint(dict(told))}


def forms_of(sheet: Sheet, tokens: Sequence[Token], readings: Sequence[Reading]) -> list[tuple[float, Form]]:
    """Return the different forms of all readings, each with the least that it costs, first the cheapest."""
    found: dict[Form, float] = {}
    for reading in readings:
        for cost, form in costed(Frame(sheet, tokens, reading.items), Templates):
            found[form] = min(reading.cost + cost, found.get(form, 99.0))
    return sorted(((cost, form) for form, cost in found.items()), key=lambda pair: pair[0])


class Templates(Grammar):
    """The kinds of question. Each yields the forms that the items allow, with what they cost beyond these."""

    def forms(self) -> Iterator[Costed]:
        count = self.one("count")
        is_asked = count is not None and self.frame.low(count.start) == "how"
        if self.frame.asks_truth and not self.has("ask") and not is_asked:
            templates = [self.truths, self.comparisons]
        else:
            templates = [
                self.lookups, self.counts, self.folds, self.extremes, self.frequent, self.ordinals,
                self.gaps, self.comparisons, self.shares, self.truths,
            ]  # fmt: skip
        for template in templates:
            yield from template()

    # What stands in a row.

    def lookups(self) -> Iterator[Costed]:
        """What a column says in the rows: where numbers add up, their sum."""
        if self.has("count", "most", "superlative", "difference", "share"):
            return
        if not self.bounds or self.has("fold"):
            return
        for cost, index, item in self.targets():
            column = self.sheet.columns[index]
            is_amount = column.kind in ("number", "date", "time") and not column.is_running
            tokens = self.frame.tokens[item.start : item.end] if item is not None else ()
            several = any(each.low.endswith("s") and each.low != each.stem for each in tokens)
            years = column.kind == "date" and several
            single = (is_amount and not years) or (self.names_row and not self.has("each"))
            yield from self.yields(cost, Pick(self.where, (index,), single), item)
            is_sum = column.is_flow and index not in self.where.columns and not self.names_row
            if item is not None and is_sum and self.word != "which":
                yield from self.total(cost, index, item)
        if (degree := self._how()) is not None:  # how tall is X?
            for _, index, cost in self.frame.graded(degree.value):
                yield from self.pick(cost, index, degree, *self._naming(index), *self.of("how"))

    def _naming(self, index: int) -> list[Item]:
        """The items that may stand beside a question how much: no other thing, as the manager of Ann."""
        return [each for each in self.columns() if each.value == index or self.col(each).kind != "text"]

    def _how(self) -> Item | None:
        """The adjective after "how"."""
        return next((item for item in self.of("degree") if self.frame.low(item.start - 1) == "how"), None)

    # Counts and sums.

    def counts(self) -> Iterator[Costed]:
        """How many rows, different texts, or what a column of numbers says they are."""
        count, distinct = self.one("count"), self.one("distinct")
        subject = self.after(count)
        if count is None or self.has("most", "superlative", "difference", "share", "comparative"):
            return
        if subject is not None and (subject.kind == "unit" or subject.value == {"time"}):
            return  # how many years something took is no number of rows
        subject = self.after(count, 2) if subject is not None and subject is distinct else subject
        named = {self.frame.items[place].start for each in self.bounds for place in each.columns}
        if subject is not None and subject.kind == "column" and subject.start not in named:
            if subject.cost and self.col(subject) in self.money():
                return  # how many sales there were is no revenue
            yield from self._count_of(count, subject, distinct)
            return
        is_rows = subject is None or subject.kind != "column"
        yield from self._count_rows(count, subject if is_rows else None, distinct)

    def _count_rows(self, count: Item, subject: Item | None, distinct: Item | None) -> Iterator[Costed]:
        """How many rows there are of what the subject calls them, or what they have together."""
        key, quantity = self.sheet.key, self.sheet.quantity
        kind = subject.kind if subject is not None else ""
        cost = 0.05 if kind in ("noun", "thing", "unknown") else 0.1
        sorts = sorted(subject.value) if subject is not None and kind == "thing" else []
        is_sort = "thing" in sorts or self.sheet.tally is not None or any(map(self.any_of, sorts))
        cost += 0.7 if sorts and not is_sort else 0.0
        cost += 1.0 if self.names_row else 0.0
        is_of_rows = self.frame.low(count.end) in _ROWS
        if quantity is not None and self.bounds and not (is_of_rows or quantity.index in self.where.columns):
            yield from self.total(cost, quantity.index, count, *self.sums)
            cost += 0.5 if self.sums else 0.0
        cost += 0.5 if not self.bounds and kind == "unknown" else 0.0
        if distinct is None:
            yield from self.yields(cost, self.counted(), count, *self.sums)
        elif key is not None:
            yield from self.yields(cost, Count(self.where, key.index), count, distinct)
        verb = [item for item in self.columns("number") if item.value not in self.where.columns]
        if len(verb) == 1 and self.names_row and not self.col(verb[0]).is_rate:  # how many people voted
            yield from self.pick(0.1, verb[0].value, count, verb[0], subject)
        is_named = key is not None and (_NAME in key.stems or self.fits(key, "person"))
        for sort in (each for each in sorts if not (each == "person" and is_named)):
            for price, index, _ in self.of_sort(sort, self.where.columns, 0.1):
                yield from self.yields(price, Count(self.where, index), count, distinct)

    def _count_of(self, count: Item, subject: Item, distinct: Item | None) -> Iterator[Costed]:
        """How many of what a column names there are."""
        column, key, used = self.col(subject), self.sheet.key, (count, subject)
        quantity = self.sheet.quantity
        if column.kind == "text" and set(column.stems) & _TIMES:
            return  # how many years something ran
        if column.is_running:
            yield from self.yields(0.1, self.counted(), *used, distinct)
        elif column.kind == "number":
            yield from self._numbers_of(count, subject)
        elif column.kind == "date":
            days = any(told[0].day for told in column.moments if told)
            if not (subject.cost or (days and "day" not in column.stems and "date" not in column.stems)):
                yield from self.yields(0.05, Count(self.where, column.index), *used, distinct)
        elif column.kind == "text" and self.names_row:
            if any(map(amounts_in, column.sample)):
                yield from self.pick(0.05, column.index, *used)
        elif key is not None and column.name == key.name and distinct is None:
            yield from self.yields(0.05, self.counted(), *used)
        elif "times" not in self._words(count):
            if quantity is not None and self.bounds and distinct is None:
                yield from self.total(0.1, quantity.index, *used, *self.sums)
            figures = sum(any(map(str.isdigit, cell)) for cell in column.sample)
            is_text = figures < len(column.sample) / 2
            if is_text or distinct is not None:
                cost = 0.05 if distinct else 0.1
                yield from self.yields(cost, Count(self.where, column.index), *used, distinct)
            is_divided = self.divides(Count(self.where, column.index))  # not how many people are in no team
            if is_text and distinct is None and self.bounds and not (self.names_row or is_divided):
                yield from self.yields(0.3, self.counted(), *used)

    def _numbers_of(self, count: Item, subject: Item) -> Iterator[Costed]:
        """How many a column of numbers says: of one row what stands there, of several their sum."""
        column, used = self.col(subject), (count, subject)
        is_of = "of" in self.frame.between(count, subject) and not self.names_row
        is_free = column.index not in self.where.columns
        if is_free and not is_of and (self.names_row or len(self.where.rows(self.sheet)) < 2):
            yield from self.pick(0.0, column.index, *used)
        parts = [each.condition for each in self.bounds if type(each.condition) is Either]
        several = any(not condition.negated for condition in parts)
        words = self._words(count)
        is_label = column.is_ordinal or (column.is_label and "total" not in words)
        adds_up = is_free and not (column.is_rate or column.is_rank or is_label)
        if (several or not self.names_row) and adds_up:
            cost = 0.0 if several or "total" in words else 0.15 if self.bounds else 0.3
            yield from self.total(cost, column.index, *used, *self.sums)
        if is_of:
            yield from self.yields(0.05, self.counted(), *used)

    def folds(self) -> Iterator[Costed]:
        """A sum, mean or median of a column that is named, or graded by an adjective."""
        for fold in self.of("fold"):
            is_mean = fold.value in ("mean", "median")
            if self.word == "which" or self.asks in ("who", "where"):
                continue
            if self.has("each", "share") or (self.has("count") and not is_mean):
                continue
            for item in self.columns():
                column = self.col(item)
                is_end = fold.value in ("max", "min")
                if column.kind == "text" or (not is_end and (column.is_running or column.kind == "date")):
                    continue
                form = Fold(self.where, column.index, fold.value)
                if not (is_mean and column.is_flow and self._is_of_times()):
                    yield from self.yields(0.0, form, fold, item, *self.of("count"))

    def _is_of_times(self) -> bool:
        """Whether "monthly" or the like names a date that several rows share, which may be meant together."""
        words = {ENGLISH.data["periodic"].get(token.low) for token in self.frame.tokens}
        times = [column for column in self.sheet.columns if column.is_plain_time and words & {*column.stems}]
        return any(self.repeats(column.index) for column in times)

    # The most and the least.

    def extremes(self) -> Iterator[Costed]:
        """The most or the least of a column: the row's name, another of its cells, or the number itself."""
        numbers = self.columns("number", "time")
        for item in self.of("most"):
            for by in numbers:
                is_best = self.col(by).kind == "time" and self.frame.low(item.start) == "top"
                if not self.col(by).is_ordinal and not is_best:
                    way = -item.value if self.col(by).is_rank else item.value
                    cost = 0.0 if by.start >= item.start else 0.1
                    yield from self._at_the_end(way, by.value, cost, item, by)
            if not self.columns("number", "date", "time"):
                total = [column for column in self.sheet.amounts if column.stems == ("total",)]
                if len(total) == 1 and self.has("noun", "unknown"):
                    yield from self._at_the_end(item.value, total[0].index, 0.3, item, None)
                elif len(self.sheet.amounts) == 1:
                    yield from self._at_the_end(item.value, self.sheet.amounts[0].index, 0.5, item, None)
        lone = self.asks and self.bounds and not self.has("than", "or") and self._pair() is None
        for item in [*self.of("superlative"), *(self.of("comparative") if lone else [])]:
            told = {by.value for by in numbers if item.end <= by.start <= item.end + 3}
            graded = [each for each in self.frame.graded(item.value) if not told or each[1] in told]
            for way, index, cost in graded:
                named = next((by for by in self.columns() if by.value == index), None)
                yield from self._at_the_end(way, index, 0.0 if named else cost, item, named)
            way, _ = ENGLISH.degrees[item.value].ways[0]
            is_any = any("any" in ideas for _, ideas in ENGLISH.degrees[item.value].ways)
            named_ones = [] if graded else [by for by in numbers if by.start <= item.end + 1]
            named_ones = self.columns("number", "date", "time") if is_any else named_ones
            for by in (each for each in named_ones if not any(each.value == index for _, index, _ in graded)):
                by_way = self._way(item, by.value) or way
                yield from self._at_the_end(by_way, by.value, 0.0 if is_any else 0.3, item, by)

    def _ends(self, way: int, by: int, cost: float, *used: Item | None) -> Iterator[Costed]:
        """The largest or smallest number itself."""
        yield from self.yields(cost, Fold(self.where, by, "max" if way > 0 else "min"), *used)

    def _at_the_end(self, way: int, by: int, cost: float, item: Item, named: Item | None) -> Iterator[Costed]:
        column, number = self.sheet.columns[by], self.few()
        if column.is_ordinal:
            return  # the longest leg is not the last one
        if any(self.frame.low(each.start - 1) == "by" and each.value != by for each in self.columns()):
            return
        if (how := self._how()) is not None:
            yield from self._ends(way, by, cost, item, how, *self.of("how"))
            return
        ordinal = next((each for each in self.of("ordinal") if each.end == item.start), None)
        start, count = ordinal.value - 1 if ordinal else 0, int(number.value.number) if number else 1
        rows = Ordered(self.where, by, way > 0, start, count)
        is_far = item.kind == "superlative" and self.word == "what"
        is_far = is_far and named is not None and named.start > item.end + 1
        adds_up = column.kind == "number" and not (column.is_rate or column.is_rank or column.is_label)
        for price, index, target in self.targets():
            is_most = target is not None and target.start == item.end and item.kind == "most"
            if index == by or is_most or (target is named if target else self.has("count")):
                continue
            if adds_up and self.repeats(index):
                continue  # the rows of each may be meant together
            counts = self.of("count") if self.sheet.columns[index].kind == "number" else []
            follows = named is not None and named.start == item.end and named.cost < 0.1
            is_name = self.sheet.columns[index] is self.sheet.key or self.sheet.columns[index].is_running
            extra = 0.4 if self.word == "what" and follows and is_name else 0.0  # what is the highest age?
            extra += 0.4 if is_far else 0.0  # what does the cheapest ticket cost?
            used = (item, named, ordinal, number, target, *counts)
            yield from self.yields(cost + price + extra, Pick(rows, (index,)), *used)
        called = [*self.columns(), *self.of("noun", "thing", "unknown")]
        if named is None or any(each is not named and each.start == item.end for each in called):
            return
        if is_far and not number:
            yield from self._ends(way, by, cost, item, named)
        has_subject = self.has("noun", "thing", "unknown")
        has_subject = has_subject or any(self.col(each) is self.sheet.key for each in self.columns())
        if number or self.asks not in ("", "which") or self.word == "which":
            return
        form: Form = Pick(rows, (by,)) if start else Fold(self.where, by, "max" if way > 0 else "min")
        price = 0.0 if 0 <= named.start - item.end <= 2 and not has_subject else 0.35
        yield from self.yields(cost + price, form, item, named, ordinal)

    def frequent(self) -> Iterator[Costed]:
        """The text that most rows have: "the most common", "which studio made the most of them"."""
        often, number = self.one("frequent"), self.few()
        for most in self.of("most"):
            word = self.frame.low(most.start)
            if self.columns("number", "time") or (often is None and word not in ("most", "fewest", "least")):
                continue
            for price, index, target in self.targets():
                column, follows = self.sheet.columns[index], target is not None and target.start == most.end
                if column.kind == "number" or column is self.sheet.key or follows:
                    continue
                is_said = self.has("noun", "thing", "unknown")
                extra = 0.3 if often is None and not is_said else 0.0
                count = int(number.value.number) if number else 1
                chosen = Frequent(self.where, index, "most" if most.value > 0 else "least", count)
                yield from self.yields(price + extra + 0.05, chosen, most, often, target, number)

    # Order.

    def ordinals(self) -> Iterator[Costed]:
        """The first, last or nth row, by a rank, a date or as they stand; the first of a column itself."""
        if self.has("most", "superlative", "fold", "count"):
            return
        if self.has("or") or (self.names_row and self._pair() is not None):
            return  # who of two was first
        marks = [*self.of("ordinal")] or self.of("first", "last")
        for mark in marks:
            number = self.few()
            number = number if number is not None and number.start == mark.end else None
            if self.frame.low(mark.end) in ("time", "times"):
                return
            start, backwards = mark.value - 1 if mark.kind == "ordinal" else 0, mark.kind == "last"
            item = next((each for each in self.columns("date") if each.start == mark.end), None)
            if item is not None and not start and self.asks in ("which", "when", ""):
                form = Fold(self.where, item.value, "max" if backwards else "min")
                yield from self.yields(0.1, form, mark, item)
            count = int(number.value.number) if number else 1
            for price, by, named in self._orders(mark):
                rows = Ordered(self.where, by, backwards, start, count)
                for cost, index, target in self.targets():
                    is_amount = target and target.start == mark.end and self.col(target).kind == "number"
                    is_open = by is None and self.sheet.columns[index].is_version
                    if index != by and not is_amount and not is_open:  # the last win is no number
                        used = (mark, named, target, number)
                        yield from self.yields(price + cost, Pick(rows, (index,)), *used)

    def _orders(self, mark: Item) -> Iterator[tuple[float, int | None, Item | None]]:
        """The columns that may order the rows; None is the order in which they stand."""
        named = [item for item in self.columns() if self.col(item).kind == "date" or self.col(item).is_rank]
        yield from ((0.05, item.value, item) for item in named)
        if named:
            return
        ranks = [column for column in self.sheet.columns if column.is_rank and set(column.stems) <= _RANKS]
        dates = [column for column in self.sheet.columns if column.kind == "date"]
        plain = [each for each in dates if each.is_plain_time]
        met = [each for each in dates if each.index in self.where.columns and each not in plain]
        dates = met or plain  # hired last before 2015
        if ranks:
            yield 0.1, ranks[0].index, None
        elif dates and (met or mark.kind != "ordinal"):
            yield 0.15, dates[0].index, None
        elif self.frame.low(mark.start) not in _DATED:
            is_numbered = any(column.is_running and column.kind == "number" for column in self.sheet.columns)
            yield 0.15 if is_numbered else 0.3, None, None

    # Two things compared.

    def _pair(self) -> tuple[Any, Any, tuple[Any, ...]] | None:
        """The two that are compared, and the other conditions: alternatives of one, or two on one column."""
        conditions = [each.condition for each in self.bounds]
        for each in conditions:
            if type(each) is Either and not each.negated and len(each.parts) == 2:
                return each.parts[0], each.parts[1], tuple(other for other in conditions if other is not each)
        for place, one in enumerate(conditions):
            for two in conditions[place + 1 :]:
                if type(one) is type(two) and isinstance(one, Is | Dates) and one.columns == two.columns:
                    return one, two, tuple(each for each in conditions if each is not one and each is not two)
        return None

    def gaps(self) -> Iterator[Costed]:
        """How much two rows, or two columns of one, differ."""
        marks = self.of("difference", "more", "comparative", "change")
        if not marks or self.asks == "who" or self.word == "which":
            return
        if any("times" in {*self._words(each), self.frame.low(each.end)} for each in self.of("count")):
            return  # how many times more
        numbers, used = self.columns("number", "date"), self.of("count", "than", "and")
        is_asked = self.has("difference", "change") or (self.has("more") and self.has("count", "how"))
        are_alike = len({self.col(item).kind for item in numbers}) == 1
        if len(numbers) == 2 and are_alike and is_asked and self.bounds:
            one, two = (Pick(self.where, (item.value,), True) for item in numbers)
            yield from self.yields(0.1, Gap(one, two), *marks, *numbers, *used)
        pair, start = self._pair(), " ".join(token.low for token in self.frame.tokens[:5])
        is_asked = self.has("count", "difference") or start.startswith("how much") or "by how much" in start
        if pair is None or not is_asked:
            return
        rows = [Where((*pair[2], each)) for each in pair[:2]]
        for cost, index, item in self.amount(marks):
            one, two = (Pick(where, (index,), True) for where in rows)
            yield from self.yields(cost, Gap(one, two), item, *marks, *used)

    def comparisons(self) -> Iterator[Costed]:
        """Which of two or more has the more, and whether one has more than another."""
        marks = self.of("most", "more", "comparative", "superlative", "first", "last")
        pair = self._pair()
        is_truth = self.frame.asks_truth and "or" not in self.frame.kinds
        counts = self.of("count")
        is_asked = any(self.frame.low(each.start) == "how" for each in counts)
        if not marks or pair is None or is_asked or self.has("difference", "how"):
            return
        several = (each.condition for each in self.bounds if type(each.condition) is Either)
        either = next((condition for condition in several if not condition.negated), None)
        if either is None and not is_truth:
            return
        parts = either.parts if either is not None else pair[:2]
        names = tuple(map(self._name_of, parts))
        for mark in marks:
            for cost, index, item in self.amount([mark]):
                if (way := self._way(mark, index)) is None:
                    continue
                rows = [Where((*pair[2], each)) for each in parts]
                is_many = any(len(each.rows(self.sheet)) > 1 for each in rows)
                is_sum = bool(self.sums) or (is_many and self.sheet.columns[index].is_flow)
                folds = tuple(Fold(each, index, "sum") for each in rows)
                picks = tuple(Pick(each, (index,), True) for each in rows)
                form = Greater(names, folds if is_sum else picks, way > 0, is_truth)
                used = (*counts, *self.of("than", "or", "and"), *self.sums)
                yield from self.yields(cost, form, mark, item, *used)

    def _way(self, mark: Item, index: int) -> int | None:
        """Whether a mark asks for the larger (1) or smaller (-1) of a column; None where it says neither."""
        kind = self.sheet.columns[index].kind
        if mark.kind in ("first", "last"):
            return None if kind != "date" else 1 if mark.kind == "last" else -1
        if mark.kind in ("most", "more"):
            return int(mark.value)
        told = ENGLISH.degrees[mark.value].ways  # the best time is the shortest
        ways = [way for way, column, _ in self.frame.graded(mark.value) if column == index]
        return ways[0] if ways else told[-1][0] if kind == "time" or len(told) == 1 else None

    def _name_of(self, condition: Any) -> str:
        if isinstance(condition, Is) and len(condition.texts) == 1:
            column = self.sheet.columns[condition.column]
            return shown(column.cells[column.places[next(iter(condition.texts))][0]])
        told = "-".join(str(part) for part in getattr(condition, "moment", ()) if part)
        return getattr(condition, "said", told)

    # Shares, and whether there is such a row.

    def shares(self) -> Iterator[Costed]:
        """What part of the rows, or of a column, those are that meet the conditions."""
        share, *others = self.of("share") or (None,)
        if share is None or not self.bounds or self.frame.low(self.items[0].start) == "how":
            return
        starts = [min(self.frame.items[place].start for place in each.taken) for each in self.bounds]
        pairs = zip(self.bounds, starts, strict=True)
        near = tuple(each.condition for each, start in pairs if start <= share.end + 3)
        numbers, used = self.columns("number"), (share, *others, *self.sums)
        whole = Where(near if len(self.bounds) > len(near) else ())  # of the Cubans those who …
        if len(self.bounds) > 1 and numbers:
            return  # of which sales those of West in 2024 are a share is not told
        if whole.conditions or not (numbers or self.names_row):
            counts = self.of("count") if whole.conditions else self.of("column", "count")
            yield from self.yields(0.1, Share(whole, self.where), *used, *counts)
        for item in numbers if not whole.conditions else ():
            column = self.col(item)
            if not (item.value in self.where.columns or column.is_running or "%" in column.unit_stems):
                yield from self.yields(0.1, Share(whole, self.where, item.value), *used, item)

    def truths(self) -> Iterator[Costed]:
        """Whether there is such a row."""
        if not self.frame.asks_truth or "or" in self.frame.kinds:
            return
        if self.has("count", "fold", "most", "superlative", "difference", "share", "ask"):
            return
        words, told = {token.low for token in self.frame.tokens}, [each.condition for each in self.bounds]
        lists = any(type(each) is Either and not each.negated for each in told)
        is_bare = self.names_row and len(told) == 1 and ("there" not in words or self.has("verb"))
        if words & _WHOLES or lists or self._pair() is not None or self._is_had():
            return  # whether all of several are so, or whether Ann has what she is
        rest = [item for item in self.columns() if item.value not in self.where.columns]
        if any(map(_GRADED.intersection, map(self._words, rest))) or (is_bare and not rest):
            return  # who is old, who played
        if self.bounds and len(rest) == 1 and self.col(rest[0]).kind == "number" and not self.has("more"):
            some = self.also(Compares(rest[0].value, ">", Fraction(0)))
            yield from self.yields(0.2, Exists(some), *rest)
        elif self.bounds and all(self.col(item) is self.sheet.key for item in rest):
            yield from self.yields(0.1, Exists(self.where), *rest)

    def _is_had(self) -> bool:
        """Whether a cell is said to have a column, as in "does Ann have a manager"."""
        pairs = ((one, two) for one in self.frame.items for two in self.columns() if one.column == two.value)
        return any("have" in self.frame.between(*pair) for pair in pairs)
