"""`chameleon recall`: its figures, on real tables beside those of rank-bm25, and what it says of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from chameleon.retrieval.make import build_index
from tests.benchmarks.shared_data import DATA, anchors, needs_data
from tests.e2e.commands import Command
from tests.evaluation.rows import write_rows
from tests.retrieval.corpora import tables

FIGURES = ["recall@1", "recall@5", "recall@10", "recall@50", "mrr"]
KEYS = ["n", *FIGURES, "queries_per_second", "unmatched"]
RECALL = "recall tables.jsonl.gz queries.jsonl"
KINDS = ("question", "statement", "query", "claim")


@pytest.fixture(autouse=True)
def _files(tmp_path: Path) -> None:
    """40 tables, and queries for 20 of them under all names that there are."""
    rows = [{"table_id": each.id, **each.table.to_json()} for each in tables(40) if each.table]
    write_rows(tmp_path / "tables.jsonl.gz", rows)
    asked = [
        {"id": n, KINDS[n % 4]: row["caption"], "gold_table_id" if n % 2 else "table_id": row["table_id"]}
        for n, row in enumerate(rows[:20])
    ]
    write_rows(tmp_path / "queries.jsonl", asked)


def figures(sh: Command, line: str) -> dict[str, float]:
    outcome = sh(line, "--json")
    assert outcome.code == 0, outcome.err
    found: dict[str, float] = outcome.json
    assert list(found) == KEYS and found["queries_per_second"] > 0
    return found


def test_captions_find_their_tables(sh: Command) -> None:
    found, shown = figures(sh, RECALL), sh(RECALL)
    assert found["n"] == 20 and found["recall@1"] >= 0.9 and found["recall@50"] == 1.0
    assert found["recall@1"] <= found["mrr"] <= 1.0
    assert shown.code == 0 and "20 queries over 40 documents, retriever auto" in shown.out
    assert f"recall@1    {found['recall@1']:.4f}" in shown.out and "queries a second" in shown.out


def test_an_index_serves_as_corpus(sh: Command, tmp_path: Path) -> None:
    found = [figures(sh, line) for line in (f"{RECALL} --index kept", "recall kept queries.jsonl")]
    found.append(figures(sh, f"{RECALL} --index kept"))
    assert len({tuple(each[name] for name in FIGURES) for each in found}) == 1
    build_index(tmp_path / "kept", tables(1, seed=9, first=90))
    told = sh(RECALL, "--index", "kept")
    assert told.code == 1 and "the index holds 41 documents, the corpus 40" in told.err
    usage = sh("recall kept queries.jsonl --index other")
    assert usage.code == 2 and "the corpus is an index already" in usage.told


def test_ranks_reach_beyond_what_is_found(sh: Command, tmp_path: Path) -> None:
    rows = [{"table_id": str(n), "header": ["word"], "rows": [["river"]], "caption": ""} for n in range(80)]
    write_rows(tmp_path / "tables.jsonl.gz", rows)
    asked = [{"question": "river", "table_id": "59"}, {"question": "unheard", "table_id": "3"}]
    write_rows(tmp_path / "queries.jsonl", asked)
    found = figures(sh, f"{RECALL} --retriever bm25")
    assert (found["recall@50"], found["mrr"], found["unmatched"]) == (0.0, round(1 / 60 / 2, 4), 1)
    shown = sh(RECALL, "-r", "{first: bm25, depth: 20}").out
    assert "depth: 20" in shown.splitlines()[0]
    assert "1 query found nothing of the table that answers." in shown
    write_rows(tmp_path / "queries.jsonl", asked[:1])
    assert "found nothing" not in sh(RECALL).out


def test_tables_under_a_key_and_uneven_ones(sh: Command, tmp_path: Path) -> None:
    table = {"header": ["year", "club"], "rows": [[1999, "Rovers", "extra"], [None]], "caption": None}
    rows = [{"id": n, "table_id": "a", "question": "rovers", "table": table} for n in range(2)]
    write_rows(tmp_path / "q.jsonl", rows)
    assert figures(sh, "recall q.jsonl q.jsonl")["recall@1"] == 1.0
    write_rows(tmp_path / "other.jsonl", [rows[0], {**rows[1], "table": {**table, "caption": "x"}}])
    told = sh("recall other.jsonl q.jsonl").complaint
    assert "row 2: the table_id 'a' stands for another table too" in told


@needs_data
def test_more_is_found_than_by_rank_bm25(sh: Command) -> None:
    data = DATA / "tablerag/e2ewtq.jsonl.gz"
    found = figures(sh, f"recall {data} {data} --retriever bm25")
    for name in ("recall@1", "recall@10", "mrr"):
        value, n = anchors()[f"tablerag.e2ewtq.bm25.{name}"]
        assert found[name] > value and found["n"] == n, found
