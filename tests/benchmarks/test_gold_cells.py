"""Where gold answers stand in their tables: what tells whether a part of a table still has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from chameleon import Table
from chameleon.benchmarks.tables.cells import cells_with
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.data import DataFile, find_benchmark, read_problems, recognised
from tests.benchmarks.shared_data import DATA, needs_data
from tests.evaluation.rows import write_rows

HEADER, ROWS = ["Boat", "Port"], [["Swift", "Ostrand"], ["Heron", "Tarn  bay"], ["Otter", "ostrand"]]
TABLE = Table(HEADER, ROWS)
INLINE = {"caption": "", "header": HEADER, "rows": ROWS}


def test_each_text_has_the_cells_that_read_so() -> None:
    for texts, expected in [
        (["Ostrand"], [{(0, 1), (2, 1)}]),
        (["heron", "TARN BAY"], [{(1, 0)}, {(1, 1)}]),
        (["Tarn"], [{(1, 1)}]),  # a word of a cell
        (["bay"], None),  # a short one, which would stand in many
        (["Ostran"], None),
        (["Heron", "2"], None),
        ([""], None),
        ([], None),
    ]:
        assert cells_with(texts, Problem("1", {"table": TABLE}, texts)) == expected
    assert cells_with(["  "], Problem("1", {"table": Table(["a"], [[""]])}, [])) is None
    assert cells_with(["a"], Problem("1", {}, [])) is None


def gold(name: str, row: dict[str, Any], path: Path) -> Any:
    benchmark = find_benchmark(name)
    file = write_rows(path / "rows.jsonl", [row])
    [problem] = read_problems(benchmark, DataFile(file, benchmark.id_key))
    return benchmark.gold_cells(problem)


def test_every_benchmark_tells_what_it_knows(tmp_path: Path) -> None:
    write_rows(tmp_path / "tables.jsonl", [{"table_id": "boats", **INLINE}])
    asked = {"question": "Which?", "table_id": "boats"}
    wikitq = {"id": "1", "answer": ["Heron"], **asked}
    assert gold("wikitq", wikitq, tmp_path) == [{(1, 0)}]
    fetaqa = {"id": 1, "answer": "The Heron.", "highlighted_cell_ids": [[0, 1], [2, 0], [1, 1]], **asked}
    assert gold("fetaqa", fetaqa, tmp_path) == [{(0, 1)}, {(1, 0)}]
    sqa = {"id": "s", "annotator": 0, "position": 0, "answer_text": ["Heron"], **asked}
    assert gold("sqa", {**sqa, "answer_coordinates": [[1, 0], [0, 1]]}, tmp_path) == [{(0, 1)}, {(1, 0)}]
    assert gold("sqa", {**sqa, "answer_coordinates": []}, tmp_path) is None
    hybridqa = {"id": "h", "answer": "Heron", "table": INLINE, **asked}
    assert gold("hybridqa", {**hybridqa, "answer_source": "table"}, tmp_path) == [{(1, 0)}]
    assert gold("hybridqa", {**hybridqa, "answer_source": "passage"}, tmp_path) is None
    tabfact = {"id": "t", "statement": "it is.", "table_id": "boats", "label": 1}
    assert gold("tabfact", tabfact, tmp_path) is None
    feverous = {"id": "f", "claim": "it is.", "label": "SUPPORTS", "table_id": "boats", "table": INLINE}
    assert gold("feverous", feverous, tmp_path) is None


def test_rows_of_tablerag(tmp_path: Path) -> None:
    single = {"id": "q", "query": "Which?", "label": ["Swift"], "table_id": "boats", "table": INLINE}
    assert gold("sqa", single, tmp_path) == [{(0, 0)}]
    row = {"id": 4, "wikitq_id": "nt-4", "table_id": "boats", "question": "Which?", "label": "Otter"}
    row |= {"answers": ["Otter"], "alternative_label": [], "table": INLINE}
    file = write_rows(tmp_path / "e2e.jsonl", [row])
    assert recognised(file).name == "wikitq"
    assert gold("wikitq", row, tmp_path) == [{(2, 0)}]


@needs_data
def test_cells_lie_in_their_tables() -> None:
    known = {"sqa/dev.jsonl.gz": 2265, "tablerag/e2ewtq.jsonl.gz": 103}
    for name, count in {**known, "hybridqa/dev.jsonl.gz": 183, "fetaqa/dev.jsonl.gz": 500}.items():
        benchmark = recognised(DATA / name)
        problems = read_problems(benchmark, DataFile(DATA / name, benchmark.id_key))
        found = [(problem.input["table"], benchmark.gold_cells(problem)) for problem in problems]
        measurable = [(table, groups) for table, groups in found if groups]
        assert len(measurable) == count
        for table, cells in ((table, cells) for table, groups in measurable for cells in groups):
            height, width = len(table.rows), len(table.header)
            assert all(0 <= row < height and 0 <= column < width for row, column in cells)
