"""A table prepared for reading: columns with kinds and units, rows without totals and notes, and a key."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from chameleon.lazy import cached_property
from chameleon.modules.offline.words import Language, Stems, language
from chameleon.retrieval.analysis import folded
from chameleon.table import Meaning, Table
from chameleon.table.amounts import plain_signs, read_amount
from chameleon.table.column_names import ColumnName
from chameleon.table.dates import MONTHS, Span
from chameleon.table.meaning import DATES, NUMBERS, is_blank, is_nothing, shown, unmarked
from chameleon.table.totals import set_apart

Kind = Literal["number", "date", "time", "text", "empty"]
Number = Fraction | int  # both exact; integers compare faster

_COPY_SUFFIX = re.compile(r" \(\d\)$")
_HEADER_UNIT = re.compile(r"[(\[]([^)\]]*)[)\]]")
_SIGN_NAMES = {"+": "plus", "-": "minus", "–": "minus", "%": "percent", "#": "number"}
_CODE = re.compile(r"[A-Za-z]{0,4}[-_ ./#]?\d+[A-Za-z]?")
_PAIR = re.compile(r"\d{1,3}(?:\.\d+)?[^\d.,]{0,3}[-–/:] ?\d")
_PERIODS = {
    "Year": re.compile(r"(?:fy ?)?(?:1[5-9]|20)\d\d"),
    "Quarter": re.compile(r"q[1-4](?:[ /-]?(?:20)?\d\d)?|(?:20)\d\d[ -]?q[1-4]"),
    "Month": re.compile("|".join({*MONTHS, *(month[:3] for month in MONTHS)})),
}
_SAMPLE_CELLS = 400


class Measure(NamedTuple):
    """An amount in its base unit, with the unit as written and its factor to the base unit."""

    number: Number
    base: str = ""
    unit: str = ""
    factor: Fraction = Fraction(1)


def amount_in(text: str) -> Measure | None:
    """Read a text as an amount: 190 cm for "190 cm (6 ft 3 in)", None for "1-0"."""
    amount = read_amount(shown(text))
    return amount and Measure(_exact(amount.of_base), amount.base, amount.unit, amount.factor)


def _exact(value: Any) -> Number:
    return value if isinstance(value, int) else Fraction(value)


def key_of(number: Number | None) -> tuple[float, Number] | None:
    """Return a key that sorts like the number, but faster: fractions only break ties between floats."""
    return None if number is None else (float(number), number)


@dataclass(frozen=True)
class SheetColumn:
    """A column: its name, what its cells measure, and the rows that hold each text."""

    index: int
    name: str
    cells: tuple[str, ...]
    meaning: Meaning = field(repr=False, compare=False)
    words: Language = field(repr=False, compare=False)

    @cached_property
    def stems(self) -> Stems:
        """The stems of its name without the unit, with abbreviations expanded."""
        if not re.search(r"\w", self.name):
            return tuple(_SIGN_NAMES[sign] for sign in plain_signs(self.name) if sign in _SIGN_NAMES)
        units = self.words.units
        name = _HEADER_UNIT.sub(lambda match: " " if folded(match[1]) in units else match[0], self.original)
        return tuple(stem for stem in self.words.stems(shown(name)) if stem not in "?#")

    @cached_property
    def original(self) -> str:
        """Its name in the file, before columns of the same name were numbered."""
        return _COPY_SUFFIX.sub("", shown(self.name))

    @cached_property
    def plain(self) -> str:
        return shown(self.name)

    @cached_property
    def sample(self) -> list[str]:
        step = max(1, len(self.cells) // _SAMPLE_CELLS)
        return [cell for cell in map(shown, self.cells[::step]) if not self.is_blank(cell)]

    def answer_text(self, row: int) -> str:
        """Return a cell as an answer shows it; texts keep their original dashes and quotes."""
        return (unmarked if self.kind == "text" else shown)(self.cells[row])

    def is_blank(self, text: str) -> bool:
        """Return whether a cell holds nothing; in a column of names, Null and NA are names."""
        return is_nothing(text) if self._has_names else is_blank(text)

    @cached_property
    def _has_names(self) -> bool:
        return self.meaning.kind in ("text", "code") and ColumnName(self.name).has("name")

    @cached_property
    def kind(self) -> Kind:
        """The kind of its cells; in an unclear column, of most of them."""
        kind = self.meaning.read_as or self.meaning.kind
        if kind in DATES:
            return "date"
        if kind == "time" or (kind == "duration" and any(":" in cell for cell in self.sample)):
            return "time"
        if kind in NUMBERS:
            return "text" if self.is_label else "number"
        return "empty" if kind == "empty" else "text"

    @cached_property
    def is_label(self) -> bool:
        """Whether its figures are labels rather than counts, as in a "Room" or "Platform" column."""
        figures = [value for value in self.meaning.values if value is not None]
        is_whole = all(isinstance(value, int) for value in figures) and not self.meaning.base
        return is_whole and self.stems[-1:] != () and self.stems[-1] in self.words.lists["labels"]

    @cached_property
    def numbers(self) -> list[Number | None]:
        """The number of each cell, in the unit of the column; times in seconds."""
        if self.meaning.why:
            return [each and each.number for each in map(amount_in, self.cells)]
        values = self.meaning.values
        if self.meaning.kind == "time":
            return [v if v is None else 3600 * v.hour + 60 * v.minute + v.second for v in values]
        if self.meaning.unit == "year" or self.meaning.is_number:
            return [value if value is None else _exact(value) for value in values]
        return [None] * len(self.cells)

    @cached_property
    def keys(self) -> list[tuple[float, Number] | None]:
        """The numbers as sort keys."""
        return [*map(key_of, self.numbers)]

    @cached_property
    def filled(self) -> list[Number]:
        """The numbers of a number column, without blanks."""
        return [each for each in self.numbers if each is not None] if self.kind == "number" else []

    @cached_property
    def unit(self) -> str:
        """The unit that its amounts are written with, or ""."""
        amounts = (read_amount(cell, self.meaning.mark or ".") for cell in self.sample[:9])
        is_written = any(amount is not None and amount.unit for amount in amounts)
        return self.meaning.unit if is_written and not self.meaning.why else ""

    @cached_property
    def units(self) -> set[tuple[str, Fraction]]:
        """The units in its name or its cells, each as its kind and factor."""
        words = re.split(r"[\s()\[\].,_]+", folded(self.name))
        names = [word for word in words if (len(word) > 1 and word != "in") or word in ("%", "$", "m")]
        names += map(" ".join, pairwise(words))
        units = {self.words.units[name] for name in names if name in self.words.units}
        own = {(self.meaning.base, self.meaning.factor)} if self.meaning.base else set()
        return set() if self.kind == "date" else units | own if self.kind == "number" else units

    @cached_property
    def scale(self) -> int:
        """What its numbers are multiplied by: 1,000 under "(thousands)", "($000)" or "($k)"."""
        scales, name = self.words.data["scales"], self.name.lower()
        short = re.search(r"[$€£¥](?:000|k|mn?|bn)\b|\b000s", name)
        words = [word.rstrip("s") for word in re.findall(r"[a-z]{7,}", name)]
        words += [short[0].strip("$€£¥").replace("000s", "k").replace("000", "k")] if short else []
        return next((int(scales[word]) for word in words if word in scales), 1)

    @property
    def bases(self) -> set[str]:
        """The kinds of unit in its name or its cells."""
        return {base for base, _ in self.units}

    @cached_property
    def moments(self) -> Sequence[Span | None]:
        """The first and last date of each cell."""
        spans = self.meaning.spans or [None] * len(self.cells)
        if all(span is None or span[0].at is None for span in spans):
            return spans
        return [span and (span[0].timed, span[1].timed) for span in spans]

    @cached_property
    def places(self) -> Mapping[str, list[int]]:
        """The rows of each folded text."""
        places: dict[str, list[int]] = defaultdict(list)
        texts = {cell: folded(shown(cell)) for cell in dict.fromkeys(self.cells)}
        for row, cell in enumerate(self.cells):
            places[texts[cell]].append(row)
        return places

    @cached_property
    def blob(self) -> str:
        """Its distinct texts, folded, one per line, for searching."""
        return "\n".join(self.places)

    def is_of(self, name: str) -> bool:
        """Return whether its name has a word from one of the language's lists: "ranks", "rates", "flows"."""
        return not self.words.lists[name].isdisjoint(self.stems)

    @cached_property
    def is_plain_time(self) -> bool:
        """Whether it dates the rows themselves, not an event in them: "Year", "Date", "Season"."""
        return bool(self.stems) and self.words.lists["plain_times"].issuperset(self.stems)

    @cached_property
    def is_rank(self) -> bool:
        return self.kind == "number" and self.is_of("ranks")

    @cached_property
    def is_running(self) -> bool:
        """Whether it numbers the rows from the first one: 1, 2, 3, … or 1, 1, 2, 2, 3."""
        steps = {b - a for a, b in pairwise(self.filled)}
        return len(self.filled) > 2 and self.filled[0] in (0, 1) and steps in ({1}, {0, 1})

    @cached_property
    def is_id(self) -> bool:
        """Whether it identifies the rows by codes: "Order ID", "invoice_no"."""
        return self.meaning.kind == "code" and len(set(self.cells)) >= 0.9 * len(self.cells)

    @cached_property
    def has_pairs(self) -> bool:
        """Whether its cells are pairs of figures, which are neither amounts nor names: 120/80, 2-2."""
        return self.kind == "text" and 2 * sum(map(bool, map(_PAIR.match, self.sample))) > len(self.sample)

    @cached_property
    def is_dense(self) -> bool:
        """Whether its figures are whole, all different and close together, like lot numbers."""
        different = set(self.filled)
        is_whole = all(number.denominator == 1 for number in different) and not self.meaning.base
        is_close = len(different) > 3 and max(different) - min(different) < 2 * len(different)
        return is_whole and is_close and len(different) == len(self.filled)

    @property
    def is_count(self) -> bool:
        """Whether its name says that it counts: "Number of rooms"."""
        return len(self.stems) > 2 and self.stems[0] in self.words.lists["names"] and self.stems[1] == "of"

    @property
    def numbers_rows(self) -> bool:
        """Whether its cells identify rows: codes, 1, 2, 3, or a name such as "Room number"."""
        is_name = len(self.stems) > 1 and self.stems[-1] in self.words.lists["names"]
        return is_name or self.is_id or self.is_running

    @cached_property
    def truths(self) -> tuple[frozenset[str], frozenset[str]] | None:
        """Its texts for yes and for no, or None if it is not a yes/no column."""
        texts = frozenset(text for text in self.places if not is_blank(text))
        yes, no = (texts.intersection(self.words.data[name].split()) for name in ("yes", "no"))
        return (yes, no) if yes and texts == yes | no else None

    @cached_property
    def is_rate(self) -> bool:
        """Whether its numbers cannot be added up: shares, rates, prices, ages."""
        return self.is_of("rates") or "%" in self.bases or "%" in self.name

    @property
    def adds_up(self) -> bool:
        """Whether its numbers may be added up over rows."""
        return self.kind == "number" and not (self.is_rate or self.is_rank or self.is_running)


def is_headless(table: Table) -> bool:
    """Return whether the header looks like a data row: an amount over amounts of the same unit."""
    for name, column in zip(table.header, table.columns, strict=True):
        first, *others = map(amount_in, (name, *column.cells[:20]))
        bases = {each.base for each in others if each}
        if first and first.base and bases == {first.base}:
            return True
    return False


class Sheet:
    """A table to read: columns, the rows that count, the key, and the words for a row."""

    @classmethod
    def of(cls, table: Table, words: Language) -> "Sheet":
        """Return the sheet of a table, cached for each language: building a large one takes time."""
        sheets: dict[str, Sheet] = table.__dict__.setdefault("_sheets", {})
        if words.name not in sheets:
            sheets[words.name] = cls(table, words)
        return sheets[words.name]

    def __init__(self, table: Table, words: Language | None = None) -> None:
        self.table, self.words = table, words or language()
        self.kept: dict[Any, Any] = {}  # cached rows and overlaps
        self.columns = [
            SheetColumn(i, name, column.cells, column.meaning, self.words)
            for i, (name, column) in enumerate(zip(table.header, table.columns, strict=True))
        ]

    @cached_property
    def rows(self) -> list[int]:
        """The rows that count: no totals, notes or repeated headers."""
        return [row for row in range(len(self.table.rows)) if row not in self.summaries]

    @cached_property
    def summaries(self) -> frozenset[int]:
        """The rows that are not data; empty if the table's reader already set them apart."""
        is_open = self.table.apart is None
        return frozenset(each.place for each in set_apart(self.table).apart or ()) if is_open else frozenset()

    @cached_property
    def key(self) -> SheetColumn | None:
        """The column that names the rows: texts, nearly all filled and different, preferably not codes."""
        candidates = []
        for column in self.columns:
            if column.kind == "text" and not column.truths:
                cells = [cell for row in self.rows if not column.is_blank(cell := column.cells[row])]
                if cells and len(cells) >= 0.8 * len(self.rows) and len(set(cells)) >= 0.9 * len(cells):
                    is_named = not (self.words.lists["names"] | set(self.caption)).isdisjoint(column.stems)
                    is_coded = sum(_CODE.fullmatch(cell) is not None for cell in cells) > 0.7 * len(cells)
                    is_code = column.is_id or is_coded or sum(map(len, cells)) < 3.5 * len(cells)
                    candidates.append((is_code, not is_named, column.index))  # the least is best
        return self.columns[min(candidates)[2]] if candidates else None

    @cached_property
    def caption(self) -> Stems:
        return self.words.stems(self.table.caption)

    @cached_property
    def quantity(self) -> SheetColumn | None:
        """The column that counts the things in a row, such as "Quantity" in a list of orders."""
        columns = [each for each in self.columns if each.adds_up and each.is_of("quantities")]
        return columns[0] if len(columns) == 1 and not columns[0].bases else None

    @cached_property
    def amounts(self) -> list[SheetColumn]:
        """The number columns that neither number nor rank the rows."""
        names = self.words.lists["names"]
        numbers = (each for each in self.columns if each.kind == "number")
        amounts = (each for each in numbers if not (each.is_rank or each.is_running))
        return [each for each in amounts if not names.issuperset(each.stems)]

    def fits(self, column: SheetColumn, sort: str) -> bool:
        """Return whether a column, judging by its name, holds a sort of thing: persons, places, times."""
        if sort == "time":
            return column.kind in ("date", "time")
        return column.kind == "text" and sort in self.sorts(column)

    def overlap(self, one: SheetColumn, other: SheetColumn) -> bool:
        """Return whether two text columns share any texts other than blanks."""
        key = ("overlap", one.index, other.index)
        if key not in self.kept:
            is_text = one.kind == other.kind == "text" and not (one.truths or other.truths)
            shared = one.places.keys() & other.places.keys() if is_text else ()
            self.kept[key] = any(not is_blank(text) for text in shared)
        return bool(self.kept[key])

    def sorts(self, column: SheetColumn) -> set[str]:
        """Return the sorts of thing that its name may mean: a child's fare is not a child."""
        stems = [stem for stem in column.stems if stem not in self.words.lists["names"]]
        sorts = set(self.words.things.get(stems[-1], ())) if stems else set()
        is_key = column is self.key or self.key is None
        is_plain = is_key and bool(column.stems) and self.words.lists["names"].issuperset(column.stems)
        return sorts or (set(self.words.data["things"]) if is_plain else set())

    @cached_property
    def row_nouns(self) -> frozenset[str]:
        """The stems that mean a row, from the names of the key and of ID columns."""
        stems = {stem for each in self.columns if each.is_id or each is self.key for stem in each.stems}
        return frozenset(stems) - self.words.lists["names"] - self.words.filler

    @cached_property
    def nouns(self) -> frozenset[str]:
        """The stems that mean a row, and the stems of the table's caption."""
        stems = frozenset(stem for stem in self.caption if not stem.isdigit())
        return (self.row_nouns | stems) - self.words.lists["names"] - self.words.filler

    @cached_property
    def long(self) -> "Sheet | None":
        """The table with a row for each year, quarter or month column; None if it has none of them."""
        for name, form in _PERIODS.items():
            spread = [c.index for c in self.columns if form.fullmatch(folded(c.plain)) and c.kind != "text"]
            fixed = [c.index for c in self.columns if c.index not in spread and c.kind in ("text", "date")]
            if len(spread) > 1 and fixed and {self.columns[i].kind for i in spread} <= {"number", "empty"}:
                header, unit = self.table.header, next((self.columns[i].unit for i in spread), "")
                fixed_names = [header[i] for i in fixed]
                measure = f"{self.table.caption} {self.words.data['measure']}".strip()
                measure += f" ({unit})" if unit else ""
                rows = [
                    [*(self.table.rows[row][i] for i in fixed), header[i], self.table.rows[row][i]]
                    for row in self.rows for i in spread
                ]  # fmt: skip
                sheet = Sheet(Table([*fixed_names, name, measure], rows, self.table.caption), self.words)
                sheet.origins = [(row, i) for row in self.rows for i in spread]
                return sheet
        return None

    origins: Sequence[tuple[int, int]] | None = None
    """In a long sheet, the row and column of the table that each row comes from."""


def plain(number: Number, places: int = 4) -> str:
    """Write a number as people do: whole or with its decimals, endless ones rounded to `places`."""
    if number.denominator == 1:
        return str(number.numerator)
    digits = places + 2 if -1 < number < 1 else places
    is_exact = pow(10, number.denominator.bit_length(), number.denominator) == 0  # only 2 and 5 divide it
    return with_places(number, 10 if is_exact else digits).rstrip("0").rstrip(".")


def with_places(number: Number, places: int) -> str:
    """Write a number with `places` decimals, rounded from its exact value."""
    units = round(number * 10**places)
    whole, part = divmod(abs(units), 10**places)
    return f"{'-' if units < 0 else ''}{whole}.{part:0{places}}"
