"""Timetables with a line for each train: the first, the last, the next after a time, those before it."""

from __future__ import annotations

import datetime as dt

from chameleon.errors import Declined
from chameleon.modules.offline.grammar.answers import choice_for
from chameleon.modules.offline.grammar.clock import talk
from chameleon.modules.offline.grammar.frame import Frame
from chameleon.modules.offline.grammar.lexicon import word_set
from chameleon.modules.offline.grammar.linking import CellMention
from chameleon.modules.offline.grammar.problem import Draft, Problem
from chameleon.modules.offline.grammar.programs import assemble
from chameleon.modules.offline.grammar.rows import renamed, row_code
from chameleon.modules.offline.grammar.schedules import column_of_verb, starting
from chameleon.modules.offline.grammar.selection import Selection
from chameleon.modules.offline.grammar.shapes import is_headerless
from chameleon.modules.offline.grammar.targets import asked_column
from chameleon.table import Column

_FIRST = word_set("first earliest soonest")
_LAST = word_set("last latest")
_BOUNDS = {"before": "<", "by": "<=", "until": "<=", "after": ">", "since": ">=", "from": ">="}


def read_departure(problem: Problem) -> Draft | None:
    """ "When does the last train to York leave?", "How many trains leave before 9:00 AM?"."""
    frame = Frame(problem)
    times = [column for column in problem.table.columns if column.kind == "time"]
    if not times or is_headerless(problem.table) or frame.bounds:
        return None
    selection = frame.select(without=[mention for mention in frame.cells if _is_limit(frame, mention)])
    read = selection.places | talk(problem)
    column = column_of_verb(problem, times, set(selection.places))
    if column is None and frame.has("next") and _asks_when(frame):
        column = starting(times)
    if column is None:
        return None
    rows, moment = _within(frame, column, selection)
    first, last = frame.places_of(*_FIRST), frame.places_of(*_LAST, "next")
    if "next" in frame.texts.values() and moment:
        first, last = frame.places_of("next"), frozenset()
    if (moment or first or last) and _passes_midnight(times, column, rows):
        raise Declined(f"some {column.name} is after midnight, so the order is not clear")
    if len(first) + len(last) == 1:
        pick = min if first else max
        row = pick(rows, key=lambda row: _time(column, row), default=None)
        if row is None or (not moment and frame.has("next")):
            raise Declined("no line of the timetable fits")
        return _one(frame, column, row, read | first | last | moment, selection)
    if moment and not first and not last:
        return _several(frame, column, rows, read | moment, selection)
    if not moment and not first and not last and selection.places and _asks_when(frame):
        if len(rows) > 1:
            times_found = ", ".join(column.cells[row].strip() for row in rows[:8])
            raise Declined(
                f"several lines of the timetable fit: {times_found}", hint="Ask for the first or the last."
            )
        return _one(frame, column, selection.require_rows().rows[0], read, selection)
    return None


def _passes_midnight(times: list[Column], column: Column, rows: list[int]) -> bool:
    """Whether a line ends on the next day, which the times of its end do not show."""
    begin = starting(times)
    if begin is None or begin == column:
        return False
    return any(_time(column, row) < _time(begin, row) for row in rows if begin.values[row].time is not None)


def _is_limit(frame: Frame, mention: CellMention) -> bool:
    """Whether a time limits, as in "before 9:00", and does not name the line that leaves then."""
    place = mention.places[0]
    return frame.problem.words[place].kind == "time" and frame.texts.get(place - 1, "") in _BOUNDS


def _asks_when(frame: Frame) -> bool:
    return frame.has("when") or frame.has("what", "time")


def _time(column: Column, row: int) -> dt.time:
    return column.values[row].time or dt.time()


def _within(frame: Frame, column: Column, selection: Selection) -> tuple[list[int], frozenset[int]]:
    """The selected rows on the right side of the time that the question names, and the words for it."""
    rows = [row for row in selection.rows if column.values[row].time is not None]
    clock = [
        i for i in frame.problem.asked if frame.problem.words[i].kind == "time" or frame.texts[i] == "noon"
    ]
    if len(clock) != 1:
        return rows, frozenset()
    word = frame.problem.words[clock[0]]
    moment = dt.time(12) if word.kind == "word" else word.value.time
    sign = _BOUNDS.get(frame.texts.get(clock[0] - 1, ""))
    if moment is None or sign is None:
        return rows, frozenset()
    kept = [row for row in rows if _holds(_time(column, row), sign, moment)]
    return kept, frozenset({clock[0] - 1, clock[0]})


def _holds(time: dt.time, sign: str, moment: dt.time) -> bool:
    return {"<": time < moment, "<=": time <= moment, ">": time > moment, ">=": time >= moment}[sign]


def _one(frame: Frame, column: Column, row: int, read: frozenset[int], selection: Selection) -> Draft | None:
    """One line: its time for "when", its name for "which"."""
    if _asks_when(frame) or frame.has("what", "is"):
        answer, used, named = column.cells[row].strip(), column.index, frozenset[int]()
    else:
        target = asked_column(frame, (column.index,))
        if target is None:
            return None
        answer, used, named = target.column.cells[row].strip(), target.column.index, target.places
    label = {frame.label.index} if frame.label else set()
    reading = f"{frame.table.header[used]} of the line with {column.name} {column.cells[row]}{selection.said}"
    columns = frozenset({used, column.index, *label}) | selection.columns
    shown = sorted({column.index, *label} | selection.columns)
    lines, cell = row_code(frame.table, row, shown, frame.table.columns[used])
    lines += [f"ans = {cell}", *renamed(answer, choice_for(frame.problem, answer))]
    return Draft(assemble(lines), reading, read | named, columns)


def _several(
    frame: Frame, column: Column, rows: list[int], read: frozenset[int], selection: Selection
) -> Draft | None:
    """All lines before or after a time: how many, or which."""
    label = frame.label
    if label is None:
        return None
    names = [label.cells[row].strip() for row in rows]
    columns = frozenset({label.index, column.index}) | selection.columns
    said = f" with {column.name} in the time asked for{selection.said}"
    if counting := frame.phrase("how", "many"):
        lines = [f"names = {names!r}", "ans = len(names)"]
        return Draft(assemble(lines), f"Count of rows{said}", read | counting, columns)
    target = asked_column(frame, (column.index,))
    if target is None or target.column != label or not names:
        return None
    lines = [f"names = {names!r}", 'ans = ", ".join(names)']
    return Draft(assemble(lines), f"{label.name}{said}", read | target.places, columns)
