"""Tables of a relation between two quantities: is it a function, is it linear, what comes next."""

from __future__ import annotations

from fractions import Fraction

from chameleon.errors import Declined
from chameleon.modules.offline.grammar.answers import choice_for
from chameleon.modules.offline.grammar.lexicon import word_set
from chameleon.modules.offline.grammar.problem import Draft, Problem
from chameleon.modules.offline.grammar.programs import assemble, finish, literal
from chameleon.table import Table, read_value

_SUBJECTS = word_set("relation function relationship linear nonlinear represent represents x y")


def read_function(problem: Problem) -> Draft | None:
    """ "Is this relation a function?" and "Is the function linear or nonlinear?"."""
    texts = {problem.words[i].text.lower() for i in problem.asked}
    points = _points(problem.table)
    if points is None or not texts & {"function", "linear", "nonlinear"}:
        return None
    read = frozenset(
        i
        for i in problem.asked
        if problem.words[i].text.lower() in _SUBJECTS | ({"or"} if "linear" in texts else set())
    )
    listed = "[" + ", ".join(f"({literal(x)}, {literal(y)})" for x, y in points) + "]"
    if "linear" in texts or "nonlinear" in texts:
        return _linear(problem, listed, read)
    if "relation" not in texts and "relationship" not in texts:
        return None
    yes, no = choice_for(problem, "yes"), choice_for(problem, "no")
    lines = [
        f"points = {listed}",
        "inputs = {x for x, y in points}",
        f"ans = {yes!r} if len(inputs) == len(set(points)) else {no!r}",
    ]
    return Draft(assemble(lines), "Whether every x has one y only", read)


def _linear(problem: Problem, listed: str, read: frozenset[int]) -> Draft:
    is_open = "linear" in {problem.words[i].text.lower() for i in problem.asked} and not problem.choices
    linear, other = (
        ("linear", "nonlinear")
        if is_open
        else (choice_for(problem, "linear"), choice_for(problem, "nonlinear"))
    )
    lines = [
        f"points = sorted({listed})",
        "rates = {Fraction(y2 - y1, x2 - x1) for (x1, y1), (x2, y2) in zip(points, points[1:])}",
        f"ans = {linear!r} if len(rates) == 1 else {other!r}",
    ]
    return Draft(assemble(lines), "Whether the rate of change is the same everywhere", read)


def _points(table: Table) -> list[tuple[Fraction, Fraction]] | None:
    if len(table.header) != 2:
        return None
    pairs = [(read_value(first).number, read_value(second).number) for first, second in table.rows]
    points = [(x, y) for x, y in pairs if x is not None and y is not None]
    return points if len(points) == len(table.rows) >= 2 else None


def read_proportion(problem: Problem) -> Draft | None:
    """ "What is the constant of proportionality?": the one number that y is of x in every row."""
    texts = {i: problem.words[i].text.lower() for i in problem.asked}
    points = _points(_with_header(problem.table))
    if points is None or "proportionality" not in texts.values() or any(x == 0 for x, _ in points):
        return None
    ratios = {y / x for x, y in points}
    if len(ratios) > 1:
        raise Declined("y is not the same multiple of x in every row")
    listed = "[" + ", ".join(f"({literal(x)}, {literal(y)})" for x, y in points) + "]"
    whole = ratios.pop().denominator == 1
    lines = [f"x, y = {listed}[0]", *finish("y // x" if whole else "Fraction(y) / Fraction(x)", whole=whole)]
    read = frozenset(i for i, text in texts.items() if text in {"constant", "proportionality"})
    return Draft(assemble(lines), "The number that y is of x in every row", read)


def _with_header(table: Table) -> Table:
    """The table with its first line as a row, where that is of numbers too."""
    if any(read_value(name).number is None for name in table.header):
        return table
    return Table([""] * len(table.header), [table.header, *table.rows], table.caption)


def read_pattern(problem: Problem) -> Draft | None:
    """ "Each shelf has 5 books. How many books are on 4 shelves?", with "?" in the last row."""
    if len(problem.table.header) != 2 or len(problem.table.rows) < 2:
        return None
    *known, last = problem.table.rows
    asked_for = read_value(last[0]).number
    pairs = [(read_value(first).number, read_value(second).number) for first, second in known]
    if asked_for is None or last[1].strip() != "?":
        return None
    points = [(x, y) for x, y in pairs if x and y]
    if len(points) != len(known) or len({y / x for x, y in points}) != 1:
        return None
    asked = [problem.words[i].number for i in problem.asked if problem.words[i].number is not None]
    if asked != [asked_for]:
        return None
    rate = points[0][1] / points[0][0]
    read = frozenset(i for i, word in enumerate(problem.words) if word.number in {asked_for, rate})
    read |= frozenset(i for i in problem.story if problem.words[i].text.lower() in {"each", "every"})
    expression = f"{literal(rate)} * {literal(asked_for)}"
    lines = finish(expression, whole=(rate * asked_for).denominator == 1 and rate.denominator == 1)
    return Draft(
        assemble(lines),
        f"{problem.table.header[1]} for {asked_for}, at a fixed rate",
        read,
        frozenset({0, 1}),
    )
