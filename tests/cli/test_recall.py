"""`chameleon recall`: its figures, on real tables beside those of rank-bm25, and what it says of files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from chameleon.retrieval.make import build_index
from tests.benchmarks.shared_data import DATA, anchors, needs_data
from tests.e2e.commands import Command
from tests.retrieval.corpora import tables

FIGURES = ["recall@1", "recall@5", "recall@10", "recall@50", "mrr"]
KEYS = ["n", *FIGURES, "queries_per_second", "unmatched"]


def corpus_rows() -> list[dict[str, Any]]:
    found = []
    for document in tables(40):
        assert document.table is not None
        found.append({"table_id": document.id, **document.table.to_json()})
    return found


def lines(path: Path, rows: list[Any]) -> str:
    text = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return str(path)


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    return lines(tmp_path / "tables.jsonl.gz", corpus_rows())


@pytest.fixture
def queries(tmp_path: Path) -> str:
    kinds = ("question", "statement", "query", "claim")
    asked = []
    for number, row in enumerate(corpus_rows()[:20]):
        gold = "gold_table_id" if number % 2 else "table_id"
        asked.append({"id": number, kinds[number % 4]: row["caption"], gold: row["table_id"]})
    return lines(tmp_path / "queries.jsonl", asked)


def figures(command: Command, *arguments: str) -> dict[str, float]:
    outcome = command("recall", *arguments, "--json")
    assert outcome.code == 0, outcome.err
    found: dict[str, float] = json.loads(outcome.out)
    assert list(found) == KEYS and found["queries_per_second"] > 0
    return found


def test_captions_find_their_tables(command: Command, corpus: str, queries: str) -> None:
    found = figures(command, corpus, queries)
    assert found["n"] == 20 and found["recall@1"] >= 0.9 and found["recall@50"] == 1.0
    assert found["recall@1"] <= found["mrr"] <= 1.0
    shown = command("recall", corpus, queries)
    assert shown.code == 0 and "20 queries over 40 documents, retriever auto" in shown.out
    assert f"recall@1    {found['recall@1']:.4f}" in shown.out and "queries a second" in shown.out


def test_an_index_serves_as_corpus(command: Command, corpus: str, queries: str, tmp_path: Path) -> None:
    kept = str(tmp_path / "kept")
    first = figures(command, corpus, queries, "--index", kept)
    for given in ((kept, queries), (corpus, queries, "--index", kept)):
        again = figures(command, *given)
        assert [again[name] for name in FIGURES] == [first[name] for name in FIGURES]
    build_index(kept, tables(1, seed=9, first=90))
    told = command("recall", corpus, queries, "--index", kept)
    assert told.code == 1 and "the index holds 41 documents, the corpus 40" in told.err
    usage = command("recall", kept, queries, "--index", str(tmp_path / "other"))
    assert usage.code == 2 and "the corpus is an index already" in " ".join(
        usage.err.replace("│", "").split()
    )


def test_ranks_reach_beyond_what_is_found(command: Command, tmp_path: Path) -> None:
    rows = [{"table_id": str(n), "header": ["word"], "rows": [["river"]], "caption": ""} for n in range(80)]
    corpus = lines(tmp_path / "tables.jsonl", rows)
    asked = [{"question": "river", "table_id": "59"}, {"question": "unheard", "table_id": "3"}]
    queries = lines(tmp_path / "queries.jsonl", asked)
    found = figures(command, corpus, queries, "--retriever", "bm25")
    assert (found["recall@50"], found["mrr"], found["unmatched"]) == (0.0, round(1 / 60 / 2, 4), 1)
    shown = command("recall", corpus, queries, "-r", "{first: bm25, depth: 20}").out
    assert "depth: 20" in shown.splitlines()[0]
    assert "1 query found nothing of the table that answers." in shown
    alone = command("recall", corpus, lines(tmp_path / "found.jsonl", asked[:1])).out
    assert "found nothing" not in alone


def test_tables_under_a_key_and_uneven_ones(command: Command, tmp_path: Path) -> None:
    table = {"header": ["year", "club"], "rows": [[1999, "Rovers", "extra"], [None]], "caption": None}
    rows = [{"id": n, "table_id": "a", "question": "rovers", "table": table} for n in range(2)]
    path = lines(tmp_path / "questions.jsonl", rows)
    assert figures(command, path, path)["recall@1"] == 1.0
    other = lines(tmp_path / "other.jsonl", [rows[0], {**rows[1], "table": {**table, "caption": "x"}}])
    assert "row 2: the table_id 'a' stands for another table too" in command("recall", other, path).complaint


@needs_data
def test_more_is_found_than_by_rank_bm25(command: Command) -> None:
    data = str(DATA / "tablerag/e2ewtq.jsonl.gz")
    found = figures(command, data, data, "--retriever", "bm25")
    expected = {name: anchors()[f"tablerag.e2ewtq.bm25.{name}"] for name in ("recall@1", "recall@10", "mrr")}
    assert all((found[name] > value, found["n"]) == (True, n) for name, (value, n) in expected.items()), found
