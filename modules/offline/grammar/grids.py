"""Timetables with a row for each stop and a column for each run: next, travel, waiting, arrival."""

from __future__ import annotations

from chameleon.errors import Declined
from chameleon.modules.offline.grammar.answers import choice_for
from chameleon.modules.offline.grammar.clock import minutes_between, talk
from chameleon.modules.offline.grammar.lexicon import word_set
from chameleon.modules.offline.grammar.linking import CellMention, find_cells
from chameleon.modules.offline.grammar.problem import Draft, Problem
from chameleon.modules.offline.grammar.programs import assemble
from chameleon.modules.offline.grammar.words import Word
from chameleon.table import Table


def read_grid(problem: Problem, table: Table) -> Draft | None:
    """A timetable with a row for each stop and a column for each run."""
    words = problem.words
    places = [*problem.story, *problem.asked]
    clock = [i for i in places if words[i].kind == "time"]
    stops = find_cells(table.take_columns([0]), words, [i for i in places if i not in clock])
    if any(len(stop.rows) != 1 for stop in stops):
        return None
    cues = {words[i].text.lower() for i in places}
    read = talk(problem) | frozenset(clock) | {p for stop in stops for p in stop.places}
    read |= {
        i for i in places if words[i].is_name and i + 1 < len(words) and words[i + 1].text.lower() in _DOING
    }
    read |= {i for i in places if words[i].text.lower() in _JOURNEY}
    if len(stops) == 1 and len(clock) == 1 and "next" in cues and "how" not in cues:
        column = _run_at(table, stops[0].rows[0], words[clock[0]])
        if column + 1 >= len(table.header):
            raise Declined("there is no later run on this timetable")
        cell = table.rows[stops[0].rows[0]][column + 1]
        return _timetable(problem, cell, f"Next time at {stops[0].text} after {words[clock[0]].text}", read)
    if len(stops) == 1 and len(clock) == 1 and {"next", "long", "wait"} <= cues:
        return _wait(problem, table, stops[0], clock[0], read)
    if len(stops) == 2 and len(clock) == 1 and {"how", "soon"} <= cues:
        return _soonest(problem, table, stops, clock[0], read)
    if len(stops) == 2 and not clock and "long" in cues and {"from", "to"} <= cues:
        return _travel(problem, table, stops, read)
    if len(stops) == 2 and len(clock) == 1 and ("time" in cues or "when" in cues):
        return _other_end(problem, table, stops, clock[0], read)
    return None


def _wait(problem: Problem, table: Table, stop: CellMention, clock: int, read: frozenset[int]) -> Draft:
    """How long it is from the run that was missed to the next one at the same stop."""
    row, moment = stop.rows[0], problem.words[clock]
    column = _run_at(table, row, moment)
    following = table.columns[column + 1].values[row].time if column + 1 < len(table.header) else None
    missed = moment.value.time
    if following is None or missed is None:
        raise Declined("there is no later run on this timetable")
    reading = f"Time from {moment.text} to the next run at {stop.text}"
    return Draft(assemble(minutes_between(problem, missed, following)), reading, read, whole_text=True)


def _soonest(
    problem: Problem, table: Table, stops: tuple[CellMention, ...], clock: int, read: frozenset[int]
) -> Draft:
    """When the first run from here, at the given time or later, reaches the other stop."""
    here, there = sorted(stops, key=lambda stop: abs(stop.places[0] - clock))
    now = problem.words[clock].value.time
    runs = [
        column.index
        for column in table.columns[1:]
        if (leaving := column.values[here.rows[0]].time) is not None and now is not None and leaving >= now
    ]
    if not runs:
        raise Declined("there is no later run on this timetable")
    cell = table.rows[there.rows[0]][runs[0]]
    reading = (
        f"Time at {there.text} of the first run from {here.text} at {problem.words[clock].text} or later"
    )
    return _timetable(problem, cell, reading, read)


_JOURNEY = word_set("if wants should soon got next just until")
_DOING = word_set("just is got gets wants missed will needs has")


def _run_at(table: Table, row: int, moment: Word) -> int:
    """The column in which the stop has this time; raises `Declined` where none or several do."""
    values = table.take_rows([row]).columns
    runs = [column.index for column in values if column.values[0].time == moment.value.time is not None]
    if len(runs) != 1:
        raise Declined(f"{table.rows[row][0]} has no run, or several, at {moment.text}")
    return runs[0]


def _timetable(problem: Problem, cell: str, reading: str, read: frozenset[int]) -> Draft:
    return Draft(assemble([f"ans = {choice_for(problem, cell)!r}"]), reading, read, whole_text=True)


def _travel(problem: Problem, table: Table, stops: tuple[CellMention, ...], read: frozenset[int]) -> Draft:
    ordered = _from_to(problem, stops)
    begins = [column.values[ordered[0].rows[0]].time for column in table.columns[1:]]
    ends = [column.values[ordered[1].rows[0]].time for column in table.columns[1:]]
    spans = {
        (end.hour * 60 + end.minute - begin.hour * 60 - begin.minute) % (24 * 60)
        for begin, end in zip(begins, ends, strict=True)
        if begin is not None and end is not None
    }
    begin, end = begins[0], ends[0]
    if len(spans) != 1 or begin is None or end is None:
        raise Declined("the journey does not take the same time on every run")
    reading = f"Time from {ordered[0].text} to {ordered[1].text}"
    return Draft(assemble(minutes_between(problem, begin, end)), reading, read, whole_text=True)


def _from_to(problem: Problem, stops: tuple[CellMention, ...]) -> tuple[CellMention, CellMention]:
    first, second = stops
    before = {problem.words[i].text.lower() for i in range(max(first.places[0] - 2, 0), first.places[0])}
    return (second, first) if "to" in before else (first, second)


def _other_end(
    problem: Problem, table: Table, stops: tuple[CellMention, ...], clock: int, read: frozenset[int]
) -> Draft:
    """The time at one stop of the run that is at the other stop at a given time."""
    near = max(
        (stop for stop in stops if stop.places[-1] < clock), key=lambda stop: stop.places[-1], default=None
    )
    if near is None:
        raise Declined("the question does not say at which stop that time is")
    far = next(stop for stop in stops if stop is not near)
    column = _run_at(table, near.rows[0], problem.words[clock])
    cell = table.rows[far.rows[0]][column]
    reading = f"Time at {far.text} of the run that is at {near.text} at {problem.words[clock].text}"
    return _timetable(problem, cell, reading, read)
