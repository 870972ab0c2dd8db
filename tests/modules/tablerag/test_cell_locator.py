"""Where an answer stands in the table: in one column, in the rows that were kept, and as written."""

from __future__ import annotations

from typing import Any

import pytest

from chameleon import Module, State, Table
from chameleon.modules.tablerag.answer import FinalAnswer
from chameleon.modules.tablerag.cell_locator import CellLocator, located
from chameleon.modules.tablerag.similarity import SemanticFilter
from tests.benchmarks.shared_data import needs_data, rows
from tests.modules.tablerag.running import REGATTA, output, run

_ROWS = ["Tarn Rovers|2|Mill Hill", "Mill Hill|1|Arvik", "Arvik|3|Tarn Rovers", "Mill Hill|1|Selmark"]
CLUBS = Table(["Home", "Score", "Away"], [row.split("|") for row in _ROWS])


@pytest.mark.parametrize(
    ("items", "question", "cells"),
    [
        (["otters", " 'Pikes' "], "", [(0, 1), (2, 1)]),
        (["1200"], "", [(0, 3)]),
        (["980 points"], "", [(1, 3)]),
        (["the Herons"], "", [(1, 1)]),
        (["SEL"], "Which country are the Pikes from?", [(2, 2)]),
        (["SEL", "SEL"], "", [(0, 2), (2, 2)]),
        (["SEL", "OST", "VAR"], "Which countries?", [(0, 2), (1, 2), (2, 2), (3, 2)]),
        ([], "", []),
    ],
)
def test_cells_are_found_by_their_text(items: list[str], question: str, cells: list[Any]) -> None:
    assert located(items, REGATTA, question) == (cells, [])


def test_items_stand_in_the_column_that_most_of_them_share_and_in_kept_rows() -> None:
    assert located(["Tarn Rovers", "Arvik", "Selmark"], CLUBS)[0] == [(1, 2), (2, 2), (3, 2)]
    assert located(["Tarn Rovers"], CLUBS, "Who was away?")[0] == [(2, 2)]
    assert located(["Tarn Rovers"], CLUBS, "", {"rows": [0, 1, 2, 3], "columns": [1, 2]})[0] == [(2, 2)]
    assert located(["Mill Hill"], CLUBS)[0] == [(1, 0)], "the first of the column that has it"
    assert located(["1"], CLUBS, "", {"rows": [3], "columns": [0, 1, 2]})[0] == [(3, 1)]
    assert located(["Herons", "two of them", ""], REGATTA) == ([(1, 1)], ["two of them", ""])
    assert located(["x"], Table(["a"])) == ([], ["x"])


class Say(Module):
    """Says that it is the Pikes."""

    reads = ("input.table",)
    writes = ("cache.answer",)

    def run(self, state: State) -> Any:
        return ["Pikes", "870"]

    def update_cache(self, cache: Any, output: Any) -> Any:
        return {"answer": output}


def test_cells_are_those_of_the_table_before_any_cut() -> None:
    modules = [SemanticFilter(2, 3, by="bm25"), Say(), CellLocator(), FinalAnswer()]
    state, _ = run(modules, question="Pikes or Swans, crew country points?")
    assert state.input["table"] == REGATTA.take_rows([2, 3]).take_columns([1, 2, 3])
    assert state.cache["coordinates"] == ((2, 1), (2, 3)) and state.answer == ("Pikes", "870")
    assert output(state, "cell_locator")["missing"] == ()


@needs_data
def test_the_cells_of_gold_texts_are_mostly_the_gold_cells() -> None:
    """The figures of docs/tablerag.md."""
    tables = {row["table_id"]: Table(row["header"], row["rows"]) for row in rows("sqa/tables.jsonl.gz")}
    as_given = distinct = 0
    asked = rows("sqa/dev.jsonl.gz")
    for row in asked:
        gold = sorted({(each[0], each[1]) for each in row["answer_coordinates"]})
        table, texts = tables[row["table_id"]], row["answer_text"]
        as_given += located(texts, table, row["question"])[0] == gold
        distinct += located(list(dict.fromkeys(texts)), table, row["question"])[0] == gold
    assert (as_given, distinct, len(asked)) == (2189, 2133, 2265)
