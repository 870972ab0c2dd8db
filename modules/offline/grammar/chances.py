"""Two-way tables of counts: probabilities of one, two or a conditional property."""

from __future__ import annotations

from chameleon.modules.offline.grammar.lexicon import word_set
from chameleon.modules.offline.grammar.linking import CellMention, find_cells
from chameleon.modules.offline.grammar.problem import Draft, Problem
from chameleon.modules.offline.grammar.programs import assemble, share
from chameleon.modules.offline.grammar.shapes import is_two_way
from chameleon.table import Table, read_value

_TURNING = word_set("or not given if neither")
_CUES = word_set("probability randomly selected chosen picked random likelihood chance")


def read_chance(problem: Problem) -> Draft | None:
    """ "What is the probability that a randomly selected student is certain and ...?"."""
    words = [problem.words[i].text.lower() for i in problem.asked]
    if not is_two_way(problem.table) or not {"probability", "likelihood", "chance"} & set(words):
        return None
    cues = {i for i in problem.asked if problem.words[i].text.lower() in _CUES}
    free = [i for i in problem.asked if i not in cues]
    mentions = _labels(problem, free)
    if mentions is None:
        return None
    row, column, places = mentions
    if {problem.words[i].text.lower() for i in problem.asked if i not in places} & _TURNING:
        return None
    joints = {i for i in problem.asked if problem.words[i].text.lower() in {"and", "both"}}
    if row is not None and column is not None and not joints:
        return None  # "that a spicy roll is eel" is a share of the spicy ones
    counts = [[int(cell) for cell in line[1:]] for line in _plain(problem.table)]
    part = f"counts[{row}][{column}]" if row is not None and column is not None else ""
    if not part:
        part = f"sum(counts[{row}])" if row is not None else f"sum(line[{column}] for line in counts)"
    lines = [f"counts = {counts}", *share(part, "sum(sum(line) for line in counts)")]
    names = [problem.table.rows[row][0]] if row is not None else []
    names += [problem.table.header[column + 1]] if column is not None else []
    reading = f"Share of {' and '.join(names)} among all {sum(map(sum, counts))}"
    return Draft(
        assemble(lines), reading, frozenset(places) | cues | joints | frozenset(problem.story), loose=True
    )


def _plain(table: Table) -> list[list[str]]:
    return [
        [str(read_value(cell).number or 0) if i else cell for i, cell in enumerate(row)] for row in table.rows
    ]


def _labels(problem: Problem, places: list[int]) -> tuple[int | None, int | None, set[int]] | None:
    """The one row and one column that the question names (at least one of them), and the words used."""
    names = [("row", i, row[0]) for i, row in enumerate(problem.table.rows)]
    names += [("column", i, name) for i, name in enumerate(problem.table.header[1:])]
    listed = Table(["name"], [[name] for _, _, name in names])
    found = find_cells(listed, problem.words, places)
    side: dict[str, list[tuple[int, CellMention]]] = {"row": [], "column": []}
    for mention in found:
        if len(mention.rows) != 1:
            return None
        kind, index, _ = names[mention.rows[0]]
        side[kind].append((index, mention))
    if any(len({index for index, _ in found}) > 1 for found in side.values()) or not found:
        return None
    row = side["row"][0][0] if side["row"] else None
    column = side["column"][0][0] if side["column"] else None
    joined = any(problem.words[i].text.lower() == "and" and not _inside(i, found) for i in places)
    if joined and (row is None or column is None):
        return None
    return row, column, {place for mention in found for place in mention.places}


def _inside(place: int, mentions: tuple[CellMention, ...]) -> bool:
    return any(mention.places[0] < place < mention.places[-1] for mention in mentions)
