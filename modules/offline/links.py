"""Schema linking: what each stretch of a question may mean in this table, with what it costs to take it so.

An exact name costs nothing; a part of one, another form, a word of the same idea, a slip of the finger cost
more. The cheapest ways to cut the whole question into linked stretches are found by a beam search.
"""

from __future__ import annotations

import heapq
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

from chameleon.modules.offline.algebra import Is
from chameleon.modules.offline.sheet import Measure, Moment, Sheet, SheetColumn, moment_of, seconds_of
from chameleon.modules.offline.words import ENGLISH, Stems, Token, folded, is_slip
from chameleon.table.typed import MONTHS

_EACH = 0.01  # what an item costs by being one, so that longer ones win
_BEAM = 48
_MOST_LINES = 20_000
_UNKNOWN = 0.6
_BEFORE_DATES = ("in", "of", "on", "since", "during", "by", "until", "before", "after")
_CLOCK = re.compile(r"(\d+):(\d+)([ap])m")
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

    def __init__(self, tokens: Sequence[Token], sheet: Sheet, context: int = 0) -> None:
        """`context`: how many of the first tokens only lead to the question, and may go unread."""
        self.tokens, self.sheet, self.context = list(tokens), sheet, context
        # Years of the caption that no cell has: "in 2024" over the league of 2024 leaves nothing out.
        years = {stem for stem in sheet.caption if stem.isdigit() and len(stem) == 4}
        texts = [*sheet.table.header, *(column.blob for column in sheet.columns)] if years else []
        self.told = {year for year in years if not any(year in text for text in texts)}
        self.by_start: dict[int, list[Item]] = defaultdict(list)
        for item in self._all():
            self.by_start[item.start].append(item)
        self._mend()

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
        for start, token in enumerate(self.tokens):
            if token.quote:
                continue
            before, after = lows[start - 1] if start else "", " ".join(lows[start + 1 : start + 3])
            for end in range(start + 1, min(start + 5, len(lows) + 1)):
                if not _is_idle(lows[start:end], before, after):
                    for kind, value in ENGLISH.phrases.get(tuple(lows[start:end]), ()):
                        yield Item(start, end, kind, 0.0, value)
            if start <= 4 and token.low in ENGLISH.request:
                yield Item(start, start + 1, "filler", 0.0)
            is_month = token.low == "may" and (token.text[0].isupper() or before in _BEFORE_DATES)
            is_name = token.text.isupper() and len(token.text) > 1 and not self.tokens[0].text.isupper()
            if is_month or is_name:
                continue  # IT is not it
            if token.low in ENGLISH.filler or ENGLISH.forms.get(token.low) in ENGLISH.filler:
                yield Item(start, start + 1, "filler", 0.25 if token.low in _STEERING else 0.0)
            elif token.stem in ENGLISH.neutral:
                yield Item(start, start + 1, "verb", 0.1)
            yield from self._units(start)

    def _units(self, start: int) -> Iterator[Item]:
        """Units of one or two words, and signs that say nothing by themselves."""
        low = self.tokens[start].low
        after = self.tokens[start + 1].low if start + 1 < len(self.tokens) else ""
        if (two := f"{low} {after.removesuffix('s')}") in ENGLISH.units:
            yield Item(start, start + 2, "unit", 0.0, ENGLISH.units[two])
        elif (
            low in ENGLISH.units
            and low not in ENGLISH.filler
            and len(low) > 1
            and ENGLISH.units[low][0] != "%"
        ):
            yield Item(start, start + 1, "unit", 0.05, ENGLISH.units[low])
        if low in ("$", "€", "£", "¥", "°", "#", "?"):
            yield Item(start, start + 1, "filler", 0.0)

    def _numbers(self) -> Iterator[Item]:
        place = 0
        while place < len(self.tokens):
            if ":" in self.tokens[place].low and (clock := seconds_of(self.tokens[place].low)) is not None:
                yield Item(place, place + 1, "number", 0.0, Measure(clock, "clock"))
            found = None if self.tokens[place].low in self.told else self._number_at(place)
            if found is None:
                place += 1
                continue
            number, end = found
            currency = self.tokens[place - 1].low if place and self.tokens[place - 1].low in "$€£¥" else ""
            unit, length = self.tokens[end].low if end < len(self.tokens) else "", 1
            two = f"{unit} {self.tokens[end + 1].low.removesuffix('s')}" if end + 1 < len(self.tokens) else ""
            unit, length = (two, 2) if two in ENGLISH.units else (unit, length)
            start = place - 1 if currency else place
            yield Item(
                start, end, "number", 0.0, Measure(number, ENGLISH.units[currency][0] if currency else "")
            )
            if unit in ENGLISH.units and not currency:
                base, factor = ENGLISH.units[unit]
                yield Item(start, end + length, "number", 0.0, Measure(number * factor, base, unit, factor))
            place += 1

    def _number_at(self, place: int) -> tuple[Fraction, int] | None:
        """Read "20,000", "1.5 million", "twenty", "twenty five", "two dozen" from here on."""
        data, tokens = ENGLISH.data, self.tokens
        token = tokens[place]
        number, end = token.number, place + 1
        if number is None and token.low in data["tens"]:
            number = Fraction(data["tens"][token.low])
            if end < len(tokens) and tokens[end].low in data["numbers"][1:10]:
                number, end = number + data["numbers"].index(tokens[end].low), end + 1
        elif number is None and token.low in data["numbers"]:
            number = Fraction(data["numbers"].index(token.low))
        elif (
            number is None
            and token.low in ("a", "half")
            and end < len(tokens)
            and tokens[end].low in data["scales"]
        ):
            number = Fraction(1)
        while (
            number is not None
            and end < len(tokens)
            and (scale := data["scales"].get(tokens[end].low)) is not None
        ):
            if len(tokens[end].low) < 2 and tokens[end].low != "k":
                break
            number, end = number * scale, end + 1
        return None if number is None else (number, end)

    def _dates(self) -> Iterator[Item]:
        for start, token in enumerate(self.tokens):
            if token.low in self.told:
                continue
            if (
                token.low.startswith(tuple(month[:3] for month in MONTHS)) and len(token.low) > 2
            ) or token.number:
                for end in range(min(start + 5, len(self.tokens)), start, -1):
                    text = " ".join(
                        each.text for each in self.tokens[start:end] if each.low not in ("of", "the")
                    )
                    if (token.low in ENGLISH.filler and token.low != "may") or self.tokens[end - 1].low in (
                        "of",
                        "the",
                    ):
                        continue
                    found = moment_of(text) if not text.isdigit() or len(text) == 4 else None
                    if found is not None and (found[0].year or self._is_month(token)):
                        yield Item(start, end, "date", 0.0, found)
                        break
            after = self.tokens[start + 1].low if start + 1 < len(self.tokens) else ""
            if after == "s" and token.text.isdigit() and len(token.text) == 4 and token.text[-1] == "0":
                year = int(token.text)  # 1990s
                last = year + (99 if year % 100 == 0 and year < 2000 else 9)
                yield Item(start, start + 2, "date", 0.0, (Moment(year), Moment(last)))

    def _is_month(self, token: Token) -> bool:
        place = self.tokens.index(token)
        before = self.tokens[place - 1] if place else None
        told = before is not None and (before.low in _BEFORE_DATES or before.number is not None)
        return token.low != "may" or token.text[0].isupper() or told

    # Names of columns.

    def _columns(self) -> Iterator[Item]:
        stems = [ENGLISH.short.get(token.stem, token.stem) for token in self.tokens]
        found: list[tuple[Item, float]] = []
        for column in self.sheet.columns:
            if column.stems:
                found.extend(self._named(column, stems))
        whole = [item for item, missing in found if not missing]
        exact = {(item.start, item.end) for item in whole if not item.cost}
        for item, missing in found:
            rivals = (
                each
                for each in whole
                if each.start <= item.start and item.end <= each.end and each.value != item.value
            )
            if item.cost and ((item.start, item.end) in exact or (missing and any(rivals))):
                continue
            yield item
        for column in self.sheet.numbers:  # "3 strokes", where cells count strokes
            for start, token in enumerate(self.tokens):
                if token.stem in {each.base for each in column.sampled} and token.low not in ENGLISH.units:
                    yield Item(start, start + 1, "column", 0.1, column.index)
        yield from self._measuring()
        for column in self.sheet.columns:  # "lifeExp", "GDP/cap": as it is written
            low = folded(column.plain)
            for start, token in enumerate(self.tokens):
                if token.low == low and column.stems != (token.stem,):
                    yield Item(start, start + 1, "column", 0.0, column.index)

    def _measuring(self) -> Iterator[Item]:
        """The only column that has a unit of what a word is about: "weigh" and a column in kg."""
        for base, stems in ENGLISH.measures.items():
            fitting = [
                column
                for column in self.sheet.columns
                if column.kind == "number" and base in column.unit_stems
            ]
            for start, token in enumerate(self.tokens):
                if token.stem in stems and len(fitting) == 1 and token.stem not in fitting[0].stems:
                    yield Item(start, start + 1, "column", 0.3, fitting[0].index)

    def _named(self, column: SheetColumn, stems: Sequence[str]) -> Iterator[tuple[Item, float]]:
        """The stretches that name a column: all of its words, some in their order, forms or ideas of one."""
        names = column.stems
        content = [stem for stem in names if stem not in _SMALL] or list(names)
        content = [stem for stem in content if stem not in _NAMING] or content
        for start in range(len(stems)):
            end, cost, met = start, 0.0, set[str]()
            while end < len(stems):
                near = self._nearness(end, stems[end], content)
                if near is None:
                    if (
                        met
                        and self.tokens[end].low in ("of", "in", "the", "for", "per", "by", "to", "and")
                        and end + 1 < len(stems)
                        and self._nearness(end + 1, stems[end + 1], content)
                    ):
                        end += 1
                        continue
                    break
                cost, end = cost + (near[0] if near[1] not in met else 0.0), end + 1
                met.add(near[1])
                if all(stem.isdigit() for stem in met) and len(content) > 1:
                    continue
                extra = 0.1 * (len(content) < len([stem for stem in names if stem not in _SMALL]))
                missing = extra + sum(1 for stem in dict.fromkeys(content) if stem not in met) / len(
                    set(content)
                )
                yield Item(start, end, "column", cost + 0.25 * missing, column.index), missing

    def _nearness(self, place: int, stem: str, names: Sequence[str]) -> tuple[float, str] | None:
        """What it costs to take a word for one of a name's, and which."""
        if stem in names:
            return 0.0, stem
        token = self.tokens[place]
        is_filler = token.low in ENGLISH.filler and token.low not in _VERBS
        if is_filler or token.number is not None or token.quote:
            return None
        kin = next((name for name in names if ENGLISH.are_kin(stem, name)), None)
        if kin is not None:
            return 0.15, kin
        ideas = ENGLISH.ideas.get(stem, frozenset())
        alike = next((name for name in names if name in ideas), None)
        if alike is not None:
            return 0.35, alike
        begun = next(
            (name for name in names if 3 <= len(name) <= 4 < len(stem) and stem.startswith(name)), None
        )
        if begun is not None:
            return 0.35, begun
        slip = next((name for name in names if is_slip(token.low, name) or is_slip(stem, name)), None)
        return None if slip is None else (0.4, slip)

    # Texts of cells.

    def _values(self) -> Iterator[Item]:
        spans: dict[tuple[int, int, int], dict[str, int]] = defaultdict(dict)
        for column in self.sheet.columns:
            for line, names in self._lines(column):
                for start, length in self._overlaps(names):
                    for end in range(start + 1, start + length + 1):
                        spans[column.index, start, end][line] = len(names)
        # A word as it is written in one column is hardly another form of it in another.
        self.literal = {
            (start, end)
            for (_, start, end), lines in spans.items()
            if " ".join(token.low for token in self.tokens[start:end]) in lines
        }
        for (index, start, end), lines in spans.items():
            yield from self._of_span(self.sheet.columns[index], start, end, lines)
        yield from self._of_peoples()

    def _lines(self, column: SheetColumn) -> Iterator[tuple[str, Stems]]:
        """The different texts of a column that have a telling word of the question, with their stems."""
        found: dict[str, None] = {}
        blob = column.blob
        for token in self.tokens:
            is_number = token.number is not None
            if not is_number and (
                (len(token.low) < 2 and not token.text.isupper())
                or (token.low in ENGLISH.filler and not token.quote and not token.text[0].isupper())
            ):
                continue
            stem = token.stem if len(token.stem) > 2 and token.low.startswith(token.stem) else token.low
            base = token.low if is_number or token.low.isupper() else stem
            clock = _CLOCK.fullmatch(token.low)
            forms = {base, *(ENGLISH.written.get(token.stem, ()) if not is_number else ())}
            form = (
                rf"0?{clock[1]}[:.]{clock[2]}\s?{clock[3]}\.?m"
                if clock
                else f"(?:{'|'.join(map(re.escape, forms))})"
            )
            for match in islice(re.finditer(rf"(?<![^\W_]){form}", blob), _MOST_LINES):
                begin, stop = blob.rfind("\n", 0, match.start()) + 1, blob.find("\n", match.end())
                found[blob[begin : stop if stop >= 0 else None]] = None
        for line in found:
            yield line, _stems_of(line)

    def _overlaps(self, names: Stems) -> Iterator[tuple[int, int]]:
        """Where the question has some of these words, in their order: first token and how many."""
        tokens = self.tokens
        for start in range(len(tokens)):
            best = 0
            for place, name in enumerate(names):
                if name != tokens[start].stem:
                    continue
                length = 0
                while (
                    place + length < len(names)
                    and start + length < len(tokens)
                    and names[place + length] == tokens[start + length].stem
                ):
                    length += 1
                best = max(best, length)
            if best:
                yield start, best

    def _of_span(self, column: SheetColumn, start: int, end: int, lines: dict[str, int]) -> Iterator[Item]:
        words = self.tokens[start:end]
        telling = [
            w
            for w in words
            if w.low not in ENGLISH.filler or w.quote or (w.text.isupper() and len(w.text) > 1)
        ]
        is_said = any(word.low not in _FUNCTION or word.quote for word in telling)
        exact = frozenset(line for line, length in lines.items() if length == end - start)
        said = " ".join(word.text for word in words)
        before = self.tokens[start - 1].low if start else ""
        way = (
            0.4
            if before in ("to", "from") and column.stems in (("to",), ("from",)) and column.stems != (before,)
            else 0.0
        )
        is_figure = all(word.number is not None for word in words)
        if exact and (telling or (words[0].text[0].isupper() and start > 0)):
            # A figure in a column of amounts is compared as a number, not as a text.
            is_amount = is_figure and column.kind in ("number", "date")
            cost = way + (0.3 if is_amount or all(line in _TOTALS for line in exact) else 0.0)
            is_other = (start, end) in self.literal and " ".join(word.low for word in words) not in exact
            cost += (0.15 if not telling else 0.0) + (0.4 if is_other else 0.0)
            yield Item(start, end, "value", cost, Is(column.index, exact, said))
        if (
            column.kind in ("number", "date", "time")
            or not is_said
            or (is_figure and len(words) == 1 and not exact)
        ):
            return
        held = frozenset(line for line in lines if not self.sheet.summaries.issuperset(column.places[line]))
        share = len(held) / max(1, len(column.places))
        longest = max(len(word.low) for word in telling)
        if held == exact or longest < 3:
            return
        covered = sum((end - start) / length for length in lines.values()) / len(lines)
        if share > 0.6 and len(column.places) > 3 and not exact:
            yield Item(start, end, "noun", 0.15 if share > 0.95 else 0.7)
        if share <= 0.95 or len(column.places) <= 3:
            names = all(self._names_something(word) for word in telling)
            if not any(word.low in ("not", "no", "never") for word in words):
                first = re.escape(words[0].low[:4])
                held = frozenset(
                    line
                    for line in held
                    if not re.search(rf"\b(?:not|never|no|non|missed|failed)[ -](?:\w+ )?{first}", line)
                )
                if not held:
                    return
            inexact = not any(all(word.low in line for word in telling) for line in held)
            if inexact and min(len(word.stem) for word in telling) < 4:
                return  # "lose" is not in "Los Angeles"
            cost = (
                way
                + 0.1
                + 0.2 * (1 - covered)
                + (0.3 if names else 0.0)
                + (0.2 if inexact else 0.0)
                + (0.25 if column.is_prose else 0.0)
                + (0.25 if exact else 0.0)
                + (0.1 if share > 0.3 and len(held) > 3 else 0.0)
            )
            yield Item(start, end, "value", cost, Is(column.index, held, said))

    def _names_something(self, word: Token) -> bool:
        """Whether a word is one for columns or rows, and so seldom for a cell."""
        names = {stem for column in self.sheet.columns for stem in column.stems} | set(self.sheet.nouns)
        return word.stem in ENGLISH.things or any(
            word.stem == name or ENGLISH.are_kin(word.stem, name) for name in names
        )

    def _of_peoples(self) -> Iterator[Item]:
        """Cells that name the country of "Americans", "British"."""
        for start, token in enumerate(self.tokens):
            names = ENGLISH.demonyms.get(token.low) or ENGLISH.demonyms.get(token.low.removesuffix("s"), ())
            for column in self.sheet.columns:
                if column.kind == "text" and names:
                    exact = frozenset(name for name in names if name in column.places)
                    held = exact or frozenset(
                        line
                        for line in column.places
                        if any(re.search(rf"\b{re.escape(name)}\b", line) for name in names if len(name) > 2)
                    )
                    if held:
                        yield Item(
                            start,
                            start + 1,
                            "value",
                            0.12 if exact else 0.25,
                            Is(column.index, held, token.text),
                        )

    # Words for the rows.

    def _nouns(self) -> Iterator[Item]:
        before = {token.stem for token in self.tokens[: self.context] if token.low not in ENGLISH.filler}
        amounts = self.sheet.amounts
        for start, token in enumerate(self.tokens):
            stem = token.stem
            cost = self.sheet.nouns.get(stem)
            if cost is None and start >= self.context and stem in before:
                cost = 0.1
            if token.low in self.told:
                cost = 0.0
            if token.low in _NUMBER_WORDS and len(amounts) == 1 and amounts[0].kind == "number":
                yield Item(start, start + 1, "column", 0.1, amounts[0].index)
            if cost is None:
                near = [c + 0.15 for name, c in self.sheet.nouns.items() if ENGLISH.are_kin(stem, name)]
                near += [
                    c + 0.25 for name, c in self.sheet.nouns.items() if name in ENGLISH.ideas.get(stem, ())
                ]
                cost = min(near, default=None)
            if cost is not None and token.low not in ENGLISH.filler:
                yield Item(start, start + 1, "noun", cost)
            named = any(stem in column.stems for column in self.sheet.columns)
            if not named and (sorts := ENGLISH.things.get(stem)) and token.low not in ("when", "where"):
                yield Item(start, start + 1, "thing", 0.1, sorts)

    def _mend(self) -> None:
        """Link words that nothing else has linked: by one slip of a finger to cells, else as unknown."""
        buys = any(item.kind == "spend" for items in self.by_start.values() for item in items)
        linked = {
            place
            for items in self.by_start.values()
            for item in items
            for place in range(item.start, item.end)
        }
        for start, token in enumerate(self.tokens):
            if start < self.context:
                # What leads to a question says how many of what; all else but names of rows may go unread.
                kept = [
                    item
                    for item in self.by_start[start]
                    if item.kind in ("value", "number", "spend") and item.end <= self.context
                ]
                counted = any(item.kind == "number" for item in kept)
                named = any(
                    item.kind == "value" and item.cost < 0.2 and self.tokens[item.end].low != "s"
                    for item in kept
                )
                self.by_start[start] = [
                    *kept,
                    Item(start, start + 1, "filler", 2.0 if named else 0.3 if counted else 0.0),
                ]
                continue
            if start in linked:
                continue
            if len(token.low) >= 5 and token.number is None:
                self.by_start[start].extend(self._slips(start, token))
            if token.stem in _WEAK:
                self.by_start[start].append(Item(start, start + 1, "verb", 0.3))
            is_buyer = buys and start > 0 and token.text[0].isupper()
            self.by_start[start].append(
                Item(start, start + 1, "unknown", 0.15 if is_buyer else _UNKNOWN, token.text)
            )
        self.unknown = [token.text for place, token in enumerate(self.tokens) if place not in linked]
        for start, token in enumerate(self.tokens):
            if not self.by_start[start]:
                self.by_start[start].append(Item(start, start + 1, "unknown", _UNKNOWN, token.text))

    def _slips(self, start: int, token: Token) -> Iterator[Item]:
        for column in self.sheet.columns:
            if column.kind != "text" or len(column.blob) > 400_000:
                continue
            words = {
                word
                for word in set(_WORD.findall(column.blob))
                if is_slip(word, token.low) or is_slip(ENGLISH.stem(word), token.stem)
            }
            if len(words) == 1:
                word = words.pop()
                held = frozenset(line for line in column.places if word in _WORD.findall(line))
                yield Item(start, start + 1, "value", 0.45, Is(column.index, held, token.text))

    @cached_property
    def readings(self) -> list[Reading]:
        """The cheapest ways to cut the question into items, first the cheapest."""
        states: list[list[tuple[float, tuple[Item, ...]]]] = [[] for _ in range(len(self.tokens) + 1)]
        states[0] = [(0.0, ())]
        for place in range(len(self.tokens)):
            for cost, items in heapq.nsmallest(_BEAM, states[place], key=lambda state: state[0]):
                for item in self.by_start[place]:
                    each = _EACH if item.end > self.context else 0.0
                    states[item.end].append((cost + item.cost + each, (*items, item)))
        ends = heapq.nsmallest(_BEAM, states[-1], key=lambda state: state[0])
        return [Reading(cost, tuple(item for item in items if item.kind != "filler")) for cost, items in ends]


_NUMBER_WORDS = frozenset(ENGLISH.data["numbers_word"])
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


def _is_idle(lows: Sequence[str], before: str, after: str) -> bool:
    """Tell whether a phrase means something else here: "at least", "top of", "5 %", "in all 82 games"."""
    return (
        (lows[0] in ("least", "most") and before == "at")
        or (lows[0] == "top" and after.startswith("of"))
        or (lows == ["%"] and before[-1:].isdigit())
        or (list(lows) == ["in", "all"] and after != "all")
    )


def _stems_of(line: str) -> Stems:
    """The stems of a folded cell, kept while a question is read."""
    if len(_STEMS) > 200_000:
        _STEMS.clear()
    if (found := _STEMS.get(line)) is None:
        found = _STEMS[line] = tuple(token.stem for token in ENGLISH.tokens(line))
    return found
