"""Single cells: the number in a row, the name of the row that has it, the names that meet conditions."""

from __future__ import annotations

from itertools import pairwise

from chameleon.errors import Declined
from chameleon.modules.offline.grammar.aggregates import aggregate
from chameleon.modules.offline.grammar.answers import choice_for
from chameleon.modules.offline.grammar.conditions import is_numbered_name
from chameleon.modules.offline.grammar.counts import how_many_of
from chameleon.modules.offline.grammar.frame import Frame
from chameleon.modules.offline.grammar.lexicon import word_set
from chameleon.modules.offline.grammar.problem import Draft, Problem
from chameleon.modules.offline.grammar.programs import assemble, finish
from chameleon.modules.offline.grammar.quantities import is_added, is_summed, measured
from chameleon.modules.offline.grammar.rows import is_code, renamed, row_code
from chameleon.modules.offline.grammar.selection import LITERAL_LIMIT, Selection
from chameleon.modules.offline.grammar.shapes import is_money
from chameleon.modules.offline.grammar.targets import Target, asked_column
from chameleon.table import Column

_COMPARING = word_set("more less fewer than most least higher lower")
_ASK_FOR = "Ask for their total, average, highest or lowest."
_ASKED_FOR = word_set(
    "total sum altogether average mean median highest lowest most least"
    " maximum minimum max min largest smallest greatest biggest"
)


def read_number(problem: Problem) -> Draft | None:
    """ "How many goals did the Lions score?", "What is the price of tea?": one number, or a plain sum."""
    frame = Frame(problem)
    how = frame.has("how", "many") or frame.has("how", "much") or frame.has("how", "old")
    how = how or any(
        frame.has("how", text) for text in ("long", "tall", "heavy", "far", "high", "big", "large")
    )
    if not how and not _asks_what(frame):
        return None
    if (
        frame.has("how", "many", "more")
        or frame.has("how", "much", "more")
        or (frame.bounds and not frame.cells)
    ):
        return None
    selection = frame.select().require_rows()
    if _asked_text(frame) is not None and not how:
        return None
    columns, named = how_many_of(frame) or measured(frame)
    names_measure = bool(frame.numeric_mentions())
    if not selection.columns and not names_measure:
        return None
    column = frame.table.columns[columns[0]]
    if (
        frame.has("how", "many")
        and not names_measure
        and not named
        and (not is_added(column) or any(map(is_money, column.values)))
    ):
        raise Declined(f"{column.name} does not say how many there are")
    if frame.bounds and {frame.column_of(bound).index for bound in frame.bounds} & set(columns):
        return None
    numbers = selection.numbers(columns)
    if len(set(numbers)) == 1 and (len(numbers) == 1 or not is_added(frame.table.columns[columns[0]])):
        return _one_number(frame, selection, columns, named)
    sums = how or (selection.places and all(is_summed(frame.table.columns[i]) for i in columns))
    if len(selection.rows) * len(columns) > 1 and not sums:
        raise Declined(
            f"{len(selection.rows)} rows fit{selection.said.replace(' where', ':', 1)}",
            hint="" if _ASKED_FOR & set(frame.texts.values()) else _ASK_FOR,
        )
    return aggregate(frame, "sum", selection, columns, named)


def _one_number(frame: Frame, selection: Selection, columns: tuple[int, ...], named: frozenset[int]) -> Draft:
    """The number that the only fitting row, or every one of them, has."""
    column = frame.table.columns[columns[0]]
    number = selection.numbers(columns)[0]
    place, row = next(
        (i, row)
        for row in selection.rows
        for i in columns
        if frame.table.columns[i].values[row].number is not None
    )
    lines, cell = row_code(frame.table, row, _telling(frame, selection), frame.table.columns[place])
    # To a program "1.5 kg" is no number: it is given as it is written.
    whole = number.denominator == 1 or is_code(frame.table.columns[place])
    lines += finish(cell, whole=whole, money=any(map(is_money, column.values)))
    reading = f"{column.name or 'Number'}{selection.said}"
    return Draft(assemble(lines), reading, named | selection.places, frozenset(columns) | selection.columns)


def _telling(frame: Frame, selection: Selection) -> tuple[int, ...]:
    """The columns that tell which row is meant: that of its name, and those that the question names."""
    named = frozenset({frame.label.index}) if frame.label is not None else frozenset[int]()
    return tuple(sorted(named | selection.columns))


def _asks_what(frame: Frame) -> bool:
    texts = list(frame.texts.values())
    if any(frame.texts.get(m.places[0] - 1) in {"which", "what"} for m in frame.numeric_mentions()):
        return True
    if frame.numeric_mentions() and frame.numeric_mentions()[0].places[0] == frame.problem.asked[0]:
        return True
    return any(pair in _WHAT_IS for pair in pairwise(texts)) or texts[:1] in (
        ["find"],
        ["give"],
    )


_WHAT_IS = frozenset(("what", be) for be in ("is", "was", "are", "were", "did", "does", "do"))


def _asked_text(frame: Frame) -> Column | None:
    """The column of names in "What is the capital of France?", "Who is the manager of the North shop?"."""
    start = frame.phrase("is", "the") or frame.phrase("was", "the") or frame.phrase("are", "the")
    start = start or frame.phrase("were", "the")
    owners = {i for i in frame.texts if frame.texts[i].endswith(("'s", "’s"))}
    start = start or (frozenset(owners) if frame.texts[frame.problem.asked[0]] == "what" else frozenset())
    if not start:
        return None
    for mention in frame.text_mentions():
        if mention.places[0] in range(max(start) + 1, max(start) + 3) and len(mention.columns) == 1:
            return frame.table.columns[mention.columns[0]]
    return None


def read_names(problem: Problem) -> Draft | None:
    """ "Which products cost more than $5?", "Who is the manager of the North shop?": one name or several."""
    frame = Frame(problem)
    column = _asked_text(frame)
    target = Target(column, frozenset()) if column is not None else asked_column(frame)
    if target is None or (set(frame.texts.values()) & _COMPARING and not frame.bounds):
        return None
    frame.require_no_both()
    selection = frame.select_with_numbers()
    if not any(condition.places for condition in selection.conditions):
        return None
    selection.require_rows()
    if any(c.column == target.column.index and c.places for c in selection.conditions):
        return None
    cells = [target.column.cells[row].strip() for row in selection.rows]
    names = list(dict.fromkeys(cell for cell in cells if cell))
    if not names:
        raise Declined(f"{target.column.name} is empty there")
    if problem.choices and len(names) > 1:
        raise Declined(f"several rows fit: {', '.join(names[:5])}")
    read = target.places | selection.places
    read |= {p for m in frame.numeric_mentions() if set(m.columns) & selection.columns for p in m.places}
    used = selection.columns | {target.column.index}
    reading = f"{target.column.name or 'Row'}{selection.said}"
    lines = names_code(frame, selection, target.column, names)
    lines += renamed(names[0], choice_for(problem, names[0])) if len(names) == 1 else []
    return Draft(assemble(lines), reading, read, used)


def names_code(frame: Frame, selection: Selection, column: Column, names: list[str]) -> list[str]:
    """Lines that set `ans` to the one name that the selected rows have in a column, or to several."""
    if len(names) == 1:
        row = next(row for row in selection.rows if column.cells[row].strip() == names[0])
        line, cell = row_code(frame.table, row, _telling(frame, selection), column)
        is_text = column.kind != "number" or is_code(column)
        return [*line, f"ans = {cell}" if is_text else f"ans = str({cell})"]
    if len(names) <= LITERAL_LIMIT or is_numbered_name(column):
        return [f"names = {names!r}", 'ans = ", ".join(names)']
    return [
        *selection.rows_code(),
        f"cells = [row[{column.index}] for row in rows]",
        'names = dict.fromkeys(str(cell).strip() for cell in cells if cell not in (None, ""))',
        'ans = ", ".join(names)',
    ]
