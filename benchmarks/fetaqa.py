"""FeTaQA: questions over a Wikipedia table that are answered in a sentence (Nan et al., 2022)."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from chameleon.benchmarks.scorers.text_overlap import OverlapRule, StemmedOverlapRule
from chameleon.benchmarks.tables.table_benchmark import SIZES, TableBenchmark, text_in
from chameleon.evaluation.benchmark import Cell, Problem, Row, Scorer


class Fetaqa(TableBenchmark):
    """Questions over a Wikipedia table, answered in a sentence (Nan et al., 2022).

    Rows come from the original release (`fetaQA-v1_*.jsonl`, or the `.json` made of it, which include the
    tables), JSON lines (`id`, `question`, `table_id`, `answer`), or recorded runs, whose reference is called
    `gold`. Predictions in a file without ids follow the order of the `.json`, not of the `.jsonl`.
    """

    name = "fetaqa"
    columns = SIZES
    scorers: ClassVar[Mapping[str, type[Scorer]]] = {"official": OverlapRule, "stemmed": StemmedOverlapRule}
    id_key = "feta_id"

    def rows(self, rows: Iterable[Row], path: Path) -> Iterator[Row]:
        """Yield one row per question: the release's `.json` is an object with all of them under "data"."""
        for row in rows:
            content = row.get("prediction") if set(row) == {self.id_key, "prediction"} else None
            if content is not None and row[self.id_key] in ("version", "split", "data"):
                yield from self.rows(content if isinstance(content, list) else (), path)
            elif "table_array" in row:
                titles = (row.get("table_page_title"), row.get("table_section_title"))
                caption = " - ".join(str(title) for title in titles if title)
                yield {**row, "table": {"lines": row["table_array"], "caption": caption}}
            else:
                yield row

    def recognizes(self, row: Row) -> bool:
        """Return whether the row has a question, a sentence, and the release's keys, cells or an order."""
        has_sentence = isinstance(row.get("answer", row.get("gold")), str) and "question" in row
        return has_sentence and bool({"table_array", "highlighted_cell_ids", "order"} & row.keys())

    def problem(self, row: Row, tables: Mapping[str, Any]) -> Problem:
        """Return the problem in a row. Highlighted cells are not in the input; row 0 is the header."""
        gold = text_in(row, "answer", "gold")
        return self.over_table(row, tables, gold, highlighted=row.get("highlighted_cell_ids"))

    def gold_cells(self, problem: Problem) -> Sequence[Collection[Cell]] | None:
        """Return the cells that the annotators highlighted, except in the header; each is needed."""
        highlighted = problem.detail.get("highlighted")
        if not isinstance(highlighted, list):
            return None
        pairs = [pair for pair in highlighted if isinstance(pair, list) and len(pair) == 2]
        cells = {(row - 1, column) for row, column in pairs if type(row) is type(column) is int and row > 0}
        return [{cell} for cell in sorted(cells)] or None
