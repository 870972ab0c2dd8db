"""How often the table of a question is found, on real tables; one setting for all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from chameleon.retrieval.document import Document
from chameleon.retrieval.make import build_index, make_retriever
from chameleon.table import Table
from tests.benchmarks.shared_data import needs_data, rows

FIGURES = {  # corpus, queries, every how many of them; recall at 1 and at 10 by bm25, and by lexical
    ("tabfact/corpus.jsonl.gz", "tabfact/queries.jsonl.gz", 12): (0.775, 0.912, 0.804, 0.933),
    ("wikitq/tables.jsonl.gz", "wikitq/queries.jsonl", 4): (0.571, 0.760, 0.601, 0.783),
    ("fetaqa/tables.jsonl.gz", "fetaqa/queries.jsonl", 2): (0.896, 0.960, 0.916, 0.968),
}


@needs_data
@pytest.mark.parametrize("case", FIGURES, ids=lambda case: case[0].partition("/")[0])
def test_the_table_is_found(tmp_path: Path, case: tuple[str, str, int]) -> None:
    corpus, queries, step = case
    tables = {each["table_id"]: Table(each["header"], each["rows"], each["caption"]) for each in rows(corpus)}
    index, found = build_index(tmp_path, [Document(*each) for each in tables.items()], "bm25"), []
    asked = [(row.get("question") or row["statement"], row["gold_table_id"]) for row in rows(queries)[::step]]
    for name in ("bm25", "lexical"):
        hits = make_retriever(index, name).search_many([question for question, _ in asked])
        for k in (1, 10):
            pairs = zip(asked, hits, strict=True)
            there = [gold in {hit.id for hit in of_one[:k]} for (_, gold), of_one in pairs]
            found.append(sum(there) / len(asked))
    assert found == pytest.approx(FIGURES[case], abs=0.004)
