"""Decide the meaning of a column: `meaning_of`.

A column is of a kind if every filled cell can be read as that kind; then each cell has an exact value.
If most can and some cannot, the column is unclear and lists those cells; none of them is left out.
"""

import datetime as dt
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Literal

from chameleon.table.amounts import (
    CURRENCIES,
    EITHER,
    UNITS,
    Amount,
    exact,
    marks_in,
    read_amount,
    two_readings,
)
from chameleon.table.column_names import ColumnName
from chameleon.table.dates import Span, numeric_date, order_of, read_date, read_span_of_time, read_time
from chameleon.table.meaning import DASHES, Kind, Meaning, is_blank, is_nothing, plain_value, shown
from chameleon.text import one_line

APART = "units apart"  # the hint for a part of a table without the units column
GROUPS = "groups"  # the hint for a column whose blanks may repeat the name above
_REASONS = {APART: "its units are in another column", GROUPS: "rows without it may belong to the name above"}
_TRUTHS = {"true": True, "false": False}
_CODE = re.compile(  # leading zeros, phones, AB-12, #3, 12A, hex, versions
    r"0\d+|\+\d[\d ()/-]{6,}|(?:[A-Z]{1,4}[-_ ./#]?|#)?\d+[A-Z]?|0x[0-9A-F]+|\d+(?:\.\d+){2,}", re.IGNORECASE
)
_SURE_CODE = re.compile(r"0\d+|\+\d[\d ()/-]{7,}|0x[0-9A-F]+|\d+(?:\.\d+){2,}", re.IGNORECASE)
_VERSION = re.compile(r"v?\d+(?:\.\d+)*")
_MONTHLY = re.compile(r"\d\d(\d\d)[-/](0[1-9]|1[0-2])")  # 2024-03; 2011-12 may be a season
_SHORT_MONTH = re.compile(r"[A-Za-z]{3,9}[-']\d\d")
_SEASON = re.compile(r"\d{4}[-/]\d\d(?:\d\d)?")
_SCORE, _MIXED_NUMBER = re.compile(r"\d+/\d+"), re.compile(r"\d+ \d+/\d")
_ZONE = re.compile(r":\d\d(?:[.,]\d+)? ?(Z|UTC|GMT|[+-]\d\d:?\d\d)?$")
_BASES = frozenset(base for base, _ in UNITS.values())
_BARE_SECONDS = re.compile(r"[1-5]?\d\.\d{1,3}", re.ASCII)
_SAMPLE, _MIN_SHARE = 64, 0.5  # of the filled cells, the part that must be of a kind for the column to be
_MAX_EXAMPLES, _MAX_EXAMPLE_CHARS = 3, 24
_INTEGER_DIGITS, _UNIT_CHARS, _MAX_YEARS = 19, 12, 10  # in 64 bits; of a unit; apart
_KINDS: Mapping[str, Kind] = {"": "number", "th": "number", "%": "percent", "s": "duration"}
_ReadAs = Literal["number", "date", "time"]


def meaning_of(name: str, cells: Sequence[str], hint: str = "") -> Meaning:
    """Return the meaning of a column.

    Args:
        hint: settles what the cells leave open: "," or "." (the decimal mark), "?" (it may be either, and
            figures such as 12.500 are unclear), "day first", "month first", `APART` or `GROUPS`.
    """
    header = ColumnName(name)
    if hint in _REASONS:
        return Meaning("unclear", list(cells), why=_REASONS[hint], odd=(0,), mark=hint)
    is_version = header.has("version") and any("." in cell for cell in cells)
    if is_version and all(map(_VERSION.fullmatch, filter(None, cells))):
        return Meaning("code", list(cells))
    if (plain := _plain_figures(cells, hint)) is not None and not header.names(plain.values):
        if why := two_readings(cells, hint or ".", [name]):
            odd = tuple(place for place, cell in enumerate(cells) if EITHER.search(cell))
            return Meaning("unclear", list(cells), why=why, odd=odd, read_as="number", mark="?")
        return _years(header, plain) or _days(header, plain) or _with_unit_of(header, plain)
    texts = {cell: shown(cell) for cell in dict.fromkeys(cells)}
    filled = {cell: text for cell, text in texts.items() if not is_blank(text)}
    if not filled:
        return Meaning("empty" if all(map(is_nothing, texts)) else "text", list(cells))
    if all(text.lower() in _TRUTHS for text in filled.values()):
        return Meaning("boolean", [_TRUTHS.get(texts[cell].lower()) for cell in cells])
    column = _Column(header, cells, filled, hint)
    return column.codes or column.times or column.dates or column.amounts or Meaning("text", list(cells))


def with_units(meaning: Meaning, name: str, cells: Sequence[str], units: Sequence[str]) -> Meaning:
    """Return the meaning of figures with units in another column; unclear if they cannot be converted."""
    pairs = zip(cells, units, strict=True)
    texts = [f"{cell} {unit}" if cell.strip() else "" for cell, unit in pairs]
    joined = meaning_of(name, texts, meaning.mark)
    # `mark` is the hint for parts of this table: without the units, they are unclear.
    mark = APART if len({unit.strip().lower() for unit in units if unit.strip()}) > 1 else joined.mark
    return replace(joined, mark=mark, values=joined.values if joined.is_number else list(cells))


def _plain_figures(cells: Sequence[str], hint: str) -> Meaning | None:
    """Read cells that are figures such as 12.5, 1,203 or $4.50, or blanks, all in one match."""
    joined = "\n".join((*cells, ""))
    money = next((sign for sign in "$£¥₹" if sign in joined), "")
    is_open = bool(hint) and (bool(money) or "," in joined or "." in joined)
    if not any(cells) or is_open or joined.count("\n") > len(cells):  # a cell has a line break
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
    figure = rf"-?{re.escape(money)}(?:{groups}0|[1-9]\d{{0,17}})(?:\.\d{{1,17}})?"  # 007 is a code
    return re.compile(rf"(?:(?:{figure})?\n)*", re.ASCII)


def _days(name: ColumnName, meaning: Meaning) -> Meaning | None:
    """Read figures such as 20240304 as days, under a name of time."""
    numbers = [value for value in meaning.values if value is not None]
    if not name.has("time") or not all(19000101 <= value <= 22001231 for value in numbers):
        return None
    days = [read_date(re.sub(r"(\d{4})(\d\d)", r"\1-\2-", str(value))) for value in meaning.values]
    dates = [day and day[0].date for day in days]
    return Meaning("date", dates, spans=days) if len(dates) - dates.count(None) == len(numbers) else None


def _years(name: ColumnName, meaning: Meaning) -> Meaning | None:
    """Read plain figures as years if they are: 1000 to 2200 under a name of time, else 1800 to 2100."""
    years = [value for value in meaning.values if value is not None]
    if not all(isinstance(year, int) and 1000 <= year <= 2200 for year in years):
        return None
    spans = [year and read_date(str(year)) for year in meaning.values]
    return Meaning("period", meaning.values, "year", spans=spans) if _are_years(name, years) else None


def _are_years(name: ColumnName, figures: Sequence[int]) -> bool:
    return name.has("time") or (min(figures) >= 1800 and max(figures) <= 2100)


def _with_unit_of(name: ColumnName, meaning: Meaning) -> Meaning:
    """Return bare figures with the unit in their header: "Weight (kg)", "Price ($)"."""
    if meaning.unit or not name.unit:
        return meaning
    base, factor = UNITS[name.unit.lower()]
    return replace(meaning, kind=_kind_of(base), unit=name.unit, base=base, factor=factor)


def _kind_of(base: str) -> Kind:
    return "money" if base.partition(" ")[0] in CURRENCIES else _KINDS.get(base, "quantity")


class _Column:
    """A column to read: its distinct filled cells as people read them, and the blanks."""

    def __init__(self, name: ColumnName, cells: Sequence[str], filled: Mapping[str, str], hint: str) -> None:
        self.name, self.cells, self.filled, self.hint = name, cells, filled, hint
        self.filled_places = [place for place, cell in enumerate(cells) if cell in filled]
        self.sample = list(filled.values())[:: max(1, len(filled) // _SAMPLE)]

    def read(self, parse: Callable[[str], Any]) -> dict[str, Any] | None:
        """Return the value of each filled cell, or None if fewer than half of them can be read."""
        if sum(parse(text) is not None for text in self.sample) < _MIN_SHARE * len(self.sample):
            return None
        values = {cell: parse(text) for cell, text in self.filled.items()}
        return values if len(self.odd(values)) <= (1 - _MIN_SHARE) * len(self.filled_places) else None

    def odd(self, values: Mapping[str, Any]) -> list[int]:
        """Return the positions of the filled cells that could not be read."""
        return [place for place in self.filled_places if values[self.cells[place]] is None]

    def unread(self, values: Mapping[str, Any], read_as: _ReadAs) -> Meaning:
        """Mark the column as unclear, naming the cells that could not be read."""
        odd = self.odd(values)
        examples = ", ".join(one_line(self.cells[place], _MAX_EXAMPLE_CHARS) for place in odd[:_MAX_EXAMPLES])
        more = f" and {len(odd) - _MAX_EXAMPLES} more" if len(odd) > _MAX_EXAMPLES else ""
        return self.unclear(f"cell{'s'[: len(odd) > 1]} {examples}{more} cannot be read", odd, read_as)

    def unclear(self, why: str, odd: Sequence[int], read_as: _ReadAs = "number", **fields: Any) -> Meaning:
        return Meaning("unclear", list(self.cells), why=why, odd=tuple(odd), read_as=read_as, **fields)

    def places(self, test: Callable[[str], Any]) -> list[int]:
        """Return the positions of the filled cells whose text passes a test."""
        return [place for place in self.filled_places if test(self.filled[self.cells[place]])]

    def meaning(self, kind: Kind, values: Mapping[str, Any], **fields: Any) -> Meaning:
        """Return the meaning with a value for each cell, and a note of the words that count as blanks."""
        words = Counter(cell for cell in self.cells if cell not in self.filled and cell.strip(f"{DASHES} "))
        counts = ((one_line(cell, _MAX_EXAMPLE_CHARS), count) for cell, count in words.items())
        notes = tuple(f"{count} × {cell} counts as blank" for cell, count in counts)
        fields["notes"] = (*fields.get("notes", ()), *notes)
        return Meaning(kind, [values.get(cell) for cell in self.cells], **fields)

    @property
    def codes(self) -> Meaning | None:
        """Codes: ids, ZIPs, phones, seats. Figures among them are also codes."""
        texts = self.filled.values()
        if not all(map(_CODE.fullmatch, texts)):
            return None
        is_surely = self.name.has("seat") or any(map(_SURE_CODE.fullmatch, texts))
        are_codes = (is_surely or not all(map(read_amount, texts))) and not any(map(read_date, self.sample))
        if all(text.isdigit() and len(text) < _INTEGER_DIGITS for text in texts):
            are_codes |= self.name.names([int(self.filled[self.cells[n]]) for n in self.filled_places])
        return Meaning("code", list(self.cells)) if are_codes else None

    @property
    def times(self) -> Meaning | None:
        """Times of day and durations: "59:12" is minutes in a column with "1:02:03"."""
        if not any(":" in text or text[-1:] in "mM." for text in self.sample):
            return None
        texts, times = self.filled.values(), self.read(read_time)
        durations = self.read(_seconds) if times is None or self.odd(times) else None
        if durations is not None and not self.odd(durations):  # 38:30 is min:s, under "Hours" h:min
            values = {cell: exact(value) for cell, value in durations.items()}
            is_clear = any(text.count(":") > 1 or "." in text for text in texts)
            if self.name.has("hours") and not is_clear:
                return self.meaning("duration", values, unit="min", base="s", factor=Fraction(60))
            notes = () if is_clear else (f"{next(iter(texts))} is taken as minutes and seconds",)
            return self.meaning("duration", values, unit="s", base="s", notes=notes)
        parsed = durations if times is None else times
        if parsed is None or self.odd(parsed):
            return None if parsed is None else self.unread(parsed, "time")
        if {text.count(":") for text in texts} == {1, 2} and not any("m" in text.lower() for text in texts):
            odd = self.places(lambda text: text.count(":") == 1)
            why = f"{self.cells[odd[0]]} may be hours or minutes: other times in the column have seconds"
            return self.unclear(why, odd, "time")
        return self.meaning("time", parsed)

    @property
    def dates(self) -> Meaning | None:
        """Dates, moments and periods, with day and month in the column's order."""
        order, doubt = order_of(self.filled.values(), self.hint)
        has_months = self._has_months()

        def read(text: str) -> Span | None:
            return read_date(text, day_first=bool(order), has_months=has_months)

        dates = self.read(read)
        if dates is None:
            return None
        odd = self.odd(dates)
        if odd and not (doubt and order):  # mixed orders cannot be read in one
            amounts = self.read(read_amount)
            if amounts is not None and len(self.odd(amounts)) < len(odd):
                return None
            return self.unread(dates, "date")
        spans = [dates.get(cell) for cell in self.cells]
        if doubt:
            return self.unclear(doubt, self.places(numeric_date), "date", spans=spans)
        zones = {match[1] for text in self.filled.values() if (match := _ZONE.search(text))}
        if len(zones) > 1:
            return self.unclear("its times are of different zones", self.places(_ZONE.search), "date")
        if any(one.date is None or one[:3] != two[:3] for one, two in dates.values()):
            return self._period(dates, spans)
        days = {cell: one.date for cell, (one, _) in dates.items()}
        if not any(one.at for one, _ in dates.values()):
            return self.meaning("date", days, spans=spans, day_first=order)
        moments = {cell: dt.datetime.combine(days[cell], one.timed.at) for cell, (one, _) in dates.items()}
        return self.meaning("datetime", moments, spans=spans, day_first=order)

    def _period(self, dates: Mapping[str, Span], spans: Sequence[Span | None]) -> Meaning | None:
        """Return periods: years as numbers; months, quarters and weeks as sortable texts."""
        short = [int(text[-2:]) for text in self.filled.values() if _SHORT_MONTH.fullmatch(text)]
        if short and max(short) - min(short) > _MAX_YEARS:
            why = f"{next(iter(self.filled))} may be a day or a year"
            return self.unclear(why, self.places(_SHORT_MONTH.fullmatch), "date")
        iso = {cell: _iso(span, self.filled[cell]) for cell, span in dates.items()}
        units = {unit for unit, _ in iso.values()}
        unit = units.pop() if len(units) == 1 else ""
        are_plain = all(map(str.isdigit, self.filled.values()))
        if unit == "year" and are_plain and not _are_years(self.name, [year for _, year in iso.values()]):
            return None
        values = {cell: text for cell, (_, text) in iso.items()} if unit else {c: c for c in dates}
        return self.meaning("period", values, unit=unit, spans=spans)

    def _has_months(self) -> bool:
        """Return whether cells such as 2024-01 are months: one at least is not a season such as 2011-12."""
        pairs = [_MONTHLY.fullmatch(text) for text in self.sample]
        return all(pairs) and any(int(pair[2]) <= int(pair[1]) for pair in pairs if pair)

    @property
    def amounts(self) -> Meaning | None:
        """Amounts of one unit, or of units of one kind, after conversion."""
        texts = self.filled.values()
        marks = marks_in(texts)
        mark = marks.pop() if len(marks) == 1 else "." if marks or self.hint not in (",", "?") else self.hint
        amounts = self.read(partial(read_amount, mark="," if mark == "," else "."))
        if amounts is None and marks:  # both marks occur: the comma may be the decimal one
            amounts = self.read(partial(read_amount, mark=","))
        if amounts is None or self.odd(amounts):
            return None if amounts is None else self.unread(amounts, "number")
        if any(map(_SCORE.fullmatch, texts)) and not any(map(_MIXED_NUMBER.match, texts)):
            return None  # 3/10 may be a score or a date
        if why := two_readings(texts, mark, (self.name.text, *texts)):
            return self.unclear(why, self.places(EITHER.search), mark="?")
        meaning = self._in_one_unit(amounts)
        return replace(meaning, mark=mark if mark == "," else "") if meaning is not None else None

    def _in_one_unit(self, amounts: Mapping[str, Amount]) -> Meaning | None:
        rows = Counter(amounts[self.cells[place]].unit for place in self.filled_places)
        of_unit = {amount.unit: amount for amount in amounts.values()}
        units = [unit for unit in rows if of_unit[unit].base]
        if not units:
            return _with_unit_of(self.name, self.meaning("number", {c: a.number for c, a in amounts.items()}))
        bases = dict.fromkeys(of_unit[unit].base for unit in units)
        base, bare = next(iter(bases)), "" in rows
        if len(bases) > 1:
            if not any(each.partition(" ")[0] in _BASES for each in bases) and len(bases) > len(amounts) / 2:
                return None  # texts that start with a figure
            odd = [place for place in self.filled_places if amounts[self.cells[place]].base != base]
            return self.unclear(f"its figures are in {', '.join(units[:-1])} and {units[-1]}", odd)
        root = base.partition(" ")[0]
        header_differs = bool(self.name.unit) and UNITS[self.name.unit.lower()][0] != base
        if bare and (header_differs or (root in _BASES and root not in CURRENCIES)):
            odd = [place for place in self.filled_places if not amounts[self.cells[place]].base]
            return self.unclear(f"{self.cells[odd[0]]} stands without {units[0]}", odd)
        of_factor = Counter[Fraction]()
        for unit in units:
            of_factor[of_unit[unit].factor] += rows[unit]
        factor = of_factor.most_common(1)[0][0]
        unit = max((each for each in units if of_unit[each].factor == factor), key=rows.__getitem__)
        notes = []
        if bare:
            text = self.filled[next(cell for cell, amount in amounts.items() if not amount.base)]
            notes.append(f"figures without a unit, such as {text}, are taken as {unit}")
        if len(of_factor) > 1:
            text, example = next((c, a) for c, a in amounts.items() if a.base and a.factor != factor)
            notes.append(f"{self.filled[text]} counts as {plain_value(example.per(factor))} {unit}")
        values = {cell: each.per(factor) if each.base else each.number for cell, each in amounts.items()}
        fields: dict[str, Any] = {"unit": "" if base == "th" else unit, "base": base, "factor": factor}
        fields |= {"notes": tuple(notes), "is_converted": len(of_factor) > 1}
        return self.meaning(_kind_of(base), values, **fields)


def _seconds(text: str) -> Fraction | None:
    """Read a duration; "38.20" is seconds in a column with "1:37.07"."""
    return Fraction(text) if _BARE_SECONDS.fullmatch(text) else read_span_of_time(text)


def _iso(span: Span, text: str) -> tuple[str, Any]:
    """Return the unit of a period and its value: a year as int, others as a sortable text."""
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
    return ("season" if _SEASON.fullmatch(text) else ""), text


def names_units(name: str, cells: Iterable[str]) -> bool:
    """Return whether a column names units or currencies: kg, g under "Unit", USD, EUR under any name."""
    units, is_named = set(), ColumnName(name).has("unit")
    for cell in cells:
        text = cell.strip().lower()
        if text not in units and not is_blank(text):
            may_be_one = is_named and text.replace("/", "").isalpha() and len(text) < _UNIT_CHARS
            if text not in UNITS and not may_be_one:
                return False
            units.add(text)
    are_money = all(len(unit) == 3 and UNITS.get(unit, ("",))[0] in CURRENCIES for unit in units)
    return bool(units) and (are_money or is_named)
