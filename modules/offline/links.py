"""Schema linking: what each span of a question may mean in this table, and at what cost.

An exact name costs nothing; part of a name, another word form or a related word costs more. A word that no
column, cell or known phrase explains is unknown, and no reading may skip it.
"""

import heapq
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any, NamedTuple

from chameleon.lazy import cached_property
from chameleon.modules.offline.costs import Cost
from chameleon.modules.offline.rows import Is
from chameleon.modules.offline.sheet import Measure, Sheet, SheetColumn
from chameleon.modules.offline.words import Stems, Token, alike
from chameleon.retrieval.analysis import folded
from chameleon.table.dates import read_date

_BEAM_WIDTH, _MAX_LINES, _MAX_PHRASE_WORDS, _MAX_HIT_SHARE = 48, 20_000, 5, 0.6  # cuts, cells, words, share
_MAX_REQUEST_WORDS = 4  # words: "could you please list"


class Item(NamedTuple):
    """A possible meaning of the tokens from `start` to `end`: kind, cost and value."""

    start: int
    end: int
    kind: str
    cost: float
    value: Any = None

    @property
    def column(self) -> int | None:
        """The index of the column that a column or cell refers to, or None."""
        return self.value.column if self.kind == "cell" else self.value if self.kind == "column" else None


@dataclass(frozen=True)
class Cut:
    """A question cut into items, with their total cost."""

    cost: float
    items: tuple[Item, ...]


class Links:
    """The items of one question over one sheet."""

    def __init__(self, tokens: Sequence[Token], sheet: Sheet) -> None:
        self.tokens, self.sheet, self.words = list(tokens), sheet, sheet.words
        # Years in the caption but in no cell: "in 2024" over the league of 2024 leaves no rows out.
        years = {stem for stem in sheet.caption if stem.isdigit() and len(stem) == 4}
        texts = [*sheet.table.header, *(column.blob for column in sheet.columns)] if years else []
        self.stated_years = {year for year in years if not any(year in text for text in texts)}
        self.by_start: dict[int, list[Item]] = defaultdict(list)
        of_words = (self._phrases, self._small_words, self._numbers, self._dates)
        for source in (*of_words, self._columns, self._cells, self._nouns):
            for item in source():
                self.by_start[item.start].append(item)
        self._choose_dates()
        linked = {place for item in self.items for place in range(item.start, item.end)}
        self.unknown = [token.text for place, token in enumerate(tokens) if place not in linked]
        for place in range(len(self.tokens)):
            if not self.by_start[place]:
                meaning = ("subject", Cost.SUBJECT) if self._is_subject(place) else ("unknown", Cost.UNKNOWN)
                self.by_start[place].append(Item(place, place + 1, *meaning))

    @property
    def items(self) -> Iterator[Item]:
        return (item for items in self.by_start.values() for item in items)

    def _choose_dates(self) -> None:
        """Drop redundant items: "of" as a date word before no date, a year as a number after "in"."""
        dates = [each.index for each in self.sheet.columns if each.kind == "date"]
        for place, items in self.by_start.items():
            exact = [item for item in items if item.kind == "cell" and not item.cost]
            cells = {item.end for item in exact if item.column in dates}
            items[:] = [item for item in items if item.kind != "date" or item.end not in cells]
            kinds = {item.kind for item in items}
            if {"dates", "filler"} <= kinds:
                later = [item for p in (place + 1, place + 2) for item in self.by_start.get(p, ())]
                dropped = "filler" if any(item.kind == "date" for item in later) else "dates"
                items[:] = [item for item in items if item.kind != dropped]
            before = self.by_start.get(place - 1, ())
            is_led = any(item.kind in ("dates", "between") for item in before)
            if {"date", "number"} <= kinds and (is_led or self.sheet.origins is not None):
                items[:] = [item for item in items if item.kind != "number"]

    def low(self, place: int) -> str:
        return self.tokens[place].low if 0 <= place < len(self.tokens) else ""

    def _is(self, place: int, *kinds: str) -> bool:
        """Return whether a single word is a phrase of one of these kinds."""
        entries = self.words.phrases.get((self.low(place),), ())
        return any(kind in kinds for kind, _ in entries)

    # Words of the language, numbers and dates.

    def _phrases(self) -> Iterator[Item]:
        lows, covered = [token.low for token in self.tokens], 0
        for start in range(len(lows)):
            for end in range(min(start + _MAX_PHRASE_WORDS, len(lows)), max(start, covered), -1):
                for kind, value in self.words.phrases.get(tuple(lows[start:end]), ()):
                    if kind != "whether" or not start:
                        covered = max(covered, end)  # "least" in "at least" is not a word by itself
                        yield Item(start, end, kind, 0.0, value)
                kind, value = self.words.phrases.get(tuple(lows[start:end]), [("", None)])[0]
                if kind == "unread" or value == "times":
                    break  # nor is "second" in "second to last", "times" in "how many times"

    def _small_words(self) -> Iterator[Item]:
        truths = {folded(column.plain) for column in self.sheet.columns if column.truths}
        is_loud = all(token.text.isupper() for token in self.tokens if token.low.isalpha())
        for start, token in enumerate(self.tokens):
            asks = start < _MAX_REQUEST_WORDS and token.low in self.words.request
            asks = asks and not any(self._is(place, "ask") for place in range(start))
            if asks or token.low in self.stated_years:
                yield Item(start, start + 1, "filler", 0.0)
            if token.text.isupper() and len(token.text) > 1 and not is_loud:
                continue  # IT is not it
            if not start and any(item.kind == "whether" for item in self.by_start[0]):
                continue
            if token.low in self.words.filler or token.low in "$€£¥°#?":
                yield Item(start, start + 1, "filler", 0.0)
            elif token.low in truths:
                continue  # "sold" with a column Sold
            elif token.stem in self.words.licenses and token.stem not in self.sheet.nouns:
                licensed = self.words.licenses[token.stem]
                names = {stem for column in self.sheet.columns for stem in column.stems}
                if not licensed or licensed & {*names, *self.sheet.caption}:
                    yield Item(start, start + 1, "verb", Cost.VERB, licensed)
            if (unit := self._unit(start)) and unit[2][0] != "%" and token.low not in self.words.filler:
                is_word = len(token.low) > 1 and not self._is(start, "ordinal", "part")
                yield from [Item(start, unit[0], "unit", Cost.UNIT, unit[2])] if is_word else []

    def _unit(self, start: int) -> tuple[int, str, tuple[str, Fraction]] | None:
        """Return the unit of one or two words that begins here: its end, its name, its kind and factor."""
        for end, joined in ((start + 2, "/"), (start + 2, " "), (start + 1, "")):
            name = joined.join(map(self.low, range(start, end)))
            if name in self.words.units and (name not in self.words.filler or end == len(self.tokens)):
                return end, name, self.words.units[name]
        return None

    def _numbers(self) -> Iterator[Item]:
        for place, token in enumerate(self.tokens):
            is_decade = self.low(place + 1) == "s"  # the 1990's
            if token.low in self.stated_years or is_decade or (figure := self._number_at(place)) is None:
                continue
            number, end = figure
            before = self.low(place - 1)
            money = self.words.units[before][0] if before in tuple("$€£¥") else ""
            start = place - bool(money)
            yield Item(start, end, "number", 0.0, Measure(number, money))
            if not money and (unit := self._unit(end)):
                last, name, (base, factor) = unit
                yield Item(start, last, "number", 0.0, Measure(number * factor, base, name, factor))

    def _number_at(self, place: int) -> tuple[Fraction, int] | None:
        """Read "20,000", "1.5 million", "twenty", "two dozen", "half a million" from here on."""
        token, scales, end = self.tokens[place], self.words.data["scales"], place + 1
        number = token.number if token.number is not None else self.words.numbers.get(token.low)
        while number is not None and self.low(end) in scales and self.low(end) != "m":
            number, end = number * scales[self.low(end)], end + 1
        return None if number is None else (number, end)

    def _dates(self) -> Iterator[Item]:
        months = self.words.months
        for start, token in enumerate(self.tokens):
            is_month = len(token.low) > 2 and any(month.startswith(token.low) for month in months)
            is_month &= token.low not in self.words.filler or token.text[:1].isupper()
            is_decade = token.low.isdigit() and self.low(start + 1) == "s"
            if token.low in self.stated_years or is_decade or not (token.low[:1].isdigit() or is_month):
                continue
            for end in range(min(start + 5, len(self.tokens)), start, -1):
                tokens = [each for each in self.tokens[start:end] if each.low not in self.words.filler]
                is_figure = len(tokens) == 1 and tokens[0].text.isdigit() and len(tokens[0].text) != 4
                if is_figure or self.low(end - 1) in self.words.filler:
                    continue
                if span := read_date(" ".join(months.get(each.low, each.text) for each in tokens)):
                    yield Item(start, end, "date", 0.0, span)
                    break

    # Names of columns.

    def _columns(self) -> Iterator[Item]:
        stems = [self.words.short.get(token.stem, token.stem) for token in self.tokens]
        spans = [each for column in self.sheet.columns if column.stems for each in self._spans(column, stems)]
        exact = [item for item, missing in spans if not missing and not item.cost]
        for item, missing in spans:
            rivals = (each for each in exact if each.start <= item.start and item.end <= each.end)
            if not (item.cost and missing and any(each.value != item.value for each in rivals)):
                yield item
        lows = [token.low for token in self.tokens]
        for column in self.sheet.columns:  # "lifeExp", "Dur. (h)": as written
            name = [token.low for token in self.words.tokens(column.plain)]
            for start in range(len(lows)):
                if name and lows[start : start + len(name)] == name:
                    yield Item(start, start + len(name), "column", 0.0, column.index)
        for base, words in self.words.data["measures"].items():  # "weigh" means the only column in kg
            measured = [each for each in self.sheet.amounts if base in each.bases]
            for start, token in enumerate(self.tokens):
                if len(measured) == 1 and token.low in words.split():
                    yield Item(start, start + 1, "column", Cost.IDEA, measured[0].index)

    def _spans(self, column: SheetColumn, stems: Sequence[str]) -> Iterator[tuple[Item, float]]:
        """Yield the spans that name a column, in exact or related words, with the share of words missing."""
        small, naming = self.words.filler, self.words.lists["names"]
        words = [stem for stem in column.stems if stem not in small] or list(column.stems)
        content = [stem for stem in words if stem not in naming] or words
        words = content if column.is_count else words  # a room number is not a number of rooms
        for start in range(len(stems)):
            end, cost, hits = start, 0.0, set[str]()
            while end < len(stems):
                match = self._nearness(end, stems[end], words)
                if match is None:
                    joins = hits and self.low(end) in small and end + 1 < len(stems)
                    if joins and self._nearness(end + 1, stems[end + 1], words):
                        end += 1
                        continue
                    break
                cost, end = cost + (match[0] if match[1] not in hits else 0.0), end + 1
                hits.add(match[1])
                shared = hits.intersection(content)
                if all(stem.isdigit() for stem in shared) and (len(content) > 1 or not shared):
                    continue
                missing = 1 - len(shared) / len(set(content))
                yield Item(start, end, "column", cost + Cost.PART * missing, column.index), missing

    def _nearness(self, place: int, stem: str, names: Sequence[str]) -> tuple[float, str] | None:
        """Return the cost of matching a word to one in a name, and that one; None if none matches."""
        if stem in names:
            return 0.0, stem
        is_small = self.low(place) in self.words.filler or self._is(place, *_STOP_KINDS)
        if is_small or self.tokens[place].number is not None:
            return None
        ideas = self.words.ideas.get(stem, ())
        kin = next((name for name in names if self.words.are_kin(stem, name)), None)
        related = next((name for name in names if name in ideas), None)
        return (Cost.FORM, kin) if kin is not None else None if related is None else (Cost.IDEA, related)

    # Texts of cells.

    def _cells(self) -> Iterator[Item]:
        spans: dict[tuple[int, int, int], dict[str, int]] = defaultdict(dict)
        for column in self.sheet.columns:
            for line, names in self._lines(column):
                for start, length in self._overlaps(names):
                    for end in range(start + 1, start + length + 1):
                        spans[column.index, start, end][line] = len(names)
        items = [
            item
            for (index, start, end), lines in spans.items()
            for item in self._of_span(self.sheet.columns[index], start, end, lines)
        ]
        exact = [item for item in items if not item.cost and item.end > item.start + 1]
        for item in items:  # "Taipei" in "Taipei Arena" is not a city
            width = item.end - item.start
            inside = (each for each in exact if each.start <= item.start and item.end <= each.end)
            if all(each.end - each.start == width for each in inside):
                yield item

    def _lines(self, column: SheetColumn) -> Iterator[tuple[str, Stems]]:
        """Yield the texts of a column that contain a distinctive word of the question, and their stems."""
        lines, blob = dict[str, None](), column.blob
        for token in self.tokens:
            is_small = token.low in self.words.filler and not token.text[0].isupper()
            if token.number is None and (is_small or (len(token.low) < 2 and not token.text.isupper())):
                continue
            is_long = len(token.stem) > 2 or token.text[:2].isupper()  # LPs
            base = token.stem if is_long and token.low.startswith(token.stem) else token.low
            form = re.escape(token.low if token.number is not None else base)
            for match in islice(re.finditer(rf"(?<![^\W_]){form}", blob), _MAX_LINES):
                begin, stop = blob.rfind("\n", 0, match.start()) + 1, blob.find("\n", match.end())
                lines[blob[begin : stop if stop >= 0 else None]] = None
        for line in (each for each in lines if not each.startswith('{"')):  # an object is not a name
            yield line, tuple(token.stem for token in self.words.tokens(line))

    def _overlaps(self, names: Stems) -> Iterator[tuple[int, int]]:
        """Yield where the question has a run of these words: its first token and its length."""
        stems = tuple(token.stem for token in self.tokens)
        for start, stem in enumerate(stems):
            if places := [place for place, name in enumerate(names) if name == stem]:
                yield start, max(alike(names[place:], stems[start:]) for place in places)

    def _of_span(self, column: SheetColumn, start: int, end: int, lines: dict[str, int]) -> Iterator[Item]:
        """Yield the cells that a span names in full, or that contain all of it."""
        tokens = self.tokens[start:end]
        if all(self._is(place, "none") for place in range(start, end)):
            return  # "no" is a negation, not a cell
        small = self.words.filler
        content = [t for t in tokens if t.low not in small or (t.text.isupper() and len(t.text) > 1)]
        exact = frozenset(line for line, length in lines.items() if length == end - start)
        text = " ".join(token.text for token in tokens)
        is_figure = all(token.number is not None for token in tokens)
        if exact and (content or (tokens[0].text[0].isupper() and start > 0)):
            # A figure in a column of amounts is compared as a number, not as text.
            is_amount = is_figure and (column.kind in ("number", "date") or column.is_label)
            key = self.sheet.key
            is_other = key is not None and key is not column and not exact.isdisjoint(key.places)
            if not all(self.sheet.summaries.issuperset(column.places[line]) for line in exact):
                cost = Cost.HELD * (is_amount or is_other)
                is_led = start > 0 and self.low(start - 1) == folded(column.plain)  # "from Oslo" under "From"
                yield Item(start - is_led, end, "cell", cost, Is(column.index, exact, text))
        if column.kind in ("number", "date", "time") or not content or (is_figure and len(tokens) == 1):
            return
        hits = frozenset(line for line in lines if not self.sheet.summaries.issuperset(column.places[line]))
        places = range(start, end)
        is_said = any(not self._is(p, *_STOP_KINDS) and self.low(p) not in self.words.filler for p in places)
        is_said &= any(token.stem not in {*self.words.things, *self.sheet.nouns} for token in content)
        is_common = len(hits) > _MAX_HIT_SHARE * len(column.places) and len(column.places) > 3
        if hits == exact or not hits or not is_said or is_common or max(len(t.low) for t in content) < 3:
            return
        if not any(all(_is_in(token, line) for token in content) for line in hits):
            return  # "lose" is not in "Los Angeles"
        coverage = sum((end - start) / length for length in lines.values()) / len(lines)
        is_named = any(token.stem in each.stems for token in content for each in self.sheet.columns)
        is_led = start > 0 and self._is_subject(start) and tokens[0].text.islower()
        cost = Cost.HELD * (1 - coverage + bool(exact) + is_named + is_led) + Cost.FORM
        yield Item(start, end, "cell", cost, Is(column.index, hits, text, is_exact=False))

    # Words for the rows.

    def _is_subject(self, place: int) -> bool:
        """Return whether an unknown word is in the position of a noun for the rows: "which peaks"."""
        before = place - 1
        while before > 0 and self.low(before) in self.words.filler and not self._is(before, "whether"):
            before -= 1
        leading = (item for item in self.items if item.kind in _LEADING_KINDS and item.end == before + 1)
        counted = self.words.data["counting"].split()  # "the most bananas" does not name rows
        # Nor does "liked" in "which team is best liked", or "swimming" in "best at swimming".
        may_grade = before == place - 1 and not self._names_rows
        leads = any(
            item.kind not in _GRADING_KINDS or (may_grade and self.low(item.start) not in counted)
            for item in leading
        )
        is_noun = self.tokens[place].text.isalpha() and self.tokens[place].stem not in self.words.things
        return is_noun and leads and place + 1 < len(self.tokens)

    @cached_property
    def _names_rows(self) -> bool:
        """Whether a word refers to the rows: "who", a noun for them, or the name of the key column."""
        names = {*self.sheet.row_nouns, *(self.sheet.key.stems if self.sheet.key is not None else ())}
        words = self.words.data["row_words"].split()
        is_who = any(("ask", "who") in self.words.phrases.get((token.low,), ()) for token in self.tokens)
        return is_who or any(token.stem in names or token.low in words for token in self.tokens)

    def _nouns(self) -> Iterator[Item]:
        measure = self.words.stem(self.words.data["measure"].lower())
        for start, token in enumerate(self.tokens):
            if self.sheet.origins is not None and token.stem == measure:
                yield Item(start, start + 1, "column", 0.0, len(self.sheet.columns) - 1)
                continue
            if any(token.stem in column.stems for column in self.sheet.amounts):
                continue  # "the last rain" is not the last row
            is_row = token.stem in self.sheet.row_nouns or token.low in self.words.data["row_words"].split()
            is_row |= self.sheet.caption == (token.stem,)
            if is_row or token.stem in self.sheet.nouns:
                yield Item(start, start + 1, "noun", 0.0, is_row)
            if any(token.stem in column.stems for column in self.sheet.columns) or self._is(start, "part"):
                continue
            if start and self.tokens[start - 1].number is not None and token.stem in self.words.things:
                sorts, key = self.words.things[token.stem], self.sheet.key  # more than 40 people
                is_row = key is not None and any(self.sheet.fits(key, sort) for sort in sorts)
                yield Item(start, start + 1, "noun", Cost.SORT, is_row or "thing" in sorts)
                continue
            for sort in self.words.things.get(token.stem, ()):
                key, fitting = self.sheet.key, [c for c in self.sheet.columns if self.sheet.fits(c, sort)]
                fitting = [each for each in fitting if sort != "time" or each.is_plain_time]
                if sort == "thing" or (key is not None and key in fitting):
                    yield Item(start, start + 1, "noun", Cost.SORT, True)
                elif len(fitting) == 1 and token.low in self.words.data["generic"]:
                    yield Item(start, start + 1, "column", Cost.IDEA, fitting[0].index)

    @cached_property
    def cuts(self) -> list[Cut]:
        """The cheapest ways to cut the question into items, cheapest first."""
        states: list[list[tuple[float, tuple[Item, ...]]]] = [[] for _ in range(len(self.tokens) + 1)]
        states[0] = [(0.0, ())]  # by end: cost and items of each cut
        for place in range(len(self.tokens)):
            for cost, items in heapq.nsmallest(_BEAM_WIDTH, states[place], key=lambda state: state[0]):
                for item in self.by_start[place]:
                    states[item.end].append((cost + item.cost + Cost.ITEM, (*items, item)))
        ends = heapq.nsmallest(_BEAM_WIDTH, states[-1], key=lambda state: state[0])
        return [Cut(cost, tuple(item for item in items if item.kind != "filler")) for cost, items in ends]


_GRADING_KINDS = ("most", "superlative")
_LEADING_KINDS = ("ask", "count", "number", "most", "superlative", "ordinal", "first", "last", "distinct")
_STOP_KINDS = (
    "count", "fold", "most", "more", "ask", "how", "compare", "after", "dates", "difference", "each", "than",
    "or", "and", "first", "last", "between", "distinct", "superlative", "comparative", "none",
)  # fmt: skip


def _is_in(token: Token, line: str) -> bool:
    """Return whether a text contains a word, or a form of it of about the same length."""
    words = re.findall(r"[^\W_]+", line)
    forms = (word for word in words if len(word) > 3 and abs(len(word) - len(token.low)) < 3)
    return token.low in line or any(word.startswith(token.stem) for word in forms if len(token.stem) > 3)
