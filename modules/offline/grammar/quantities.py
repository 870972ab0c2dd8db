"""Which numbers a question measures: the column it names, or the columns that split one quantity."""

from __future__ import annotations

from collections.abc import Iterable

from chameleon.errors import Declined
from chameleon.modules.offline.grammar.frame import Frame
from chameleon.modules.offline.grammar.words import stem_set, stems
from chameleon.table import Column

_NOT_ADDED = stem_set(
    """
    price fare fee rate rating age temperature percent percentage average mean median rank speed
    height width density latitude longitude grade gpa star index ratio share played drawn draw draws
    """
)


def is_added(column: Column) -> bool:
    """Whether numbers of this column make sense as a sum: goals do, prices and ages do not."""
    names = set(stems(column.name))
    return not names & _NOT_ADDED and "%" not in column.unit and "per " not in column.unit


_SUMMED = stem_set(
    "units quantity qty revenue sales turnover amount spent expenses income earnings copies visitors rain"
    " total"
)


def is_summed(column: Column) -> bool:
    """Whether "the revenue in March" means the sum over all rows of March."""
    return is_added(column) and bool(set(stems(column.name.split("(")[0])) & _SUMMED)


def adds_not(frame: Frame) -> str:
    """The word of the question, if any, for a kind of quantity that does not add up: "temperature"."""
    stemmed = {i: frame.problem.words[i].stem for i in frame.texts}
    return next((frame.texts[i] for i, word in stemmed.items() if word in _NEVER_ADDED), "")


_NEVER_ADDED = stem_set("temperature age rating percentage percent speed density")


def measured(frame: Frame) -> tuple[tuple[int, ...], frozenset[int]]:
    """The columns whose numbers are meant, and the words that name them.

    One column; or several that split one quantity, where the question names several of these or none.
    """
    bound = {frame.column_of(item).index for item in frame.bounds}
    spread = {column.index for column in frame.spread}
    exact = [
        set(mention.columns) & spread for mention in frame.numeric_mentions() if len(mention.columns) == 1
    ]
    chosen = sorted(set().union(*exact)) if exact else []
    if spread and len(chosen) != 1:
        if len(chosen) > 1 and not frame.has("and"):
            raise Declined("the question names several columns", hint="Ask about one of them.")
        joints = frame.places_of("and") if len(chosen) > 1 else frozenset()
        columns = tuple(chosen) if chosen else tuple(sorted(spread))
        return columns, _naming(frame, columns) | joints
    if chosen:
        return tuple(chosen), _naming(frame, chosen)
    skip = bound if len(frame.measures) > len(bound) and not _names_only(frame, bound) else ()
    column = frame.measure(skip).index
    return (column,), _naming(frame, (column,))


def _naming(frame: Frame, columns: Iterable[int]) -> frozenset[int]:
    """The words that name, or point to, one of these columns."""
    wanted = set(columns)
    mentions = [mention for mention in frame.numeric_mentions() if wanted & set(mention.columns)]
    return frozenset(place for mention in mentions for place in mention.places)


def _names_only(frame: Frame, columns: set[int]) -> bool:
    """Whether all quantities that the question names are those of its bounds."""
    named = [set(mention.columns) for mention in frame.numeric_mentions()]
    return bool(named) and all(options <= columns for options in named) and len(named) > len(frame.bounds)
