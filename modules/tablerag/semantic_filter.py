"""Keep the rows and columns that are most like the question (TableRAG's semantic filter)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import PositiveInt

from chameleon import State, Table
from chameleon.modules.tablerag.conversation import query_of
from chameleon.modules.tablerag.cut import Cut, part, whole
from chameleon.modules.tablerag.likeness import check_likeness, resolved_likeness

Order = Literal["table", "similarity"]
Written = Literal["pairs", "values"]

_SHOWN_CELLS = 12  # of a column: what it holds is plain from its first different cells


class SemanticFilter(Cut):
    """Keeps the rows that are most like the question, without a model. For tables with many rows."""

    reads = ("input.question", "input.table", "input.history?", "cache.kept?")

    def __init__(
        self,
        rows: PositiveInt | None = 10,
        columns: PositiveInt | None = None,
        *,
        by: str = "auto",
        order: Order = "table",
        written: Written = "values",
    ) -> None:
        """`rows`, `columns`: how many are kept, None for all; there is no threshold, as published.

        - `by`: how likeness is measured: "bm25", "dense" or "dense:NAME" (embeddings), "late" or "late:NAME"
          (token by token, as ColBERT), "auto": dense where embeddings are installed, else bm25.
        - `order`: of the kept rows: "table", or "similarity": the nearest last, as published.
        - `written`: a row as its "values" between bars, as published, or as "pairs" ("Year: 1999; Race: 3").
          With bm25 values are better: names that stand in every row only make rows alike.
        """
        self.rows, self.columns, self.by = rows, columns, by
        self.order: Order = order
        self.written: Written = written

    def check(self) -> None:
        check_likeness(self.by)

    def runtime_info(self) -> Mapping[str, Any]:
        return resolved_likeness(self.by)

    def run(self, state: State) -> dict[str, Any]:
        table: Table = state.input["table"]
        if not table.rows:
            return whole("the table has no rows")
        query = query_of(state)
        columns = self._kept(query, column_texts(table), self.columns, "table")
        # Rows are compared as they stand, with the columns that go: what is cut must not hide them.
        rows = self._kept(query, row_texts(table, self.written), self.rows, self.order)
        return part(table, rows, columns)

    def _kept(self, query: str, texts: Sequence[str], most: int | None, order: Order) -> list[int]:
        if most is None or len(texts) <= most:
            return list(range(len(texts)))
        from chameleon.retrieval.ranking import similarities

        near = similarities(query, texts, self.by)
        if min(near) == max(near):  # nothing tells them apart: to cut would be to throw dice
            return list(range(len(texts)))
        return top(near, most, order)


def row_texts(table: Table, written: Written = "values") -> list[str]:
    """Each row as a text to be compared with a question."""
    if written == "values":
        return ["|".join(row) for row in table.rows]
    return [_pairs(table.header, row) for row in table.rows]


def column_texts(table: Table) -> list[str]:
    """Each column as a text: its name and its first different cells."""
    texts = []
    for column in table.columns:
        cells = [cell for cell in dict.fromkeys(column.cells) if cell.strip()]
        texts.append(f"{column.name}: {', '.join(cells[:_SHOWN_CELLS])}")
    return texts


def top(similarities: Sequence[float], most: int, order: Order = "table") -> list[int]:
    """The positions of the `most` greatest similarities; of equal ones the first are kept.

    In the order of the positions, or, for "similarity", the greatest last.
    """
    ranked = sorted(range(len(similarities)), key=lambda position: -similarities[position])[:most]
    return sorted(ranked) if order == "table" else ranked[::-1]


def cosines(query: Sequence[float], vectors: Sequence[Sequence[float]]) -> list[float]:
    """The cosine of the query with each vector; 0 where either has no length."""
    import numpy

    asked, rows = numpy.asarray(query, dtype=numpy.float64), numpy.asarray(vectors, dtype=numpy.float64)
    lengths = numpy.linalg.norm(rows, axis=1) * numpy.linalg.norm(asked)
    found: list[float] = (rows @ asked / numpy.where(lengths == 0, 1, lengths)).tolist()
    return found


def _pairs(header: Sequence[str], row: Sequence[str]) -> str:
    pairs = (f"{name}: {cell}" if name.strip() else cell for name, cell in zip(header, row, strict=True))
    return "; ".join(pairs)
