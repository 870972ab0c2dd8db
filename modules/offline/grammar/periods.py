"""The month, year, quarter or weekday that has the most, where the table holds single dates."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction

from chameleon.errors import Declined
from chameleon.modules.offline.grammar.counts import is_row_noun, neutral_places
from chameleon.modules.offline.grammar.deeds import implied_by
from chameleon.modules.offline.grammar.extremes import best
from chameleon.modules.offline.grammar.frame import Frame
from chameleon.modules.offline.grammar.groups import Scores
from chameleon.modules.offline.grammar.lexicon import MONTHS, WEEKDAYS
from chameleon.modules.offline.grammar.problem import Draft, Problem
from chameleon.modules.offline.grammar.programs import literal
from chameleon.modules.offline.grammar.quantities import is_added, measured
from chameleon.modules.offline.grammar.selection import Selection
from chameleon.modules.offline.grammar.superlatives import find_superlative
from chameleon.modules.offline.grammar.words import stems

_PERIODS = ("month", "year", "quarter", "weekday")


def read_best_period(problem: Problem) -> Draft | None:
    """ "Which month had the highest revenue?": the sums, means or counts of each month, side by side."""
    frame = Frame(problem)
    found = find_superlative(frame)
    dates = [column for column in frame.table.columns if column.kind == "date"]
    asking = next(
        (p for kind in _PERIODS for w in ("which", "what") if (p := frame.phrase(w, kind))), frozenset[int]()
    )
    if found is None or not asking or len(dates) != 1 or found.absolute or frame.has("than"):
        return None
    kind = frame.texts[max(asking)]
    if kind in {word for name in frame.table.header for word in stems(name)}:
        return None
    selection = frame.select().require_rows()
    periods = _periods([dates[0].values[row].date for row in selection.rows], kind)
    following = max(found.places) + 1
    if found.word in {"most", "fewest"} and following in frame.texts and is_row_noun(frame, following):
        numbers, named, said = [Fraction(1)] * len(periods), frozenset({following}), "count of rows"
        column = None
    else:
        columns, named = measured(frame)
        column = frame.table.columns[columns[0]]
        if len(columns) > 1 or not (named or len(frame.measures) == 1):
            return None
        numbers, said = _numbers(selection, column.index), column.name
    average = frame.places_of("average", "mean")
    if column is not None and not average and not is_added(column):
        raise Declined(
            f"the numbers of {column.name} do not add up over a {kind}", hint="Ask for the average."
        )
    total = frame.places_of("total")
    values = _combined(periods, numbers, is_mean=bool(average))
    listed = ", ".join(f"{name!r}: {literal(value)}" for name, value in values.items())
    used = frozenset({dates[0].index, *({column.index} if column else ())})
    kind_said = "" if column is None else "average " if average else "total "
    scores = Scores(values, [f"scores = {{{listed}}}"], kind.capitalize(), kind_said + said, used)
    deeds = implied_by(frame.table, used)
    verbs = frozenset(i for i in frame.texts if frame.problem.words[i].stem in deeds)
    return best(
        frame, found, selection, scores, asking | named | average | total | verbs | neutral_places(frame)
    )


def _numbers(selection: Selection, column: int) -> list[Fraction]:
    selection.numbers((column,))
    numbers = [selection.table.columns[column].values[row].number for row in selection.rows]
    filled = [number for number in numbers if number is not None]
    if len(filled) < len(numbers):
        raise Declined(f"{selection.table.header[column]} is empty in some rows")
    return filled


def _periods(dates: list[dt.date | None], kind: str) -> list[str]:
    days = [day for day in dates if day is not None]
    if len(days) < len(dates):
        raise Declined("some rows have no date")
    several = len({day.year for day in days}) > 1
    return [_name(day, kind, with_year=several) for day in days]


def _name(day: dt.date, kind: str, *, with_year: bool) -> str:
    if kind == "year":
        return str(day.year)
    if kind == "weekday":
        return WEEKDAYS[day.weekday()].capitalize()
    name = MONTHS[day.month - 1].capitalize() if kind == "month" else f"Q{(day.month + 2) // 3}"
    return f"{name} {day.year}" if with_year else name


def _combined(periods: list[str], numbers: list[Fraction], *, is_mean: bool) -> dict[str, Fraction]:
    groups: dict[str, list[Fraction]] = {}
    for period, number in zip(periods, numbers, strict=True):
        groups.setdefault(period, []).append(number)
    return {
        period: sum(group, Fraction(0)) / (len(group) if is_mean else 1) for period, group in groups.items()
    }
