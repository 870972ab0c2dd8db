"""Two things side by side: how much more, which of them more, and whether more."""

from __future__ import annotations

from fractions import Fraction

from chameleon.errors import Declined
from chameleon.modules.offline.grammar.answers import choice_for, yes_or_no
from chameleon.modules.offline.grammar.frame import Frame
from chameleon.modules.offline.grammar.lexicon import word_set
from chameleon.modules.offline.grammar.poles import Pole, Poles, find_poles
from chameleon.modules.offline.grammar.problem import Draft, Problem
from chameleon.modules.offline.grammar.programs import are_whole, assemble, finish
from chameleon.modules.offline.grammar.shapes import is_money
from chameleon.modules.offline.grammar.words import stem

_MORE = word_set(
    """
    more higher larger greater bigger older taller longer heavier further farther hotter warmer better
    costlier most highest largest greatest biggest oldest tallest longest heaviest
    """
)
_LESS = word_set(
    """
    less fewer lower smaller younger shorter lighter cheaper colder cooler closer least fewest lowest
    smallest youngest shortest lightest cheapest
    """
)
_OPENINGS = word_set("did do does is are was were has have can")


def read_difference(problem: Problem) -> Draft | None:
    """ "How many more apples did Ann sell than Ben?", "What is the difference between ...?"."""
    frame = Frame(problem)
    between = frame.phrase("difference")
    if between:
        poles = find_poles(frame, _joint_after(frame, "and"))
        if poles is None or not {"between", "in"} & set(frame.texts.values()):
            return None
        return _difference(frame, poles, between | frame.places_of("between", "and"), 0)
    comparing = _comparing_places(frame)
    how = frame.has("how", "many") or frame.has("how", "much")
    how = how or any(frame.texts.get(i - 1) == "how" for i in comparing)
    if len(comparing) != 1 or not frame.has("than") or not how:
        return None
    poles = find_poles(frame, frame.places_of("than"))
    if poles is None:
        return None
    sign = 1 if frame.texts[min(comparing)] in _MORE else -1
    return _difference(frame, poles, comparing | frame.places_of("than"), sign)


def read_behind(problem: Problem) -> Draft | None:
    """ "How many points behind the Lions are the Bears?", "How far ahead of B is A?"."""
    frame = Frame(problem)
    cues = frame.places_of("behind", "ahead")
    verbs = [i for i in frame.places_of("is", "are", "was", "were") if cues and i > min(cues)]
    if len(cues) != 1 or len(verbs) != 1 or not frame.has("how", "many"):
        return None
    poles = find_poles(frame, frozenset(verbs))
    if poles is None or min(frame.cells[0].places) < min(cues):
        return None
    return _difference(frame, poles, cues, 1 if frame.texts[min(cues)] == "behind" else -1)


def _joint_after(frame: Frame, text: str) -> frozenset[int]:
    after = [i for i in frame.places_of(text) if i > min(frame.places_of("difference"))]
    return frozenset(after[:1])


def _value(pole: Pole) -> Fraction:
    return sum(pole.selection.numbers(pole.columns), Fraction(0))


def _difference(frame: Frame, poles: Poles, cues: frozenset[int], sign: int) -> Draft:
    """The first side less the second (sign 1), the other way round (-1), or without sign (0)."""
    first, second = (poles.first, poles.second) if sign >= 0 else (poles.second, poles.first)
    if (first.selection.rows, first.columns) == (second.selection.rows, second.columns):
        raise Declined("it is not clear what the two sides of the comparison are")
    if sign and _value(first) < _value(second):
        raise Declined(f"it is the other way round: {first.name} has less than {second.name}")
    lines, names = _both(first, second)
    whole = are_whole((*first.selection.numbers(first.columns), *second.selection.numbers(second.columns)))
    money = any(map(is_money, frame.table.columns[first.columns[0]].values))
    expression = f"{names[0]} - {names[1]}"
    lines += finish(expression if sign else f"abs({expression})", whole=whole, money=money)
    reading = f"{_said(frame, poles)}: {first.name} less {second.name}"
    return Draft(assemble(lines), reading, poles.read | cues, _columns(poles))


def _both(first: Pole, second: Pole) -> tuple[list[str], tuple[str, str]]:
    """Lines that set the number of either side, and the names of the two variables."""
    lines: list[str] = []
    for pole, name in ((first, "first"), (second, "second")):
        more, values = pole.selection.numbers_code(pole.columns, f"{name}_numbers")
        if len(pole.selection.numbers(pole.columns)) == 1 and len(more) == 1:
            lines.append(more[0].replace(f"{name}_numbers = [", f"{name} = ")[:-1])
        else:
            lines += [*more, f"{name} = sum({values})"]
    return lines, ("first", "second")


def _said(frame: Frame, poles: Poles) -> str:
    names = [frame.table.header[i].strip() or "the numbers" for i in poles.measured]
    return " and ".join(dict.fromkeys(names)) + poles.first.selection.said


def _columns(poles: Poles) -> frozenset[int]:
    return frozenset(poles.measured) | poles.first.selection.columns | poles.second.selection.columns


def read_which_of_two(problem: Problem) -> Draft | None:
    """ "Which shop sold fewer bagels, A or B?", "Are there more students in A or B?"."""
    frame = Frame(problem)
    comparing = _comparing(frame)
    joint = frame.places_of("or")
    if comparing is None or len(joint) != 1 or frame.bounds:
        return None
    poles = find_poles(frame, joint)
    if poles is None:
        return None
    values = _value(poles.first), _value(poles.second)
    if values[0] == values[1]:
        raise Declined(f"{poles.first.name} and {poles.second.name} are equal")
    place, is_more = comparing
    answers = choice_for(problem, poles.first.name), choice_for(problem, poles.second.name)
    lines, names = _both(poles.first, poles.second)
    lines.append(
        f"ans = {answers[0]!r} if {names[0]} {'>' if is_more else '<'} {names[1]} else {answers[1]!r}"
    )
    reading = f"{'The larger' if is_more else 'The smaller'} of {poles.first.name} and {poles.second.name}: "
    reading += _said(frame, poles)
    return Draft(assemble(lines), reading, poles.read | joint | place | _noun(frame), _columns(poles))


def _comparing(frame: Frame) -> tuple[frozenset[int], bool] | None:
    """The word of comparison, and whether it asks for the larger side."""
    found = _comparing_places(frame)
    if len(found) != 1:
        return None
    return found, frame.texts[min(found)] in _MORE


def _comparing_places(frame: Frame) -> frozenset[int]:
    """The words of comparison that are no part of a name, as "lower" is in "lower school"."""
    named = {place for mention in frame.cells for place in mention.places}
    named |= {place for m in frame.columns if m.exact and len(m.places) > 1 for place in m.places}
    return frame.places_of(*(_MORE | _LESS)) - named


def _noun(frame: Frame) -> frozenset[int]:
    return frozenset(place for mention in frame.text_mentions() for place in mention.places)


def read_whether_more(problem: Problem) -> Draft | None:
    """ "Did Ann sell more apples than Ben?"."""
    frame = Frame(problem)
    opening = next(iter(frame.texts.values()), "")
    comparing = _comparing(frame)
    if opening not in _OPENINGS or comparing is None or not frame.has("than") or frame.bounds:
        return None
    if problem.choices and {stem(choice) for choice in problem.choices} != {"yes", "no"}:
        return None
    poles = find_poles(frame, frame.places_of("than"))
    if poles is None:
        return None
    place, is_more = comparing
    yes, no = yes_or_no(problem)
    lines, names = _both(poles.first, poles.second)
    lines.append(f"ans = {yes!r} if {names[0]} {'>' if is_more else '<'} {names[1]} else {no!r}")
    sign = "more" if is_more else "less"
    reading = f"Whether {poles.first.name} has {sign} than {poles.second.name}: {_said(frame, poles)}"
    return Draft(assemble(lines), reading, poles.read | place | frame.places_of("than"), _columns(poles))
