"""Times of day in words: how long between two, and the talk of timetables."""

from __future__ import annotations

import datetime as dt

from chameleon.modules.offline.grammar.answers import choice_for
from chameleon.modules.offline.grammar.problem import Problem
from chameleon.modules.offline.grammar.rows import renamed
from chameleon.modules.offline.grammar.words import Word, stem_set
from chameleon.table import Column

_TALK = stem_set(
    """
    schedule timetable time train bus ferry boat plane flight tram subway class event movie film show
    ride stop station place leave long take get wait begin end arrive depart trip journey
    missed miss come reach
    """
)


def rows_at(column: Column, moment: Word) -> list[int]:
    """The rows of a column that have this time; without A.M. or P.M. it may be either, if cells say which."""
    time = moment.value.time
    if time is None:
        return []
    meant = {time}
    if not _says_half(moment.text) and time.hour < 13 and any(map(_says_half, column.cells)):
        meant.add(time.replace(hour=(time.hour + 12) % 24))
    return [row for row, value in enumerate(column.values) if value.time in meant]


def _says_half(text: str) -> bool:
    return "m" in text.lower()


def minutes_between(problem: Problem, begin: dt.time, end: dt.time) -> list[str]:
    """Lines that set `ans` to the time from `begin` to `end`, over midnight where it must."""
    total = (end.hour * 60 + end.minute - begin.hour * 60 - begin.minute) % (24 * 60)
    said = say_minutes(total)
    return [
        f"minutes = ({end.hour} * 60 + {end.minute} - {begin.hour} * 60 - {begin.minute}) % (24 * 60)",
        "hours, rest = divmod(minutes, 60)",
        "parts = [f\"{hours} hour{'s' * (hours != 1)}\"] if hours else []",
        "parts += [f\"{rest} minute{'s' * (rest != 1)}\"] if rest or not hours else []",
        'ans = " and ".join(parts)',
        *renamed(said, choice_for(problem, said)),
    ]


def say_minutes(total: int) -> str:
    """A duration as people say it: "1 hour and 15 minutes"."""
    hours, minutes = divmod(total, 60)
    parts = [f"{hours} hour{'s' * (hours != 1)}"] if hours else []
    parts += [f"{minutes} minute{'s' * (minutes != 1)}"] if minutes or not hours else []
    return " and ".join(parts)


def talk(problem: Problem) -> frozenset[int]:
    """The words that people use around timetables and that name no line of one."""
    return frozenset(i for i, word in enumerate(problem.words) if word.kind == "word" and word.stem in _TALK)
