"""Rows in which one column exceeds another: "How many teams conceded more goals than they scored?"."""

from __future__ import annotations

from chameleon.modules.offline.grammar.conditions import Condition
from chameleon.modules.offline.grammar.counts import each_row, is_row_noun, matching_code, neutral_places
from chameleon.modules.offline.grammar.deeds import key_column
from chameleon.modules.offline.grammar.frame import Frame
from chameleon.modules.offline.grammar.lexicon import word_set
from chameleon.modules.offline.grammar.lookups import names_code
from chameleon.modules.offline.grammar.problem import Draft, Problem
from chameleon.modules.offline.grammar.programs import assemble
from chameleon.modules.offline.grammar.words import tokenize
from chameleon.table import Column

_MORE = {"more": True, "higher": True, "larger": True, "fewer": False, "less": False, "lower": False}
_THEMSELVES = word_set("they it he she their its his her were was")
# What a league table calls the two sides of a match.
_LAST_WORDS = {"conceded": "against", "allowed": "against", "scored": "for"}


def read_rivals(problem: Problem) -> Draft | None:
    """ "How many teams won more games than they lost?", "Which teams lost more than they won?"."""
    frame = Frame(problem)
    opening = frame.phrase("how", "many") or frame.places_of("which")
    noun = max(opening, default=0) + 1
    if not opening or frame.bounds or noun not in frame.texts or not is_row_noun(frame, noun):
        return None
    condition = _condition(frame, noun)
    if condition is None:
        return None
    selection = frame.select().narrowed(*condition)
    read = opening | {noun} | selection.places | neutral_places(frame)
    if not frame.places_of("which"):
        lines, rows = matching_code(selection, each_row(frame))
        reading, used = f"Count of rows{selection.said}", selection.columns
        return Draft(assemble([*lines, f"ans = len({rows})"]), reading, read, used)
    key = key_column(frame.table)
    if key is None or problem.choices:
        return None
    names = [key.cells[row].strip() for row in selection.require_rows().rows]
    lines = names_code(frame, selection, key, names)
    return Draft(assemble(lines), f"{key.name}{selection.said}", read, selection.columns | {key.index})


def _condition(frame: Frame, noun: int) -> tuple[Condition, Condition] | None:
    """The first column above or below the second, and the second given: both columns count as used."""
    comparing, than = frame.places_of(*_MORE), frame.places_of("than")
    if len(comparing) != 1 or len(than) != 1 or not noun < min(comparing) < min(than):
        return None
    middle = min(than)
    first = _named(frame, range(noun + 1, middle))
    second = _named(frame, range(middle + 1, max(frame.texts) + 1))
    if first is None or second is None or first[0] == second[0] or first[0].unit != second[0].unit:
        return None
    themselves = frozenset(i for i in (middle + 1, middle + 2) if frame.texts.get(i) in _THEMSELVES)
    places = comparing | than | themselves | first[1] | second[1]
    return _above(first[0], second[0], places, is_more=_MORE[frame.texts[min(comparing)]])


def _named(frame: Frame, span: range) -> tuple[Column, frozenset[int]] | None:
    """The one column of numbers that these words name, with the words; a verb of matches names its side."""
    mentions = [m for m in frame.numeric_mentions() if set(m.places) & set(span)]
    places = frozenset(place for mention in mentions for place in mention.places)
    for place in span:
        side = _LAST_WORDS.get(frame.texts[place])
        found = [c for c in frame.measures if side and tokenize(c.name)[-1].text.lower() == side]
        if len(found) == 1:
            return found[0], places | {place}
    outright = {mention.columns for mention in mentions if not mention.hinted}
    if len(outright) != 1 or len(columns := next(iter(outright))) != 1:
        return None
    return frame.table.columns[columns[0]], places


def _above(
    first: Column, second: Column, places: frozenset[int], *, is_more: bool
) -> tuple[Condition, Condition]:
    pairs = [(a.number, b.number) for a, b in zip(first.values, second.values, strict=True)]
    filled = {row: (a, b) for row, (a, b) in enumerate(pairs) if a is not None and b is not None}
    rows = frozenset(row for row, (a, b) in filled.items() if (a > b if is_more else a < b))
    said = f"{first.name} is {'more' if is_more else 'less'} than {second.name}"
    test = f"row[{first.index}] {'>' if is_more else '<'} row[{second.index}]"
    given = f"row[{first.index}] is not None and row[{second.index}] is not None"
    return (
        Condition(first.index, frozenset(filled), "", given),
        Condition(second.index, rows, said, test, places),
    )
