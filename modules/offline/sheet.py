"""A table as it is meant: its columns with kinds and units, its rows without totals and notes, its key."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeGuard

from chameleon.modules.offline.words import ENGLISH, Stems, folded
from chameleon.table import Table
from chameleon.table.typed import MONTHS

Kind = Literal["number", "date", "time", "text", "empty"]

_NOTE = re.compile(r"\[[^\]]*\]|[*†‡§^↓↑]+(?=\s|$)|(?<=\w)[*†‡§]+")
_QUOTES = str.maketrans(
    {"½": " 1/2", "¼": " 1/4", "¾": " 3/4", "“": '"', "”": '"', "‘": "'", "’": "'", "\u00a0": " ", "−": "-"}
)
_AMOUNT = re.compile(
    r"""(?:c\.|ca\.?|circa|about|approx\.?|[~≈<>])?\s*(?P<open>\()?(?P<sign>[-+–]\s?)?
    (?P<currency>US\s?\$|[A-Z]{0,3}\$|[€£¥₹])?\s?(?P<sign2>-)?
    (?P<figure>\d{1,3}(?:(?P<mark>[,\ ])\d{3})(?:(?P=mark)\d{3})*(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)
    (?:\s(?P<part>\d+/\d+))?(?P<rest>.*)""",
    re.VERBOSE | re.DOTALL,
)
_UNIT = re.compile(
    r"\s*(?P<scale>(?:thousand|million|billion|trillion|bn|mn|k)\b)?\s*(?P<unit>[^\W\d_°]+[²³]?(?:/[^\W\d_]+[²³]?)?|°\s?[CF]?|%|[€£¥$])?",
    re.IGNORECASE,
)
_SMALLER = re.compile(r"(?:and )?(\d+)\s?([^\W\d_]+)")
_NOT_A_UNIT = re.compile(r"(?:st|nd|rd|th|am|pm|bc|ad|bce|ce)$", re.IGNORECASE)
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
        r"(?:c\.|ca\.?|circa)?\s*(?P<year>\d{4})",
        _MONTH,
    )
)
_IN_HEADER = re.compile(r"[(\[]([^)\]]*)[)\]]")
_SIGN_NAMES = {"+": "plus", "-": "minus", "–": "minus", "%": "percent", "#": "number"}
_LONGEST_AMOUNT = 80
_SHORT_SCALES = {"k": 10**3, "m": 10**6, "b": 10**9}  # $3m, 1.2M
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
    """Read the amounts that a cell begins with: "190 cm (6 ft 3 in)" has two, "25 lost" one, "1–0" none."""
    if len(text) > _LONGEST_AMOUNT:
        return []
    if text.isdigit() and text.isascii():
        return [Measure(int(text))]
    cell = text.translate(_QUOTES).strip()
    main, _, aside = cell.partition("(") if not cell.startswith("(") else (cell, "", "")
    first = _amount(main.strip())
    if first is None:
        return []
    second = _amount(aside.rstrip(") ").strip()) if aside else None
    return [first, second] if second and second.unit else [first]


def _amount(text: str) -> Measure | None:
    match = _AMOUNT.fullmatch(text)
    if match is None:
        return None
    figure = match["figure"].replace(",", "").replace(" ", "")
    number: Number = Fraction(figure) if "." in figure else int(figure)
    if match["part"]:
        over, under = map(int, match["part"].split("/"))
        number += Fraction(over, under) if under else 0
    rest = match["rest"]
    if match["open"] and not rest.rstrip().endswith(")"):
        return None
    rest = rest.strip().rstrip(")") if match["open"] else rest
    found = _UNIT.match(rest)
    assert found is not None
    unit, left = (found["unit"] or "").strip(), rest[found.end() :].strip(" ,.;/")
    short = _SHORT_SCALES.get(unit.lower()) if match["currency"] or unit in ("K", "M", "B") else None
    if short is not None:
        number, unit = number * short, ""
    if found["scale"]:
        number *= ENGLISH.data["scales"][found["scale"].lower()]
    if unit and folded(unit) not in ENGLISH.units and (rest[0].isalpha() or unit[0].isupper()):
        return None  # 258Sg and 12 Mill Lane are names
    if _NOT_A_UNIT.match(unit) or (rest[:1] and rest[0] in "-–:/" and rest[1:2] and not unit):
        return None
    if (match["sign"] and match["sign"].strip() in "-–") or match["sign2"] or match["open"]:
        number = -number
    currency = (match["currency"] or "").replace(" ", "")
    name = folded(currency or unit)
    base, factor = ENGLISH.units.get(name, (ENGLISH.stem(name), Fraction(1)))
    if left:
        if (
            (more := _SMALLER.match(left))
            and (less := ENGLISH.units.get(folded(more[2])))
            and less[0] == base
            and less[1] < factor
        ):
            return Measure(number * factor + int(more[1]) * less[1], base, unit, factor)  # 5 years, 220 days
        if len(left.split()) > 2 or any(map(str.isdigit, left)):
            return None
    return Measure(number * factor, base, currency or unit, factor)


@lru_cache(maxsize=65_536)
def moment_of(text: str, *, day_first: bool = False) -> tuple[Moment, Moment] | None:
    """Read a date as far as it is told, with the last that it spans: "1999–2004", "May 4, 2024", "2006"."""
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
            month = next(
                (i for i, each in enumerate(MONTHS, 1) if each.startswith(name[:4]) and len(name) > 2), 0
            )
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
        last = int(until if until and len(until) == 4 else f"{year // 100}{until}") if until else 0
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
        name = _IN_HEADER.sub(lambda m: " " if self._is_unit(m[1]) else m[0], self.name)
        return tuple(
            ENGLISH.short.get(stem, stem) for stem in ENGLISH.stems(_NOTE.sub("", name)) if stem not in "?#"
        )

    @cached_property
    def plain(self) -> str:
        return shown(self.name)

    def _is_unit(self, text: str) -> bool:
        return bool(text) and all(
            folded(word) in ENGLISH.units for word in re.split(r"[\s.]+", text.strip()) if word
        )

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
        if len(years) < _MOSTLY * len(cells) or any(
            not moment_of(cell) for cell in cells if cell not in years
        ):
            return False
        is_time = any(
            stem in _TIMES or any(idea in _TIMES for idea in ENGLISH.ideas.get(stem, ()))
            for stem in self.stems
        )
        if is_time or set(self.stems) & (_FLOWS | _RATES | {ENGLISH.stem("rent"), ENGLISH.stem("salary")}):
            return is_time
        return min(map(int, years)) >= 1800

    @cached_property
    def measures(self) -> list[Measure | None]:
        """The first amount of each cell, in the base of its unit where units differ; None for none."""
        found = [next(iter(amounts_in(shown(cell))), None) for cell in self.cells]
        if self.kind == "time":
            clock = [seconds_of(shown(cell)) for cell in self.cells]
            return [None if each is None else Measure(each) for each in clock]
        units = {(each.base, each.factor) for each in found if each is not None}
        if {("m", Fraction(1)), ("s", Fraction(1))} <= units:  # 3 m beside 20 s are minutes
            found = [
                each._replace(number=each.number * 60, base="s", factor=Fraction(60)) if _is_m(each) else each
                for each in found
            ]
            units = {(each.base, each.factor) for each in found if each is not None}
        if len(units) == 1 and units != {("", Fraction(1))}:  # 12 km stay 12, as they are written
            return [
                each and Measure(each.number / each.factor, each.base, each.unit, each.factor)
                for each in found
            ]
        return found

    @cached_property
    def numbers(self) -> list[Number | None]:
        return [each and each.number for each in self.measures]

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
        told = {base for text in _IN_HEADER.findall(self.name) for base in _bases(text)} | set(
            _bases(self.name)
        )
        return told | ({each.base for each in self.sampled} - {""} if self.kind == "number" else set())

    @cached_property
    def sampled(self) -> list[Measure]:
        """The amounts of some of its cells, enough to tell units by."""
        return [amounts[0] for cell in self.sample if (amounts := amounts_in(cell))]

    @cached_property
    def units(self) -> set[tuple[str, Fraction]]:
        """The units that its name or its cells tell, each with its kind and factor."""
        words = re.split(r"[\s().,_]+", folded(self.name))
        pairs = [*words, *map(" ".join, pairwise(words))]
        told = {
            ENGLISH.units[word] for word in pairs if word in ENGLISH.units and word not in ("in", "a", "t")
        }
        cells = {(each.base, each.factor) for each in self.sampled if each.base in ENGLISH.bases}
        return told | cells if self.kind == "number" else set()

    @cached_property
    def day_first(self) -> bool | None:
        """Whether figures such as 13/04/2024 tell the day first; None where no cell tells it."""
        pairs = [re.match(r"(\d{1,2})[-/.](\d{1,2})[-/.]\d", cell) for cell in map(shown, self.cells)]
        found = [(int(pair[1]), int(pair[2])) for pair in pairs if pair]
        if any(a > 12 for a, _ in found):
            return True
        return None if found and all(b <= 12 for _, b in found) else False

    @cached_property
    def moments(self) -> list[tuple[Moment, Moment] | None]:
        return [moment_of(shown(cell), day_first=bool(self.day_first)) for cell in self.cells]

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
    def is_rank(self) -> bool:
        names = {
            ENGLISH.stem(word) for word in ENGLISH.data["rank_columns"] if f"{word}s" not in folded(self.name)
        }
        return self.kind == "number" and bool(
            names & set(self.stems if len(self.stems) <= 2 else self.stems[:1])
        )

    @cached_property
    def is_running(self) -> bool:
        """Whether it numbers the rows: 1, 2, 3, …, under no name or one such as "No."."""
        names = {folded(word) for word in ENGLISH.data["running_columns"]}
        low = set(re.findall(r"\w+|#", folded(self.name)))
        if "of" in low or (low and not low & names):
            return False
        if self.kind != "number":
            return low <= {"#", "no", "nr", "number", "id", "code"} and bool(low)
        filled = [number for number in self.numbers if number is not None]
        if (
            not low & _CODES
            and not low <= names
            and not re.search(r"(?:#|\bno\.?|\bnr\.?)$", folded(self.name.strip()))
        ):
            return False  # "No. of beds" and "# Beds" count, "Pick #" does not
        is_counted = bool(low & {*_CODES, "#", "no", "nr"})
        return (
            is_counted
            or all(b - a == 1 for a, b in pairwise(filled))
            or (len(set(filled)) == len(filled) > 2 and bool(low))
        )

    @cached_property
    def is_ordinal(self) -> bool:
        """Whether it numbers its rows by any name: 1, 2, 3, … or 1, 1, 2, 2, 3 from the first row on."""
        filled = [number for number in self.numbers if number is not None] if self.kind == "number" else []
        steps = {b - a for a, b in pairwise(filled)}
        return self.is_running or (len(filled) > 2 and filled[0] == 1 and steps in ({1}, {0, 1}))

    @cached_property
    def is_label(self) -> bool:
        """Whether its numbers name the rows, and are not to be added up."""
        filled = [number for number in self.numbers if number is not None] if self.kind == "number" else []
        spread = (
            bool(filled)
            and max(filled) - min(filled) < 2 * len(filled)
            and len(set(filled)) == len(filled) > 3
        )
        return self.is_ordinal or (
            spread and self.bases == {""} and all(number.denominator == 1 for number in filled)
        )

    @cached_property
    def is_prose(self) -> bool:
        """Whether its cells are sentences rather than names."""
        return self.kind == "text" and sum(len(cell.split()) for cell in self.sample) > 8 * len(self.sample)

    @cached_property
    def is_flow(self) -> bool:
        """Whether its numbers are told of several rows together by adding them up: revenue, hours, goals."""
        return (
            self.kind == "number"
            and bool(_FLOWS & set(self.stems))
            and not self.is_rate
            and not self.is_label
        )

    @cached_property
    def is_truth(self) -> bool:
        """Whether its cells say yes and no."""
        texts = {text for text in self.places if not is_blank(text)}
        return len(texts) <= 4 and (bool(texts & _SURE) or texts in ({"y", "n"}, {"x"}))

    @cached_property
    def is_rate(self) -> bool:
        """Whether its numbers cannot be added up: shares, rates, prices, ages."""
        return bool(_RATES & set(self.stems)) or "%" in self.unit_stems or "%" in self.name


def _is_m(measure: Measure | None) -> TypeGuard[Measure]:
    return measure is not None and measure.unit == "m"


_TIMES = ENGLISH.listed("time_columns")
_RATES = ENGLISH.listed("rate_columns")
_CODES = frozenset(("id", "code", "key", "index", "unnamed"))
_CODE = re.compile(r"[A-Za-z]{0,4}[-_ ./#]?\d+[A-Za-z]?")
_NAMES = frozenset((ENGLISH.stem("name"), ENGLISH.stem("title")))
_FLOWS = ENGLISH.listed("flow_columns")
_QUANTITIES = ENGLISH.listed("quantity_columns")
_SURE = frozenset((*ENGLISH.data["yes"], *ENGLISH.data["no"])) - {"x", "y", "n", "×"}
_BLANK = frozenset(map(str, ENGLISH.data["empty"]))


_TALLIES = ENGLISH.listed("tallies")


def _is_headless(table: Table) -> bool:
    """Tell whether the header is a row like the others: an amount over amounts of the same unit."""
    for name, column in zip(table.header, table.columns, strict=True):
        above, below = amounts_in(name), [amounts_in(cell) for cell in column.cells[:20]]
        if (
            above
            and above[0].base
            and below
            and all(each and each[0].base == above[0].base for each in below)
        ):
            return True
    return False


def _leaves(table: Table) -> Table | None:
    """Read a stem-and-leaf plot as the numbers that it shows."""
    if [folded(name).strip() for name in table.header] != ["stem", "leaf"]:
        return None
    cells = [
        (stem.strip(), leaf.strip())
        for stem, leaves in table.rows
        for leaf in leaves.split(",")
        if leaf.strip()
    ]
    return Table(["number"], [[stem + leaf] for stem, leaf in cells], table.caption) if cells else None


def is_blank(text: str) -> bool:
    """Tell whether a cell says nothing: empty, "n/a", "–", "unknown"."""
    return not text or (text.lower() in _BLANK and text != "Nan")


def _bases(text: str) -> Iterator[str]:
    for word in re.split(r"[\s().,_]+", folded(text)):
        if word in ENGLISH.units and word not in ("in", "t", "a") and (len(word) > 1 or word in "%$m"):
            yield ENGLISH.units[word][0]


class Sheet:
    """A table to read: columns, the rows that count, the key, and the words for a row."""

    def __init__(self, table: Table) -> None:
        self.shift = 0  # how many rows were put before those of the table as it was given
        if _is_headless(table):
            names = ["item" if cell and not amounts_in(cell) else "amount" for cell in table.header]
            table, self.shift = Table(names, [table.header, *table.rows], table.caption), 1
        self.leaves = _leaves(table)
        self.table = table = self.leaves or table
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
        total = set(ENGLISH.data["total_rows"])
        found = []
        width = len(self.columns)
        for place, cells in enumerate(self.table.rows):
            label = next((cell for cell in cells if not is_blank(cell) and not cell.isdigit()), "")
            low = folded(shown(label)).strip(" :.")
            others = [cell for cell in cells if not is_blank(cell) and cell != label and not amounts_in(cell)]
            is_total = low in total and not any(map(str.isalpha, "".join(others)))
            is_total = (
                is_total
                or low.startswith(("total (", *ENGLISH.data["summary_rows"]))
                or (low.startswith("total ") and self._adds_up(place, some=True))
            )
            texts = {*cells} - {""}
            is_note = width > 2 and len(texts) == 1 and not amounts_in(label)
            is_note = is_note and (sum(map(bool, cells)) > 1 or len(label) > 25)
            if (is_total and width > 1) or is_note or (cells == self.table.header):
                found.append(place)
        last = len(self.table.rows) - 1
        if 2 < last < _MOST_ADDED and last not in found and self._adds_up(last):
            found.append(last)
        return frozenset(found) if len(found) < len(self.table.rows) / 2 else frozenset()

    def _adds_up(self, last: int, *, some: bool = False) -> bool:
        """Tell whether a row has the sums of those above it: in all of two or more columns, or in some."""
        columns = [
            each for each in self.columns if each.kind == "number" and not (each.is_rate or each.is_running)
        ]
        sums = []
        for column in columns:
            above = [number for number in column.numbers[:last] if number]
            sums.append(len(above) > 1 and column.numbers[last] == sum(above))
        return any(sums) if some else len(sums) > 1 and all(sums)

    @cached_property
    def key(self) -> SheetColumn | None:
        """The column that names the rows: the first of texts of which nearly all are filled and different."""
        found = []
        for column in self.columns:
            if column.kind == "text" and not column.is_running and not column.is_prose:
                cells = [cell for row in self.rows if not is_blank(cell := column.cells[row])]
                if cells and len(cells) >= 0.8 * len(self.rows) and len(set(cells)) >= 0.9 * len(cells):
                    named = bool(set(column.stems) & (_NAMES | set(self.caption)))
                    coded = sum(_CODE.fullmatch(cell) is not None for cell in cells) > 0.7 * len(cells)
                    is_code = (
                        coded
                        or sum(map(len, cells)) < 3.5 * len(cells)
                        or any(stem in ("id", "code") for stem in column.stems)
                    )
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
        found = [
            column for column in self.columns if set(column.stems) & _TALLIES and column.kind == "number"
        ]
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
