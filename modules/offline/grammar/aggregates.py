"""One number from many: sums, means, medians, modes, ranges."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from chameleon.errors import Declined
from chameleon.modules.offline.grammar.bounds import show
from chameleon.modules.offline.grammar.counts import is_row_noun
from chameleon.modules.offline.grammar.deeds import key_column, row_nouns
from chameleon.modules.offline.grammar.frame import Frame
from chameleon.modules.offline.grammar.problem import Draft, Problem
from chameleon.modules.offline.grammar.programs import are_whole, assemble, finish
from chameleon.modules.offline.grammar.quantities import adds_not, is_added, measured
from chameleon.modules.offline.grammar.selection import Selection
from chameleon.modules.offline.grammar.shapes import is_money
from chameleon.table import Column

_CUES = {
    "mean": ("mean", "average"),
    "median": ("median",),
    "mode": ("mode",),
    "range": ("range",),
    "sum": ("total", "sum", "altogether", "combined", "overall", "together"),
}


def read_aggregate(problem: Problem) -> Draft | None:
    """ "What is the mean of the numbers?", "How many tickets were sold in all on Monday and Friday?"."""
    frame = Frame(problem)
    cue, places = _cue(frame)
    if cue is None or frame.has("than") or frame.has("how", "many", "more"):
        return None
    if any(problem.is_counted(i) and is_row_noun(frame, i) for i in frame.texts):
        return None
    _require_not_of_names(frame, places)
    selection = frame.select().require_rows()
    columns, named = measured(frame)
    if cue == "mean":
        places |= _per_row(frame)
    return aggregate(frame, cue, selection, columns, places | named)


def _require_not_of_names(frame: Frame, cues: frozenset[int]) -> None:
    """Raises `Declined` for "the average grade" over grades that only name the rows."""
    quantities = {place for mention in frame.numeric_mentions() for place in mention.places}
    for mention in frame.text_mentions():
        column = frame.table.columns[mention.columns[0]]
        follows = mention.places[0] - 1 in cues and mention.places[-1] + 1 not in quantities
        if follows and column.kind == "number" and not mention.hinted:
            raise Declined(f"{column.name} tells the rows apart and is no quantity")


def aggregate(
    frame: Frame, cue: str, selection: Selection, columns: tuple[int, ...], places: frozenset[int]
) -> Draft:
    """The draft for one operation over the numbers of these columns in the selected rows."""
    column = frame.table.columns[columns[0]]
    numbers = selection.numbers(columns)
    if cue == "sum" and len(numbers) > 1 and (kind := adds_not(frame)):
        raise Declined(f"a sum of {kind} says nothing", hint="Ask for the average.")
    is_said = bool(frame.places_of("total", "sum")) and _is_plain_price(frame, column)
    if cue == "sum" and not is_said and not all(is_added(frame.table.columns[i]) for i in columns):
        raise Declined(
            f"the numbers of {column.name} are not of a kind that adds up", hint="Ask for their average."
        )
    lines, name = selection.numbers_code(columns)
    whole = are_whole(numbers)
    lines += _CODE[cue](name, numbers, whole, any(map(is_money, column.values)))
    names = " and ".join(frame.table.header[i].strip() or "the numbers" for i in columns)
    read = places | selection.places | frame.phrase("of", "the", "numbers") | frame.phrase("in", "all")
    used = frozenset(columns) | selection.columns
    reading = names if cue == "sum" and len(numbers) == 1 else f"{_SAID[cue]} of {names}"
    return Draft(assemble(lines), reading + selection.said, read, used)


def _is_plain_price(frame: Frame, column: Column) -> bool:
    """Whether prices may be summed because one is asked to: a short list of things, one of each."""
    is_price = column.name.strip().lower() in {"price", "cost"}
    return is_price and len(frame.measures) == 1 and key_column(frame.table) is not None


_SAID = {"sum": "Sum", "mean": "Mean", "median": "Median", "mode": "Mode", "range": "Range"}


def _sum(name: str, numbers: list[Fraction], whole: bool, money: bool) -> list[str]:
    return finish(f"sum({name})", whole=whole, money=money)


def _mean(name: str, numbers: list[Fraction], whole: bool, money: bool) -> list[str]:
    return finish(f"Fraction(sum({name}), len({name}))", whole=False, money=money)


def _median(name: str, numbers: list[Fraction], whole: bool, money: bool) -> list[str]:
    return finish(f"statistics.median({name})", whole=False, money=money)


def _mode(name: str, numbers: list[Fraction], whole: bool, money: bool) -> list[str]:
    often = {number: numbers.count(number) for number in numbers}
    modes = [number for number in often if often[number] == max(often.values())]
    if len(modes) > 1:
        raise Declined(f"there is no single mode: {', '.join(map(show, modes))} are equally frequent")
    return finish(f"statistics.mode({name})", whole=whole, money=money)


def _range(name: str, numbers: list[Fraction], whole: bool, money: bool) -> list[str]:
    return finish(f"max({name}) - min({name})", whole=whole, money=money)


_CODE: dict[str, Callable[[str, list[Fraction], bool, bool], list[str]]] = {
    "sum": _sum,
    "mean": _mean,
    "median": _median,
    "mode": _mode,
    "range": _range,
}


def _per_row(frame: Frame) -> frozenset[int]:
    """ "Per sale" in "the average number of units per sale", which is the mean over rows."""
    pairs = [frozenset({i, i + 1}) for i in frame.places_of("per") if i + 1 in frame.texts]
    known = row_nouns(frame.table)
    return next((pair for pair in pairs if frame.texts[max(pair)] in known), frozenset())


def _cue(frame: Frame) -> tuple[str | None, frozenset[int]]:
    """The operation that the question asks for, and the words that say so; only one may be asked."""
    found: dict[str, frozenset[int]] = {}
    named = {place for mention in frame.columns if mention.exact for place in mention.places}
    called = {name.strip().lower() for name in frame.table.header} - {"total"}
    for cue, texts in _CUES.items():
        places = frozenset(i for i in frame.places_of(*set(texts) - called) if i not in named)
        if places:
            found[cue] = places
    if joining := frame.phrase("if", "you", "combine"):
        found["sum"] = found.get("sum", frozenset()) | joining
    if all_of := frame.phrase("in", "all"):
        found["sum"] = found.get("sum", frozenset()) | all_of
    ends = frame.places_of("highest", "largest", "maximum", "lowest", "smallest", "minimum")
    if frame.has("difference") and len(ends) == 2 and not found:
        return "range", ends | frame.places_of("difference", "between", "and")
    if len(found) == 2 and "sum" in found and "number" in frame.texts.values():
        return None, frozenset()
    return next(iter(found.items())) if len(found) == 1 else (None, frozenset())
