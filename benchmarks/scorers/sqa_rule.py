"""How SQA scores answers: as sets of cells (Iyyer et al., 2017). Source: `eval.py` of the release 1.0."""

import re
from collections.abc import Mapping
from typing import Any

from chameleon.benchmarks.scorers.predictions import required
from chameleon.benchmarks.tables.cells import cells_of, literal_texts
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem, Scorer
from chameleon.table import Table

_MAX_INDEX = 10**9  # rows or columns: Python does not write integers of thousands of digits
_COORDINATE = re.compile(r"\(\s*-?\d+\s*,\s*-?\d+\s*\)")


class CellRule(Scorer):
    """SQA (Iyyer et al., 2017): the same set of cells; texts are looked up in the table."""

    def from_run(self, answer: Any, findings: Mapping[str, Any], problem: Problem) -> Any:
        return findings.get("coordinates", answer)

    def right(self, prediction: Any, problem: Problem) -> bool:
        """Return whether the cells match the problem's.

        Cells are pairs of numbers, texts such as "(0, 1)", or a text with a list of these, as in the release;
        an answer in words is looked up by `cells_of`, and wrong if not found. Raises `InputError` if the
        problem has no cells, or no table to look up a text in.

        Oddity of the metric: coordinates are compared as texts, so "(0,1)" is not "(0, 1)".
        """
        reason = "the rule of SQA needs the cells of the answer, but this row has only texts"
        gold = required(problem, "coordinates", reason, "The scorer tablerag compares texts.")
        if prediction is None:
            return False
        cells = coordinates(prediction)
        return set(gold) == (_looked_up(prediction, problem) if cells is None else cells)


def coordinates(value: Any) -> set[str] | None:
    """Return the cells in a list, if any, as texts like "(0, 1)", or None for anything else."""
    if isinstance(value, str):
        value = literal_texts(value)
    if not isinstance(value, list | tuple):
        return None
    cells = {_coordinate(item) for item in value}
    return None if None in cells else {each for each in cells if each is not None}


def _coordinate(item: Any) -> str | None:
    if isinstance(item, str):
        return item if _COORDINATE.fullmatch(item) else None
    is_pair = isinstance(item, list | tuple) and len(item) == 2
    if is_pair and all(type(part) is int and abs(part) < _MAX_INDEX for part in item):
        return f"({item[0]}, {item[1]})"
    return None


def _looked_up(answer: Any, problem: Problem) -> set[str] | None:
    table = problem.input.get("table")
    if not isinstance(table, Table):
        reason, where = "an answer in words needs the table to be found in", f"problem {problem.id}"
        raise InputError(reason, where=where, hint="Name the file of tables.", code="missing-tables")
    cells = cells_of(answer, table)
    return None if cells is None else {f"({row}, {column})" for row, column in cells}
