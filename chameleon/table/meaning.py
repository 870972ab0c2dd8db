"""What the cells of a column mean, decided once for the column: `meaning_of`.

A column is of a kind where every filled cell can be read as that kind; then each cell has an exact value.
Where most can and some cannot, the column is unclear, and says which cells: none of them is left out.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

from chameleon.cached import cached_property
from chameleon.table.amounts import Amount, Number, plain_signs, read_amount
from chameleon.table.dates import Moment, Span, read_date, read_span_of_time, read_time
from chameleon.table.units import CURRENCIES, SEVERAL, UNITS
from chameleon.text import one_line

Kind = Literal[
    "empty", "number", "money", "percent", "quantity", "duration", "date", "datetime", "time", "period",
    "code", "boolean", "text", "unclear",
]  # fmt: skip
NUMBERS = frozenset(("number", "money", "percent", "quantity", "duration"))
"""The kinds whose values are numbers."""
DATES = frozenset(("date", "datetime", "period"))
"""The kinds that have `spans`."""

_NOTHING = frozenset(
    "n/a na n.a. nil none null nan tba tbd unknown unavailable vacant ? #n/a".split()  # noqa: SIM905
) | {"not available", "not applicable", "data unavailable", "no data", "not known", "not reported"}
_NO_TEXT = frozenset(("", "n/a", "#n/a"))
_DASHES = "-–—−"
_MARKS = re.compile(r"\[[^\]]*\]|[*†‡§^↓↑]+(?=\s|$)|(?<=\w)[*†‡§]+")
_TRUTHS = {"true": True, "false": False}
_CODED = re.compile(
    r"0\d+|\+\d[\d ()/-]{6,}|(?:[A-Z]{1,4}[-_ ./#]?|#)?\d+[A-Z]?|0x[0-9A-F]+|\d+(?:\.\d+){2,}", re.I
)
_SURELY_CODED = re.compile(r"0\d+|\+\d[\d ()/-]{7,}|0x[0-9A-F]+|\d+(?:\.\d+){2,}", re.IGNORECASE)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+|#")
_KEYS = frozenset(
    "id ids code key no nr nos num number index ref reference sku isbn ean barcode uuid".split()
)  # noqa: SIM905
_RECORDS = frozenset(
    [
        "invoice",
        "order",
        "ticket",
        "transaction",
        "booking",
        "receipt",
        "voucher",
        "shipment",
        "claim",
        "case",
        "customer",
        "employee",
        "account",
        "member",
        "student",
        "patient",
    ]
)
_ADDRESSES = frozenset("zip zipcode postcode postal phone mobile fax tel telephone plz iban".split())  # noqa: SIM905
_VERSIONS = frozenset("version versions release chapter section ip".split())  # noqa: SIM905
_VERSION = re.compile(r"v?\d+(?:\.\d+)*")
_UNIT_NAMES = frozenset("unit units uom currency ccy cur measure".split())  # noqa: SIM905
_TIMES = frozenset("year years season date time period fy when".split())  # noqa: SIM905
_SURE = {  # what only one decimal mark allows: 2,50 and 0,125 and 1.310,125 and 1.310.000
    mark: re.compile(
        rf"(?<![\d.,])(?:(?:0|\d{{4,}})[{mark}]\d+|\d+[{mark}](?!\d{{3}}(?!\d))\d+"
        rf"|\d{{1,3}}(?:(?:[{other}]\d{{3}})+[{mark}]\d+|(?:[{other}]\d{{3}}){{2,}}))(?![.,]?\d)"
    )
    for mark, other in (",.", ".,")
}
_EITHER = re.compile(r"(?<![\d.,])\d{1,3}[.,]\d{3}(?![.,]?\d)")
_IN_HEADER = re.compile(r"[(\[]([^)\]]*)[)\]]")
_MONTHLY = re.compile(r"\d\d(\d\d)[-/](0[1-9]|1[0-2])")
_BARE_SECONDS = re.compile(r"[1-5]?\d\.\d{1,3}", re.ASCII)
_SAMPLE = 64
_SHOWN = 3
_Read = Callable[[str], Any]


@dataclass(frozen=True)
class Meaning:
    """What a column means.

    - `kind`: "unclear" where most cells are of one kind and not all are, or where they differ in units.
    - `values`: one for each cell, None for a blank. Numbers are exact (int, Decimal, Fraction) and in `unit`;
      percentages keep their figure (12 % is 12); durations are in `unit`, by default seconds; dates are
      `datetime.date`, `datetime.datetime` or, for a period, a year as int and other periods in the text that
      orders them ("2024-03", "2024-Q1"). Of the other kinds they are the cells as they are written.
    - `unit`: as the cells or the header write it; "year", "month", … of a period; "" for none.
    - `base`, `factor`: the base of the unit's kind, and how many of it the unit is.
    - `spans`: of dates, the first and last that each cell tells.
    - `notes`: what was assumed. `why`, `odd`: of an unclear column the reason, and the places of its odd cells.
    - `mark`, `day_first`: how its figures and dates are written, where that could be doubted.
    """

    kind: Kind
    values: Sequence[Any]
    unit: str = ""
    base: str = ""
    factor: Fraction = Fraction(1)
    spans: Sequence[Span | None] = ()
    notes: tuple[str, ...] = ()
    why: str = ""
    odd: tuple[int, ...] = ()
    mark: str = ""
    day_first: bool | None = None
    read_as: str = ""  # of an unclear column: "number", "date" or "time", by what most of its cells are
    is_converted: bool = False  # whether some cells have another unit

    @property
    def is_number(self) -> bool:
        return self.kind in NUMBERS

    @property
    def is_ordered(self) -> bool:
        """Whether its values can be compared: it has a least and a greatest one."""
        return self.kind in NUMBERS or self.kind in DATES or self.kind == "time"

    @property
    def hint(self) -> str:
        """Return what a part of the column needs to be read as the whole is."""
        order = {True: "day first", False: "month first", None: ""}[self.day_first]
        return self.mark or order

    @cached_property
    def keys(self) -> list[Any]:
        """Return what cells are ordered by, None for a blank; all None where they have no order."""
        if self.kind in DATES:
            return [None if span is None else (span[0].key, span[1].key) for span in self.spans]
        return list(self.values) if self.is_ordered else [None] * len(self.values)

    @cached_property
    def plain(self) -> list[Any]:
        """Return the values as JSON, SQL and programs have them: int and float, ISO dates, texts."""
        if self.kind in ("text", "code", "unclear"):
            return list(self.values)
        return list(map(plain_value, self.values))

    @property
    def told(self) -> str:
        """Say what a program or query finds in the column: "date", "number, $", "text"."""
        if self.kind == "unclear":
            return f"text ({self.why})"
        kind = {"money": "number", "percent": "number", "quantity": "number", "duration": "number"}
        names = {**kind, "code": "text", "empty": "text", "boolean": "true/false"}
        name = names.get(self.kind, self.kind)
        if self.kind == "period":
            name = {"year": "number", "month": "month as 2024-03", "quarter": "quarter as 2024-Q1"}.get(
                self.unit, {"week": "week as 2024-W05"}.get(self.unit, "text")
            )
        return f"{name}, {self.unit}" if self.is_number and self.unit else name


def plain_value(value: Any) -> Any:
    """Return a value as JSON has it."""
    if type(value) is int or value is None:
        return value
    match value:
        case Decimal() | Fraction():
            number = float(value)
            return int(value) if number.is_integer() else number
        case dt.datetime():
            return value.isoformat(" ")
        case dt.date() | dt.time():
            return value.isoformat()
    return value


def _name_words(name: str) -> list[str]:
    """Return the words of a column's name in lower case, those of `invoice_id` and `InvoiceId` told apart."""
    return [word.lower() for word in _WORDS.findall(name)]


def shown(text: str) -> str:
    """Return a cell as people read it: without footnote marks, with plain blanks, dashes and quotes."""
    if text.isascii() and "[" not in text and "*" not in text and "^" not in text:
        return " ".join(text.split())
    return " ".join(_MARKS.sub("", plain_signs(text)).split())


def is_blank(text: str) -> bool:
    """Tell whether a cell holds no value: empty, a dash, or a word for "not known"."""
    low = text.strip().lower()
    return not low.strip(_DASHES) or low in _NOTHING


def is_nothing(text: str) -> bool:
    """Tell whether a cell of a column of texts is empty: there "NA" and "None" are texts."""
    low = text.strip().lower()
    return not low.strip(_DASHES) or low in _NO_TEXT


def meaning_of(name: str, cells: Sequence[str], hint: str = "") -> Meaning:
    """Return what a column means.

    `hint` decides what its own cells leave open: "," or "." (what stands before decimals), "?" (it may be
    either: figures such as 12.500 are unclear), "day first" or "month first".
    """
    words = _name_words(name)
    if (
        _VERSIONS & {*words}
        and any("." in cell for cell in cells)
        and all(map(_VERSION.fullmatch, filter(None, cells)))
    ):
        return Meaning("code", list(cells))
    if (plain := _plain_numbers(cells, hint)) is not None and not _is_key(words, plain.values):
        if why := _two_readings(cells, hint or "."):
            odd = [place for place, cell in enumerate(cells) if _EITHER.search(cell)]
            return replace(_unclear(cells, cells, why, odd), mark="?")
        return _dated(words, plain) or (plain if plain.unit else _with_header_unit(name, plain))
    texts = {cell: shown(cell) for cell in dict.fromkeys(cells)}
    blank = {cell for cell, text in texts.items() if is_blank(text)}
    filled = {cell: text for cell, text in texts.items() if cell not in blank}
    if not filled:
        kind: Kind = "text" if any(not is_nothing(cell) for cell in blank) else "empty"
        return Meaning(kind, list(cells))
    if all(text.lower() in _TRUTHS for text in filled.values()):
        return Meaning("boolean", [_TRUTHS.get(texts[cell].lower()) for cell in cells])
    column = _Column(name, words, cells, filled, hint)
    return column.coded or column.timed or column.dated or column.measured or Meaning("text", list(cells))


def mark_of(cells: Iterable[str]) -> str:
    """Return what stands before decimals in these cells, "," or "."; "" where they do not tell, or differ."""
    told = {mark for mark in _SURE for cell in cells if mark in cell and _is_sure(mark, cell)}
    return told.pop() if len(told) == 1 else ""


def _is_sure(mark: str, text: str) -> bool:
    return _SURE[mark].search(text) is not None and read_amount(text, mark) is not None


def names_units(name: str, cells: Iterable[str]) -> bool:
    """Tell whether a column names units or currencies: kg and g under "Unit", USD and EUR under any name."""
    units = set()
    for cell in cells:
        text = cell.strip().lower()
        if text not in units and not is_blank(text):
            if text not in UNITS:
                return False
            units.add(text)
    if not units:
        return False
    is_named = bool(_UNIT_NAMES & {*_name_words(name)})
    return is_named or all(len(unit) == 3 and UNITS[unit][0] in CURRENCIES for unit in units)


def with_units(found: Meaning, name: str, cells: Sequence[str], units: Sequence[str]) -> Meaning:
    """Return the meaning of figures whose units stand beside them; unclear where these cannot be converted."""
    pairs = zip(cells, units, strict=True)
    joined = meaning_of(name, [f"{cell} {unit}" if cell.strip() else "" for cell, unit in pairs], found.mark)
    return joined if joined.is_number else replace(joined, values=list(cells))


def _plain_numbers(cells: Sequence[str], hint: str) -> Meaning | None:
    """Read cells that are plain figures, such as 12.5, 1,203 or $4.50, and blanks, in one look at all of them."""
    joined = "\n".join((*cells, ""))
    money = next((sign for sign in "$£¥₹" if sign in joined), "")
    if (
        not any(cells)
        or (hint and (money or "," in joined or "." in joined))
        or joined.count("\n") > len(cells)
    ):
        return None
    if not _plain_column(money, grouped="," in joined).fullmatch(joined):
        return None
    marks = str.maketrans("", "", f",{money}")
    bare = [cell.translate(marks) for cell in cells] if money or "," in joined else cells
    values = [(Decimal(cell) if "." in cell else int(cell)) if cell else None for cell in bare]
    return Meaning("money", values, money, UNITS[money][0]) if money else Meaning("number", values)


@lru_cache(maxsize=16)
def _plain_column(money: str, *, grouped: bool) -> re.Pattern[str]:
    groups = r"[1-9]\d{0,2}(?:,\d{3})+|" if grouped else ""
    figure = rf"-?{re.escape(money)}(?:{groups}0|[1-9]\d{{0,17}})(?:\.\d{{1,17}})?"
    return re.compile(rf"(?:(?:{figure})?\n)*", re.ASCII)


def _is_key(words: Sequence[str], numbers: Sequence[Number | None]) -> bool:
    """Tell whether figures name what the rows are about: whole, all different, under a name for that."""
    filled = [number for number in numbers if number is not None]
    if "of" in words or len(filled) < 2 or not all(isinstance(number, int) for number in filled):
        return False
    names, last = _KEYS.intersection(words), words[-1:]
    if len(set(filled)) < len(filled):
        return bool({"id", "code", "sku"} & {*last}) or bool(_ADDRESSES & {*words})
    if len(words) == 1 and words[0] in ("no", "nr", "number", "num", "#", "index"):
        return False  # a place in a list, or a number as good as any
    has_length = min(map(abs, filled)) >= 100
    return bool(names & {*last}) or bool(_ADDRESSES & {*words}) or (has_length and {*words} <= _RECORDS)


def _dated(words: Sequence[str], found: Meaning) -> Meaning | None:
    """Return plain figures as years where they are: from 1000 to 2200 under such a name, or all of 1800 on."""
    years = [value for value in found.values if value is not None]
    if not years or not all(isinstance(year, int) and 1000 <= year <= 2200 for year in years):
        return None
    if not (_TIMES & {*words} or (min(years) >= 1800 and max(years) <= 2100)):
        return None
    spans = [None if year is None else (Moment(year), Moment(year)) for year in found.values]
    return Meaning("period", found.values, "year", spans=spans)


def _with_header_unit(name: str, found: Meaning) -> Meaning:
    """Return a column of bare figures with the unit that its header tells: "Weight (kg)", "Price ($)"."""
    for told in _IN_HEADER.findall(name):
        if (known := UNITS.get(told.strip().lower())) is not None:
            return replace(found, kind=_kind_of(known[0]), unit=told.strip(), base=known[0], factor=known[1])
    return found


def _kind_of(base: str) -> Kind:
    if not base or base == "th":
        return "number"
    kinds: Mapping[str, Kind] = {"%": "percent", "s": "duration"}
    return "money" if base in CURRENCIES else kinds.get(base, "quantity")


def _two_readings(cells: Collection[str], mark: str) -> str:
    """Say why figures such as 12.500 may mean two things; "" where they do not.

    Where each figure with a mark has three digits behind it and others are whole, they may be thousands.
    """
    marked = next((cell for cell in cells if "." in cell or "," in cell), "")
    is_open = mark == "?" and any(map(_EITHER.search, cells))
    if is_open or (mark == "." and _EITHER.search(marked) and _look_like_thousands(cells)):
        return f"{one_line(next(filter(_EITHER.search, cells)), 20)} may mean thousands or decimals"
    return ""


def _look_like_thousands(cells: Iterable[str]) -> bool:
    pointed = [cell for cell in cells if "." in cell]
    whole = any(cell.strip() and "." not in cell and len(cell.strip(" -€")) <= 3 for cell in cells)
    return (
        whole
        and all(_EITHER.search(cell) and "," not in cell for cell in pointed)
        and any(cell.rstrip(" €").endswith("0") for cell in pointed)
    )


def _unclear(
    cells: Sequence[str], values: Sequence[str], why: str, odd: Sequence[int], as_: str = "number"
) -> Meaning:
    return Meaning("unclear", list(values), why=why, odd=tuple(odd), read_as=as_)


class _Column:
    """A column that is read: its different filled cells as people read them, and the blanks."""

    def __init__(
        self, name: str, words: Sequence[str], cells: Sequence[str], filled: Mapping[str, str], hint: str
    ) -> None:
        self.name, self.words, self.cells, self.filled, self.hint = name, words, cells, filled, hint
        self.sample = list(filled.values())[:: max(1, len(filled) // _SAMPLE)]

    def read(self, read: _Read, *, least: float = 0.5) -> dict[str, Any] | None:
        """Return what each filled cell is read as; None where fewer of them than `least` can be read."""
        if sum(read(text) is not None for text in self.sample) < least * len(self.sample):
            return None
        found = {cell: read(text) for cell, text in self.filled.items()}
        known = sum(found.get(cell) is not None for cell in self.cells if cell in found)
        return found if known >= least * sum(cell in found for cell in self.cells) else None

    def odd(self, found: Mapping[str, Any]) -> list[int]:
        """Return the places of the filled cells that could not be read."""
        return [n for n, cell in enumerate(self.cells) if cell in self.filled and found.get(cell) is None]

    def unread(self, found: Mapping[str, Any], as_: str) -> Meaning:
        odd = self.odd(found)
        named = ", ".join(one_line(self.cells[place], 24) for place in odd[:_SHOWN])
        more = f" and {len(odd) - _SHOWN} more" if len(odd) > _SHOWN else ""
        what = "cell" if len(odd) == 1 else "cells"
        return _unclear(self.cells, self.cells, f"{what} {named}{more} cannot be read", odd, as_)

    def made(self, kind: Kind, found: Mapping[str, Any], **how: Any) -> Meaning:
        """Return the meaning with a value for each cell, and a note of blanks that are words."""
        words = Counter(cell for cell in self.cells if cell not in self.filled and cell.strip(_DASHES + " "))
        notes = tuple(f"{count} × {one_line(cell, 24)} counts as blank" for cell, count in words.items())
        how["notes"] = (*how.get("notes", ()), *notes)
        return Meaning(kind, [found.get(cell) for cell in self.cells], **how)

    @property
    def coded(self) -> Meaning | None:
        """Codes: ids, ZIPs, phones, seats, versions. Figures among them are codes as well."""
        texts = self.filled.values()
        if not all(map(_CODED.fullmatch, self.sample)):
            return None
        are_codes = any(map(_SURELY_CODED.fullmatch, texts)) or not all(map(read_amount, texts))
        are_whole = all(text.isdigit() and len(text) < 19 for text in texts)
        is_named = are_whole and _is_key(
            self.words, [int(self.filled[c]) for c in self.cells if c in self.filled]
        )
        if (
            (are_codes or is_named)
            and all(map(_CODED.fullmatch, texts))
            and not any(map(read_date, self.sample))
        ):
            return Meaning("code", list(self.cells))
        return None

    @property
    def timed(self) -> Meaning | None:
        """Times of day, and how long things took: "59:12" beside "1:02:03" is minutes."""
        if not any(":" in text or text[-1:] in "mM." for text in self.sample):
            return None
        times = self.read(read_time)
        long = self.read(_seconds) if times is None or self.odd(times) else None
        if long is not None and not self.odd(long):
            return self.made("duration", {k: _number(v) for k, v in long.items()}, unit="s", base="s")
        if times is None:
            return None if long is None else self.unread(long, "time")
        if self.odd(times):
            return self.unread(times, "time")
        parts = {text.count(":") for text in self.filled.values()}
        if parts == {1, 2} and not any("m" in text.lower() for text in self.filled.values()):
            odd = [n for n, cell in enumerate(self.cells) if self.filled.get(cell, "").count(":") == 1]
            why = f"{self.cells[odd[0]]} may be hours or minutes, beside times with seconds"
            return _unclear(self.cells, self.cells, why, odd, "time")
        return self.made("time", times)

    @property
    def dated(self) -> Meaning | None:
        """Dates, moments and periods, with day and month in the order that the column itself tells."""
        order, doubt = self._order()
        has_months = self._has_months()

        def read(text: str) -> Span | None:
            return read_date(text, day_first=bool(order), has_months=has_months)

        found = self.read(read)
        if found is None:
            return None
        odd = self.odd(found)
        if odd and not (doubt and order):
            if self.read(read_amount) is not None and len(odd) > 1:
                return None
            return self.unread(found, "date")
        if doubt:
            odd = [n for n, cell in enumerate(self.cells) if _numeric_date(self.filled.get(cell, ""))]
            return replace(_unclear(self.cells, self.cells, doubt, odd, "date"), spans=self._spans(found))
        notes: tuple[str, ...] = ()
        spans = [span for span in found.values() if span is not None]
        if all(one.date is not None and one[:3] == two[:3] for one, two in spans):
            kind: Kind = "datetime" if any(one.at for one, _ in spans) else "date"
            values = {cell: _moment_value(span[0], kind) for cell, span in found.items() if span}
            if kind == "date" and len(self.filled) == 1 and self.hint == "":
                notes = ()
            return self.made(kind, values, spans=self._spans(found), day_first=order, notes=notes)
        return self._period(found, spans)

    def _spans(self, found: Mapping[str, Span | None]) -> list[Span | None]:
        return [found.get(cell) for cell in self.cells]

    def _period(self, found: Mapping[str, Span | None], spans: Sequence[Span]) -> Meaning | None:
        """Return periods: years as numbers, months, quarters and weeks as the texts that order them."""
        short = [
            re.search(r"\d+$", t) for t in self.filled.values() if re.fullmatch(r"[A-Za-z]{3,9}[-']\d\d", t)
        ]
        years = [int(match[0]) for match in short if match]
        if years and max(years) - min(years) > 10:
            why = f"{next(iter(self.filled))} may be a day or a year"
            return _unclear(self.cells, self.cells, why, self.odd({}), "date")
        iso = {cell: _iso(span, self.filled[cell]) for cell, span in found.items() if span}
        units = {unit for unit, _ in iso.values()}
        unit = units.pop() if len(units) == 1 else ""
        if unit == "year" and not self._are_years([one.year for one, _ in spans]):
            return None
        values = {cell: text for cell, (_, text) in iso.items()} if unit else {c: c for c in found}
        return self.made("period", values, unit=unit, spans=self._spans(found))

    def _are_years(self, years: Sequence[int]) -> bool:
        if any(not text.isdigit() for text in self.filled.values()):
            return True
        return bool(_TIMES & {*self.words}) or (min(years) >= 1800 and max(years) <= 2100)

    def _order(self) -> tuple[bool | None, str]:
        """Return whether days come first in dates such as 13/04/2024, and what is in doubt about that."""
        pairs = [pair for text in self.filled.values() if (pair := _numeric_date(text))]
        first, second = any(a > 12 for a, _ in pairs), any(b > 12 for _, b in pairs)
        if first and second:
            return True, "some dates have the day first and some the month"
        if first or second:
            return first, ""
        if self.hint in ("day first", "month first"):
            return self.hint == "day first", ""
        if all(a == b for a, b in pairs):
            return None, ""
        told = next(text for text in self.filled.values() if (p := _numeric_date(text)) and p[0] != p[1])
        return None, f"it does not tell day from month (day first or month first), as in {told}"

    def _has_months(self) -> bool:
        """Whether cells such as 2024-01 are months: at least one of them is no season such as 2011-12."""
        pairs = [_MONTHLY.fullmatch(text) for text in self.sample]
        return all(pairs) and any(int(pair[2]) <= int(pair[1]) for pair in pairs if pair)

    @property
    def measured(self) -> Meaning | None:
        """Amounts of one unit, or of units of one kind, which are converted."""
        texts = self.filled.values()
        marks = [mark for mark in ".," if any(_is_sure(mark, text) for text in texts if mark in text)]
        mark = (
            marks[0] if len(marks) == 1 else self.hint if self.hint in (".", ",", "?") and not marks else "."
        )
        read = (lambda text: read_amount(text, ",")) if mark == "," else read_amount
        found: dict[str, Amount | None] | None = self.read(read)
        if found is None and len(marks) == 2:
            found = self.read(lambda text: read_amount(text, ","))
        if found is None:
            return None
        if self.odd(found):
            return self.unread(found, "number")
        if self._are_scores():
            return None
        if why := self._doubt(mark if marks or self.hint else ".", texts):
            odd = [n for n, cell in enumerate(self.cells) if _EITHER.search(self.filled.get(cell, ""))]
            return replace(_unclear(self.cells, self.cells, why, odd), mark="?")
        made = self._in_one_unit({cell: amount for cell, amount in found.items() if amount is not None})
        return replace(made, mark=mark if mark == "," else "") if made is not None else None

    def _doubt(self, mark: str, texts: Iterable[str]) -> str:
        """Say why figures may mean two things; behind a € comes a habit that its figures must tell."""
        is_open = mark == "." and any(text.endswith("€") for text in texts) and mark_of(texts) != "."
        return _two_readings(texts, "?" if is_open else mark)

    def _are_scores(self) -> bool:
        """Whether cells such as 1/2 and 3/4 are all there is: they may be scores, or dates."""
        return all(re.fullmatch(r"\d+/\d+", text) for text in self.filled.values())

    def _in_one_unit(self, found: Mapping[str, Amount]) -> Meaning | None:
        counts, rows = Counter(self.cells), Counter[str]()
        for cell, amount in found.items():
            rows[amount.unit] += counts[cell]
        of_unit = {amount.unit: amount for amount in found.values()}
        units = [unit for unit in rows if of_unit[unit].base]
        if not units:
            return _with_header_unit(self.name, self.made("number", {c: a.number for c, a in found.items()}))
        bases = dict.fromkeys(of_unit[unit].base for unit in units)
        base, bare = next(iter(bases)), "" in rows
        if len(bases) > 1:
            if not any(each in UNITS for each in bases) and len(bases) > len(found) / 2:
                return None  # texts that begin with a figure
            odd = self._places(found, lambda amount: amount.base != base)
            why = f"its figures are in {', '.join(units[:-1])} and {units[-1]}"
            return _unclear(self.cells, self.cells, why, odd)
        if bare and (base == "%" or (base in SEVERAL and base not in CURRENCIES)):
            odd = self._places(found, lambda amount: not amount.base)
            return _unclear(self.cells, self.cells, f"{self.cells[odd[0]]} stands without {units[0]}", odd)
        of_factor = Counter[Fraction]()
        for unit in units:
            of_factor[of_unit[unit].factor] += rows[unit]
        factor = of_factor.most_common(1)[0][0]
        unit = max((each for each in units if of_unit[each].factor == factor), key=rows.__getitem__)
        notes = []
        if bare:
            text = self.filled[next(cell for cell, amount in found.items() if not amount.base)]
            notes.append(f"figures without a unit, such as {text}, are taken as {unit}")
        if len(of_factor) > 1:
            text, other = next((c, a) for c, a in found.items() if a.base and a.factor != factor)
            notes.append(f"{self.filled[text]} counts as {plain_value(_in(other, factor))} {unit}")
            values = {cell: _in(each, factor) if each.base else each.number for cell, each in found.items()}
        else:
            values = {cell: amount.number for cell, amount in found.items()}
        told = "" if base == "th" else unit
        how: dict[str, Any] = {"unit": told, "base": base, "factor": factor, "notes": tuple(notes)}
        return self.made(_kind_of(base), values, is_converted=len(of_factor) > 1, **how)

    def _places(self, found: Mapping[str, Amount], test: Callable[[Amount], bool]) -> list[int]:
        return [n for n, cell in enumerate(self.cells) if cell in found and test(found[cell])]


def _seconds(text: str) -> Fraction | None:
    """Read how long something took; beside "1:37.07", "38.20" is seconds."""
    return Fraction(text) if _BARE_SECONDS.fullmatch(text) else read_span_of_time(text)


def _in(amount: Amount, factor: Fraction) -> Number:
    return amount.number if amount.factor == factor else _number(Fraction(amount.of_base) / factor)


def _number(value: Fraction) -> Number:
    return value.numerator if value.denominator == 1 else value


def _numeric_date(text: str) -> tuple[int, int] | None:
    match = re.match(r"(\d{1,2})([-/])(\d{1,2})\2(?:\d{4}|\d{2})(?!\d)", text)
    return (int(match[1]), int(match[3])) if match else None


def _moment_value(moment: Moment, kind: Kind) -> dt.date | dt.datetime:
    day = dt.date(moment.year, moment.month, moment.day)
    return day if kind == "date" else dt.datetime.combine(day, moment.at or dt.time())


def _iso(span: Span, text: str) -> tuple[str, Any]:
    """Return the unit of a period, and its value: a year as int, others as the text that orders them."""
    one, two = span
    if one == two and one.year and not one.month:
        return "year", one.year
    if one == two and one.year and one.month:
        return "month", f"{one.year}-{one.month:02}"
    if one.month and two.month - one.month == 2 and not one.day:
        return "quarter", f"{one.year}-Q{two.month // 3}"
    if one.day and two.day and (date := two.date) is not None:
        year, week, _ = date.isocalendar()
        return "week", f"{year}-W{week:02}"
    return "", text
