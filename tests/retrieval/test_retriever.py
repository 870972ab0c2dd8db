"""Retrievers of an index, by name and as mappings of YAML; and vectors: found as by hand, up to date."""

import sys
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.errors import InputError, MissingPackage
from chameleon.retrieval import models
from chameleon.retrieval.document import Document
from chameleon.retrieval.index import Index, Place
from chameleon.retrieval.make import build_index, delete_documents, make_retriever
from chameleon.retrieval.retriever import Bm25, Dense, RankedDocuments, Retriever
from chameleon.retrieval.spec import RetrieverSpec
from chameleon.table import Table
from tests.retrieval.hashed import Hashed, forget, questions, table_document, tables

QUESTIONS = questions(12)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return build_index(tmp_path_factory.mktemp("index"), tables(150), "bm25")


def test_a_score_orders_the_first_and_the_rest_follows(index: Index) -> None:
    def by_length(query: str, places: Sequence[Place], _: object) -> list[float]:
        return [float(len(index.id_at(place))) for place in places]

    found = Bm25(index)
    lexical = make_retriever(index, {"first": "lexical", "depth": 40})
    retrievers = (lexical, RankedDocuments([found], by_length, 40))
    for query, searched in product(QUESTIONS, retrievers):
        first, hits = [hit.id for hit in found.search(query, 150)], searched.search(query, 150)
        expected = sorted(first[:40], key=lambda id: -len(id))
        assert [hit.id for hit in hits[:40]] == expected or searched is retrievers[0]
        assert {hit.id for hit in hits[:40]} == set(expected) and [hit.id for hit in hits[40:]] == first[40:]
        assert hits == sorted(hits, key=lambda hit: -hit.score)
        assert all(searched.search(query, k) == hits[:k] for k in (1, 7, 60))


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("lexical", {"first": "lexical"}),
        ("{first: bm25, rerank: {cross_encoder: m/n}}", {"rerank": {"cross_encoder": "m/n"}}),
        ("{first: bm25, rerank: {late: minilm}, depth: 20}", {"rerank": {"late": "minilm"}, "depth": 20}),
        (
            "{embeddings: {model: a:b, query_model: a:c}}",
            {"embeddings": {"model": "a:b", "query_model": "a:c"}},
        ),
    ],
)
def test_retrievers_are_read_from_text_and_written_as_text(given: str, wanted: dict[str, Any]) -> None:
    spec = RetrieverSpec.read(given)
    assert wanted.items() <= {"first": spec.first, **spec.model_dump(exclude_defaults=True)}.items()
    assert RetrieverSpec.read(str(spec)) == RetrieverSpec.read(spec) == spec


def test_what_is_no_retriever_is_refused_with_what_may_be_meant() -> None:
    none: tuple[Any, ...] = ("", "okapi", "[bm25]", "{first: [", ["bm25"], 5, None, {1: 2})
    for wrong, why in [
        *((each, "not a retriever") for each in none),
        *(("bm52", "Did you mean 'bm25'?"), ("a: " * 3000, "not a retriever")),
        ({"first": "bm52"}, "first: 'bm52'. first is one of auto, bm25, lexical"),
        ({"first": "late"}, "first: 'late'. first is one of auto, bm25, lexical"),  # vectors of every token
        ({"first": "bm25", "depth": 0}, "depth is a number"),
        ({"first": "bm25", "depht": 5}, "Did you mean 'depth'?"),
        ({"rerank": {"lat": "minilm"}}, "rerank is evidence, dense, {cross_encoder: NAME} or {late: NAME}"),
        ({"first": "bm25", "embeddings": "a:b"}, "embeddings: bm25 searches by words only"),
    ]:
        with pytest.raises(InputError) as problem:
            RetrieverSpec.read(wrong)
        assert why in str(problem.value) and "{first: bm25, rerank: evidence}" in str(problem.value)


FLEET = Document("fleet", Table(["Ship"], [[f"vessel {number}"] for number in range(300)], "Fleet"))
DOCUMENTS = [*tables(40), FLEET, Document("empty")]


def built(path: Path, model: Hashed, documents: Iterable[Document] = DOCUMENTS, **more: Any) -> Index:
    return build_index(path, documents, model.spec(**more))


def test_documents_come_by_the_cosine_of_their_nearest_text(tmp_path: Path, hashed: Hashed) -> None:
    found = make_retriever(built(tmp_path / "index", hashed))
    assert isinstance(found, Dense) and found.search("vessel", 0) == found.search_many([], 3) == []
    asked = [*questions(8), "vessel 77", "..."]
    for query, hits in zip(asked, found.search_many(asked, 99), strict=True):
        assert dict(hits) == pytest.approx(hashed.nearness(query, DOCUMENTS), abs=1e-5)
        ids, scores = map(list, zip(*hits, strict=True))
        assert scores == sorted(scores, reverse=True) and len(hits) == len(DOCUMENTS)
        assert [hit.score for hit in found.search(query, 5)] == pytest.approx(scores[:5], abs=1e-6)
        assert found.scores(query, [*map(found.index.place, ids)]) == pytest.approx(scores, abs=1e-6)
        words = {hit.id for hit in make_retriever(found.index, "bm25").search(query, 99)}
        reranked = make_retriever(found.index, {"first": "bm25", "rerank": "dense"}).search(query, 99)
        near = [hit.score for hit in hits if hit.id in words]
        assert [hit.score for hit in reranked] == pytest.approx(near, abs=1e-6)


@given(st.lists(st.tuples(st.sets(st.integers(0, 5)), st.integers(0, 1)), max_size=4))
def test_a_changed_index_finds_what_it_has(
    by_name: None, tmp_path_factory: Any, changes: list[tuple[set[int], int]]
) -> None:
    """Each change puts in some of six documents, with what they said or something else, and deletes one."""
    model, now = Hashed(), dict[str, Document]()
    index = built(tmp_path_factory.mktemp("index") / "index", model, [])
    for numbers, seed in changes:
        new = {f"table {number}": table_document(number, seed) for number in sorted(numbers)}
        index, now = built(index.path, model, new.values()), now | new
        if new:
            now.pop(gone := max(now))
            index = delete_documents(index.path, [gone])
    for query in questions(2):
        hits = make_retriever(index).search(query, 9)
        assert dict(hits) == pytest.approx(model.nearness(query, now.values()), abs=1e-5)


def test_only_what_is_new_is_embedded(
    tmp_path: Path, hashed: Hashed, monkeypatch: pytest.MonkeyPatch
) -> None:
    built(tmp_path / "index", hashed, tables(30))
    before = len(hashed.passages)
    forget(monkeypatch)
    index = built(tmp_path / "index", hashed, [*tables(30)[::-1], Document("zebra crossing")])
    assert hashed.passages[before:] == ["zebra crossing"]
    with pytest.raises(InputError, match=f"has embeddings '{hashed.name}', not 'hashed:others'"):
        make_retriever(index, hashed.spec(embeddings="hashed:others"))
    with pytest.raises(InputError, match="built for the retriever"):
        build_index(index.path, [Document("x")], hashed.spec(embeddings="openai:small"))
    hashed.size = 32
    forget(monkeypatch)
    for ask in (make_retriever(index).search, lambda id: built(index.path, hashed, [Document(id)])):
        with pytest.raises(InputError, match="has 32 dimensions, but the index has 64"):
            ask("river")


def both(path: Path, model: Hashed, depth: int) -> list[Retriever]:
    index = built(path, model, DOCUMENTS)
    specs = ({"first": "blend", "depth": depth}, {"first": "lexical", "depth": depth}, "dense")
    return [make_retriever(index, spec) for spec in specs]


def test_a_blend_adds_scores_those_of_vectors_on_one_scale(tmp_path: Path, hashed: Hashed) -> None:
    blend, words, vectors = both(tmp_path, hashed, 99)
    place = blend.index.place
    for query in questions(9):
        near = dict(vectors.search(query, 99))
        said = dict(zip(near, blend.index.evidence(query, [*map(place, near)]), strict=True))
        assert said.items() >= {id: pytest.approx(score) for id, score in words.search(query, 99)}.items()
        least, width = min(near.values()), max(near.values()) - min(near.values())
        wanted = {id: said[id] + 2.5 * (cosine - least) / width for id, cosine in near.items()}
        assert dict(blend.search(query, 99)) == pytest.approx(wanted, abs=1e-4)
    for first in ("dense", "blend"):  # each query is embedded once, to find and to score
        model = Hashed()
        found = make_retriever(built(tmp_path / first, model, first=first))
        for query in questions(5):
            hits = found.search(query, 5)
            assert found.search_many([query], 5) == [hits] and len(hits) == 5
        assert model.queries == questions(5)


@given(st.integers(1, 50), st.integers(1, 50))
def test_the_number_wanted_changes_no_order(by_name: None, tmp_path_factory: Any, depth: int, k: int) -> None:
    folder, model = tmp_path_factory.mktemp("index"), Hashed()
    found, *finders = both(folder, model, depth)
    query = questions(k)[-1]
    hits = found.search(query, 99)
    assert {hit.id for hit in hits} == {hit.id for one in finders for hit in one.search(query, 99)}
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    sure = len({hit.id for one in finders for hit in one.search(query, depth)})
    assert found.search(query, k)[:sure] == hits[: min(k, sure)]


def test_auto_is_blend_if_the_embeddings_are_there(tmp_path: Path, hashed: Hashed, monkeypatch: Any) -> None:
    index = build_index(tmp_path / "index", DOCUMENTS, {"embeddings": hashed.name})
    assert make_retriever(index).search("river") == make_retriever(index, "blend").search("river")
    with pytest.raises(InputError, match=r"words only.*first: blend"):
        make_retriever(build_index(tmp_path / "words", DOCUMENTS, "bm25"), "blend")
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "faiss", None)
        with pytest.raises(MissingPackage, match=r"pip install .*\[faiss\]"):
            make_retriever(index)
    monkeypatch.setattr(models, "find_spec", lambda _: None)
    assert index.evidence("river", []) == []
    index = Index.open(index.path)
    assert make_retriever(index).search("river") == make_retriever(index, "lexical").search("river")
    with pytest.raises(MissingPackage, match="pip install"):
        make_retriever(index, "dense")
