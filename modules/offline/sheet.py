"""A table as it is meant: its columns with kinds and units, its rows without totals and notes, its key."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from chameleon.cached import cached_property
from chameleon.modules.offline.words import ENGLISH, Stems, folded
from chameleon.table import Table
from chameleon.table.typed import MONTHS, read_value

Kind = Literal["number", "date", "time", "text", "empty"]

_NOTE = re.compile(r"\[[^\]]*\]|[*†‡§^↓↑]+(?=\s|$)|(?<=\w)[*†‡§]+")
_QUOTES = str.maketrans(
    {"½": " 1/2", "¼": " 1/4", "¾": " 3/4", "“": '"', "”": '"', "‘": "'", "’": "'", "\u00a0": " ", "−": "-"}
)
_BEFORE = re.compile(r"^(?:c\.|ca\.?|circa|about|approx\.?|[~≈<>]|[A-Z]{1,3}\s?(?=\$))\s*", re.IGNORECASE)
_IN_HEADER = re.compile(r"[(\[]([^)\]]*)[)\]]")
_PLACE = re.compile(r"[A-Z]{1,3}(?=\s?\$)")
_SPACED = re.compile(r"(?<=\d) (?=\d{3}(?!\d))")
_FRACTION = re.compile(r"\S*\d/")
_UNIT = re.compile(
    r"([$€£¥₹])? ?((?:bn|mn|[KMB]|(?<=[$€£¥₹] )[kmb])(?![^\W\d_]))? ?"
    r"([^\W\d_°]+[²³]?(?:/[^\W\d_]+[²³]?)?|°\s?[CF]?|%)?(.*)"
)
_CLOCK = re.compile(r"(\d{1,3}):(\d{2})(?::(\d{2}))?(\.\d+)?(?:\s*([ap])\.?m\.?)?", re.IGNORECASE)
_MONTH = r"(?P<month>[a-z]{3,9})\.?"
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?P<year>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<day>\d{1,2})(?:[ T].*)?",
        r"(?P<a>\d{1,2})[-/.](?P<b>\d{1,2})[-/.](?P<year>\d{4}|\d{2})",
        rf"(?:[a-z]+day,?\s+)?{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:,?\s+(?P<year>\d{{4}}))?(?!\d)",
        rf"(?:[a-z]+day,?\s+)?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[\s-]+{_MONTH}(?:,?[\s-]+(?P<year>\d{{4}}))?(?!\d)",
        rf"{_MONTH},?[\s-]+(?P<year>\d{{4}})",
        r"(?P<year>\d{4})[-–/](?P<until>\d{4}|\d{2})",
        r"(?P<year>\d{3}(?P<decade>0)) ?s",
        r"(?:c\.|ca\.?|circa)?\s*(?P<year>\d{4})",
        _MONTH,
    )
)
_YEAR_MONTH = re.compile(r"\d\d(\d\d)[-/](0[1-9]|1[0-2])")
_MONTHS = {month[:length]: n for n, month in enumerate(MONTHS, 1) for length in range(3, 10)}
_SIGN_NAMES = {"+": "plus", "-": "minus", "–": "minus", "%": "percent", "#": "number"}
_LONGEST_AMOUNT = 80
_SCALES = {"": 1, "K": 10**3, "M": 10**6, "MN": 10**6, "B": 10**9, "BN": 10**9}
_NOTE_LENGTH = 25
_SAMPLE, _MOSTLY, _MOST_ADDED = 400, 0.8, 5_000


Number = Fraction | int  # exact both; whole ones are compared faster


class Measure(NamedTuple):
    """An amount in the base of its unit, how many of that base its unit is, and the unit as it is written."""

    number: Number
    base: str = ""
    unit: str = ""
    factor: Fraction = Fraction(1)


class Moment(NamedTuple):
    """A date as far as it is told: 0 for what is not."""

    year: int
    month: int = 0
    day: int = 0

    def fits(self, other: Moment) -> bool:
        """Tell whether this date lies in the year, month or day that another tells."""
        return all(not wanted or mine == wanted for mine, wanted in zip(self, other, strict=True))


def shown(text: str) -> str:
    """Return a cell as people read it: without footnote marks, with plain spaces."""
    if text.isascii() and "[" not in text and "*" not in text and "^" not in text:
        return " ".join(text.split())
    return _unmarked(text)


@lru_cache(maxsize=65_536)
def _unmarked(text: str) -> str:
    return " ".join(_NOTE.sub("", text.translate(_QUOTES)).split())


def amounts_in(text: str) -> list[Measure]:
    """Read the amount that a cell begins with: 190 cm of "190 cm (6 ft 3 in)", none of "1–0"."""
    if len(text) > _LONGEST_AMOUNT:
        return []
    if text.isdigit() and text.isascii():
        return [Measure(int(text))]
    cell = _BEFORE.sub("", text.translate(_QUOTES).replace("–", "-").strip())
    cell = cell if cell.startswith("(") else cell.partition("(")[0]
    cell = _SPACED.sub(",", cell.rstrip(" .,+-'\""))
    value = read_value(cell)
    if value.number is None or _FRACTION.match(cell):  # a season, a score
        return []
    found = _UNIT.fullmatch(value.unit)
    sign, scale, unit, left = found.groups("") if found else ("", "", "", value.unit)
    is_name = unit[:1].isupper() or (unit[:1].isalpha() and f" {unit}" not in cell)
    if is_name and folded(unit) not in ENGLISH.units:
        return []  # 258Sg and 12 Mill Lane are names
    if len(left.split()) > 2 or any(map(str.isdigit, left)):
        return []
    number, name = value.number * _SCALES[scale.upper()], folded(sign or unit)
    base, factor = ENGLISH.units.get(name, (ENGLISH.stem(name), Fraction(1)))
    place = _PLACE.match(text)  # US$
    return [Measure(number * factor, base, f"{place[0] if place else ''}{sign}" if sign else unit, factor)]


@lru_cache(maxsize=65_536)
def moment_of(
    text: str, *, day_first: bool = False, has_months: bool = False
) -> tuple[Moment, Moment] | None:
    """Read a date as far as it is told, with the last that it spans: "1999–2004", "May 4, 2024", "2006".

    `has_months`: "2011-12" is a month, as beside "2024-01", and no season.
    """
    cell = text.translate(_QUOTES).partition("(")[0].strip(" ,")
    if len(cell) > 40:
        return None
    for pattern in _DATES:
        match = pattern.fullmatch(cell)
        if match is None:
            continue
        part = match.groupdict()
        year, month, day = int(part.get("year") or 0), int(part.get("m") or 0), int(part.get("day") or 0)
        if name := (part.get("month") or "").lower():
            month = _MONTHS.get(name, 0)
            if not month or (not day and not year and len(name) > 3 and name not in MONTHS):
                return None
        if part.get("a"):
            one, two = int(part["a"]), int(part["b"])
            day, month = (one, two) if day_first or one > 12 else (two, one)
            year += 0 if year > 99 else 2000 if year < 50 else 1900
        if month > 12 or day > 31 or (year and not 1000 <= year <= 2200):
            return None
        moment = Moment(year, month, day)
        until = part.get("until")
        if has_months and until:
            return Moment(year, int(until)), Moment(year, int(until))
        last = int(until if until and len(until) == 4 else f"{year // 100}{until}") if until else 0
        last = year + 9 if part.get("decade") else last
        return moment, Moment(last) if last > year else moment
    return None


def seconds_of(text: str) -> Fraction | None:
    """Read "9:45 A.M.", "14:05" or "1:23.45" as a number of its smallest units; None for other texts."""
    match = _CLOCK.fullmatch(text.strip())
    if match is None:
        return None
    first, second, third = int(match[1]), int(match[2]), int(match[3] or 0)
    if match[5]:
        first = first % 12 + (12 if match[5].lower() == "p" else 0)
    whole = (first * 60 + second) * (60 if match[3] else 1) + third
    return whole + Fraction(match[4] or 0)


@dataclass(frozen=True)
class SheetColumn:
    """A column: what it is called, what its cells measure, and the rows that hold each text."""

    index: int
    name: str
    cells: tuple[str, ...]

    @cached_property
    def stems(self) -> Stems:
        """The stems of its name without the unit, abbreviations written out."""
        if not re.search(r"\w", self.name):
            return tuple(_SIGN_NAMES[sign] for sign in self.name.translate(_QUOTES) if sign in _SIGN_NAMES)
        name = _IN_HEADER.sub(lambda match: " " if folded(match[1]) in ENGLISH.units else match[0], self.name)
        names = ENGLISH.stems(_NOTE.sub("", name))
        return tuple(ENGLISH.short.get(stem, stem) for stem in names if stem not in "?#")

    @cached_property
    def plain(self) -> str:
        return shown(self.name)

    @cached_property
    def sample(self) -> list[str]:
        step = max(1, len(self.cells) // _SAMPLE)
        return [cell for cell in map(shown, self.cells[::step]) if not is_blank(cell)]

    @cached_property
    def kind(self) -> Kind:
        """What four fifths of its filled cells are."""
        cells = self.sample
        if not cells:
            return "empty"
        most = _MOSTLY * len(cells)
        if self._are_years(cells):
            return "date"
        if sum(seconds_of(cell) is not None for cell in cells) >= most:
            return "time"
        if sum(bool(amounts_in(cell)) for cell in cells) >= most:
            return "number"
        return "date" if sum(moment_of(cell) is not None for cell in cells) >= most else "text"

    def _are_years(self, cells: Sequence[str]) -> bool:
        """Whether all are years: figures from 1000 to 2100 under a name of time, or all of 1800 and later."""
        years = [cell for cell in cells if re.fullmatch(r"(?:1\d|20)\d\d", cell)]
        others = [cell for cell in cells if cell not in years]
        if len(years) < _MOSTLY * len(cells) or not all(map(moment_of, others)):
            return False
        return bool(_TIMES & set(self.stems)) or min(map(int, years)) >= 1800

    @cached_property
    def measures(self) -> list[Measure | None]:
        """The first amount of each cell, in the base of its unit where units differ; None for none."""
        found = [next(iter(amounts_in(shown(cell))), None) for cell in self.cells]
        if self.kind == "time":
            clock = [seconds_of(shown(cell)) for cell in self.cells]
            return [None if each is None else Measure(each) for each in clock]
        units = {(each.base, each.factor) for each in found if each is not None}
        if len(units) == 1 and units != {("", Fraction(1))}:  # 12 km stay 12, as they are written
            return [each and each._replace(number=each.number / each.factor) for each in found]
        return found

    @cached_property
    def numbers(self) -> list[Number | None]:
        return [each and each.number for each in self.measures]

    @cached_property
    def filled(self) -> list[Number]:
        """The numbers of a column of numbers."""
        return [each for each in self.numbers if each is not None] if self.kind == "number" else []

    @cached_property
    def bases(self) -> set[str]:
        """The kinds of unit that its amounts have; more than one cannot be compared."""
        return {each.base for each in self.measures if each is not None}

    @cached_property
    def is_scaled(self) -> bool:
        """Whether units of one kind differ, so that its numbers are not those that are written."""
        return len({each.factor for each in self.measures if each is not None}) > 1

    @cached_property
    def unit(self) -> str:
        """The unit that all its amounts are written with, "" where they differ or have none."""
        units = Counter(each.unit for each in self.measures if each is not None)
        return next(iter(units)) if len(units) == 1 else ""

    @cached_property
    def unit_stems(self) -> set[str]:
        """The kinds of unit that its name or its cells tell."""
        if self.kind == "date":
            return set()
        return {base for base, _ in self.units}

    @cached_property
    def sampled(self) -> list[Measure]:
        """The amounts of some of its cells, enough to tell units by."""
        return [amounts[0] for cell in self.sample if (amounts := amounts_in(cell))]

    @cached_property
    def units(self) -> set[tuple[str, Fraction]]:
        """The units that its name or its cells tell, each with its kind and factor."""
        words = re.split(r"[\s()\[\].,_]+", folded(self.name))
        names = [word for word in words if (len(word) > 1 and word != "in") or word in ("%", "$", "m")]
        names += map(" ".join, pairwise(words))
        told = {ENGLISH.units[name] for name in names if name in ENGLISH.units}
        cells = {(each.base, each.factor) for each in self.sampled if each.base}
        return told | cells if self.kind == "number" else told

    @cached_property
    def day_first(self) -> bool | None:
        """Whether figures such as 13/04/2024 tell the day first; None where no cell tells it."""
        pairs = [re.match(r"(\d{1,2})[-/.](\d{1,2})[-/.]\d", cell) for cell in map(shown, self.cells)]
        found = [(int(pair[1]), int(pair[2])) for pair in pairs if pair]
        if any(a > 12 for a, _ in found):
            return True
        return None if found and all(b <= 12 for _, b in found) else False

    @cached_property
    def has_months(self) -> bool:
        """Whether its cells are months such as 2024-01: at least one of them is no season such as 2011-12."""
        pairs = [_YEAR_MONTH.fullmatch(cell) for cell in self.sample]
        return all(pairs) and any(int(pair[2]) <= int(pair[1]) for pair in pairs if pair)

    @cached_property
    def moments(self) -> list[tuple[Moment, Moment] | None]:
        how = {"day_first": bool(self.day_first), "has_months": self.has_months}
        return [moment_of(shown(cell), **how) for cell in self.cells]

    @cached_property
    def places(self) -> Mapping[str, list[int]]:
        """The rows of each folded text."""
        found: dict[str, list[int]] = defaultdict(list)
        for row, cell in enumerate(self.cells):
            found[folded(shown(cell))].append(row)
        return found

    @cached_property
    def blob(self) -> str:
        """Its different texts, folded, a line each: what a search for a word goes through."""
        return "\n".join(self.places)

    @cached_property
    def is_plain_time(self) -> bool:
        """Whether it dates its rows rather than an event of theirs: "Year", "Date", "Season"."""
        return bool(self.stems) and set(self.stems) <= _PLAIN_TIMES

    @cached_property
    def is_rank(self) -> bool:
        return self.kind == "number" and bool(_RANKS & set(self.stems))

    @cached_property
    def is_running(self) -> bool:
        """Whether it numbers the rows: 1, 2, 3, …, under no name or one such as "No."."""
        names = {folded(word) for word in ENGLISH.data["running_columns"]}
        low = set(re.findall(r"\w+|#", folded(self.name)))
        if self.kind != "number" or "of" in low or not (low & _CODES or low <= names):
            return False  # "No. of beds" counts
        return bool(low & {*_CODES, "#", "no", "nr"}) or all(b - a == 1 for a, b in pairwise(self.filled))

    @cached_property
    def is_ordinal(self) -> bool:
        """Whether it numbers its rows by any name: 1, 2, 3, … or 1, 1, 2, 2, 3 from the first row on."""
        steps = {b - a for a, b in pairwise(self.filled)}
        is_first = len(self.filled) > 2 and self.filled[0] == 1
        return self.is_running or (is_first and steps in ({1}, {0, 1}))

    @cached_property
    def is_label(self) -> bool:
        """Whether its numbers name the rows, and are not to be added up."""
        are_different = len(set(self.filled)) == len(self.filled) > 3
        is_dense = are_different and max(self.filled) - min(self.filled) < 2 * len(self.filled)
        is_whole = self.bases == {""} and all(number.denominator == 1 for number in self.filled)
        return self.is_ordinal or (is_dense and is_whole)

    @cached_property
    def is_flow(self) -> bool:
        """Whether its numbers are told of several rows together by adding them up: revenue, hours, goals."""
        adds_up = self.kind == "number" and not (self.is_rate or self.is_label)
        return adds_up and bool(_FLOWS & set(self.stems))

    @cached_property
    def is_truth(self) -> bool:
        """Whether its cells say yes and no."""
        texts = {text for text in self.places if not is_blank(text)}
        return len(texts) <= 4 and bool(texts & _SURE)

    @cached_property
    def is_rate(self) -> bool:
        """Whether its numbers cannot be added up: shares, rates, prices, ages."""
        return bool(_RATES & set(self.stems)) or "%" in self.unit_stems or "%" in self.name


_TIMES = ENGLISH.listed("time_columns")
_PLAIN_TIMES = _TIMES | {"of", "the", "fiscal", "calendar", "order", "sal"}
_RANKS = ENGLISH.listed("rank_columns")
_RATES = ENGLISH.listed("rate_columns")
_CODES = frozenset(("id", "code", "key", "index", "unnamed"))
_CODE = re.compile(r"[A-Za-z]{0,4}[-_ ./#]?\d+[A-Za-z]?")
_NAMES = frozenset((ENGLISH.stem("name"), ENGLISH.stem("title")))
_FLOWS = ENGLISH.listed("flow_columns")
_QUANTITIES = ENGLISH.listed("quantity_columns")
_SURE = frozenset((*ENGLISH.data["yes"], *ENGLISH.data["no"])) - {"x", "y", "n", "×"}
_SUMS = frozenset(ENGLISH.data["total_cells"])
_BLANK = frozenset(map(str, ENGLISH.data["empty"]))


_TALLIES = ENGLISH.listed("tallies")


def is_headless(table: Table) -> bool:
    """Tell whether the header is a row like the others: an amount over amounts of the same unit."""
    for name, column in zip(table.header, table.columns, strict=True):
        amounts = map(amounts_in, (name, *column.cells[:20]))
        bases = [amount[0].base if amount else "" for amount in amounts]
        if bases[0] and len(bases) > 1 and len(set(bases)) == 1:
            return True
    return False


def is_blank(text: str) -> bool:
    """Tell whether a cell says nothing: empty, "n/a", "–", "unknown"."""
    return not text or text.lower() in _BLANK


class Sheet:
    """A table to read: columns, the rows that count, the key, and the words for a row."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.kept: dict[Any, Any] = {}  # rows of forms that were looked for
        self.columns = [
            SheetColumn(i, name, column.cells)
            for i, (name, column) in enumerate(zip(table.header, table.columns, strict=True))
        ]

    @cached_property
    def rows(self) -> list[int]:
        """The rows that count: neither totals nor notes nor the header again."""
        return [row for row in range(len(self.table.rows)) if row not in self.summaries]

    @cached_property
    def summaries(self) -> frozenset[int]:
        starts = ("total (", *ENGLISH.data["summary_rows"])
        total, maybe = ENGLISH.data["total_rows"], ENGLISH.data["maybe_totals"]
        found = []
        for place, cells in enumerate(self.table.rows):
            filled = [cell for cell in cells if not is_blank(cell)]
            texts = [folded(shown(cell)).strip(" :.") for cell in filled if not cell.isdigit()]
            words = {text for text in texts if not amounts_in(text) and not _CODE.fullmatch(text)}
            label = min(words) if len(words) == 1 else texts[0] if texts else ""  # wherever its column stands
            is_sum = label in total and (label not in maybe or len(words) == 1)
            is_total = is_sum or label.startswith(starts) or not _SUMS.isdisjoint(texts)
            may_total = label in maybe or label.startswith("total ")
            is_total = is_total or (may_total and self._adds_up(place, some=True))
            is_note = len(set(filled)) == 1 < len(self.columns) - 1 and not amounts_in(filled[0])
            is_note = is_note and (len(filled) > 1 or len(filled[0]) > _NOTE_LENGTH)
            if len(self.columns) > 1 and (is_total or is_note or cells == self.table.header):
                found.append(place)
        last = len(self.table.rows) - 1
        if 2 < last < _MOST_ADDED and last not in found and self._adds_up(last):
            found.append(last)
        return frozenset(found) if len(found) < len(self.table.rows) / 2 else frozenset()

    def _adds_up(self, last: int, *, some: bool = False) -> bool:
        """Tell whether a row has the sums of those above it: in most of two or more columns, or in some."""
        sums = []
        for column in (each for each in self.numbers if not each.is_rate):
            numbers = column.numbers[:last] or column.numbers[1:]  # the first row sums up those below
            others = [number for number in numbers if number]
            sums.append(len(others) > 1 and column.numbers[last] == sum(others))
        return any(sums) if some else sum(sums) > max(1, len(sums) // 2)

    @cached_property
    def key(self) -> SheetColumn | None:
        """The column that names the rows: the first of texts of which nearly all are filled and different."""
        found = []
        for column in self.columns:
            if column.kind == "text" and not column.is_running:
                cells = [cell for row in self.rows if not is_blank(cell := column.cells[row])]
                if cells and len(cells) >= 0.8 * len(self.rows) and len(set(cells)) >= 0.9 * len(cells):
                    named = bool(set(column.stems) & (_NAMES | set(self.caption)))
                    coded = sum(_CODE.fullmatch(cell) is not None for cell in cells) > 0.7 * len(cells)
                    is_code = coded or sum(map(len, cells)) < 3.5 * len(cells)
                    found.append((is_code, not named, column.index))
        return self.columns[min(found)[2]] if found else None

    @cached_property
    def caption(self) -> Stems:
        return ENGLISH.stems(self.table.caption)

    @cached_property
    def quantity(self) -> SheetColumn | None:
        """The column that tells how many of a thing a row is about, as "Quantity" in a list of orders."""
        numbers = [each for each in self.columns if each.kind == "number" and set(each.stems) & _QUANTITIES]
        found = [each for each in numbers if not (each.is_rate or each.unit_stems)]
        return found[0] if len(found) == 1 and not found[0].is_running else None

    @cached_property
    def tally(self) -> SheetColumn | None:
        """The column that tells how many there are of each row, as "Frequency" beside what was counted."""
        found = [each for each in self.columns if each.kind == "number" and set(each.stems) & _TALLIES]
        return found[0] if len(found) == 1 and len(self.columns) == 2 else None

    @cached_property
    def numbers(self) -> list[SheetColumn]:
        """The columns of amounts that do not number the rows."""
        return [column for column in self.columns if column.kind == "number" and not column.is_running]

    @cached_property
    def amounts(self) -> list[SheetColumn]:
        """The columns of amounts that are no ranks either."""
        return [column for column in self.numbers if not column.is_rank]

    @cached_property
    def nouns(self) -> Mapping[str, float]:
        """The stems that may mean a row, with what it costs: of the key's name, of the caption."""
        found = {stem: 0.2 for stem in self.caption if not stem.isdigit()}
        if self.key is not None:
            found |= dict.fromkeys(self.key.stems, 0.0)
        return found

    def texts_of(self, column: SheetColumn, rows: Iterable[int]) -> list[str]:
        """The filled cells of a column in these rows, as people read them."""
        return [text for row in rows if not is_blank(text := shown(column.cells[row]))]
