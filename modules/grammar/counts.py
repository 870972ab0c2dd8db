"""How many rows: "How many teams have at least 10 wins?", "How many different regions are there?"."""

from __future__ import annotations

from chameleon.errors import Declined
from chameleon.modules.grammar.conditions import is_flag
from chameleon.modules.grammar.frame import Frame
from chameleon.modules.grammar.lexicon import word_set
from chameleon.modules.grammar.problem import Draft, Problem
from chameleon.modules.grammar.programs import assemble
from chameleon.modules.grammar.selection import LITERAL_LIMIT, Selection
from chameleon.modules.grammar.shapes import labels
from chameleon.modules.grammar.targets import people_named
from chameleon.modules.grammar.words import stem_set, stems
from chameleon.table import Column

_DIFFERENT = frozenset({"different", "distinct", "unique"})
_ROWS = stem_set("row record entry line")
_STOPS = word_set("is are was were did do does have has had there in on at with that who which")


def read_count(problem: Problem) -> Draft | None:
    """A count of the rows that meet the conditions, or of the different names in a column."""
    frame = Frame(problem)
    opening = frame.phrase("how", "many")
    if not opening or frame.has("how", "many", "more") or frame.has("how", "many", "times"):
        return None
    different = frame.places_of(*_DIFFERENT)
    noun = _noun(frame, max(opening))
    if different:
        return _count_names(frame, noun, different)
    column = _counted(frame, noun)
    if column is None:
        return None
    if len(set(column.cells)) < len(column.cells):
        if frame.has("are", "there") and not frame.cells and not frame.bounds and not frame.dates:
            return _count_names(frame, noun, frozenset(opening))
        raise Declined(
            f"{column.name} repeats names, so it is not clear what to count",
            hint='Ask "how many different ..." or "how many rows ...".',
        )
    return _count_rows(frame, frozenset({*opening, *noun[:1]}), column)


def _noun(frame: Frame, start: int) -> list[int]:
    """The positions of the words that say what is counted, up to the verb or the first bound."""
    places: list[int] = []
    bound = {place for item in frame.bounds for place in item.places}
    for i in range(start + 1, start + 6):
        if i not in frame.texts or frame.texts[i] in _STOPS or i in bound:
            break
        places.append(i)
    return places


def _counted(frame: Frame, noun: list[int]) -> Column | None:
    """The column that names what is counted, one row each; None where a quantity is asked for."""
    named = {place: mention for mention in frame.cells for place in mention.places}
    columns = {place: mention for mention in frame.columns for place in mention.places}
    quantities = {column.index for column in frame.measures}
    has_cell = False
    for place in noun:
        if place in named:
            has_cell = True
        elif place in columns:
            options = set(columns[place].columns)
            if options & quantities:
                return None
            if all(is_flag(frame.table.columns[i]) for i in options):
                continue
            return frame.table.columns[min(options)]
        elif frame.texts[place] not in _DIFFERENT:
            return _row_names(frame, frame.problem.words[place].stem)
    return _beside(frame) if has_cell else None


def _row_names(frame: Frame, noun: str) -> Column | None:
    """The first column of names, where the noun means rows: "rows", the caption's topic, "people"."""
    label = frame.label
    if label is None:
        return None
    if noun in _ROWS:
        return Column("", 0, tuple(str(i) for i in range(len(frame.table.rows))))
    if noun in people_named(label) and len(set(label.cells)) == len(label.cells):
        return label
    is_subject = (noun,) == stems(frame.table.caption.replace("_", " "))
    return label if is_subject and frame.has_no_measure_named() else None


def _beside(frame: Frame) -> Column | None:
    """The key of the table, where what is counted is a kind found in another column: "forwards"."""
    kinds = {frame.column_of_cell(mention) for mention in frame.cells}
    keys = [c for c in labels(frame.table) if c.kind == "text" and len(set(c.cells)) == len(c.cells)]
    if len(keys) != 1 or keys[0].index in kinds or (frame.numeric_mentions() and not frame.bounds):
        return None
    return keys[0]


def _count_rows(frame: Frame, opening: frozenset[int], column: Column) -> Draft:
    frame.require_no_both()
    selection = frame.select()
    bounded = {frame.column_of(bound).index for bound in frame.bounds}
    read = opening | selection.places
    read |= {p for m in frame.numeric_mentions() if set(m.columns) & bounded for p in m.places}
    used = selection.columns | bounded | {column.index}
    return Draft(assemble(_count_code(selection, column)), f"Count of rows{selection.said}", read, used)


def _count_code(selection: Selection, column: Column) -> list[str]:
    if len(selection.rows) <= LITERAL_LIMIT:
        names = [column.cells[row].strip() for row in selection.rows]
        return [f"names = {names!r}", "ans = len(names)"]
    return [*selection.rows_code(), "ans = len(rows)"]


def _count_names(frame: Frame, noun: list[int], different: frozenset[int]) -> Draft | None:
    """How many different names a column has."""
    mentions = [m for m in frame.columns if set(m.places) & set(noun)]
    if len(mentions) != 1 or len(mentions[0].columns) != 1:
        return None
    column = frame.table.columns[mentions[0].columns[0]]
    selection = frame.select()
    names = sorted({column.cells[row].strip() for row in selection.rows if column.cells[row].strip()})
    if len(names) <= LITERAL_LIMIT:
        lines = [f"names = {set(names)!r}" if names else "names = set()", "ans = len(names)"]
        lines[0] = f"names = {{{', '.join(map(repr, names))}}}" if names else lines[0]
    else:
        lines = [
            *selection.rows_code(),
            f"cells = [row[{column.index}] for row in rows]",
            'ans = len({str(cell).strip() for cell in cells if cell not in (None, "")})',
        ]
    read = different | selection.places | frozenset(mentions[0].places)
    reading = f"Count of different {column.name}{selection.said}"
    return Draft(assemble(lines), reading, read, selection.columns | {column.index})
