"""Find what a question asks for, apart from its conditions: which column, measure and groups.

A form counts only if it uses every item that carries meaning.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from chameleon.modules.offline.conditions import Bound, Frame
from chameleon.modules.offline.costs import Cost
from chameleon.modules.offline.forms import Form, HowMany, Pick
from chameleon.modules.offline.links import Item
from chameleon.modules.offline.rows import Blank, Dates, Either, Is, Where
from chameleon.modules.offline.sheet import SheetColumn

Costed = tuple[float, Form]
Target = tuple[float, int, Item | None]  # cost, column, and the item that names it
_SPARE_KINDS = ("noun", "ask", "and", "verb")  # kinds that a form may leave unused
_LEADS = ("number", "ordinal", "first", "last", "most", "superlative", "distinct", "fold", "part", "count")
_MAX_LEAD_WORDS = 4  # words before a question word: "in the South, which"
_SORTS = {"who": "person", "where": "place", "when": "time"}


class Question:
    """The question asked about the rows that meet some conditions."""

    def __init__(self, frame: Frame, bounds: Sequence[Bound], items: Sequence[Item]) -> None:
        self.frame, self.bounds, self.items, self.sheet = frame, bounds, list(items), frame.sheet
        self.where = Where(tuple(each.condition for each in bounds))
        ask = self.one("ask")
        self.asks: str = ask.value if ask is not None else ""
        self.is_truth = bool(frame.items) and frame.items[0].kind == "whether"
        key, tested = self.sheet.key, (b.condition for b in bounds if isinstance(b.condition, Is | Either))
        self.names_row = key is not None and any(key.index in condition.columns for condition in tested)
        head = self._after_ask(ask)
        self.word_is_bare = head is None or head.kind not in ("noun", "subject", "column")
        is_column = head is not None and head.kind == "column"
        self.actor = self._actor(ask)
        is_column &= head is not self.actor
        self.wanted = head if head is not None and is_column and not self.col(head).is_count else None
        is_fold = any(item.kind == "fold" for item in self.items[:3])
        is_noun = head is not None and head.kind in ("noun", "subject")
        self.names_rows = is_noun and not is_fold  # "which city", of the cities

    # Items.

    def of(self, *kinds: str) -> list[Item]:
        return [item for item in self.items if item.kind in kinds]

    def has(self, *kinds: str) -> bool:
        return bool(self.of(*kinds))

    def one(self, kind: str) -> Item | None:
        return next(iter(self.of(kind)), None)

    def col(self, item: Item) -> SheetColumn:
        column: SheetColumn = self.sheet.columns[item.value]
        return column

    def columns(self, *kinds: str) -> list[Item]:
        """Return the items, not used by conditions, that name a column of one of these kinds."""
        return [item for item in self.of("column") if not kinds or self.col(item).kind in kinds]

    def after(self, item: Item | None, step: int = 1) -> Item | None:
        """Return the item that comes after another."""
        place = next((place for place, each in enumerate(self.items) if each is item), len(self.items)) + step
        return self.items[place] if 0 <= place < len(self.items) else None

    def few(self, mark: Item) -> Item | None:
        """Return the number of rows wanted, as in "the three longest", "top five"."""
        numbers = (item for item in self.of("number") if not item.value.base)
        neighbors = (each for each in numbers if each.end == mark.start or each.start == mark.end)
        starts = [item for item in self.items if item.kind not in ("ask", "noun")][:1]
        leads = (item for item in starts if item.kind == "number")  # "five cities with the most"
        number = next(neighbors, None) or next(leads, None)
        return number if number is not None and number.value.number in range(1, 101) else None

    def _after_ask(self, ask: Item | None) -> Item | None:
        """Return the item right after "which" or "what is the", or at the beginning."""
        if ask is not None and ask.value != "which":
            return None
        items = self.frame.items
        place = next((place + 1 for place, each in enumerate(items) if each is ask), 0)
        while place < len(items) and items[place].kind in _LEADS:
            place += 1
        item, after = ([*items[place : place + 2], None, None])[:2]
        begin, end = ask.end if ask is not None else 0, item.start if item is not None else 0
        led = {p for each in items[:place] for p in range(each.start, each.end)}
        between = [token for p, token in enumerate(self.frame.tokens[:end]) if p >= begin and p not in led]
        leads_on = any(("dates", "==") in self.sheet.words.phrases.get((each.low,), ()) for each in between)
        if item is None or leads_on or not any(item is each for each in self.items):
            return None  # a condition, or "which are for the most nights"
        is_beside = after is not None and after.start == item.end
        is_row = after is not None and after.kind == "noun" and after.value  # the goal scorers
        is_exact = after is not None and after.kind == "column" and not after.cost
        is_column = is_exact and item.kind == "noun"  # the vessel type
        return after if is_beside and (is_row or is_column) else item

    def _actor(self, ask: Item | None) -> Item | None:
        """Return the column that is the subject or object of the question's verb: "who runs the branch"."""
        items, fits = self.frame.items, self.sheet.fits
        place = next((n for n, each in enumerate(items, 1) if each is ask), len(items))
        first, second = (*items[place : place + 2], None, None)[:2]
        if first is None or ask is None:
            return None
        acts = self.frame.tokens[ask.end].low in self.sheet.words.data["acts"].split()
        if self.asks == "where":
            is_place = first.kind == "column" and fits(self.col(first), "place")
            actor = None if is_place else first
        elif self.asks == "who":
            actor = second if first.kind in ("verb", "subject") else None
        else:
            actor = first if acts and self.asks == "which" else None
        return actor if actor is not None and actor.kind == "column" else None

    # Reasons not to read a question: it asks nothing, asks twice, or is ambiguous.

    @property
    def is_unclear(self) -> bool:
        """Whether the question cannot be read, whatever it asks for."""
        is_unread = self.has("unread", "unknown") or self.asks == "why"
        pairs = pairwise(self.frame.items)
        asks_twice = any((one.kind, two.kind) == ("and", "ask") for one, two in pairs)  # "and what did they"
        is_open = asks_twice or self._denies_a_date() or any(map(self._may_be_dated, self.bounds))
        is_open |= self._picks_amounts()
        return is_unread or self._states() or self._asks_of_verb() or is_open

    @property
    def clashes(self) -> bool:
        """Whether two conditions require different values of the same cell."""
        columns = [each.condition.column for each in self.bounds if isinstance(each.condition, Is | Dates)]
        return len(set(columns)) < len(columns)

    def _picks_amounts(self) -> bool:
        """Whether a word related to an amount stands for rows: "which sales", with a column Revenue."""
        ask, head = self.one("ask"), self.wanted
        picks = ask is not None and self.frame.tokens[ask.start].low in self.sheet.words.data["picks"].split()
        return picks and head is not None and head.cost >= Cost.IDEA and self.col(head).kind == "number"

    def _denies_a_date(self) -> bool:
        """Whether a date follows a negation: "not shipped in May" may mean later, or not at all."""
        denied = (each for each in self.bounds if getattr(each.condition, "negated", False))
        return any(self.frame.kind(max(each.taken) + 1) in ("dates", "date") for each in denied)

    def _follows(self, place: int) -> bool:
        """Whether a word for rows, or a column, directly follows an item: "open orders"."""
        items = self.frame.items
        return self.frame.kind(place + 1) in ("noun", "column") and items[place + 1].start == items[place].end

    def _states(self) -> bool:
        """Whether it is a statement: it has a verb but no question."""
        words, verb = self.sheet.words, ("whether", "whether")
        tokens = [token for token in self.frame.tokens if token.low not in "?#"]
        asking = (item for item in self.frame.items if item.kind in ("ask", "how", "count", "whether"))
        asking = (item for item in asking if item.value != "number")  # statements have it, too
        ask = next(asking, None)
        if ask is not None and ask.kind == "ask":
            ends = len(tokens) > 1 and verb in words.phrases.get((tokens[-1].low,), ())  # what does Ann have
            return ask.start > _MAX_LEAD_WORDS or (ends and self.word_is_bare)  # the venue where they played
        has_verb = self.has("verb") or any(verb in words.phrases.get((token.low,), ()) for token in tokens)
        return has_verb and ask is None and bool(tokens) and tokens[0].low not in words.request

    def _may_be_dated(self, bound: Bound) -> bool:
        """Whether rows with another status have a date for this one: shipped, and delivered since."""
        items, condition = self.frame.items, bound.condition
        cells = [place for place in bound.taken if items[place].kind == "cell"]
        words = [self.frame.tokens[items[p].start : items[p].end] for p in cells if not self._follows(p)]
        stems = {word[0].stem for word in words if len(word) == 1}
        used = {each for other in self.bounds if other is not bound for each in other.condition.columns}
        dated = [c for c in self.sheet.columns if c.kind == "date" and stems.intersection(c.stems)]
        parts = condition.parts if isinstance(condition, Either) else (condition,)
        rows = set[int]().union(*(part.rows(self.sheet) for part in parts if isinstance(part, Is)))
        others = set(range(len(self.sheet.table.rows))) - rows
        return any(others != Blank(each.index).rows(self.sheet) for each in dated if each.index not in used)

    def _asks_of_verb(self) -> bool:
        """Whether "who" is the subject of a verb in a cell, as in "who approved it": no column has that."""
        ask, items = self.one("ask"), self.frame.items
        place = next((p for p, each in enumerate(items) if p and items[p - 1] is ask), None)
        if self.asks != "who" or place is None or items[place].kind != "cell" or self._follows(place):
            return False
        before, word = self.frame.tokens[items[place].start - 1 : items[place].start + 1]
        return word.text.islower() and before.low not in self.sheet.words.data["passive"].split()

    # Whether a form says all of it.

    def yields(self, cost: float, form: Form, *used: Item | None) -> Iterator[Costed]:
        """Yield a form with its cost if it accounts for every item."""
        rest = [item for item in self.items if not any(item is each for each in used)]
        if self._divides(form) or not self._relates(form) or self._prices_rows(form):
            return
        units = {item.value for item in rest if item.kind == "unit"}
        column_units = [self.sheet.columns[index].units for index in form.columns]
        if units and not any(each & units for each in column_units):
            return
        if all(self._is_spare(item, form) for item in rest) and (dated := self._part(form)) is not None:
            yield cost, dated

    def _divides(self, form: Form) -> bool:
        """Whether the question negates a condition but asks for what several rows share: teams without it."""
        kinds = self.frame.kinds
        is_denied = any(kinds[place] == "none" for each in self.bounds for place in each.taken)
        picks = form.wanted if isinstance(form, Pick) else (form.column,) if isinstance(form, HowMany) else ()
        columns = (self.sheet.columns[each] for each in picks if each is not None)
        shared = (each for each in columns if each.kind == "text" and each is not self.sheet.key)
        return is_denied and not all(each.is_id for each in shared)

    def _relates(self, form: Form) -> bool:
        """Whether it is clear which of two columns with shared names is meant: managers are employees too.

        "The manager of Ann" and "Ann's manager" mean the other column, "manager Ann" the named one.
        """
        picks = form.wanted if isinstance(form, Pick) else (form.column,) if isinstance(form, HowMany) else ()
        columns = [self.sheet.columns[each] for each in picks if each is not None]
        key, tested = self.sheet.key, {each for bound in self.bounds for each in bound.condition.columns}
        is_key = key is None or key.index in tested | {each.index for each in columns}
        alike = [each for each in columns if key is not None and not is_key and self.sheet.overlap(each, key)]
        if alike and (self.bounds or not isinstance(form, HowMany)):
            return False  # which managers are remote
        for bound in self.bounds:
            for column in (self.sheet.columns[each] for each in bound.condition.columns):
                others = [each for each in columns if each is not column and self.sheet.overlap(each, column)]
                if others and not self._is_explicit(bound, others[0]):
                    return False
        return True

    def _prices_rows(self, form: Form) -> bool:
        """Whether a unit price would be given as the price of an order that also has a total."""
        is_row = any(self.names_a_row(item) and not item.cost for item in self.items)
        amounts = [self.sheet.columns[index] for index in form.columns]
        priced = [each for each in amounts if each.is_rate and each.is_of("money")]
        exact = {item.value for item in self.frame.items if item.kind == "column" and not item.cost}
        totals = any(each.adds_up and each.is_of("money") for each in self.sheet.amounts)
        return is_row and totals and any(each.index not in exact for each in priced)

    def _is_explicit(self, bound: Bound, other: SheetColumn) -> bool:
        of, ask = self.sheet.words.data["genitive"].split(), self.one("ask")
        cells = [self.frame.items[each] for each in bound.taken if self.frame.kinds[each] == "cell"]
        for cell in cells:
            followers = (each for each in self.frame.items if ask is not None and each.start == ask.end)
            verb = next(followers, None)
            if verb is not None and verb.kind == "column" and verb.end == cell.start:  # who manages Ann
                return bool(verb.value == other.index)
            columns = [each for each in self.frame.items if each.kind == "column" and not each.cost]
            led = any(each.value == other.index and self._joined(each, cell) in of for each in columns)
            led |= any(each.value == other.index and self._joined(cell, each) in of for each in columns)
            names = [self.frame.items[each] for each in bound.named]
            is_named = any(not each.cost and self._joined(each, cell) not in of for each in names)
            if not led and not is_named:
                return False
        return True

    def _joined(self, one: Item, two: Item) -> str:
        """Return the first word between two items, "" unless there are one or two words between them."""
        between = self.frame.tokens[one.end : two.start] if one.end <= two.start else ()
        return between[0].low if len(between) in (1, 2) else ""

    def _is_spare(self, item: Item, form: Form) -> bool:
        if item.kind == "column":
            is_tested = item.value in self.where.columns and item.cost <= Cost.FORM
            return (item.value in form.columns or is_tested) and not self._owns(item)
        if item.kind == "subject":  # "which peaks", and no row is named
            after = next((each for each in self.frame.items if each.start == item.end), None)
            is_alone = after is None or after.kind not in ("noun", "column", "cell")
            celled = any(isinstance(each.condition, Is | Either) for each in self.bounds)
            is_looked_up = isinstance(form, Pick) and isinstance(form.of, Where) and celled
            is_free = bool(self.bounds) or not isinstance(form, HowMany)
            return is_alone and is_free and not (self.names_row or is_looked_up)
        if item.kind == "verb" and item.value:  # it must fit a column or a noun for the rows
            nouns = {self.frame.tokens[each.start].stem for each in self.frame.items if each.kind == "noun"}
            nouns.update(self.sheet.caption)
            columns = (self.sheet.columns[index] for index in (*form.columns, *self.where.columns))
            return not item.value.isdisjoint({stem for each in columns for stem in each.stems} | nouns)
        if item.kind == "part":
            return any(self.sheet.columns[index].kind == "date" for index in getattr(form, "wanted", ()))
        if item.kind == "dates":
            return item.value in ("==", ">=") and self.frame.tokens[item.start].low in self.sheet.words.filler
        return item.kind in (*_SPARE_KINDS, "unit")

    def _owns(self, item: Item) -> bool:
        """Whether a column belongs to a cell, as in "the manager of Ann", and is not itself a condition."""
        is_named = any(self.frame.items[place] is item for bound in self.bounds for place in bound.named)
        return item.value in self.where.columns and self.col(item).kind == "text" and not is_named

    def _part(self, form: Form) -> Form | None:
        """Return a form with the part of its dates that "which year" asks for; None if several share it."""
        part, columns = self.one("part"), [self.sheet.columns[index] for index in getattr(form, "wanted", ())]
        if part is None or not columns or columns[0].kind != "date":
            return form
        finer = any(at and at[0][1 if part.value == "year" else 2] for at in columns[0].moments)
        is_one = isinstance(form, Pick) and isinstance(form.of, Where)
        return form if not finer else replace(form, part=part.value) if is_one else None  # type: ignore[type-var]

    # Which column is asked for.

    def targets(self, by: int | None = None) -> Iterator[Target]:
        """Yield the columns that may hold the answer: named, fitting the question word, or the key.

        `by`: the column that orders the rows, which is excluded.
        """
        affirmed = [b.condition for b in self.bounds if not getattr(b.condition, "negated", False)]
        celled = {column for each in affirmed if isinstance(each, Is | Either) for column in each.columns}
        if self.wanted is not None:
            is_open = self.wanted.value not in {by, *celled}
            yield from [(0.0, self.wanted.value, self.wanted)] if is_open else []
            return
        used = {column for each in affirmed for column in each.columns} | {by}
        used |= {self.actor.value} if self.actor is not None else set()
        sort, key = _SORTS.get(self.asks, ""), self.sheet.key
        items = [item for item in self.columns() if item.value not in used and not self.names_rows]
        items = [
            item for item in items if not self.col(item).truths or (not sort and self.frame.is_whole(item))
        ]
        items = [item for item in items if self.asks != "which" or not self.col(item).is_count]
        items = [  # what did Ann order
            item for item in items if not (self.asks and self.col(item).is_id and self._is_act(item))
        ]
        texts = [item for item in items if self.col(item).kind == "text" and sort != "time"]
        texts = [item for item in texts if not sort or self.col(item) is not key]  # who has a task
        items = [item for item in items if not sort or self.sheet.fits(self.col(item), sort)] or texts
        yield from ((0.0, item.value, item) for item in items)
        leads = [item for item in self.frame.items if item.kind not in _LEADS][:1]
        if items or not (self.asks or by is not None or any(item.kind == "noun" for item in leads)):
            return
        fitting = [each for each in self.sheet.columns if sort and self.sheet.fits(each, sort)]
        fitting = [each for each in fitting if each.index not in used]
        plain = [each for each in fitting if each.is_plain_time or len(each.stems) == 1] or fitting
        is_row = any(sort in self._sorts_of(item) for item in self.items)  # who is the oldest patient
        fitting, plain = ([], []) if is_row else (fitting, plain)
        is_key = key is not None and key.index not in used and sort != "time" and self._may_be_key(key)
        if key is not None and is_key and (key in fitting or not fitting):
            yield Cost.IMPLIED if self.asks != "where" else Cost.LOOSE, key.index, None
        is_bare = key is not None and self.word_is_bare and key.numbers_rows
        is_sure = (not is_bare or sort in ("person", "place")) and not (is_key and key in fitting)
        if len(plain) == 1 and is_sure:
            yield Cost.IMPLIED, plain[0].index, None

    def _is_act(self, item: Item) -> bool:
        """Return whether an item is a verb: "what did Ann order"."""
        acts = self.sheet.words.data["acts"].split()
        return not self.frame.is_whole(item) or any(t.low in acts for t in self.frame.tokens[: item.start])

    def names_a_row(self, item: Item | None) -> bool:
        """Return whether an item is a noun for the rows, or names their ID column."""
        is_noun = item is not None and item.kind == "noun" and bool(item.value)
        return is_noun or (item is not None and item.kind == "column" and self.col(item).is_id)

    def _sorts_of(self, item: Item) -> Collection[str]:
        """Return the sorts of thing that a noun for the rows may mean."""
        things = self.sheet.words.things.get(self.frame.tokens[item.start].stem, ())
        return things if self.names_a_row(item) else ()

    def _may_be_key(self, key: SheetColumn) -> bool:
        """Whether a question word may mean the key: "what" does not mean a code, nor "who" a book."""
        if key.has_pairs or (self.word_is_bare and key.numbers_rows):
            return False
        sorts, sort = self.sheet.sorts(key), _SORTS.get(self.asks, "")
        return not sort or not sorts or sort in sorts or (sort == "person" and "group" in sorts)

    def measure(self, marks: Sequence[Item] = ()) -> Iterator[Target]:
        """Yield the columns of amounts that may be meant: named, graded by an adjective, or the only one."""
        is_most = any(mark.kind in ("most", "superlative") for mark in marks)
        kinds = ("number", "time") if is_most else ("number", "date", "time")
        items = self.columns(*kinds)
        items = [item for item in items if item is not self.wanted or self.col(item).kind == "number"]
        graded = [each for mark in marks for each in self._graded(mark)]
        if graded:
            fitting = [each for each in graded if not items or each[1] in {item.value for item in items}]
            yield from fitting
        elif items:
            yield from ((0.0, item.value, item) for item in items)
        elif not any(mark.kind == "superlative" for mark in marks):
            yield from ((Cost.IMPLIED, column.index, None) for column in self._implied(marks))

    def _implied(self, marks: Sequence[Item]) -> list[SheetColumn]:
        """Return the only column of amounts, or the only one that fits a verb such as "spend"."""
        amounts = self.sheet.amounts
        if any(item.value == "how much" for item in self.of("how")):
            money = [each for each in amounts if each.bases & set("$€£¥") or each.is_of("money")]
            amounts = money or amounts
        verbs = [item for item in self.of("verb") if item.value]
        if verbs and self.sheet.origins is None:
            fits = [each for each in amounts if any(item.value.intersection(each.stems) for item in verbs)]
            fits = [each for each in fits if min(each.filled, default=0) >= 0]  # not negative spending
            amounts = [each for each in fits if each.adds_up] or fits
        elif any(mark.kind == "most" for mark in marks) and self.sheet.origins is None:
            return []
        return amounts if len(amounts) == 1 else []

    def _graded(self, mark: Item) -> Iterator[Target]:
        if mark.kind in ("superlative", "comparative", "degree"):
            for _, index, cost in self.frame.graded(mark.value):
                item = next((each for each in self.columns() if each.value == index), None)
                yield 0.0 if item else cost, index, item

    def way(self, mark: Item, index: int) -> int:
        """Return 1 if a mark asks for larger values of a column, -1 for smaller ones, 0 for neither."""
        column = self.sheet.columns[index]
        if mark.kind in ("first", "last"):
            return (1 if mark.kind == "last" else -1) if column.kind == "date" else 0
        if mark.kind == "compare":
            return {">": 1, "<": -1}.get(mark.value, 0)
        if mark.kind in ("most", "more"):
            return -int(mark.value) if column.is_rank else int(mark.value)
        return next((way for way, place, _ in self.frame.graded(mark.value) if place == index), 0)
