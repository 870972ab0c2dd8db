"""The largest and the smallest: which row has it, and how much it is."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from chameleon.errors import Declined
from chameleon.modules.grammar.answers import choice_for
from chameleon.modules.grammar.frame import Frame
from chameleon.modules.grammar.lexicon import ORDINALS
from chameleon.modules.grammar.linking import ideas
from chameleon.modules.grammar.problem import Draft, Problem
from chameleon.modules.grammar.programs import are_whole, assemble, finish
from chameleon.modules.grammar.quantities import is_added, measured
from chameleon.modules.grammar.selection import Selection
from chameleon.modules.grammar.shapes import is_money
from chameleon.modules.grammar.targets import asked_column
from chameleon.modules.grammar.words import stem, stems
from chameleon.table import Column

_HIGH = {
    "most": "", "highest": "", "largest": "", "biggest": "", "greatest": "", "maximum": "", "max": "", "top": "",
    "oldest": "age", "tallest": "height", "longest": "", "heaviest": "weight", "priciest": "price", "hottest": "temperature",
    "warmest": "temperature", "farthest": "", "furthest": "", "richest": "", "deepest": "depth", "widest": "width",
}  # fmt: skip
_LOW = {
    "fewest": "", "least": "", "lowest": "", "smallest": "", "minimum": "", "min": "", "youngest": "age",
    "shortest": "", "lightest": "weight", "cheapest": "price", "coldest": "temperature", "coolest": "temperature",
    "closest": "", "nearest": "", "poorest": "",
}  # fmt: skip
_FASTEST = {"fastest": True, "quickest": True, "slowest": False}


@dataclass(frozen=True)
class Superlative:
    """Which end is asked for, the how manieth from it, and whether signs are left aside."""

    is_high: bool
    places: frozenset[int]
    word: str
    rank: int = 1
    absolute: bool = False


def read_extreme(problem: Problem) -> Draft | None:
    """ "Which shop sold the most apples?", "What is the second highest price?"."""
    frame = Frame(problem)
    found = find_superlative(frame)
    if found is None or frame.has("than") or frame.has("how", "many", "more"):
        return None
    selection = frame.select().require_rows()
    columns, named = _measured(frame, selection, found)
    found = _directed(frame, found, columns)
    read = found.places | named | selection.places | frame.phrase("number", "of")
    target = asked_column(frame, columns)
    if target is None:
        return _value(frame, found, selection, columns, read) if _asks_value(frame) else None
    return _row(frame, found, selection, columns, read | target.places, target.column)


def find_superlative(frame: Frame) -> Superlative | None:
    """The one superlative of the question; none where there are several."""
    found = [
        (i, text)
        for i, text in frame.texts.items()
        if (text in _HIGH or text in _LOW or text in _FASTEST) and frame.texts.get(i - 1) not in {"at"}
    ]
    if len(found) != 1:
        return _comparative(frame) if not found else None
    place, text = found[0]
    places = {place}
    is_high = text in _HIGH
    if text in {"most", "least"}:
        following = frame.texts.get(place + 1, "")
        if following in _LESS:
            is_high = not is_high
            places.add(place + 1)
    if text in {"top"}:
        return None
    rank = ORDINALS.get(frame.texts.get(place - 1, ""), 1)
    if frame.texts.get(place - 1, "") in ORDINALS:
        places.add(place - 1)
    absolute, cues = _without_sign(frame)
    return Superlative(is_high, frozenset(places) | cues, text, rank, absolute)


_LESS = frozenset({"cheap", "inexpensive"})


_PAIRWISE = {"more": True, "less": False, "higher": True, "lower": False, "further": True, "farther": True, "closer": False}


def _comparative(frame: Frame) -> Superlative | None:
    """ "Which month changed more?" over two rows asks for the larger of them."""
    found = [(i, text) for i, text in frame.texts.items() if text in _PAIRWISE]
    if len(found) != 1 or len(frame.table.rows) != 2 or frame.has("than") or frame.cells or frame.has("or"):
        return None
    place, text = found[0]
    absolute, cues = _without_sign(frame)
    return Superlative(_PAIRWISE[text], frozenset({place}) | cues, text, 1, absolute)


def _without_sign(frame: Frame) -> tuple[bool, frozenset[int]]:
    """Whether size counts and direction does not: "changed the most", "closest to zero"."""
    zero = frame.places_of("zero") | frame.phrase("sea", "level")
    if zero:
        return True, zero
    change = frozenset(i for i in frame.problem.asked if frame.problem.words[i].stem in _CHANGE)
    named = any(_CHANGE & set(stems(column.name)) for column in frame.measures)
    signed = any(value.number is not None and value.number < 0 for column in frame.measures for value in column.values)
    return (True, change) if signed and named and not frame.has("increase") else (False, frozenset())


_CHANGE = frozenset(stem(word) for word in "change affect".split())


def _measured(
    frame: Frame, selection: Selection, found: Superlative
) -> tuple[tuple[int, ...], frozenset[int]]:
    """The measured columns; the superlative itself may name one ("oldest", "cheapest")."""
    implied = _HIGH.get(found.word) or _LOW.get(found.word) or ("time" if found.word in _FASTEST else "")
    if implied:
        fitting = [c for c in frame.measures if stem(implied) in stems(c.name) or _points_to(found.word, c)]
        if len(fitting) == 1 and not frame.numeric_mentions():
            return (fitting[0].index,), frozenset()
    return measured(frame, selection)


def _points_to(superlative: str, column: Column) -> bool:
    root = superlative.removesuffix("est")
    return any(word in ideas(column.name) for word in (stem(root), stem(root + "e"), stem(root[:-1]), stem(root[:-1] + "y")))


def _directed(frame: Frame, found: Superlative, columns: tuple[int, ...]) -> Superlative:
    """Turns "fastest" into the smallest time or the highest speed."""
    if found.word not in _FASTEST:
        return found
    names = {word for index in columns for word in stems(frame.table.header[index])}
    takes_time = bool(names & _DURATIONS)
    if not takes_time and not names & _SPEEDS:
        raise Declined(f"{frame.table.header[columns[0]]} is neither a time nor a speed")
    is_high = _FASTEST[found.word] != takes_time
    return Superlative(is_high, found.places, found.word, found.rank)


_DURATIONS = frozenset(stem(word) for word in "time minutes seconds duration hours minute second".split())
_SPEEDS = frozenset(stem(word) for word in "speed mph kph pace velocity".split())


def _asks_value(frame: Frame) -> bool:
    opening = [text for text in list(frame.texts.values())[:8]]
    return "what" in opening or frame.has("how", "much") or frame.has("how", "many")


def _value(
    frame: Frame, found: Superlative, selection: Selection, columns: tuple[int, ...], read: frozenset[int]
) -> Draft | None:
    """The extreme number itself: "What is the highest price?"."""
    if len(columns) != 1 or found.absolute:
        return None
    numbers = selection.numbers(columns)
    lines, name = selection.numbers_code(columns)
    pick = f"sorted(set({name}), reverse={found.is_high})[{found.rank - 1}]"
    if found.rank == 1:
        pick = f"{'max' if found.is_high else 'min'}({name})"
    elif len(set(numbers)) < found.rank:
        raise Declined(f"there are not {found.rank} different values of {frame.table.header[columns[0]]}")
    lines += finish(pick, whole=are_whole(numbers), money=any(map(is_money, frame.table.columns[columns[0]].values)))
    reading = f"{_said(found)} {frame.table.header[columns[0]]}{selection.said}"
    return Draft(assemble(lines), reading, read, frozenset(columns) | selection.columns)


def _said(found: Superlative) -> str:
    rank = {1: "", 2: "Second ", 3: "Third "}.get(found.rank, f"{found.rank}th ")
    return f"{rank}{'highest' if found.is_high else 'lowest'}".capitalize()


def _row(
    frame: Frame,
    found: Superlative,
    selection: Selection,
    columns: tuple[int, ...],
    read: frozenset[int],
    target: Column,
) -> Draft:
    """The name of the row, or of the group of rows, with the extreme number."""
    totals = _totals(selection, target, columns)
    scores = {name: abs(value) if found.absolute else value for name, value in totals.items()}
    ranked = sorted(set(scores.values()), reverse=found.is_high)
    if len(ranked) < found.rank:
        raise Declined(f"there are not {found.rank} different values to rank")
    winners = [name for name, score in scores.items() if score == ranked[found.rank - 1]]
    if len(winners) > 1 and frame.problem.choices:
        raise Declined(f"{' and '.join(winners)} are equal, so no single choice is right")
    lines = _row_code(frame, found, selection, columns, target)
    answer = winners[0] if len(winners) > 1 else choice_for(frame.problem, winners[0])
    if answer != winners[0]:
        lines.append(f"ans = {{{winners[0]!r}: {answer!r}}}.get(ans, ans)")
    names = " and ".join(frame.table.header[i] for i in columns)
    each = "the sum of " if len(columns) > 1 or len(selection.rows) != len(scores) else ""
    sign = " leaving signs aside" if found.absolute else ""
    reading = f"{target.name or 'Row'} with the {_said(found).lower()} {each}{names}{selection.said}{sign}"
    return Draft(assemble(lines), reading, read, frozenset({*columns, target.index}) | selection.columns)


def _totals(selection: Selection, target: Column, columns: tuple[int, ...]) -> dict[str, Fraction]:
    """The number of each name; where a name has several rows, their sum.

    Raises `Declined` where summing is senseless and where the sum and the single rows disagree.
    """
    rows: dict[str, list[Fraction]] = {}
    for row in selection.rows:
        numbers = [selection.table.columns[i].values[row].number for i in columns]
        found = [number for number in numbers if number is not None]
        if found and target.cells[row].strip():
            rows.setdefault(target.cells[row].strip(), []).append(sum(found, Fraction(0)))
    if not rows:
        raise Declined(f"no number stands there{selection.said}")
    several = any(len(numbers) > 1 for numbers in rows.values())
    if several and not all(is_added(selection.table.columns[i]) for i in columns):
        raise Declined(f"{target.name} has several rows of a kind that does not add up")
    return {name: sum(numbers, Fraction(0)) for name, numbers in rows.items()}


def _row_code(
    frame: Frame, found: Superlative, selection: Selection, columns: tuple[int, ...], target: Column
) -> list[str]:
    lines: list[str] = []
    for order, column in enumerate(columns):
        lines += selection.pairs_code(target, column, "pairs" if not order else "more")
        lines += ["pairs += more"] if order else []
    lines += ["scores = {}", "for name, number in pairs:", "    scores[name] = scores.get(name, 0) + number"]
    if found.absolute:
        lines.append("scores = {name: abs(number) for name, number in scores.items()}")
    best = f"sorted(set(scores.values()), reverse={found.is_high})[{found.rank - 1}]"
    if found.rank == 1:
        best = f"{'max' if found.is_high else 'min'}(scores.values())"
    return [*lines, f"best = {best}", 'ans = ", ".join(name for name in scores if scores[name] == best)']
