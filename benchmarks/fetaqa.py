"""FeTaQA: questions over a Wikipedia table that are answered in a sentence (Nan et al., 2022)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from chameleon.benchmarks.scorers.text_overlap import OverlapRule, StemmedOverlapRule
from chameleon.benchmarks.tables.benchmark import SIZES, TableBenchmark, text_in, wrong
from chameleon.evaluation.benchmark import Cell, Problem, Row, Scorer

_PARTS = ("version", "split", "data")


class Fetaqa(TableBenchmark):
    """FeTaQA, graded by BLEU and ROUGE; there is no right or wrong.

    Rows are those of the original release (`fetaQA-v1_*.jsonl`, or the `.json` made of it, with their tables
    in them), of JSON lines (`id`, `question`, `table_id`, `answer`), and of recorded runs, whose reference is
    called `gold`. Predictions that lie in a file without ids follow the order of the `.json`, not of the
    `.jsonl`.
    """

    name = "fetaqa"
    about = "Questions over a Wikipedia table, answered in a sentence (Nan et al., 2022)"
    columns = SIZES
    scorers: ClassVar[Mapping[str, type[Scorer]]] = {"official": OverlapRule, "stemmed": StemmedOverlapRule}

    id_key = "feta_id"

    def rows(self, found: Iterable[Row], path: Path) -> Iterator[Row]:
        """Yield one row a question: the release's `.json` is an object with all of them under "data"."""
        for row in found:
            if set(row) != {self.id_key, "prediction"} or row[self.id_key] not in _PARTS:
                yield row
            elif isinstance(questions := row["prediction"], list):
                yield from questions

    def recognises(self, row: Row) -> bool:
        """Return whether the row has a question, a sentence, and the release's keys, cells or an order."""
        if {"feta_id", "table_array"} <= row.keys():
            return True
        has_sentence = isinstance(row.get("answer", row.get("gold")), str)
        return has_sentence and "question" in row and ("highlighted_cell_ids" in row or "order" in row)

    def problem(self, row: Row, tables: Mapping[str, Any]) -> Problem:
        """Return the problem in a row; `gold` is the reference sentence.

        The table's caption is "page title - section title". Which cells the annotators highlighted stays
        out of the input: row 0 of these cells is the header.
        """
        id = self.required_id(row)
        question, gold = text_in(row, "question"), text_in(row, "answer", "gold")
        table_id = str(row.get("table_id", id))
        if "table_array" in row:
            if not (isinstance(row["table_array"], list) and row["table_array"]):
                raise wrong(row, "table_array", "a list of rows, the header first")
            titles = (row.get("table_page_title"), row.get("table_section_title"))
            caption = " - ".join(str(title) for title in titles if title)
            header, *rows = row["table_array"]
            table_id = id
            tables = {id: {"header": header, "rows": rows, "caption": caption}}
        found = self.table(table_id, tables)
        return Problem(
            id=id,
            input={"question": question, "table": found[0]} if found else {},
            gold=gold,
            columns=(found[1],) if found else (),
            detail={"question": question, "highlighted": row.get("highlighted_cell_ids")},
            table_id=table_id,
        )

    def gold_cells(self, problem: Problem) -> Sequence[Collection[Cell]] | None:
        """Return the cells that the annotators highlighted, without those of the header; each is needed."""
        listed = problem.detail.get("highlighted")
        if not isinstance(listed, list):
            return None
        pairs = [pair for pair in listed if isinstance(pair, list) and len(pair) == 2]
        cells = {(row - 1, column) for row, column in pairs if type(row) is type(column) is int and row > 0}
        return [{cell} for cell in sorted(cells)] or None
