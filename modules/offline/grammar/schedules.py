"""Timetables: when something begins, what begins then, the next departure, how long it takes."""

from __future__ import annotations

from itertools import pairwise

from chameleon.errors import Declined
from chameleon.modules.offline.grammar.answers import choice_for
from chameleon.modules.offline.grammar.clock import minutes_between, rows_at, talk
from chameleon.modules.offline.grammar.grids import read_grid
from chameleon.modules.offline.grammar.linking import CellMention, find_cells
from chameleon.modules.offline.grammar.problem import Draft, Problem
from chameleon.modules.offline.grammar.programs import assemble
from chameleon.modules.offline.grammar.rows import renamed, row_code
from chameleon.modules.offline.grammar.shapes import is_headerless
from chameleon.modules.offline.grammar.words import stem_set, stems
from chameleon.table import Column, Table

_STARTING = stem_set("begin start depart leave open departure from takeoff")
_ENDING = stem_set("end finish arrive arrival close reach return to")


def read_schedule(problem: Problem) -> Draft | None:
    """A question on a table with columns of times, one row for each class, stop or train."""
    table = problem.table
    times = [column for column in table.columns if column.kind == "time"]
    if not times or not any(column.kind == "text" for column in table.columns):
        return None
    if is_headerless(table) and len(times) > 1:
        return read_grid(problem, table)
    return _read_records(problem, table, times)


def _read_records(problem: Problem, table: Table, times: list[Column]) -> Draft | None:
    words, asked = problem.words, problem.asked
    clock = [i for i in asked if words[i].kind == "time"]
    texts = [words[i].text.lower() for i in asked]
    names = next(column for column in table.columns if column.kind == "text")
    mentions = [
        m for m in find_cells(table, words, [i for i in asked if i not in clock]) if m.column == names.index
    ]
    is_long = any(pair == ("how", "long") for pair in pairwise(texts))
    if is_long:
        return _duration(problem, times, mentions, clock)
    named = {place for mention in mentions for place in mention.places}
    column = column_of_verb(problem, times, named)
    if len(clock) == 1 and not mentions and {"when", "time"} & set(texts) and column is not None:
        return _other_time(problem, times, column, clock[0])
    if len(clock) == 1 and not mentions and {"which", "what"} & set(texts) and column is not None:
        rows = rows_at(column, words[clock[0]])
        if len(rows) != 1 or "time" in texts:
            return None
        answer = choice_for(problem, names.cells[rows[0]])
        reading = f"{names.name or 'Row'} whose {column.name or 'time'} is {words[clock[0]].text}"
        lines, cell = row_code(table, rows[0], (column.index,), names)
        lines += [f"ans = {cell}", *renamed(names.cells[rows[0]].strip(), answer)]
        return Draft(
            assemble(lines), reading, talk(problem) | {clock[0]}, frozenset({names.index, column.index})
        )
    if len(mentions) == 1 and not clock and ("when" in texts or "time" in texts) and column is not None:
        return _lookup(problem, names, column, mentions[0])
    return None


def _other_time(problem: Problem, times: list[Column], column: Column, clock: int) -> Draft | None:
    """ "When does the 8:15 train arrive?": the time beside the one that names the row."""
    others = [other for other in times if other != column]
    if len(others) != 1:
        return None
    rows = rows_at(others[0], problem.words[clock])
    if len(rows) != 1:
        raise Declined(f"no line, or more than one, has {others[0].name} at {problem.words[clock].text}")
    cell = column.cells[rows[0]].strip()
    reading = f"{column.name} where {others[0].name} is {problem.words[clock].text}"
    read = talk(problem) | {clock}
    lines, told = row_code(problem.table, rows[0], (others[0].index,), column)
    lines += [f"ans = {told}", *renamed(cell, choice_for(problem, cell))]
    return Draft(assemble(lines), reading, read, frozenset({column.index, others[0].index}))


def _lookup(problem: Problem, names: Column, column: Column, mention: CellMention) -> Draft:
    if len(mention.rows) != 1:
        raise Declined(f"{len(mention.rows)} rows name {mention.text!r}")
    cell = column.cells[mention.rows[0]]
    answer = choice_for(problem, cell)
    reading = f"{column.name or 'Time'} where {names.name or 'the row'} is {mention.text}"
    read = talk(problem) | frozenset(mention.places)
    lines, told = row_code(problem.table, mention.rows[0], (names.index,), column)
    lines += [f"ans = {told}", *renamed(cell.strip(), answer)]
    return Draft(assemble(lines), reading, read, frozenset({names.index, column.index}))


def column_of_verb(problem: Problem, times: list[Column], named: set[int]) -> Column | None:
    """The column of times that the verb of the question points to."""
    if len(times) == 1:
        return times[0]
    verbs = {
        problem.words[i].stem for i in problem.asked if problem.words[i].kind == "word" and i not in named
    }
    verbs -= {"from", "to"}
    wanted = [verbs & _STARTING, verbs & _ENDING]
    if bool(wanted[0]) == bool(wanted[1]):
        return None
    side = _STARTING if wanted[0] else _ENDING
    fitting = [column for column in times if set(stems(column.name)) & side]
    return fitting[0] if len(fitting) == 1 else None


def starting(times: list[Column]) -> Column | None:
    """The only column of times that says when something starts."""
    found = [column for column in times if set(stems(column.name)) & _STARTING]
    return found[0] if len(found) == 1 else None


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
        rows = tuple(rows_at(starts[0], problem.words[clock[0]]))
        read = frozenset(clock)
    else:
        return None
    lasting = frozenset(i for i in problem.asked if problem.words[i].text.lower() == "last")
    if len(rows) != 1:
        raise Declined("no row, or more than one, is at that time or of that name")
    row = rows[0]
    begin, end = starts[0].values[row].time, ends[0].values[row].time
    if begin is None or end is None:
        raise Declined("the row has no time there")
    reading = f"Time from {starts[0].cells[row]} to {ends[0].cells[row]}"
    columns = frozenset({starts[0].index, ends[0].index, *(mention.column for mention in mentions)})
    return Draft(
        assemble(minutes_between(problem, begin, end)), reading, read | talk(problem) | lasting, columns
    )
