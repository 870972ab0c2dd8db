"""Tables of supply and demand: shortage or surplus at a price."""

from __future__ import annotations

from chameleon.modules.offline.grammar.answers import choice_for
from chameleon.modules.offline.grammar.problem import Draft, Problem
from chameleon.modules.offline.grammar.programs import assemble, literal
from chameleon.modules.offline.grammar.words import stems
from chameleon.table import Table, read_value


def read_market(problem: Problem) -> Draft | None:
    """ "At a price of $405, is there a shortage or a surplus?"."""
    columns = _columns(problem.table)
    words = [problem.words[i].text.lower() for i in problem.asked]
    if columns is None or not {"shortage", "surplus"} <= set(words):
        return None
    price, demanded, supplied = columns
    numbers = [i for i in problem.asked if problem.words[i].number is not None]
    if len(numbers) != 1:
        return None
    asked = problem.words[numbers[0]].number
    rows = [row for row in problem.table.rows if read_value(row[price]).number == asked]
    if len(rows) != 1:
        return None
    demand, supply = read_value(rows[0][demanded]).number, read_value(rows[0][supplied]).number
    if demand is None or supply is None or demand == supply:
        return None
    shortage, surplus = choice_for(problem, "shortage"), choice_for(problem, "surplus")
    lines = [
        f"demanded, supplied = {literal(demand)}, {literal(supply)}",
        f"ans = {shortage!r} if demanded > supplied else {surplus!r}",
    ]
    named = {"shortage", "surplus", "or", "price", "there"}
    read = frozenset(i for i in problem.asked if problem.words[i].text.lower() in named) | {numbers[0]}
    return Draft(assemble(lines), f"Demand against supply at {rows[0][price]}", read)


def _columns(table: Table) -> tuple[int, int, int] | None:
    found: dict[str, int] = {}
    for index, name in enumerate(table.header):
        for word in ("price", "demanded", "supplied"):
            if set(stems(word)) <= set(stems(name)):
                found.setdefault(word, index)
    return (found["price"], found["demanded"], found["supplied"]) if len(found) == 3 else None
