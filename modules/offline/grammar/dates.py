"""Conditions on dates: a month, a year, a day, a weekday, a quarter, before, after and between."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Sequence

from chameleon.errors import Declined
from chameleon.modules.offline.grammar.conditions import Condition, format_of
from chameleon.modules.offline.grammar.lexicon import MONTHS, ORDINALS, WEEKDAYS
from chameleon.modules.offline.grammar.words import Word, stem
from chameleon.table import Column


def find_dates(column: Column, words: Sequence[Word], places: Sequence[int]) -> tuple[Condition, ...]:
    """The conditions that the question puts on a column of dates.

    A month, a year, both or a day, with "before" or "after"; two of these as the ends of a span
    ("between March 1 and April 15") or side by side ("in January and March"); a weekday; a quarter.
    """
    found = [*_weekday(column, words, places), *_quarter(column, words, places)]
    used = {place for condition in found for place in condition.places}
    left = [place for place in places if place not in used]
    if two := _two(column, words, left):
        return (*found, *two)
    return (
        *found,
        *(
            _where_date(column, parts, sign, " ".join(words[i].text for i in used), used)
            for parts, sign, used in _date_phrases(words, left)
        ),
    )


def _two(column: Column, words: Sequence[Word], places: Sequence[int]) -> tuple[Condition, ...]:
    """Two dates joined by "and", "to" or "or": both ends of a span, or either of them."""
    for joint in (place for place in places if words[place].text.lower() in {"and", "to", "or"}):
        halves = [[i for i in places if i < joint], [i for i in places if i > joint]]
        phrases = [_date_phrases(words, half) for half in halves]
        if not all(phrases):
            continue
        (first, sign, before), (second, _, after) = phrases[0][0], phrases[1][0]
        if "year" in second and "year" not in first and "month" in first:
            first = {**first, "year": second["year"]}
        if set(first) != set(second) or after[0] - joint > 2 or joint - before[-1] > 1:
            continue
        opening = words[before[0] - 1].text.lower() if before[0] else ""
        text = words[joint].text.lower()
        said = [" ".join(words[i].text for i in part) for part in (before, after)]
        if (opening, text) == ("between", "and") or (sign == ">=" and text == "to"):
            opened = (before[0] - 1, *before) if opening == "between" else before
            return (
                _where_date(column, first, ">=", said[0], (*opened, joint)),
                _where_date(column, second, "<=", said[1], after),
            )
        if sign == "==" and text in {"and", "or"}:
            one = _where_date(column, first, "==", said[0], before)
            other = _where_date(column, second, "==", said[1], (joint, *after))
            code = f"(({one.code}) or ({other.code}))"
            return (
                Condition(
                    column.index,
                    one.rows | other.rows,
                    f"{one.said} or {said[1]}",
                    code,
                    one.places | other.places,
                ),
            )
    return ()


def _weekday(column: Column, words: Sequence[Word], places: Sequence[int]) -> list[Condition]:
    """ "On Mondays" and "on the weekend", where the cells are dates."""
    named = {i: _WEEKDAY_STEMS.index(words[i].stem) for i in places if words[i].stem in _WEEKDAY_STEMS}
    weekend = [i for i in places if words[i].stem == "weekend"]
    days = {5, 6} if weekend else set(named.values())
    if len(named) + len(weekend) != 1:
        return []
    used = [*named, *weekend]
    said = " ".join(words[i].text for i in used)
    return [
        _where_part(column, lambda day: day.weekday() in days, f"weekday() in {sorted(days)}", said, used)
    ]


_QUARTER_NAMES = {"q1": 1, "q2": 2, "q3": 3, "q4": 4}


def _quarter(column: Column, words: Sequence[Word], places: Sequence[int]) -> list[Condition]:
    """ "In Q2" and "in the second quarter"."""
    found: list[tuple[int, list[int]]] = []
    for i in places:
        text = words[i].text.lower()
        if text in _QUARTER_NAMES:
            found.append((_QUARTER_NAMES[text], [i]))
        elif text == "quarter" and i and (number := ORDINALS.get(words[i - 1].text.lower(), 9)) <= 4:
            found.append((number, [i - 1, i]))
    if len(found) != 1:
        return []
    number, used = found[0]
    months = set(range(3 * number - 2, 3 * number + 1))
    said = " ".join(words[i].text for i in used)
    return [_where_part(column, lambda day: day.month in months, f"month in {sorted(months)}", said, used)]


def _where_part(
    column: Column, holds: Callable[[dt.date], bool], test: str, said: str, used: Sequence[int]
) -> Condition:
    """The rows of whose date a part is as asked; `test` is the same in code, after the date."""
    rows = {i for i, value in enumerate(column.values) if value.date is not None and holds(value.date)}
    day = f"datetime.datetime.strptime(row[{column.index}], {format_of(column)!r})"
    code = f"row[{column.index}] and {day}.{test}"
    said = f"{column.name or 'the date'} is in {said}"
    return Condition(column.index, frozenset(rows), said, code, frozenset(used))


_WEEKDAY_STEMS = [stem(day) for day in WEEKDAYS]


_Phrase = tuple[dict[str, int], str, tuple[int, ...]]
_SIGNS = {"before": "<", "until": "<=", "through": "<=", "after": ">", "since": ">=", "from": ">="}


def _date_phrases(words: Sequence[Word], places: Sequence[int]) -> list[_Phrase]:
    """(parts of a date, sign, places) for the one date that is named; nothing where there are two."""
    parts: dict[str, int] = {}
    used: list[int] = []
    for place in places:
        near = place - used[-1] <= 2 if used else False
        for part, number in _date_parts(words[place], parts if near else {}).items():
            if part in parts:
                return []
            parts[part] = number
            used += [place] if place not in used else []
        if place in used and set(parts) == {"month"} and (day := _day_before(words, places, place)):
            parts["day"] = _day(words[day])
            used.insert(0, day)
    if not ("month" in parts or set(parts) == {"year"}):
        return []
    before = words[used[0] - 1].text.lower() if used[0] else ""
    sign = _SIGNS.get(before, "==")
    return [(parts, sign, tuple(used) if sign == "==" else (used[0] - 1, *used))]


def _date_parts(word: Word, known: dict[str, int]) -> dict[str, int]:
    if word.kind == "date" and word.value.date is not None:
        day = word.value.date
        return {"year": day.year, "month": day.month, "day": day.day}
    if word.kind == "word" and word.stem in _MONTH_STEMS and (word.is_name or word.stem != "may"):
        return {"month": _MONTH_STEMS.index(word.stem) + 1}
    if word.kind == "number" and word.text.isdigit() and 1800 <= int(word.text) <= 2200:
        return {"year": int(word.text)}
    if word.kind in {"number", "word"} and "month" in known and (day_number := _day(word)):
        return {"day": day_number}
    return {}


def _day_before(words: Sequence[Word], places: Sequence[int], month: int) -> int:
    """The position of the day in "3 June" and "the 3rd of June"; 0 for none."""
    of = words[month - 1].text.lower() == "of"
    place = month - 2 if of else month - 1
    return place if place in places and place > 0 and _day(words[place]) else 0


def _day(word: Word) -> int:
    digits = word.text.lower().rstrip("stndrh")
    return int(digits) if digits.isdigit() and 1 <= int(digits) <= 31 else 0


_MONTH_STEMS = [stem(month) for month in MONTHS]


def _where_date(
    column: Column, parts: dict[str, int], sign: str, said: str, used: tuple[int, ...]
) -> Condition:
    names = [part for part in ("year", "month", "day") if part in parts]
    asked = tuple(parts[part] for part in names)
    dates = [value.date for value in column.values if value.date is not None]
    if sign != "==" and "year" not in parts and len({day.year for day in dates}) > 1:
        raise Declined(f'the dates span several years, and "{said}" names none')
    rows = frozenset(
        i
        for i, value in enumerate(column.values)
        if value.date is not None
        and _compare(tuple(getattr(value.date, part) for part in names), sign, asked)
    )
    written = format_of(column)
    code = f"row[{column.index}] in {(*sorted({column.cells[i] for i in rows}), '')!r}"
    if written:
        day = f"datetime.datetime.strptime(row[{column.index}], {written!r})"
        got = ", ".join(f"{day}.{part}" for part in names)
        code = f"row[{column.index}] and ({got},) {sign} {asked!r}"
    return Condition(column.index, rows, f"{column.name or 'the date'} is {said}", code, frozenset(used))


def _compare(got: tuple[int, ...], sign: str, asked: tuple[int, ...]) -> bool:
    return {
        "==": got == asked,
        "<": got < asked,
        "<=": got <= asked,
        ">": got > asked,
        ">=": got >= asked,
    }[sign]


def days_of_months(column: Column) -> dict[int, tuple[str, str]]:
    """The stem of the month and the day of dates such as "6/14", by row; {} where the order is unclear.

    The month comes first where some day is above 12, or where all rows are of one month.
    """
    if "date" not in column.name.lower():
        return {}
    found = {row: re.fullmatch(r"(\d{1,2})/(\d{1,2})", cell.strip()) for row, cell in enumerate(column.cells)}
    parts = {row: (int(match[1]), int(match[2])) for row, match in found.items() if match is not None}
    filled = [cell for cell in column.cells if cell.strip()]
    if not parts or len(parts) < len(filled):
        return {}
    months, days = [part[0] for part in parts.values()], [part[1] for part in parts.values()]
    is_clear = max(days) > 12 or len(set(months)) == 1 < len(set(days))
    if not is_clear or not all(1 <= month <= 12 for month in months) or not all(1 <= d <= 31 for d in days):
        return {}
    return {row: (stem(MONTHS[month - 1]), str(day)) for row, (month, day) in parts.items()}
