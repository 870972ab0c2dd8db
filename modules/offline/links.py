"""Schema linking: what each stretch of a question may mean in this table, with what it costs to take it so.

An exact name costs nothing; a part of one, another form, a word of the same idea, a slip of the finger cost
more. The cheapest ways to cut the whole question into linked stretches are found by a beam search.
"""

from __future__ import annotations

import heapq
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any, NamedTuple

from chameleon.cached import cached_property
from chameleon.modules.offline.algebra import Is
from chameleon.modules.offline.sheet import Measure, Sheet, SheetColumn
from chameleon.modules.offline.words import ENGLISH, Stems, Token, alike, folded
from chameleon.table.dates import MONTHS, read_date

_EACH = 0.01  # what an item costs by being one, so that longer ones win
_BEAM = 48
_MOST_LINES = 20_000
_UNKNOWN = 0.6
_BEFORE_DATES = ("in", "of", "on", "since", "during", "by", "until", "before", "after")
_FIGURES = {word: Fraction(n) for n, word in enumerate(ENGLISH.data["numbers"])} | ENGLISH.data["tens"]
_MONTHS = tuple(month[:3] for month in MONTHS)
_WORD = re.compile(r"\w+")


class Item(NamedTuple):
    """What the tokens from `start` to `end` may mean: its kind, its cost and its value."""

    start: int
    end: int
    kind: str
    cost: float
    value: Any = None

    @property
    def column(self) -> int | None:
        """The column of a column or of a value."""
        return self.value.column if self.kind == "value" else self.value if self.kind == "column" else None


@dataclass(frozen=True)
class Reading:
    """A question cut into items, and what they cost together."""

    cost: float
    items: tuple[Item, ...]


class Links:
    """The items of one question over one sheet."""

    def __init__(self, tokens: Sequence[Token], sheet: Sheet, lead: Sequence[Token] = ()) -> None:
        """`lead`: the sentences before the question, whose words may mean the rows."""
        self.tokens, self.sheet, self.lead = list(tokens), sheet, {token.stem for token in lead}
        # Years of the caption that no cell has: "in 2024" over the league of 2024 leaves nothing out.
        years = {stem for stem in sheet.caption if stem.isdigit() and len(stem) == 4}
        texts = [*sheet.table.header, *(column.blob for column in sheet.columns)] if years else []
        self.told = {year for year in years if not any(year in text for text in texts)}
        self.by_start: dict[int, list[Item]] = defaultdict(list)
        for item in self._all():
            self.by_start[item.start].append(item)
        self._mend()

    def low(self, place: int) -> str:
        return self.tokens[place].low if 0 <= place < len(self.tokens) else ""

    def _all(self) -> Iterator[Item]:
        yield from self._phrases()
        yield from self._numbers()
        yield from self._dates()
        yield from self._columns()
        yield from self._values()
        yield from self._nouns()

    # Function words, numbers and dates.

    def _phrases(self) -> Iterator[Item]:
        lows = [token.low for token in self.tokens]
        measures = {folded(each.plain) for each in self.sheet.amounts}
        is_loud = all(token.text.isupper() for token in self.tokens if token.low.isalpha())
        for start, token in enumerate(self.tokens):
            is_bound = token.low in ("least", "most") and self.low(start - 1) == "at"
            for end in range(start + 1, min(start + 5, len(lows) + 1)) if not is_bound else ():
                for kind, value in ENGLISH.phrases.get(tuple(lows[start:end]), ()):
                    if kind == "count" and measures.intersection(lows[start:end]):
                        continue  # the amount of all, where a column is called so
                    yield Item(start, end, kind, 0.0, value)
            if token.low in ENGLISH.request:
                yield Item(start, start + 1, "filler", 0.0)
            is_led = self.low(start - 1) in _BEFORE_DATES
            is_month = token.low == "may" and (token.text[0].isupper() or is_led)
            if is_month or (token.text.isupper() and len(token.text) > 1 and not is_loud):
                continue  # IT is not it
            if token.low in ENGLISH.filler or ENGLISH.forms.get(token.low) in ENGLISH.filler:
                yield Item(start, start + 1, "filler", 0.25 if token.low in _STEERING else 0.0)
            elif token.stem in ENGLISH.neutral:
                yield Item(start, start + 1, "verb", 0.1)
            yield from self._units(start)

    def _unit(self, start: int) -> tuple[int, str, tuple[str, Fraction]] | None:
        """The unit of two words or one that begins here: where it ends, its name, its kind and factor."""
        for end, joined in ((start + 2, "/"), (start + 2, " "), (start + 1, "")):
            name = joined.join(map(self.low, range(start, end)))
            if name in ENGLISH.units:
                return end, name, ENGLISH.units[name]
        return None

    def _units(self, start: int) -> Iterator[Item]:
        """Units of one or two words, and signs that say nothing by themselves."""
        low = self.low(start)
        if low in ("$", "€", "£", "¥", "°", "#", "?"):
            yield Item(start, start + 1, "filler", 0.0)
        if low in ENGLISH.filler or len(low) < 2 or low in ENGLISH.data["ordinals"]:
            return  # the second of some rows is no time
        if (unit := self._unit(start)) and unit[2][0] != "%":
            yield Item(start, unit[0], "unit", 0.05 if unit[0] == start + 1 else 0.0, unit[2])

    def _numbers(self) -> Iterator[Item]:
        for place, token in enumerate(self.tokens):
            if token.low in self.told or (found := self._number_at(place)) is None:
                continue
            number, end = found
            money = ENGLISH.units[self.low(place - 1)][0] if self.low(place - 1) in tuple("$€£¥") else ""
            start = place - bool(money)
            yield Item(start, end, "number", 0.0, Measure(number, money))
            if not money and (unit := self._unit(end)):
                last, name, (base, factor) = unit
                yield Item(start, last, "number", 0.0, Measure(number * factor, base, name, factor))

    def _number_at(self, place: int) -> tuple[Fraction, int] | None:
        """Read "20,000", "1.5 million", "twenty", "two dozen", "half a million" from here on."""
        token, scales, end = self.tokens[place], ENGLISH.data["scales"], place + 1
        number = token.number if token.number is not None else _FIGURES.get(token.low)
        if number is None and token.low in ("a", "half") and self.low(end) in scales:
            number = Fraction(1)
        while number is not None and self.low(end) in scales and self.low(end) != "m":
            number, end = number * scales[self.low(end)], end + 1
        return None if number is None else (number, end)

    def _dates(self) -> Iterator[Item]:
        for start, token in enumerate(self.tokens):
            if token.low in self.told or not (token.number or token.low.startswith(_MONTHS)):
                continue
            for end in range(min(start + 5, len(self.tokens)), start, -1):
                words = [each.text for each in self.tokens[start:end] if each.low not in ("of", "the")]
                is_figure = len(words) == 1 and words[0].isdigit() and len(words[0]) != 4
                is_led = self.low(end - 1) in ("of", "the")
                if not (is_figure or is_led) and (found := read_date(" ".join(words))):
                    yield Item(start, end, "date", 0.0, found)
                    break

    # Names of columns.

    def _columns(self) -> Iterator[Item]:
        stems = [ENGLISH.short.get(token.stem, token.stem) for token in self.tokens]
        found: list[tuple[Item, float]] = []
        for column in self.sheet.columns:
            if column.stems:
                found.extend(self._named(column, stems))
        whole = [item for item, missing in found if not missing]
        for item, missing in found:
            rivals = (each for each in whole if each.start <= item.start and item.end <= each.end)
            if not (item.cost and missing and any(each.value != item.value for each in rivals)):
                yield item
        for column in self.sheet.columns:  # "lifeExp", "GDP/cap": as it is written
            low = folded(column.plain)
            for start, token in enumerate(self.tokens):
                if token.low == low and column.stems != (token.stem,):
                    yield Item(start, start + 1, "column", 0.0, column.index)
        for base, words in ENGLISH.measures.items():  # "weigh" is the only column in kg
            units = [each for each in self.sheet.columns if each.kind == "number" and base in each.unit_stems]
            for start, token in enumerate(self.tokens):
                if token.stem in words and len(units) == 1 and token.stem not in units[0].stems:
                    yield Item(start, start + 1, "column", 0.3, units[0].index)

    def _named(self, column: SheetColumn, stems: Sequence[str]) -> Iterator[tuple[Item, float]]:
        """The stretches that name a column: all of its words, some in their order, forms or ideas of one."""
        names = column.stems
        words = [stem for stem in names if stem not in _SMALL] or list(names)
        content = [stem for stem in words if stem not in _NAMING] or words
        for start in range(len(stems)):
            end, cost, met = start, 0.0, set[str]()
            while end < len(stems):
                near = self._nearness(end, stems[end], words)
                if near is None:
                    joins = met and self.tokens[end].low in _JOINING and end + 1 < len(stems)
                    if joins and self._nearness(end + 1, stems[end + 1], words):
                        end += 1
                        continue
                    break
                cost, end = cost + (near[0] if near[1] not in met else 0.0), end + 1
                met.add(near[1])
                told = met.intersection(content)
                if all(stem.isdigit() for stem in told) and (len(content) > 1 or not told):
                    continue
                is_cut = not met.issuperset(words) and not column.is_id  # an order is its ID
                missing = 0.1 * (is_cut and len(words) > len(content)) + 1 - len(told) / len(set(content))
                yield Item(start, end, "column", cost + 0.25 * missing, column.index), missing

    def _nearness(self, place: int, stem: str, names: Sequence[str]) -> tuple[float, str] | None:
        """What it costs to take a word for one of a name's, and which."""
        if stem in names:
            return 0.0, stem
        token = self.tokens[place]
        is_filler = token.low in ENGLISH.filler and token.low not in _VERBS
        if is_filler or token.number is not None:
            return None
        ideas = ENGLISH.ideas.get(stem, frozenset())
        ways: tuple[tuple[float, Callable[[str], bool]], ...] = (
            (0.15, lambda name: ENGLISH.are_kin(stem, name)),
            (0.35, ideas.__contains__),
            (0.35, lambda name: 3 <= len(name) <= 4 < len(stem) and stem.startswith(name)),
        )
        found = ((cost, name) for cost, fits in ways for name in names if fits(name))
        return next(found, None)

    # Texts of cells.

    def _values(self) -> Iterator[Item]:
        spans: dict[tuple[int, int, int], dict[str, int]] = defaultdict(dict)
        for column in self.sheet.columns:
            for line, names in self._lines(column):
                for start, length in self._overlaps(names):
                    for end in range(start + 1, start + length + 1):
                        spans[column.index, start, end][line] = len(names)
        for (index, start, end), lines in spans.items():
            yield from self._of_span(self.sheet.columns[index], start, end, lines)

    def _lines(self, column: SheetColumn) -> Iterator[tuple[str, Stems]]:
        """The different texts of a column that have a telling word of the question, with their stems."""
        found: dict[str, None] = {}
        blob = column.blob
        for token in self.tokens:
            is_number, low = token.number is not None, token.low
            is_short = len(low) < 2 and not token.text.isupper()
            is_filler = low in ENGLISH.filler and not token.text[0].isupper()
            if not is_number and (is_short or is_filler):
                continue
            base = token.stem if len(token.stem) > 2 and low.startswith(token.stem) else low
            forms = {low} if is_number else {base, *ENGLISH.written.get(token.stem, ())}
            form = f"(?:{'|'.join(map(re.escape, forms))})"
            for match in islice(re.finditer(rf"(?<![^\W_]){form}", blob), _MOST_LINES):
                begin, stop = blob.rfind("\n", 0, match.start()) + 1, blob.find("\n", match.end())
                found[blob[begin : stop if stop >= 0 else None]] = None
        for line in found:
            yield line, _stems_of(line)

    def _overlaps(self, names: Stems) -> Iterator[tuple[int, int]]:
        """Where the question has some of these words, in their order: first token and how many."""
        stems = tuple(token.stem for token in self.tokens)
        for start, stem in enumerate(stems):
            places = [place for place, name in enumerate(names) if name == stem]
            if places:
                yield start, max(alike(names[place:], stems[start:]) for place in places)

    def _of_span(self, column: SheetColumn, start: int, end: int, lines: dict[str, int]) -> Iterator[Item]:
        """The cells that a stretch names in full, or that have all of it in their text."""
        words = self.tokens[start:end]
        if all(("none", "none") in ENGLISH.phrases.get((word.low,), ()) for word in words):
            return  # "no" denies, and is no cell
        telling = [w for w in words if w.low not in ENGLISH.filler or (w.text.isupper() and len(w.text) > 1)]
        exact = frozenset(line for line, length in lines.items() if length == end - start)
        said = " ".join(word.text for word in words)
        before = self.low(start - 1)
        way = 0.4 if {before, *column.stems} == {"from", "to"} else 0.0
        is_figure = all(word.number is not None for word in words)
        if exact and (telling or (words[0].text[0].isupper() and start > 0)):
            # A figure in a column of amounts is compared as a number, not as a text.
            is_amount = is_figure and column.kind in ("number", "date")
            cost = way + (0.3 if is_amount or exact <= _TOTALS else 0.0)
            yield Item(start, end, "value", cost, Is(column.index, exact, said))
        is_said = any(word.low not in _FUNCTION for word in telling)
        if column.kind in ("number", "date", "time") or not is_said or (is_figure and len(words) == 1):
            return
        held = frozenset(line for line in lines if not self.sheet.summaries.issuperset(column.places[line]))
        share = len(held) / max(1, len(column.places))
        is_common = len(column.places) > 3
        if held == exact or max(len(word.low) for word in telling) < 3:
            return
        if share > 0.6 and is_common and not exact:
            yield Item(start, end, "noun", 0.15 if share > 0.95 else 0.7)
        if share > 0.95 and is_common:
            return
        if not any(word.low in ("not", "no", "never") for word in words):
            first = re.escape(words[0].low[:4])
            denied = re.compile(rf"\b(?:not|never|no|non|missed|failed)[ -](?:\w+ )?{first}")
            held = frozenset(line for line in held if not denied.search(line))
        inexact = not any(all(word.low in line for word in telling) for line in held)
        if not held or (inexact and min(len(word.stem) for word in telling) < 4):
            return  # "lose" is not in "Los Angeles"
        covered = sum((end - start) / length for length in lines.values()) / len(lines)
        costs = (
            (0.2, inexact),
            (0.25, bool(exact)),
            (0.3, all(map(self._names_something, telling))),
            (0.1, share > 0.3 and len(held) > 3),
        )
        cost = way + 0.1 + 0.2 * (1 - covered) + sum(cost for cost, holds in costs if holds)
        yield Item(start, end, "value", cost, Is(column.index, held, said))

    def _names_something(self, word: Token) -> bool:
        """Whether a word is one for columns or rows, and so seldom for a cell."""
        names = {stem for column in self.sheet.columns for stem in column.stems} | set(self.sheet.nouns)
        is_named = any(word.stem == name or ENGLISH.are_kin(word.stem, name) for name in names)
        return word.stem in ENGLISH.things or is_named

    def name_cells(self) -> bool:
        """Tell whether a word surely names a cell, other than whose something is, as in "Ann's table"."""
        items = (item for items in self.by_start.values() for item in items)
        return any(item.kind == "value" and item.cost < 0.2 and self.low(item.end) != "s" for item in items)

    # Words for the rows.

    def _nouns(self) -> Iterator[Item]:
        nouns = self.sheet.nouns
        for start, token in enumerate(self.tokens):
            stem = token.stem
            near = [0.1] if stem in self.lead else [0.0] if token.low in self.told else []
            near += [cost + 0.15 for name, cost in nouns.items() if ENGLISH.are_kin(stem, name)]
            near += [cost + 0.25 for name, cost in nouns.items() if name in ENGLISH.ideas.get(stem, ())]
            cost = nouns.get(stem, min(near, default=None))
            if cost is not None and token.low not in ENGLISH.filler:
                yield Item(start, start + 1, "noun", cost)
            named = any(stem in column.stems for column in self.sheet.columns)
            if not named and (sorts := ENGLISH.things.get(stem)) and token.low not in ("when", "where"):
                yield Item(start, start + 1, "thing", 0.1, sorts)

    def _mend(self) -> None:
        """Link words that nothing else has linked: by one slip of a finger to cells, else as unknown."""
        items = [item for items in self.by_start.values() for item in items]
        linked = {place for item in items for place in range(item.start, item.end)}
        self.unknown = [token.text for place, token in enumerate(self.tokens) if place not in linked]
        for start, token in enumerate(self.tokens):
            found = self.by_start[start]
            if start not in linked:
                if token.stem in _WEAK:
                    found.append(Item(start, start + 1, "verb", 0.3))
                found.append(Item(start, start + 1, "unknown", _UNKNOWN, token.text))
            self.by_start[start] = found or [Item(start, start + 1, "unknown", _UNKNOWN, token.text)]

    @cached_property
    def readings(self) -> list[Reading]:
        """The cheapest ways to cut the question into items, first the cheapest."""
        states: list[list[tuple[float, tuple[Item, ...]]]] = [[] for _ in range(len(self.tokens) + 1)]
        states[0] = [(0.0, ())]
        for place in range(len(self.tokens)):
            for cost, items in heapq.nsmallest(_BEAM, states[place], key=lambda state: state[0]):
                for item in self.by_start[place]:
                    states[item.end].append((cost + item.cost + _EACH, (*items, item)))
        ends = heapq.nsmallest(_BEAM, states[-1], key=lambda state: state[0])
        return [Reading(cost, tuple(item for item in items if item.kind != "filler")) for cost, items in ends]


_JOINING = ("of", "in", "the", "for", "per", "by", "to", "and")
_FUNCTION = frozenset(
    words[0]
    for words, kinds in ENGLISH.phrases.items()
    if len(words) == 1 and kinds[0][0] not in ("spend", "degree", "ordinal", "change")
)
_WEAK = ENGLISH.listed("weak")
_NAMING = ENGLISH.listed("name_columns")
_TOTALS = frozenset(ENGLISH.data["total_rows"])
_STEERING = frozenset(ENGLISH.data["steering"].split())
_SMALL = ENGLISH.listed("small")
_VERBS = frozenset(ENGLISH.data["naming"].split())
_STEMS: dict[str, Stems] = {}


def _stems_of(line: str) -> Stems:
    """The stems of a folded cell, kept while a question is read."""
    if len(_STEMS) > 200_000:
        _STEMS.clear()
    if (found := _STEMS.get(line)) is None:
        found = _STEMS[line] = tuple(token.stem for token in ENGLISH.tokens(line))
    return found
