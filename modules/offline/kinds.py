"""The six kinds of question: look-ups, counts, sums and means, extremes, order, comparisons and differences.

Each yields the forms that a question may mean, with their costs.
"""

from collections.abc import Iterator, Sequence
from typing import Any, cast

from chameleon.modules.offline.conditions import Frame
from chameleon.modules.offline.costs import Cost
from chameleon.modules.offline.forms import Fold, Form, Gap, Greater, Grouped, How, HowMany, Pick
from chameleon.modules.offline.links import Cut, Item
from chameleon.modules.offline.question import Costed, Question
from chameleon.modules.offline.rows import Compares, Dates, Either, Is, Ordered, Unfit, Where
from chameleon.modules.offline.sheet import Sheet, SheetColumn
from chameleon.modules.offline.words import Token
from chameleon.retrieval.analysis import folded


def forms_of(sheet: Sheet, tokens: Sequence[Token], cuts: Sequence[Cut]) -> list[Costed]:
    """Return the distinct forms of all cuts of a question with their lowest costs, cheapest first."""
    costs: dict[Form, float] = {}
    for cut in cuts if tokens else ():  # "..." asks nothing
        frame = Frame(sheet, tokens, cut.items)
        for bound_cost, bounds, rest in frame.bindings():
            try:
                for cost, form in Kinds(frame, bounds, rest).forms():
                    costs[form] = min(cut.cost + bound_cost + cost, costs.get(form, Cost.UNKNOWN))
            except Unfit:  # the table does not support these conditions
                continue
    return sorted(((cost, form) for form, cost in costs.items()), key=lambda pair: pair[0])


class Kinds(Question):
    """The kinds of question, recognized by their marker words."""

    def forms(self) -> Iterator[Costed]:
        """Yield the forms of the kind that the question's marker words indicate."""
        if self.is_unclear:
            return
        count = self.one("count")
        marks = ("more", "comparative", "compare", "first", "last", "most", "superlative")
        asks_much = self.has("how") or (count is not None and count.value != "number")
        joins = bool({"or", "than"} & set(self.frame.kinds))
        is_pair = joins and self.has(*marks) and self._pair() is not None
        is_pair = is_pair or (self.has("than") and len(self.columns("number")) == 2)
        if self.has("difference", "change") or (is_pair and asks_much):
            yield from self.differences()
        elif self.is_truth or is_pair:
            yield from self.comparisons()
        elif self.has("than") or self.clashes:
            return
        elif self.has("most", "superlative", "frequent"):
            yield from self.extremes()
        elif self.has("ordinal", "first", "last"):
            yield from self.ordinals()
        elif (self.has("fold") and not self.has("count")) or self._sums_groups():
            yield from self.folds()
        elif (number := self._number_of_rows()) is not None:
            yield from self.groups_of(number)
        elif self.has("count") or self._counts_groups():
            yield from self.counts()
        else:
            yield from self.lookups()

    def _sums_groups(self) -> bool:
        """Whether it only names a column and a grouping: "visits by city"."""
        is_bare = not self.has("ask", "count") and self.frame.tokens[0].low not in self.sheet.words.request
        return is_bare and self.group() is not None and bool(self.columns("number"))

    def _counts_groups(self) -> bool:
        """Whether it only names the rows and a grouping: "loans per borrower"."""
        is_rows = bool(self.items) and self.items[0].kind == "noun" and bool(self.items[0].value)
        return is_rows and len(self.items) == 3 and self.group() is not None

    def _is_flow(self, column: SheetColumn) -> bool:
        """Whether amounts add up over rows, judging by the name of the column or the table."""
        flows = self.sheet.words.lists["flows"]
        return not flows.isdisjoint(column.stems if self.sheet.origins is None else self.sheet.caption)

    def _is_measured(self, column: SheetColumn) -> bool:
        """Return whether "how often" refers to a column of measurements, such as rain, and not counts."""
        is_often = any(item.value == "times" for item in self.of("count"))
        return is_often and (bool(column.bases) or len(column.stems) > 1)

    @property
    def _is_dated(self) -> bool:
        """Whether years, months or the like are named, or grouped by."""
        group = self.group()
        by_date = group is not None and self.col(group).kind == "date"
        return by_date or any(isinstance(each.condition, Dates) for each in self.bounds)

    def group(self) -> Item | None:
        """Return the column that the rows are grouped by: "by region", "for each customer"."""
        item = self.after(self.one("each"))
        is_text = item is not None and item.kind == "column" and self.col(item).kind in ("text", "date")
        return item if is_text else None

    def grouped(self, cost: float, form: Any, *used: Item | None) -> Iterator[Costed]:
        """Yield a count or fold, for each group if the question names one; "per row" means over all rows."""
        each = self.one("each")
        if each is None:
            yield from self.yields(cost, form, *used)
        elif (by := self.group()) is not None:
            is_row = self.col(by).numbers_rows
            is_mean = isinstance(form, Fold) and form.how != "sum"
            if is_row and is_mean:
                yield from self.yields(cost, form, each, by, *used)
            elif not is_row and not (is_mean and self.col(by).kind == "date"):  # of the months' sums, or rows
                yield from self.yields(cost, Grouped(form, by.value), each, by, *used)
        elif (noun := self.after(each)) is not None and noun.kind == "noun" and isinstance(form, Fold):
            yield from self.yields(cost, form, each, *used) if form.how in ("mean", "median") else ()

    def _number_of_rows(self) -> Item | None:
        """Return the number in "more than two orders", if a word for rows follows it."""
        number = next((item for item in self.of("number") if not item.value.base), None)
        noun = self.after(number)
        is_row = noun is not None and noun.kind == "noun" and bool(noun.value)
        is_row |= noun is not None and noun.kind == "column" and self._numbers_rows(noun)
        return number if is_row and not self.has("count") else None

    def groups_of(self, number: Item) -> Iterator[Costed]:
        """Yield the groups with that many rows: "which clients have more than one deal"."""
        before = self.after(number, -1)
        compare = before if before is not None and before.kind == "compare" else None
        for cost, index, target in self.targets():
            column = self.sheet.columns[index]
            if column.kind == "text" and column is not self.sheet.key:
                sign: Any = compare.value if compare is not None else "=="
                form = Grouped(HowMany(self.where), index, sign=sign, limit=number.value.number)
                yield from self.yields(cost, form, number, self.after(number), compare, target)

    def lookups(self) -> Iterator[Costed]:
        """Yield the cells of a column in the rows, and their sum if they are numbers that add up."""
        one = len(self.sheet.rows) == 1
        how = self.one("how")
        degree = next((each for each in self.of("degree") if how and each.start == how.end), None)
        lists = self.wanted is not None and self.col(self.wanted).kind == "text"  # which teams are there
        if not self.bounds and not one and not lists:
            return
        if how is not None:
            if how.value == "how" and degree is None:
                return
            marks = [degree] if degree is not None else []
            graded = {index for mark in marks for _, index, _ in self._graded(mark)}
            days = sum(column.kind == "date" for column in self.sheet.columns)  # from one to the other
            lasts = degree is not None and degree.value == self.sheet.words.data["lasting"] and days > 1
            for cost, index, item in self.measure(marks):
                column = self.sheet.columns[index]
                if lasts and "m" in column.bases:
                    continue
                if column.kind != "date" and (degree is None or index in graded or column.bases):
                    yield from self.yields(cost, Pick(self.where, (index,), True), item, degree, how)
                    yield from self._sum(cost, index, item, degree, how)
            return
        for cost, index, item in self.targets():
            column = self.sheet.columns[index]
            if column.kind == "text" and self._may_be_of_sums(column):
                continue
            is_amount = column.kind in ("number", "time")
            single = (is_amount or self.names_row) and not self.has("each")
            yield from self.yields(cost, Pick(self.where, (index,), single), item)
            yield from self._sum(cost, index, item)

    def _may_be_of_sums(self, column: SheetColumn) -> bool:
        """Whether a condition on amounts may refer to their sums: "who worked more than 6 hours"."""
        compared = [each for each in self.bounds if isinstance(each.condition, Compares)]
        # "An amount below 6", with the column before the number, refers to a single row.
        open_ones = [each for each in compared if not each.named or each.named == {max(each.taken)}]
        columns = (self.sheet.columns[c.condition.column] for c in open_ones if c.condition.sign != "==")
        is_flow = any(each.adds_up and self._is_flow(each) for each in columns)
        return is_flow and len({column.cells[row] for row in self.sheet.rows}) < len(self.sheet.rows)

    def _sum(self, cost: float, index: int, *used: Item | None) -> Iterator[Costed]:
        """Yield the sum of a column over several rows, where it adds up."""
        column = self.sheet.columns[index]
        is_one = self.names_row or len(self.sheet.rows) == 1
        # Amounts that may be negative, as in an account, are added up only if the question says so.
        if column.adds_up and self._is_flow(column) and not is_one and min(column.filled, default=0) >= 0:
            yield from self.yields(cost, Fold(self.where, index, "sum"), *used)

    def counts(self) -> Iterator[Costed]:
        """Yield counts of rows or different texts, or the number in a column that holds counts."""
        count, distinct = self.one("count"), self.one("distinct")
        sums = [item for item in self.of("fold") if item.value == "sum"]
        if len(sums) < len(self.of("fold")):
            yield from self.folds()
            return
        subject = self.after(count)
        while subject is not None and subject in (distinct, *sums):
            subject = self.after(subject)
        mention = subject if subject is not None and subject.kind == "column" else None
        column = self.col(mention) if mention is not None else None
        used = (count, distinct, mention, *sums)
        if mention is None or column is None or column is self.sheet.key or self._numbers_rows(mention):
            yield from self._count_rows(subject, used)
        elif column.kind == "number":
            has_decimals = any("." in cell or "," in cell[-3:] for cell in column.sample)
            is_whole = bool(column.bases) or not has_decimals
            if column.bases & set("$€£¥") or not is_whole or self._is_measured(column):
                return  # the number of sales is not revenue, nor is how often it rained an amount of rain
            if self.names_row or len(self.where.rows(self.sheet)) < 2:
                yield from self.yields(0.0, Pick(self.where, (column.index,), True), *used)
            if column.adds_up and (not self.names_row or sums or self._lists()):
                yield from self.grouped(0.0, Fold(self.where, column.index, "sum"), *used)
        elif column.index in self.where.columns:
            yield from self.grouped(0.0, HowMany(self.where), *used)
        elif self.names_row and distinct is None:
            return  # how many clubs has Cairo
        elif distinct is not None or self._is_counted(column, mention):
            is_often = count is not None and count.value == "times"  # one thing may have several rows
            is_often &= all(isinstance(each.condition, Compares) for each in self.bounds)
            yield from self.grouped(0.0, HowMany(self.where, None if is_often else column.index), *used)

    def _numbers_rows(self, item: Item) -> bool:
        """Whether a column numbers the things to count, as "Lot" numbers lots."""
        column, word = self.col(item), self.frame.tokens[item.start].low
        return column.numbers_rows or (column.is_dense and word != folded(column.plain))

    def _count_rows(self, subject: Item | None, used: tuple[Item | None, ...]) -> Iterator[Costed]:
        """Yield the number of rows, or the quantity that the rows state."""
        if subject is not None and subject.kind == "subject":
            return  # one of the columns may count it
        cost = 0.0 if subject is not None and subject.kind in ("noun", "column") else Cost.IMPLIED
        _, distinct, mention, *_ = used
        verbs = [each for each in self.columns("number") if each.value not in self.where.columns]
        quantity = self.sheet.quantity
        if quantity is not None and quantity.index not in self.where.columns and self._counts_things():
            yield from self.grouped(Cost.IMPLIED, Fold(self.where, quantity.index, "sum"), *used)
        elif self.sheet.origins is not None:
            return  # years are not rows
        elif not self.names_row:
            column = mention.value if mention is not None and distinct is not None else None
            yield from self.grouped(cost, HowMany(self.where, column), *used)
        elif len(verbs) == 1 and not self._is_measured(self.col(verbs[0])):  # how many people visited Oslo
            yield from self.yields(0.0, Pick(self.where, (verbs[0].value,), True), *used, verbs[0])

    def _counts_things(self) -> bool:
        """Whether "how many" asks about the things in the rows, not the rows: lamps in a table of orders."""
        items, count = self.frame.items, self.one("count")
        place = next((p for p, each in enumerate(items) if each is count), len(items))
        item, after = [*items[place + 1 : place + 3], None, None][:2]
        if item is None or item.kind == "noun":
            return item is not None and item.cost > 0
        is_led = after is not None and after.kind in ("noun", "column") and after.start == item.end
        return item.kind == "cell" and not is_led  # open orders

    def _is_counted(self, column: SheetColumn, mention: Item) -> bool:
        """Whether to count the different cells of a column: cities, but not event dates or figures."""
        figures = sum(any(map(str.isdigit, cell)) for cell in column.sample)
        is_text = column.kind == "text" and 2 * figures < len(column.sample)
        is_time = column.kind == "date" and column.is_plain_time
        return not mention.cost and not column.truths and (is_text or is_time)

    def _lists(self) -> bool:
        """Whether several cells of one column are named: "Ann and Bo"."""
        conditions = (each.condition for each in self.bounds)
        return any(isinstance(each, Either) and not each.negated for each in conditions)

    def folds(self) -> Iterator[Costed]:
        """Yield the sum, mean or median of a column of numbers."""
        fold, by = self.one("fold"), self.group()
        if self.asks in ("who", "where", "when") or self.has("distinct") or self.names_rows:
            return
        ids = {folded(each.plain) for each in self.sheet.columns if each.numbers_rows}
        if fold is not None and any(token.low in ids for token in self.frame.tokens[fold.end : fold.end + 2]):
            return  # codes are never summed
        how: How = fold.value if fold is not None else "sum"
        for cost, index, item in self.measure():
            column = self.sheet.columns[index]
            is_price = fold is not None and column.is_of("money") and "per" not in column.stems
            bears = is_price or not ((how == "sum" and column.is_rate) or column.is_running)
            if self.sheet.origins is not None and not (self._is_dated or self._is_flow(column)):
                continue  # a population does not add up over years
            is_free = index not in self.where.columns and (item is None or item is not by)
            if fold is None and min(column.filled, default=0) < 0:
                continue  # as in `_sum`
            if bears and column.kind == "number" and is_free:
                form = Fold(self.where, index, how)
                yield from self.grouped(cost, form, fold, item, *self.of("count", "how"))

    def extremes(self) -> Iterator[Costed]:
        """Yield the most or least of a column: a row's name, another cell, the number, or a group."""
        mark = (self.of("superlative") or self.of("most", "frequent"))[0]  # the top three cheapest
        named = {token.stem for token in self.frame.tokens[mark.end : mark.end + 1]}
        if any(each.has_pairs and named.intersection(each.stems) for each in self.sheet.columns):
            return  # the highest blood pressure is not of the highest person
        ordinal, number = self.one("ordinal"), self.few(mark)
        start, count = ordinal.value - 1 if ordinal else 0, int(number.value.number) if number else 1
        tops = [item for item in self.of("most") if number is not None and item.end == number.start]
        used = (mark, ordinal, number, *tops, *self.of("frequent", "count", "how"))
        if (self.has("frequent") or self._counts_rows(mark)) and not start and not self.has("fold"):
            best = -1 if mark.kind == "most" and mark.value < 0 else 1
            for cost, index, target in self.targets():
                column = self.sheet.columns[index]
                if column.kind == "text" and column is not self.sheet.key:
                    form = Grouped(HowMany(self.where), index, best, count)
                    yield from self.yields(cost, form, *used, target)
            return
        for cost, by, mention in self.measure([mark]):
            column, way = self.sheet.columns[by], self.way(mark, by)
            if way and (group := self.group()) is not None and self.wanted in (None, mention) and not start:
                form = Grouped(Fold(self.where, by, "max" if way > 0 else "min"), group.value)
                yield from self.yields(cost, form, *used, mention, self.one("each"), group)
            if way and not column.is_running and (mention is not None or not self.has("count")):
                rows = Ordered(self.where, by, way > 0, start, count)
                yield from self._at_the_end(cost, rows, mention, *used)

    def _counts_rows(self, mark: Item) -> bool:
        """Whether "the most" is followed by a word for the rows: "the most orders"."""
        counts = self.frame.tokens[mark.start].low in self.sheet.words.data["counting"].split()
        item = self.after(mark) if mark.kind == "most" and counts else None
        return self.names_a_row(item) and not self.columns("number", "time")

    def _at_the_end(
        self, cost: float, rows: Ordered, mention: Item | None, *used: Item | None
    ) -> Iterator[Costed]:
        """Yield answers from the top or bottom rows of a column, named by `mention` or implied."""
        by, head = cast("int", rows.by), self.wanted
        count, (mark, *_) = self.one("count"), self.of("most", "superlative")
        if count is not None and count.start < mark.start:  # how many points has the best team?
            head = self.after(count)
        else:
            count = None
        if self.has("how") or (head is not None and head is mention):
            is_one = not rows.start and rows.count == 1
            largest = Fold(self.where, by, "max" if rows.descending else "min")
            yield from self.yields(cost, largest if is_one else Pick(rows, (by,)), mention, *used)
            return
        folds = self.of("fold")
        for price, index, target in self.targets(by):
            column = self.sheet.columns[index]
            if count is not None and (target is None or target is not head):
                continue
            cells = [column.cells[row] for row in self.where.rows(self.sheet)]
            repeats = len(set(cells)) < len(cells) and column.kind in ("text", "date")
            if repeats and rows.start and self.sheet.columns[by].adds_up:
                continue  # ambiguous: the second of the rows, or of their sums
            if not folds:
                yield from self.yields(cost + price, Pick(rows, (index,)), mention, target, *used)
            if repeats and not rows.start and (folds or self.sheet.columns[by].adds_up):
                fold = Fold(self.where, by, folds[0].value if folds else "sum")
                form = Grouped(fold, index, 1 if rows.descending else -1, rows.count)
                yield from self.yields(cost + price, form, mention, target, *used, *folds)

    def ordinals(self) -> Iterator[Costed]:
        """Yield the first, last or nth row, by a rank, a date, or table order if the rows are numbered."""
        mark = (self.of("ordinal") or self.of("first", "last"))[0]
        others = [item for item in self.of("ordinal", "first", "last") if item is not mark]
        number = self.few(mark)
        start, backwards = mark.value - 1 if mark.kind == "ordinal" else 0, mark.kind == "last"
        if others:
            return  # the second last
        count = int(number.value.number) if number else 1
        dates = [column for column in self.sheet.columns if column.kind == "date"]
        if self.asks == "when" and not self.columns("date") and len(dates) == 1 and not start:
            latest = Fold(self.where, dates[0].index, "max" if backwards else "min")
            yield from self.yields(Cost.IMPLIED, latest, mark)
        date = next((item for item in self.columns("date") if item.start in (mark.end, mark.end + 1)), None)
        if date is not None and not start and count == 1 and self.asks in ("which", "when", ""):
            latest = Fold(self.where, date.value, "max" if backwards else "min")
            yield from self.yields(0.0, latest, mark, date)
        head = self.after(number or mark)
        stems = {self.frame.tokens[head.start].stem} if head is not None else set()
        for price, by, mention in self._orders():
            indexes = {each.index for each in self.sheet.columns if set(each.stems) == stems} - {by}
            for cost, index, target in self.targets(by):
                if indexes and index not in indexes and target is not None and target.start > mark.start:
                    continue  # the first product that was ordered is not an order
                rows = Ordered(self.where, by, backwards, start, count)
                yield from self.yields(price + cost, Pick(rows, (index,)), mark, mention, target, number)

    def _orders(self) -> Iterator[tuple[float, int | None, Item | None]]:
        """Yield the cost, column and item of each possible order; None is the order of the table."""
        items = [each for each in self.columns() if self.col(each).kind == "date" or not each.cost]
        items = [each for each in items if self.col(each).kind == "date" or self.col(each).is_rank]
        ranks = [column for column in self.sheet.columns if column.is_rank]
        dates = [column for column in self.sheet.columns if column.kind == "date"]
        if items:
            yield from ((0.0, item.value, item) for item in items)
        elif len(ranks) == 1 or (len(dates) == 1 and not ranks):
            yield Cost.IMPLIED, (ranks or dates)[0].index, None
        elif not ranks and not dates and any(column.is_running for column in self.sheet.columns):
            yield Cost.IMPLIED, None, None

    # Two things compared.

    def _pair(self) -> tuple[list[Any], tuple[Any, ...]] | None:
        """Return the conditions to compare, and the other conditions."""
        tests = [each.condition for each in self.bounds]
        for each in tests:
            if isinstance(each, Either) and not each.negated:
                return list(each.parts), tuple(other for other in tests if other is not each)
        for place, one in enumerate(tests):
            for two in tests[place + 1 :]:
                if type(one) is type(two) and isinstance(one, Is | Dates) and one.columns == two.columns:
                    return [one, two], tuple(each for each in tests if each is not one and each is not two)
        return None

    def _one_of(self, condition: Any, others: tuple[Any, ...], index: int) -> Form:
        """Return the form for one compared condition: its only number, or the sum over its rows."""
        where, column = Where((*others, condition)), self.sheet.columns[index]
        is_sum = len(where.rows(self.sheet)) > 1 and column.adds_up
        return Fold(where, index, "sum") if is_sum else Pick(where, (index,), True)

    def differences(self) -> Iterator[Costed]:
        """Yield the difference between two rows, or two columns of one row; a change keeps its sign."""
        marks, pair = self.of("difference", "change", "more", "comparative", "compare"), self._pair()
        change, subject = self.one("change"), self.after(self.one("count"))
        if change is not None and subject is not None and subject.kind != "column":
            return  # how many times did it fall
        way = int(change.value) if change is not None else 1
        used = (*marks, *self.of("count", "how", "degree", "than", "and", "or", "between", "dates", "ask"))
        numbers = self.columns("number")
        if "or" in self.frame.kinds:
            return  # did it fall in 2001 or in 2009
        if marks and pair is None and len(numbers) == 2 and (self.bounds or len(self.sheet.rows) == 1):
            one, two = (Pick(self.where, (item.value,), True) for item in numbers[::way])
            yield from self.yields(0.0, Gap(one, two, change is not None), *numbers, *used)
        if pair is None or len(pair[0]) != 2 or not marks:
            return
        parts, others = pair
        if change is not None and all(isinstance(each, Dates) for each in parts):
            parts = sorted(parts, key=lambda each: each.moment)
        more, than, lead = self.one("more"), self.one("than"), 0
        if change is None and more is not None and than is not None:  # more than the one named after "than"
            starts = {id(b.condition): self.frame.items[max(b.taken)].start for b in self.bounds if b.taken}
            behind = [each for each in parts if starts.get(id(each), 0) > than.start]
            if behind:
                second = min(behind, key=lambda each: starts[id(each)])
                parts, lead = sorted(parts, key=lambda each: each is second), int(more.value)
        counts_rows = self.has("count") and self.has("more") and not self.names_row
        if counts_rows and not self.has("column", "subject"):  # how many more A than B
            wheres = [Where((*others, each)) for each in parts]
            if any(len(each.rows(self.sheet)) > 1 for each in wheres):
                gap = Gap(HowMany(wheres[0]), HowMany(wheres[1]), way=lead)
                yield from self.yields(0.0, gap, *used)
        for cost, index, item in self.measure(marks):
            first, second = (self._one_of(each, others, index) for each in parts[::way])
            yield from self.yields(cost, Gap(first, second, change is not None, lead), item, *used)

    def comparisons(self) -> Iterator[Costed]:
        """Yield which of several has more, or whether one has more than another."""
        marks = self.of("most", "more", "comparative", "compare", "superlative", "first", "last")
        pair = self._pair()
        if not marks or pair is None:
            return
        parts, others = pair
        column = self.wanted.value if self.wanted is not None else None
        if column is None and self.names_rows and self.sheet.key is not None:
            column = self.sheet.key.index
        if not (column is None or self.is_truth or column in parts[0].columns):
            return  # which city of Portugal or France has the most: neither country
        if self.asks in ("who", "where") and self.sheet.columns[parts[0].columns[0]].kind != "text":
            return  # who has more in 2023 than in 2024: neither year
        if isinstance(parts[0], Dates) and not self.is_truth and self.asks != "when" and not self.has("part"):
            return  # which members took less in 2021 than in 2018
        names = tuple(map(self._name_of, parts))
        used = (*marks, *self.of("than", "or", "and", "whether", "count", "dates"))
        for cost, index, item in self.measure(marks[:1]):
            if way := self.way(marks[0], index):
                forms = tuple(self._one_of(each, others, index) for each in parts)
                form = Greater(names, forms, way > 0, self.is_truth and self.has("than", "compare"))
                yield from self.yields(cost, form, item, *used)

    def _name_of(self, condition: Any) -> str:
        if isinstance(condition, Is) and len(condition.texts) == 1:
            column = self.sheet.columns[condition.column]
            return column.answer_text(column.places[next(iter(condition.texts))][0])
        if isinstance(condition, Dates):
            return "-".join(str(part) for part in condition.moment[:3] if part)
        return str(getattr(condition, "wording", ""))
