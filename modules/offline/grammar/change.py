"""Change over time: the rate of change between two rows, the change from one to the other."""

from __future__ import annotations

from chameleon.errors import Declined
from chameleon.modules.offline.grammar.frame import Frame
from chameleon.modules.offline.grammar.linking import CellMention
from chameleon.modules.offline.grammar.problem import Draft, Problem
from chameleon.modules.offline.grammar.programs import assemble, finish, literal


def read_rate_of_change(problem: Problem) -> Draft | None:
    """ "What was the rate of change between 2014 and 2016?": the difference over the steps between."""
    frame = Frame(problem)
    cues = frame.phrase("rate", "of", "change")
    if not cues or len(frame.measures) != 1:
        return None
    ends = _ends(frame)
    if ends is None:
        return None
    first, second = ends
    column = frame.column_of_cell(first)
    if frame.column_of_cell(second) != column or len(first.rows) != 1 or len(second.rows) != 1:
        return None
    steps = _steps(frame, column, first.rows[0], second.rows[0])
    measure = frame.measures[0]
    before, after = measure.values[first.rows[0]].number, measure.values[second.rows[0]].number
    if before is None or after is None or not steps:
        raise Declined("the table has no number there")
    whole = ((after - before) / int(steps)).denominator == 1
    expression = f"({literal(after)} - {literal(before)})"
    expression = expression if steps == 1 else f"Fraction({expression}, {steps})"
    lines = finish(expression[1:-1] if steps == 1 else expression, whole=whole and steps == 1)
    joints = frame.places_of("between", "and", "from", "to")
    read = cues | joints | frozenset((*first.places, *second.places))
    reading = f"Change of {measure.name} from {first.text} to {second.text}, per step"
    return Draft(assemble(lines), reading, read, frozenset({column, measure.index}))


def _ends(frame: Frame) -> tuple[CellMention, CellMention] | None:
    """The two rows of "between A and B", which a bound on numbers may have claimed."""
    if len(frame.cells) == 2:
        return frame.cells[0], frame.cells[1]
    if len(frame.bounds) == 1 and frame.bounds[0].upper is not None:
        return frame.ends_of(frame.bounds[0])
    return None


def _steps(frame: Frame, column: int, first: int, second: int) -> int:
    """How many years, days or months lie between: by number, else by the order of the rows."""
    values = frame.table.columns[column].values
    before, after = values[first].number, values[second].number
    if before is not None and after is not None:
        return int(after - before)
    if values[first].date is not None:
        raise Declined("the rate of change between dates needs a unit of time")
    return second - first
