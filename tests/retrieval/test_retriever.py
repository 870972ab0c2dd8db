"""Retrievers of an index: one after another, by name, and as mappings of YAML."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from chameleon.errors import InputError
from chameleon.retrieval.index import Index, Place
from chameleon.retrieval.make import build_index, make_retriever
from chameleon.retrieval.retriever import Bm25, RankedDocuments
from chameleon.retrieval.spec import NAMES, RetrieverSpec
from tests.retrieval.corpora import questions, tables
from tests.retrieval.hashed import Hashed

QUESTIONS = questions(12)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return build_index(tmp_path_factory.mktemp("index"), tables(150), "bm25")


def test_a_score_orders_the_first_and_the_rest_follows(index: Index) -> None:
    def by_length(query: str, places: Sequence[Place], _: object) -> list[float]:
        return [float(len(index.id_at(place))) for place in places]

    found = Bm25(index)
    retrievers = (
        make_retriever(index, {"first": "lexical", "depth": 40}),
        RankedDocuments([found], by_length, 40),
    )
    for query, searched in product(QUESTIONS, retrievers):
        first, hits = [hit.id for hit in found.search(query, 150)], searched.search(query, 150)
        expected = sorted(first[:40], key=lambda id: -len(id))
        assert [hit.id for hit in hits[:40]] == expected or searched is retrievers[0]
        assert {hit.id for hit in hits[:40]} == set(expected) and [hit.id for hit in hits[40:]] == first[40:]
        assert hits == sorted(hits, key=lambda hit: -hit.score)
        assert all(searched.search(query, k) == hits[:k] for k in (1, 7, 60))


@pytest.mark.parametrize("name", ["bm25", "lexical"])
def test_documents_score_alone_as_in_a_search(index: Index, name: str) -> None:
    scores = index.bm25 if name == "bm25" else index.evidence
    for query in QUESTIONS:
        hits = make_retriever(index, name).search(query, 20)[::-1]
        expected = pytest.approx([hit.score for hit in hits], rel=1e-5)
        assert scores(query, [index.place(hit.id) for hit in hits]) == expected
    assert scores("river", []) == []
    assert index.bm25("zebra", [index.place("table 1")]) == [0.0]


def test_one_serves_all_threads_and_finds_nothing_of_nothing(index: Index, tmp_path: Path) -> None:
    for searched in (make_retriever(index, "bm25"), make_retriever(index, "lexical")):
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(searched.search, questions(60)))
        assert found == searched.search_many(questions(60))
        assert searched.search_many(["", "the", "unheard", " ?! "], 5) == [[]] * 4
        assert searched.search("river", 0) == searched.search("river", -1) == []
    assert make_retriever(build_index(tmp_path, [], "bm25"), "lexical").search("river") == []
    for spec in ("dense", "blend", {"first": "bm25", "rerank": "dense"}):
        with pytest.raises(InputError, match=r"words alone and has no vectors.*first: blend"):
            make_retriever(index, spec)


SPECS = [
    *({"first": name} for name in ("bm25", "lexical", "dense", "blend")),
    {"first": "bm25", "rerank": "evidence"},
    {"first": "bm25", "rerank": "dense", "depth": 5},
]


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_auto_is_what_the_index_was_built_for(tmp_path: Path, hashed: Hashed, spec: dict[str, Any]) -> None:
    needs_vectors = RetrieverSpec.read(spec).needs_vectors
    build_index(tmp_path, tables(40), spec | ({"embeddings": hashed.name} if needs_vectors else {}))
    index = build_index(tmp_path, tables(60))  # what is added changes nothing in that
    for query in QUESTIONS[:3]:
        assert make_retriever(index).search(query, 20) == make_retriever(index, spec).search(query, 20)


MAPPINGS = {
    **{f"{{first: {name}}}": {"first": name} for name in NAMES},
    "{first: bm25, rerank: {cross_encoder: m/n}}": {"rerank": {"cross_encoder": "m/n"}},
    "{first: bm25, rerank: {late: minilm}, depth: 20}": {"rerank": {"late": "minilm"}, "depth": 20},
    "{embeddings: openai:small}": {"embeddings": {"model": "openai:small"}},
    "{embeddings: {model: a:b, query: 'q: '}}": {"embeddings": {"model": "a:b", "query": "q: "}},
}


@pytest.mark.parametrize("given", MAPPINGS)
def test_mappings_are_read_from_text_and_written_as_text_and_a_name_is_short_for_one(given: str) -> None:
    spec, wanted = RetrieverSpec.read(given), MAPPINGS[given]
    assert wanted.items() <= {"first": spec.first, **spec.model_dump(exclude_defaults=True)}.items()
    assert RetrieverSpec.read(str(spec)) == RetrieverSpec.read(spec) == spec
    if (name := wanted.get("first")) in NAMES:
        assert spec == RetrieverSpec.read(name) == RetrieverSpec.read(wanted) and str(spec) == name
        assert spec.needs_vectors == (name in ("dense", "blend"))


def test_what_is_no_retriever_is_refused_with_what_may_be_meant() -> None:
    for given, why in [
        *(
            (given, "no retriever")
            for given in ("", "okapi", "[bm25]", "{first: [", ["bm25"], 5, None, {1: 2})
        ),
        *(("bm52", "Did you mean 'bm25'?"), ("a: " * 3000, "no retriever")),
        ({"first": "bm52"}, "first: 'bm52'. first is one of auto, bm25, lexical"),
        ({"first": "bm25", "depth": 0}, "depth is a number"),
        ({"first": "bm25", "depht": 5}, "Did you mean 'depth'?"),
        ({"rerank": {"lat": "minilm"}}, "rerank is evidence, dense, {cross_encoder: NAME} or {late: NAME}"),
        ({"first": "bm25", "embeddings": "a:b"}, "embeddings: bm25 searches by words alone"),
    ]:
        with pytest.raises(InputError) as problem:
            RetrieverSpec.read(given)
        assert why in str(problem.value) and "{first: bm25, rerank: evidence}" in str(problem.value)
