"""SQA: conversations of questions over a Wikipedia table, answered by cells (Iyyer et al., 2017)."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from chameleon.benchmarks.scorers.sqa_rule import CellRule, coordinates
from chameleon.benchmarks.scorers.squad import TableragAnswerRule
from chameleon.benchmarks.tables.cells import cells_with, literal_texts
from chameleon.benchmarks.tables.table_benchmark import SIZES, TableBenchmark, read_csv, texts_in, wrong
from chameleon.core.state import State
from chameleon.evaluation.benchmark import Cell, Problem, Row, Scorer
from chameleon.evaluation.results import SEQUENCES

_LAST_POSITION = 4
POSITIONS = (*(f"question {number}" for number in range(1, _LAST_POSITION)), f"question {_LAST_POSITION}+")
WITHOUT_HISTORY = "without history"
"""The column of TableRAG's rows, which have lost their conversations."""


class Sqa(TableBenchmark):
    """Conversations of questions over a Wikipedia table, answered by cells (Iyyer et al., 2017).

    Rows come from the original release (`random-split-1-dev.tsv`, `test.tsv`, with tables in `table_csv/`),
    JSON lines with the same fields (`table_id` for `table_file`), or TableRAG, whose rows are single
    questions with their answers as texts. A problem's id is "id/annotator/position", that of its conversation
    "id/annotator".
    """

    name = "sqa"
    columns = (SEQUENCES, *POSITIONS, *SIZES)
    scorers: ClassVar[Mapping[str, type[Scorer]]] = {"official": CellRule, "tablerag": TableragAnswerRule}
    tables_beside: ClassVar[tuple[str, ...]] = (*TableBenchmark.tables_beside, "table_csv")
    groups: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "conversations": (SEQUENCES,),
        "place in the conversation": (*POSITIONS, WITHOUT_HISTORY),
        **TableBenchmark.groups,
    }
    known_by = ({"annotator", "position", "answer_coordinates"}, {"query", "answer_text"})
    last_counts = True

    def rows(self, rows: Iterable[Row], path: Path) -> Iterator[Row]:
        """Yield the rows with the names of JSON lines; quotes around fields of the release are removed."""
        for row in rows:
            if "table_file" in row:
                fields = {name: _unquoted(field) for name, field in row.items()}
                texts = literal_texts(str(fields.get("answer_text")))
                fields |= {} if texts is None else {"answer_text": texts}
                yield {**fields, "table_id": fields["table_file"]}
            elif {"query", "label", "table"} <= row.keys() and isinstance(row["label"], list):  # TableRAG's
                yield {**row, "question": row["query"], "answer_text": row["label"]}
            else:
                yield row

    def id_of(self, row: Row) -> str | None:
        """Return "id/annotator/position", as written: position "00" is different from "0"."""
        if {"id", "annotator", "position"} <= row.keys():
            return f"{row['id']}/{row['annotator']}/{row['position']}"
        return super().id_of(row)

    def problem(self, row: Row, tables: Mapping[str, Any]) -> Problem:
        """Read the problem in a row. `gold` are texts; `detail["coordinates"]` are their cells, if known."""
        gold = texts_in(row, "answer_text", default=[])
        if "answer_coordinates" not in row:
            return self.over_table(row, tables, gold, (WITHOUT_HISTORY,), coordinates=None)
        cells = coordinates(row["answer_coordinates"])
        if cells is None:
            raise wrong(row, "answer_coordinates", "a list of pairs [row, column]")
        if not str(position := row.get("position", "")).isdecimal():
            raise wrong(row, "position", "a number from 0")
        column = POSITIONS[min(int(position), _LAST_POSITION - 1)]
        problem = self.over_table(row, tables, gold, (column,), coordinates=frozenset(cells))
        return replace(problem, sequence=problem.id.rpartition("/")[0], position=int(position))

    def found(self, state: State) -> Mapping[str, Any]:
        """Return the cells in `cache.coordinates`, which refer to the given table."""
        cells = state.cache.get("coordinates")
        return {} if cells is None else {"coordinates": cells}

    def gold_cells(self, problem: Problem) -> Sequence[Collection[Cell]] | None:
        """Return the cells of the answer, each needed; if unknown, the cells with its texts."""
        cells = problem.detail["coordinates"]
        if cells is not None:
            return [{cell} for cell in sorted(map(_cell, cells))] or None
        return cells_with(problem.gold, problem)

    def read_table(self, file: Path) -> Row:
        """Return the table in `table_csv/NAME.csv`; the release has no captions."""
        return {"lines": read_csv(file)}


def _cell(text: str) -> Cell:
    row, column = text.strip("()").split(",")
    return int(row), int(column)


def _unquoted(field: Any) -> Any:
    if isinstance(field, str) and len(field) > 1 and field[0] == field[-1] == '"':
        return field[1:-1].replace('""', '"')  # as in CSV; `DataFile` keeps the quotes of .tsv files
    return field
