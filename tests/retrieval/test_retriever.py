"""Retrievers of an index, one after another, and by name."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from chameleon.errors import InputError
from chameleon.retrieval.index import Index
from chameleon.retrieval.make import build_index, make_retriever
from chameleon.retrieval.retriever import Bm25, Lexical, Reranked, Reranker
from chameleon.retrieval.spec import RetrieverSpec
from tests.retrieval.corpora import questions, tables
from tests.retrieval.hashed import Hashed

QUESTIONS = questions(12)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return build_index(tmp_path_factory.mktemp("index"), tables(150), "bm25")


class ByLength(Reranker):
    """Longer ids are better; equal ones tie."""

    def scores(self, query: str, ids: Sequence[str]) -> list[float]:
        return [float(len(id)) for id in ids]


def test_a_reranker_orders_the_first_and_the_rest_follows(index: Index) -> None:
    retrievers = (Lexical(index, depth=40), Reranked(Bm25(index), ByLength(), depth=40))
    for query, searched in product(QUESTIONS, retrievers):
        first, hits = [hit.id for hit in Bm25(index).search(query, 150)], searched.search(query, 150)
        expected = sorted(first[:40], key=lambda id: -len(id))
        assert [hit.id for hit in hits[:40]] == expected or searched is retrievers[0]
        assert {hit.id for hit in hits[:40]} == set(expected) and [hit.id for hit in hits[40:]] == first[40:]
        assert hits == sorted(hits, key=lambda hit: -hit.score)
        assert all(searched.search(query, k) == hits[:k] for k in (1, 7, 60))


@pytest.mark.parametrize("kind", [Bm25, Lexical])
def test_documents_score_alone_as_in_a_search(index: Index, kind: type[Bm25 | Lexical]) -> None:
    searched = kind(index)
    for query in QUESTIONS:
        hits = searched.search(query, 20)[::-1]
        expected = pytest.approx([hit.score for hit in hits], rel=1e-5)
        assert searched.scores(query, [hit.id for hit in hits]) == expected
    assert searched.scores("river", []) == []
    assert Bm25(index).scores("zebra", ["table 1"]) == [0.0]


def test_one_serves_all_threads_and_finds_nothing_of_nothing(index: Index, tmp_path: Path) -> None:
    for searched in (Bm25(index), Lexical(index)):
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(searched.search, questions(60)))
        assert found == searched.search_many(questions(60))
        assert searched.search_many(["", "the", "unheard", " ?! "], 5) == [[]] * 4
        assert searched.search("river", 0) == searched.search("river", -1) == []
    assert Lexical(build_index(tmp_path, [], "bm25")).search("river") == []


SPECS = [
    *({"first": name} for name in ("bm25", "lexical", "dense", "hybrid", "blend")),
    {"first": "bm25", "rerank": "evidence"},
    {"first": "bm25", "rerank": "dense", "depth": 5},
]


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_auto_is_what_the_index_was_built_for(tmp_path: Path, hashed: Hashed, spec: dict[str, Any]) -> None:
    needs_vectors = RetrieverSpec.read(spec).needs_vectors
    build_index(tmp_path, tables(40), spec | ({"embeddings": hashed.name} if needs_vectors else {}))
    index = build_index(tmp_path, tables(60), "bm25")  # what is added changes nothing in that
    for query in QUESTIONS[:3]:
        hits = make_retriever(index).search(query, 20)
        assert hits == make_retriever(index, spec).search(query, 20)
        if spec == {"first": "lexical"}:
            assert hits == make_retriever(index, {"first": "bm25", "rerank": "evidence"}).search(query, 20)


def test_an_index_of_words_alone_has_no_vectors(index: Index) -> None:
    for spec in ("dense", "blend", {"first": "bm25", "rerank": "dense"}):
        with pytest.raises(InputError, match=r"words alone and has no vectors.*--retriever blend"):
            make_retriever(index, spec)
