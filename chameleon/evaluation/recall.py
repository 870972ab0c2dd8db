"""How often a retriever finds the table that a question was asked about, and at which rank."""

import json
import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from chameleon.errors import InputError
from chameleon.evaluation.data import DataFile
from chameleon.retrieval.document import Document
from chameleon.retrieval.index import Index
from chameleon.retrieval.retriever import Hit, Retriever
from chameleon.table import Table

DEPTHS = (1, 5, 10, 50)
_QUESTIONS = ("question", "statement", "query", "claim")
_GOLD = ("gold_table_id", "table_id")
_SUMMARIES = ("summary", "llm_table_summary")


class Query(NamedTuple):
    """A question, and the id of the table that answers it."""

    text: str
    gold: str


@dataclass(frozen=True, slots=True)
class Recall:
    """Figures of a retriever.

    Attributes:
        n: the number of queries.
        recall: the share of queries whose table is among the first hits, by depth.
        mrr: the mean of 1 / rank, 0 for a table that is not found.
        queries_per_second: counts only searches, at the largest depth.
        unmatched: the number of queries whose table was not found at any depth.
    """

    n: int
    recall: Mapping[int, float]
    mrr: float
    queries_per_second: float
    unmatched: int

    def to_json(self) -> dict[str, float]:
        """Return the figures by name, to four places."""
        recall = {f"recall@{depth}": share for depth, share in self.recall.items()}
        rest = {"mrr": self.mrr, "queries_per_second": self.queries_per_second}
        return {"n": self.n} | {name: round(value, 4) for name, value in (recall | rest).items()}


def read_corpus(path: Path, *, summaries: bool = False) -> Iterator[Document]:
    """Read the tables of a file of JSON lines with `table_id`, `caption`, `header` and `rows`.

    A table may be under the key `table`, as in files of questions; exact repetitions count once. Cells that
    are not texts are written as in JSON; short rows are filled up. With `summaries` the rows also have a
    `summary` of their table (or `llm_table_summary`, as in TableRAG's), which becomes the document's text.
    Raises `InputError` naming the row for anything else.
    """
    tables: dict[str, Table] = {}
    for number, row in enumerate(DataFile(path, "table_id"), 1):
        where = f"{path}, row {number:,}"
        id = row.get("table_id")
        if not isinstance(id, str | int) or id == "":
            raise InputError("this row has no table_id", where=where)
        data = row["table"] if isinstance(row.get("table"), dict) else row
        table = _table(data, where)
        if (before := tables.setdefault(str(id), table)) is not table:
            if before != table:
                raise InputError(f"another table has the same table_id {str(id)!r}", where=where)
            continue
        summary = next((row[key] for key in _SUMMARIES if row.get(key)), None) if summaries else ""
        if summary is None:
            raise InputError(f"this row has no {_SUMMARIES[0]} of its table", where=where)
        yield Document(str(id), table, text=_cell(summary), source={"file": path.name})


def read_queries(path: Path) -> list[Query]:
    """Read the questions of a file of JSON lines.

    Each has a `question` (or `statement`, `query`, `claim`) and a `gold_table_id` (or `table_id`). Raises
    `InputError` naming the row that lacks one.
    """
    queries = []
    for number, row in enumerate(DataFile(path, one_is_a_row=True), 1):
        where = f"{path}, row {number:,}"
        text = next((row[key] for key in _QUESTIONS if isinstance(row.get(key), str)), None)
        gold = next((row[key] for key in _GOLD if isinstance(row.get(key), str | int)), None)
        if text is None or gold is None:
            needed = f"one of {', '.join(_QUESTIONS)}, and gold_table_id or table_id"
            raise InputError(f"this row is missing {needed}", where=where)
        queries.append(Query(text, str(gold)))
    if not queries:
        raise InputError("there are no queries", where=str(path))
    return queries


def check_gold(ids: Iterable[str], queries: Sequence[Query]) -> None:
    """Raise `InputError` if queries name tables that the corpus does not have."""
    table_ids = set(ids)
    if absent := [query.gold for query in queries if query.gold not in table_ids]:
        raise InputError(
            f"{len(absent):,} of {len(queries):,} queries name a table that the corpus does not have, "
            f"such as {absent[0]!r}",
            hint="Give the corpus that the queries are about.",
        )


def measure(index: Index, retriever: Retriever, queries: Sequence[Query]) -> Recall:
    """Search for each query, and find the rank of its table."""
    texts = [query.text for query in queries]
    retriever.search(texts[0], max(DEPTHS))  # exclude loading on first use
    start = time.perf_counter()
    hits = retriever.search_many(texts, max(DEPTHS))
    seconds = time.perf_counter() - start
    ranks = [_rank(index, retriever, *pair) for pair in zip(queries, hits, strict=True)]
    shares = {depth: sum(rank <= depth for rank in ranks) / len(ranks) for depth in DEPTHS}
    mrr = sum(1 / rank for rank in ranks) / len(ranks)
    return Recall(len(ranks), shares, mrr, len(ranks) / seconds, ranks.count(math.inf))


def _rank(index: Index, retriever: Retriever, query: Query, hits: Sequence[Hit]) -> float:
    """Return the rank of the query's table, from 1, also below the largest depth; infinity if not found."""
    if (place := _place(query.gold, hits)) or len(hits) < max(DEPTHS):
        return place or math.inf
    place = _place(query.gold, retriever.search(query.text, len(index)))
    return max(place, max(DEPTHS) + 1) if place else math.inf  # the first search did not have it


def _place(id: str, hits: Sequence[Hit]) -> int:
    """Return the rank of a document, from 1; 0 if it is missing."""
    return next((place for place, hit in enumerate(hits, 1) if hit.id == id), 0)


def _table(data: Mapping[str, Any], where: str) -> Table:
    header, rows = data.get("header"), data.get("rows")
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in (header, *rows)):
        raise InputError("a table needs a header and rows, which are lists of cells", where=where)
    width = max(map(len, [header, *rows]))
    if not width:
        raise InputError("the table has no columns", where=where)
    names, *cells = [[_cell(cell) for cell, _ in zip_longest(row, range(width))] for row in (header, *rows)]
    return Table(names, cells, _cell(data.get("caption")))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
