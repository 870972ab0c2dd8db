"""Timetables: when something begins, what begins then, the next departure, how long it takes."""

from __future__ import annotations

import datetime as dt

from chameleon.errors import Declined
from chameleon.modules.grammar.answers import choice_for, matching_choice
from chameleon.modules.grammar.linking import CellMention, find_cells
from chameleon.modules.grammar.problem import Draft, Problem
from chameleon.modules.grammar.programs import assemble
from chameleon.modules.grammar.shapes import is_headerless
from chameleon.modules.grammar.words import Word, stem, stems
from chameleon.table import Column, Table

_STARTING = frozenset(stem(word) for word in "begin start depart leave open departure from takeoff".split())
_ENDING = frozenset(stem(word) for word in "end finish arrive arrival close reach return to".split())
_TALK = frozenset(
    stem(word)
    for word in "schedule timetable time train bus ferry boat plane flight tram subway class event movie film show ride "
    "stop station place long take get begin end arrive depart last trip journey next just missed miss come reach".split()
)


def read_schedule(problem: Problem) -> Draft | None:
    """A question on a table with columns of times, one row for each class, stop or train."""
    table = problem.table
    times = [column for column in table.columns if column.kind == "time"]
    if not times or not any(column.kind == "text" for column in table.columns):
        return None
    if is_headerless(table) and len(times) > 1:
        return _read_grid(problem, table)
    return _read_records(problem, table, times)


def _read_records(problem: Problem, table: Table, times: list[Column]) -> Draft | None:
    words, asked = problem.words, problem.asked
    clock = [i for i in asked if words[i].kind == "time"]
    texts = [words[i].text.lower() for i in asked]
    names = next(column for column in table.columns if column.kind == "text")
    mentions = [m for m in find_cells(table, words, [i for i in asked if i not in clock]) if m.column == names.index]
    is_long = any(pair == ("how", "long") for pair in zip(texts, texts[1:], strict=False))
    if is_long:
        return _duration(problem, times, mentions, clock)
    named = {place for mention in mentions for place in mention.places}
    column = column_of_verb(problem, times, named)
    if len(clock) == 1 and not mentions and {"when", "time"} & set(texts) and column is not None:
        return _other_time(problem, times, column, clock[0])
    if len(clock) == 1 and not mentions and {"which", "what"} & set(texts) and column is not None:
        rows = [r for r, value in enumerate(column.values) if value.time == words[clock[0]].value.time]
        if len(rows) != 1 or "time" in texts:
            return None
        answer = choice_for(problem, names.cells[rows[0]])
        reading = f"{names.name or 'Row'} whose {column.name or 'time'} is {words[clock[0]].text}"
        lines = [f"rows = {_pairs(names, column)}", f"ans = rows[{column.cells[rows[0]]!r}]"]
        lines = lines if names.cells[rows[0]] == answer and len(set(column.cells)) == len(column.cells) else [f"ans = {answer!r}"]
        return Draft(assemble(lines), reading, talk(problem) | {clock[0]}, frozenset({names.index, column.index}))
    if len(mentions) == 1 and not clock and ("when" in texts or "time" in texts) and column is not None:
        return _lookup(problem, names, column, mentions[0])
    return None


def _other_time(problem: Problem, times: list[Column], column: Column, clock: int) -> Draft | None:
    """ "When does the 8:15 train arrive?": the time beside the one that names the row."""
    others = [other for other in times if other != column]
    moment = problem.words[clock].value.time
    if len(others) != 1:
        return None
    rows = [row for row, value in enumerate(others[0].values) if value.time == moment]
    if len(rows) != 1:
        raise Declined(f"no line, or more than one, has {others[0].name} at {problem.words[clock].text}")
    cell = column.cells[rows[0]].strip()
    reading = f"{column.name} where {others[0].name} is {problem.words[clock].text}"
    read = talk(problem) | {clock}
    return Draft(assemble([f"ans = {choice_for(problem, cell)!r}"]), reading, read, frozenset({column.index, others[0].index}))


def _pairs(names: Column, column: Column) -> dict[str, str]:
    return dict(zip(column.cells, names.cells, strict=True))


def _lookup(problem: Problem, names: Column, column: Column, mention: CellMention) -> Draft:
    if len(mention.rows) != 1:
        raise Declined(f"{len(mention.rows)} rows name {mention.text!r}")
    cell = column.cells[mention.rows[0]]
    answer = choice_for(problem, cell)
    reading = f"{column.name or 'Time'} where {names.name or 'the row'} is {mention.text}"
    read = talk(problem) | frozenset(mention.places)
    return Draft(assemble([f"ans = {answer!r}"]), reading, read, frozenset({names.index, column.index}))


def column_of_verb(problem: Problem, times: list[Column], named: set[int]) -> Column | None:
    """The column of times that the verb of the question points to."""
    if len(times) == 1:
        return times[0]
    verbs = {problem.words[i].stem for i in problem.asked if problem.words[i].kind == "word" and i not in named}
    verbs -= {"from", "to"}
    wanted = [verbs & _STARTING, verbs & _ENDING]
    if bool(wanted[0]) == bool(wanted[1]):
        return None
    side = _STARTING if wanted[0] else _ENDING
    fitting = [column for column in times if set(stems(column.name)) & side]
    return fitting[0] if len(fitting) == 1 else None


def _duration(
    problem: Problem, times: list[Column], mentions: list[CellMention], clock: list[int]
) -> Draft | None:
    """How long one row lasts: from its starting time to its ending time."""
    starts = [column for column in times if set(stems(column.name)) & _STARTING]
    ends = [column for column in times if set(stems(column.name)) & _ENDING]
    if len(starts) != 1 or len(ends) != 1:
        return None
    if len(mentions) == 1 and not clock:
        rows, read = mentions[0].rows, frozenset(mentions[0].places)
    elif len(clock) == 1 and not mentions:
        moment = problem.words[clock[0]].value.time
        rows = tuple(r for r, value in enumerate(starts[0].values) if value.time == moment)
        read = frozenset(clock)
    else:
        return None
    if len(rows) != 1:
        raise Declined("no row, or more than one, is at that time or of that name")
    row = rows[0]
    begin, end = starts[0].values[row].time, ends[0].values[row].time
    if begin is None or end is None:
        raise Declined("the row has no time there")
    reading = f"Time from {starts[0].cells[row]} to {ends[0].cells[row]}"
    columns = frozenset({starts[0].index, ends[0].index, *(mention.column for mention in mentions)})
    return Draft(assemble(_minutes(problem, begin, end)), reading, read | talk(problem), columns)


def _minutes(problem: Problem, begin: dt.time, end: dt.time) -> list[str]:
    total = (end.hour * 60 + end.minute - begin.hour * 60 - begin.minute) % (24 * 60)
    said = say_minutes(total)
    matching_choice(problem, said)
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


def _read_grid(problem: Problem, table: Table) -> Draft | None:
    """A timetable with a row for each stop and a column for each run."""
    words = problem.words
    places = [*problem.story, *problem.asked]
    clock = [i for i in places if words[i].kind == "time"]
    stops = find_cells(table.take_columns([0]), words, [i for i in places if i not in clock])
    if any(len(stop.rows) != 1 for stop in stops):
        return None
    cues = {words[i].text.lower() for i in places}
    read = talk(problem) | frozenset(clock) | {p for stop in stops for p in stop.places}
    read |= {i for i in places if words[i].is_name and i + 1 < len(words) and words[i + 1].text.lower() in _DOING}
    read |= {i for i in places if words[i].text.lower() in {"if", "wants", "should", "on", "soon", "got"}}
    if len(stops) == 1 and len(clock) == 1 and "next" in cues and "how" not in cues:
        column = _run_at(table, stops[0].rows[0], words[clock[0]])
        if column + 1 >= len(table.header):
            raise Declined("there is no later run on this timetable")
        cell = table.rows[stops[0].rows[0]][column + 1]
        return _timetable(problem, cell, f"Next time at {stops[0].text} after {words[clock[0]].text}", read)
    if len(stops) == 2 and not clock and "long" in cues and {"from", "to"} <= cues:
        return _travel(problem, table, stops, read)
    if len(stops) == 2 and len(clock) == 1 and ("time" in cues or "when" in cues):
        return _other_end(problem, table, stops, clock[0], read)
    return None


_DOING = frozenset("just is got gets wants missed will needs has".split())


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
    return Draft(assemble(_minutes(problem, begin, end)), reading, read, whole_text=True)


def _from_to(problem: Problem, stops: tuple[CellMention, ...]) -> tuple[CellMention, CellMention]:
    first, second = stops
    before = {problem.words[i].text.lower() for i in range(max(first.places[0] - 2, 0), first.places[0])}
    return (second, first) if "to" in before else (first, second)


def _other_end(
    problem: Problem, table: Table, stops: tuple[CellMention, ...], clock: int, read: frozenset[int]
) -> Draft:
    """The time at one stop of the run that is at the other stop at a given time."""
    near = max((stop for stop in stops if stop.places[-1] < clock), key=lambda stop: stop.places[-1], default=None)
    if near is None:
        raise Declined("the question does not say at which stop that time is")
    far = next(stop for stop in stops if stop is not near)
    column = _run_at(table, near.rows[0], problem.words[clock])
    cell = table.rows[far.rows[0]][column]
    reading = f"Time at {far.text} of the run that is at {near.text} at {problem.words[clock].text}"
    return _timetable(problem, cell, reading, read)


def talk(problem: Problem) -> frozenset[int]:
    """The words that people use around timetables and that name no line of one."""
    return frozenset(
        i
        for i, word in enumerate(problem.words)
        if word.kind == "word" and (word.stem in _TALK or word.text.lower() in {"from", "to", "next", "just"})
    )
