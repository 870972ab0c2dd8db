"""The vectors of an index: found as by hand, brought up to date."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.errors import InputError, MissingPackage
from chameleon.retrieval import models
from chameleon.retrieval.document import Document
from chameleon.retrieval.index import Index
from chameleon.retrieval.make import build_index, delete_documents, make_retriever
from chameleon.retrieval.retriever import Dense, Retriever
from chameleon.table import Table
from tests.retrieval.corpora import questions, table_document, tables
from tests.retrieval.hashed import Hashed, forget

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


def test_only_what_is_new_is_embedded_by_the_same_model(
    tmp_path: Path, hashed: Hashed, monkeypatch: pytest.MonkeyPatch
) -> None:
    built(tmp_path / "index", hashed, tables(30))
    before = len(hashed.passages)
    forget(monkeypatch)
    index = built(tmp_path / "index", hashed, [*tables(30)[::-1], Document("zebra crossing")])
    assert hashed.passages[before:] == ["zebra crossing"]
    with pytest.raises(InputError, match=f"has the embeddings '{hashed.name}', not 'hashed:others'"):
        make_retriever(index, hashed.spec(embeddings="hashed:others"))
    hashed.size = 32
    forget(monkeypatch)
    for ask in (make_retriever(index).search, lambda id: built(index.path, hashed, [Document(id)])):
        with pytest.raises(InputError, match="answers with 32 numbers, and the vectors have 64"):
            ask("river")


@pytest.mark.parametrize("first", ["dense", "blend"])
def test_each_query_is_embedded_once_to_find_and_to_score(tmp_path: Path, hashed: Hashed, first: str) -> None:
    found = make_retriever(built(tmp_path / "index", hashed, first=first))
    for query in questions(5):
        hits = found.search(query, 5)
        assert found.search_many([query], 5) == [hits] and len(hits) == 5
    assert hashed.queries == questions(5)


def both(path: Path, model: Hashed, depth: int) -> list[Retriever]:
    """Return a retriever of both, that of words, and that of vectors."""
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
    with pytest.raises(InputError, match=r"words alone.*first: blend"):
        make_retriever(build_index(tmp_path / "words", DOCUMENTS, "bm25"), "blend")
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "faiss", None)
        with pytest.raises(MissingPackage, match=r"pip install .*\[faiss\]"):
            make_retriever(index)
    monkeypatch.setattr(models, "find_spec", lambda _: None)
    index = Index.open(index.path)
    assert make_retriever(index).search("river") == make_retriever(index, "lexical").search("river")
    with pytest.raises(MissingPackage, match="pip install"):
        make_retriever(index, "dense")
