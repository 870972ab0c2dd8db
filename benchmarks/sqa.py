"""SQA: conversations of questions over a Wikipedia table, answered by cells (Iyyer et al., 2017)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from chameleon.benchmarks.scorers.sqa import CellRule, coordinates
from chameleon.benchmarks.scorers.tablerag import AnswerRule
from chameleon.benchmarks.tables.benchmark import (
    SIZES,
    TableBenchmark,
    read_csv,
    row_of,
    text_in,
    texts_under,
    wrong,
)
from chameleon.benchmarks.tables.cells import cells_with, texts_in
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Cell, Problem, Row, Scorer
from chameleon.evaluation.results import SEQUENCES
from chameleon.state import State

_LAST = 4
POSITIONS = (*(f"question {number}" for number in range(1, _LAST)), f"question {_LAST}+")
WITHOUT_HISTORY = "without history"
"""Where TableRAG's rows count, which have lost their conversations."""


class Sqa(TableBenchmark):
    """SQA with the official rule over cells, and TableRAG's over texts.

    Rows are those of the original release (`random-split-1-dev.tsv`, `test.tsv`, with their tables in
    `table_csv/`), of JSON lines with the same fields (`table_id` for `table_file`), and TableRAG's, which are
    single questions with their answers as texts. A problem's id is "id/annotator/position", that of its
    conversation "id/annotator".
    """

    name = "sqa"
    about = "Conversations of questions over a Wikipedia table, answered by cells (Iyyer et al., 2017)"
    columns = (SEQUENCES, *POSITIONS, *SIZES)
    scorers: ClassVar[Mapping[str, type[Scorer]]] = {"official": CellRule, "tablerag": AnswerRule}
    tables_beside: ClassVar[tuple[str, ...]] = (*TableBenchmark.tables_beside, "table_csv")
    groups: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "conversations": (SEQUENCES,),
        "place in the conversation": (*POSITIONS, WITHOUT_HISTORY),
        **TableBenchmark.groups,
    }
    last_counts = True

    def rows(self, found: Iterable[Row], path: Path) -> Iterator[Row]:
        """Yield the rows; in tab-separated files, fields with quotes in them lose those around them."""
        if not path.name.removesuffix(".gz").endswith(".tsv"):
            return iter(found)
        return ({name: _unquoted(field) for name, field in row.items()} for row in found)

    def id_of(self, row: Row) -> str | None:
        """Return "id/annotator/position", as written: position "00" is another one than "0"."""
        if {"id", "annotator", "position"} <= row.keys():
            return f"{_sequence_of(row)}/{row['position']}"
        return super().id_of(row)

    def recognises(self, row: Row) -> bool:
        """Return whether the row has cells and a place in a conversation, or is TableRAG's."""
        if {"annotator", "position", "answer_coordinates"} <= row.keys():
            return True
        return {"query", "label", "table"} <= row.keys() and isinstance(row["label"], list)

    def problem(self, row: Row, tables: Mapping[str, Any]) -> Problem:
        """Read the problem in a row. `gold` are texts; `detail` has their cells as `coordinates`.

        `coordinates` is None where they are not known, as in TableRAG's rows.
        """
        id = self.id_of(row)
        if id is None:
            raise InputError('a problem of SQA needs "id", "annotator" and "position"')
        if "answer_coordinates" not in row:
            return self._single(id, row, tables)
        cells = coordinates(row["answer_coordinates"])
        if cells is None:
            raise wrong(row, "answer_coordinates", "a list of pairs [row, column]")
        if not str(position := row.get("position", "")).isdecimal():
            raise wrong(row, "position", "a number from 0")
        place = int(position)
        table = self.table(str(row.get("table_file", row.get("table_id"))), tables)
        return Problem(
            id=id,
            input={"question": text_in(row, "question"), "table": table[0]} if table else {},
            gold=_texts(row, "answer_text"),
            columns=(POSITIONS[min(place, _LAST - 1)], *([table[1]] if table else [])),
            detail={"coordinates": frozenset(cells)},
            sequence=_sequence_of(row),
            position=place,
            table_id=str(row.get("table_file", row.get("table_id"))),
        )

    def found(self, state: State) -> Mapping[str, Any]:
        """Return the cells in `cache.coordinates`, of the table that the run was given."""
        cells = state.cache.get("coordinates")
        return {} if cells is None else {"coordinates": cells}

    def gold_cells(self, problem: Problem) -> Sequence[Collection[Cell]] | None:
        """Return the cells of the answer, each needed; where they are unknown, those with its texts."""
        named = problem.detail["coordinates"]
        if named is not None:
            return [{cell} for cell in sorted(map(_cell, named))] or None
        table = problem.input.get("table")
        return None if table is None else cells_with(problem.gold, table)

    def read_table(self, file: Path) -> Row:
        """Return the table in `table_csv/NAME.csv`; the release has no captions."""
        return row_of(read_csv(file), file)

    def _single(self, id: str, row: Row, tables: Mapping[str, Any]) -> Problem:
        table = self.table(id, {id: row["table"]}) if isinstance(row.get("table"), Mapping) else None
        return Problem(
            id=id,
            input={"question": text_in(row, "query"), "table": table[0]} if table else {},
            gold=_texts(row, "label"),
            columns=(WITHOUT_HISTORY, *([table[1]] if table else [])),
            detail={"coordinates": None},
            table_id=str(row.get("table_id", id)),
        )


def _sequence_of(row: Row) -> str:
    return f"{row['id']}/{row['annotator']}"


def _cell(written: str) -> Cell:
    row, column = written.strip("()").split(",")
    return int(row), int(column)


def _texts(row: Row, key: str) -> list[str]:
    """Return the texts under a key, which a tab-separated file has as one literal; none without a key."""
    value = row.get(key)
    return texts_under({**row, key: texts_in(value) or value} if isinstance(value, str) else row, key, [])


def _unquoted(field: Any) -> Any:
    if isinstance(field, str) and len(field) > 1 and field[0] == field[-1] == '"':
        return field[1:-1].replace('""', '"')
    return field
