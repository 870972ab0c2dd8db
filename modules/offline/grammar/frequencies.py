"""Stem-and-leaf plots and frequency tables: how many, the largest, the smallest, in all."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from chameleon.errors import Declined
from chameleon.modules.offline.grammar.bounds import Bound, find_bounds, show
from chameleon.modules.offline.grammar.lexicon import TIMES_WORDS, word_set
from chameleon.modules.offline.grammar.problem import Draft, Problem, with_synonyms
from chameleon.modules.offline.grammar.programs import assemble, listing, literal
from chameleon.modules.offline.grammar.shapes import Frequencies, frequencies, stem_and_leaf
from chameleon.modules.offline.grammar.targets import is_person_noun
from chameleon.modules.offline.grammar.words import stems

_LARGEST = word_set(
    """
    largest highest greatest biggest most maximum longest tallest heaviest oldest fastest hottest best
    """
)
_SMALLEST = word_set(
    """
    smallest lowest fewest least minimum shortest lightest youngest coldest coolest slowest worst
    """
)


def read_stem_and_leaf(problem: Problem) -> Draft | None:
    """A question on a stem-and-leaf plot: "How many races had at least 51 participants?"."""
    plot = stem_and_leaf(problem.table)
    if plot is None:
        return None
    numbers = listing(plot.numbers)
    if (draft := _extreme(problem, numbers)) is not None:
        return draft
    if not _asks_how_many(problem):
        return None
    bounds, places = _bounds(problem)
    if not bounds:
        return None if _has_number(problem) else _count_all(problem, f"len({numbers})", "numbers in the plot")
    test = " and ".join(bound.code("number") for bound in bounds)
    said = " and ".join(bound.say() for bound in bounds)
    lines = [f"numbers = {numbers}", f"ans = sum(1 for number in numbers if {test})"]
    return Draft(
        assemble(lines), f"Count of the numbers in the plot that are {said}", places | _people(problem)
    )


def _extreme(problem: Problem, numbers: str) -> Draft | None:
    found = [i for i in problem.asked if problem.words[i].text.lower() in _LARGEST | _SMALLEST]
    if len(found) != 1 or _has_number(problem) or _asks_how_many(problem):
        return None
    if any(problem.words[i - 1].text.lower() == "at" for i in found if i):
        return None
    is_largest = problem.words[found[0]].text.lower() in _LARGEST
    lines = [f"numbers = {numbers}", f"ans = {'max' if is_largest else 'min'}(numbers)"]
    said = "Largest" if is_largest else "Smallest"
    return Draft(assemble(lines), f"{said} number in the plot", frozenset(found) | _people(problem))


def read_frequencies(problem: Problem) -> Draft | None:
    """A question on a frequency table: "How many students have fewer than 3 siblings?"."""
    counts = frequencies(problem.table)
    if counts is None:
        return None
    if not _asks_how_many(problem):
        return _most_often(problem, counts)
    bounds, places = _bounds(problem)
    places |= _people(problem)
    pairs = "[" + ", ".join(f"({literal(value)}, {often})" for value, often in counts.pairs) + "]"
    if not bounds and (single := _single_number(problem)) is not None:
        bounds, places = (single,), places | set(single.places)
    if bounds:
        test = " and ".join(bound.code("number") for bound in bounds)
        said = " and ".join(bound.say() for bound in bounds)
        line = f"ans = sum(often for number, often in counts if {test})"
        reading = f"Sum of the frequencies where {problem.table.header[0]} is {said}"
        return Draft(assemble([f"counts = {pairs}", line]), reading, places, frozenset({0, 1}))
    if _has_number(problem):
        return None
    return _count_all(problem, f"sum(often for number, often in {pairs})", "frequencies in all")


def _most_often(problem: Problem, counts: Frequencies) -> Draft | None:
    """ "Which number was spun the most times?", "Which score did the fewest people get?"."""
    texts = {i: _word(problem, i) for i in problem.asked}
    found = [i for i, text in texts.items() if text in _LARGEST | _SMALLEST]
    opening = problem.asked[0]
    asks = texts[opening] in {"which", "what"} and problem.words[opening + 1 : opening + 2]
    if len(found) != 1 or _has_number(problem) or not asks or asks[0].stem not in stems(counts.counted):
        return None
    after = range(found[0] + 1, found[0] + 4)
    times = frozenset(i for i in after if texts.get(i) in {"times", "often"} and i < found[0] + 4)
    people = _people(problem) & frozenset(after)
    if not times | people:
        return None
    is_most = texts[found[0]] in _LARGEST
    often = [count for _, count in counts.pairs]
    best = max(often) if is_most else min(often)
    values = [value for value, count in counts.pairs if count == best]
    if len(values) > 1:
        raise Declined(f"{', '.join(map(show, values))} are equally frequent")
    pairs = "[" + ", ".join(f"({literal(value)}, {count})" for value, count in counts.pairs) + "]"
    pick = "max" if is_most else "min"
    lines = [f"counts = {pairs}", f"ans, often = {pick}(counts, key=lambda pair: pair[1])"]
    receiving = frozenset(i for i, text in texts.items() if text in {"receive", "get", "have", "earn"})
    read = frozenset({opening, opening + 1, found[0]}) | times | people | receiving
    said = "most" if is_most else "least"
    return Draft(assemble(lines), f"The {counts.counted} that is {said} frequent", read, frozenset({0, 1}))


def _asks_how_many(problem: Problem) -> bool:
    texts = [problem.words[i].text.lower() for i in problem.asked]
    return any(pair == ("how", "many") for pair in pairwise(texts))


def _has_number(problem: Problem) -> bool:
    return any(problem.words[i].kind == "number" for i in problem.asked)


def _bounds(problem: Problem) -> tuple[tuple[Bound, ...], frozenset[int]]:
    """The bounds, and their places with the "but" or "and" that joins two of them."""
    bounds = find_bounds(problem.words, problem.asked)
    places = {place for bound in bounds for place in bound.places}
    if len(bounds) == 2:
        between = range(bounds[0].places[-1] + 1, bounds[1].places[0])
        places |= {i for i in between if problem.words[i].text.lower() in {"but", "and"}}
    places |= {i + 1 for i in places if _word(problem, i + 1) in {"time", "times"}}
    return bounds, frozenset(places)


def _word(problem: Problem, place: int) -> str:
    return problem.words[place].text.lower() if place < len(problem.words) else ""


def _single_number(problem: Problem) -> Bound | None:
    """The bare number of "How many people scored 5?"."""
    found = [(i, problem.words[i].number) for i in problem.asked]
    numbers = [(i, number) for i, number in found if number is not None]
    if not numbers:
        return _none(problem) or _times_word(problem)
    if len(numbers) != 1:
        return None
    place, number = numbers[0]
    return Bound("==", Fraction(number), (place,), place)


def _none(problem: Problem) -> Bound | None:
    """ "Did not make any" and, over "Number of hats", "do not own a hat" ask for those with zero."""
    negation = [i for i in problem.asked if _word(problem, i) in {"not", "didn't", "don't"}]
    if len(negation) != 1:
        return None
    anything = [i for i in problem.asked if _word(problem, i) == "any"]
    counted = with_synonyms(stems(problem.table.header[0])) - {"number", "time"}
    denied = {problem.words[i].stem for i in problem.asked if i > negation[0]}
    if len(anything) > 1 or not (anything or counted & denied):
        return None
    return Bound("==", Fraction(0), (*negation, *anything), negation[0])


def _times_word(problem: Problem) -> Bound | None:
    """ "once", "twice"."""
    found = [i for i in problem.asked if _word(problem, i) in TIMES_WORDS]
    if len(found) != 1:
        return None
    return Bound("==", Fraction(TIMES_WORDS[_word(problem, found[0])]), (found[0],), found[0])


def _people(problem: Problem) -> frozenset[int]:
    """The words for those who were counted or measured: "students", "people"."""
    return frozenset(i for i in problem.asked if is_person_noun(problem.words[i].stem))


def _count_all(problem: Problem, expression: str, said: str) -> Draft | None:
    """The count of everything, where the question says "in all", "total" or "altogether"."""
    asked = problem.asked
    cues = frozenset(i for i in asked if _word(problem, i) in {"total", "altogether", "all", "overall"})
    if not cues:
        return None
    return Draft(assemble([f"ans = {expression}"]), f"Count of {said}", cues | _people(problem))
