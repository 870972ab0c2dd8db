"""Times of day in words: how long between two, and the talk of timetables."""

from __future__ import annotations

import datetime as dt

from chameleon.modules.grammar.answers import choice_for
from chameleon.modules.grammar.problem import Problem
from chameleon.modules.grammar.words import stem_set

_TALK = stem_set(
    """
    schedule timetable time train bus ferry boat plane flight tram subway class event movie film show
    ride stop station place leave long take get wait begin end arrive depart trip journey
    missed miss come reach
    """
)


def minutes_between(problem: Problem, begin: dt.time, end: dt.time) -> list[str]:
    """Lines that set `ans` to the time from `begin` to `end`, over midnight where it must."""
    total = (end.hour * 60 + end.minute - begin.hour * 60 - begin.minute) % (24 * 60)
    said = say_minutes(total)
    return [
        f"minutes = ({end.hour} * 60 + {end.minute} - {begin.hour} * 60 - {begin.minute}) % (24 * 60)",
        f"ans = {choice_for(problem, said)!r}",
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
