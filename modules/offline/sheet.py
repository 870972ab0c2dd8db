"""A table as it is meant: its columns with kinds and units, its rows without totals and notes, its key."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from chameleon.cached import cached_property
from chameleon.modules.offline.words import ENGLISH, Stems, folded
from chameleon.table import Meaning, Table
from chameleon.table.amounts import plain_signs, read_amount
from chameleon.table.column_names import ColumnName
from chameleon.table.dates import Span
from chameleon.table.meaning import DATES, NUMBERS, is_blank, is_nothing, shown
from chameleon.table.totals import set_apart

Kind = Literal["number", "date", "time", "text", "empty"]

_COPY = re.compile(r" \(\d\)$")
_IN_HEADER = re.compile(r"[(\[]([^)\]]*)[)\]]")
_SIGN_NAMES = {"+": "plus", "-": "minus", "–": "minus", "%": "percent", "#": "number"}
_SAMPLE = 400

Number = Fraction | int  # exact both; whole ones are compared faster


class Measure(NamedTuple):
    """An amount in the base of its unit, how many of that base its unit is, and the unit as it is written."""

    number: Number
    base: str = ""
    unit: str = ""
    factor: Fraction = Fraction(1)


def amounts_in(text: str) -> list[Measure]:
    """Read the amount that a text is: 190 cm of "190 cm (6 ft 3 in)", none of "1-0"."""
    amount = read_amount(shown(text))
    if amount is None:
        return []
    return [Measure(_exact(amount.of_base), amount.base, amount.unit, amount.factor)]


def _exact(value: Any) -> Number:
    return value if isinstance(value, int) else Fraction(value)


@dataclass(frozen=True)
class SheetColumn:
    """A column: what it is called, what its cells measure, and the rows that hold each text."""

    index: int
    name: str
    cells: tuple[str, ...]
    meaning: Meaning = field(repr=False, compare=False)

    @cached_property
    def stems(self) -> Stems:
        """The stems of its name without the unit, abbreviations written out."""
        if not re.search(r"\w", self.name):
            return tuple(_SIGN_NAMES[sign] for sign in plain_signs(self.name) if sign in _SIGN_NAMES)
        name = _IN_HEADER.sub(
            lambda match: " " if folded(match[1]) in ENGLISH.units else match[0], self.original
        )
        names = ENGLISH.stems(shown(name))
        return tuple(ENGLISH.short.get(stem, stem) for stem in names if stem not in "?#")

    @cached_property
    def original(self) -> str:
        """Its name as the file has it, which the second column of that name shares."""
        return _COPY.sub("", shown(self.name))

    @cached_property
    def plain(self) -> str:
        return shown(self.name)

    @cached_property
    def sample(self) -> list[str]:
        step = max(1, len(self.cells) // _SAMPLE)
        return [cell for cell in map(shown, self.cells[::step]) if not self.is_blank(cell)]

    def is_blank(self, text: str) -> bool:
        """Tell whether a cell holds nothing."""
        return is_nothing(text) if self.has_names else is_blank(text)

    @cached_property
    def has_names(self) -> bool:
        """Whether its cells are names and codes: there Null and NA are names."""
        return self.meaning.kind in ("text", "code") and ColumnName(self.name).has("name")

    @cached_property
    def kind(self) -> Kind:
        """What its cells are; of an unclear column most of them."""
        kind = self.meaning.read_as or self.meaning.kind
        if kind in DATES:
            return "date"
        if kind == "time" or (kind == "duration" and any(":" in cell for cell in self.sample)):
            return "time"
        return "number" if kind in NUMBERS else "empty" if kind == "empty" else "text"

    @property
    def dtype(self) -> Literal["number", "date", "text", ""]:
        """What `Table.to_pandas` makes of it; "" for texts that are not those of its cells, and times."""
        if self.meaning.kind in ("date", "datetime"):
            return "date"
        if self.meaning.unit == "year" or (self.meaning.is_number and self.kind == "number"):
            return "number"
        return "text" if self.kind != "time" and self.meaning.values == list(self.cells) else ""

    @cached_property
    def numbers(self) -> list[Number | None]:
        """The number of each cell, in the unit of the column; of times those of their smallest part."""
        if self.meaning.why:
            found = (next(iter(amounts_in(cell)), None) for cell in self.cells)
            return [each and each.number for each in found]
        values = self.meaning.values
        if self.meaning.kind == "time":
            per = 60 if all(value is None or not value.second for value in values) else 1
            return [v if v is None else (3600 * v.hour + 60 * v.minute + v.second) // per for v in values]
        if self.meaning.unit == "year" or self.meaning.is_number:
            return [value if value is None else _exact(value) for value in values]
        return [None] * len(self.cells)

    @cached_property
    def filled(self) -> list[Number]:
        """The numbers of a column of numbers."""
        return [each for each in self.numbers if each is not None] if self.kind == "number" else []

    @cached_property
    def unit(self) -> str:
        """The unit that its amounts are written with, "" where they have none."""
        is_written = any(amount.unit for cell in self.sample[:9] for amount in amounts_in(cell))
        return self.meaning.unit if is_written and not self.meaning.why else ""

    @cached_property
    def unit_stems(self) -> set[str]:
        """The kinds of unit that its name or its cells tell."""
        if self.kind == "date":
            return set()
        return {base for base, _ in self.units}

    @cached_property
    def units(self) -> set[tuple[str, Fraction]]:
        """The units that its name or its cells tell, each with its kind and factor."""
        words = re.split(r"[\s()\[\].,_]+", folded(self.name))
        names = [word for word in words if (len(word) > 1 and word != "in") or word in ("%", "$", "m")]
        names += map(" ".join, pairwise(words))
        told = {ENGLISH.units[name] for name in names if name in ENGLISH.units}
        cells = {(self.meaning.base, self.meaning.factor)} if self.meaning.base else set()
        return told | cells if self.kind == "number" else told

    @cached_property
    def moments(self) -> Sequence[Span | None]:
        """The first and the last date that each cell tells."""
        spans = self.meaning.spans or [None] * len(self.cells)
        if all(span is None or span[0].at is None for span in spans):
            return spans
        return [span and (span[0].timed, span[1].timed) for span in spans]

    @cached_property
    def places(self) -> Mapping[str, list[int]]:
        """The rows of each folded text."""
        found: dict[str, list[int]] = defaultdict(list)
        texts = {cell: folded(shown(cell)) for cell in dict.fromkeys(self.cells)}
        for row, cell in enumerate(self.cells):
            found[texts[cell]].append(row)
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
        is_whole = not self.meaning.base and all(number.denominator == 1 for number in self.filled)
        return self.is_ordinal or (is_dense and is_whole)

    @cached_property
    def is_flow(self) -> bool:
        """Whether its numbers are told of several rows together by adding them up: revenue, hours, goals."""
        adds_up = self.kind == "number" and not (self.is_rate or self.is_label)
        return adds_up and bool(_FLOWS & set(self.stems))

    @cached_property
    def is_version(self) -> bool:
        """Whether its cells are versions or chapters, such as 1.10: their order is not told."""
        return self.meaning.kind == "code" and any("." in cell for cell in self.sample)

    @cached_property
    def is_id(self) -> bool:
        """Whether its whole numbers name the rows: "Order ID", "invoice_no"."""
        return self.meaning.kind == "code" and all(map(str.isdigit, self.sample))

    @cached_property
    def is_truth(self) -> bool:
        """Whether its cells say yes and no."""
        texts = {text for text in self.places if not is_blank(text)}
        return len(texts) <= 4 and bool(texts & _SURE)

    @property
    def is_fraction(self) -> bool:
        """Whether its figures may be shares without a sign: 0.05 of 5 %."""
        is_small = bool(self.filled) and all(-1 <= number < 2 for number in self.filled)
        return is_small and not self.units and any(number.denominator > 1 for number in self.filled)

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
_TALLIES = ENGLISH.listed("tallies")


def is_headless(table: Table) -> bool:
    """Tell whether the header is a row like the others: an amount over amounts of the same unit."""
    for name, column in zip(table.header, table.columns, strict=True):
        amounts = map(amounts_in, (name, *column.cells[:20]))
        bases = [amount[0].base if amount else "" for amount in amounts]
        if bases[0] and len(bases) > 1 and len(set(bases)) == 1:
            return True
    return False


class Sheet:
    """A table to read: columns, the rows that count, the key, and the words for a row."""

    @classmethod
    def of(cls, table: Table) -> Sheet:
        """Return the sheet of a table, made once: of a large one, that takes longer than a question."""
        found: Sheet = table.__dict__.setdefault("_sheet", cls(table))
        return found

    def __init__(self, table: Table) -> None:
        self.table = table
        self.kept: dict[Any, Any] = {}  # rows of forms that were looked for
        self.columns = [
            SheetColumn(i, name, column.cells, column.meaning)
            for i, (name, column) in enumerate(zip(table.header, table.columns, strict=True))
        ]

    @cached_property
    def rows(self) -> list[int]:
        """The rows that count: neither totals nor notes nor the header again."""
        return [row for row in range(len(self.table.rows)) if row not in self.summaries]

    @cached_property
    def summaries(self) -> frozenset[int]:
        """The rows that are no data; none of a table whose reader has set them apart."""
        is_open = self.table.apart is None
        return frozenset(each.place for each in set_apart(self.table).apart or ()) if is_open else frozenset()

    @cached_property
    def key(self) -> SheetColumn | None:
        """The column that names the rows: the first of texts of which nearly all are filled and different."""
        found = []
        for column in self.columns:
            if column.kind == "text" and not column.is_running:
                cells = [cell for row in self.rows if not column.is_blank(cell := column.cells[row])]
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
        return [text for row in rows if not column.is_blank(text := shown(column.cells[row]))]
