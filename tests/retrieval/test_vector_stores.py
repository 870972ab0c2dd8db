"""Vectors in a vector store of LangChain that the caller has made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain_core.vectorstores import InMemoryVectorStore

from chameleon.errors import InputError, ModelError
from chameleon.retrieval.document import Document
from chameleon.retrieval.index import Index
from chameleon.retrieval.make import build_index, delete_documents, make_retriever
from tests.retrieval.corpora import questions, tables
from tests.retrieval.hashed import Hashed, forget


class Distances(InMemoryVectorStore):
    """Answers with distances; fails when it is told to."""

    fails = False

    def similarity_search_with_score(self, *args: Any, **named: Any) -> list[tuple[Any, float]]:
        if self.fails:
            raise ConnectionError("no server at key=sk-0123456789abcdefghij")
        found = super().similarity_search_with_score(*args, **named)
        return [(document, 1 - score) for document, score in found]


def changed(path: Path, spec: Any, store: InMemoryVectorStore | None) -> Index:
    """Build an index, replace some documents by others, and delete one."""
    build_index(path, [*tables(200), Document("empty")], spec, store=store)
    build_index(path, [*tables(9, seed=1), Document("zebra crossing")], store=store)
    return delete_documents(path, ["table 3"], store=store)


@pytest.mark.parametrize("kind", [InMemoryVectorStore, Distances])
def test_a_store_finds_the_same_as_flat(
    tmp_path: Path, hashed: Hashed, kind: type[InMemoryVectorStore]
) -> None:
    store = kind(hashed)
    found = make_retriever(changed(tmp_path / "index", "dense", store), store=store)
    flat = make_retriever(changed(tmp_path / "flat", hashed.spec(), None))
    assert len({text["metadata"]["chameleon"] for text in store.store.values()}) == len(found.index) == 201
    for query in [*questions(15), "zebra crossing"]:
        exact, nearness = flat.search(query, 10), dict(flat.search(query, 999))
        ids, scores = map(list, zip(*found.search(query, 10), strict=True))
        assert [nearness[id] for id in ids] == pytest.approx([hit.score for hit in exact], abs=1e-5)
        assert len(set(ids)) == 10 == len(found.search_many([query], 10)[0])
        places = [*map(found.index.place, ids)]
        assert found.scores(query, places[::-1]) == pytest.approx(scores[::-1], abs=1e-6)  # type: ignore[attr-defined]


def test_only_what_is_new_goes_to_a_store_and_what_else_it_has_is_left_alone(
    tmp_path: Path, hashed: Hashed, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, store = tmp_path / "index", InMemoryVectorStore(hashed)
    (theirs,) = store.add_texts(["zebra crossing"])
    build_index(path, tables(30), "blend", store=store)
    before = len(hashed.passages)
    forget(monkeypatch)
    index = build_index(path, [*tables(30), Document("zebra")], store=store)
    assert hashed.passages[before:] == ["zebra"] and theirs in store.store
    assert make_retriever(index, store=store).search("zebra crossing", 1)[0].id == "zebra"
    assert len(make_retriever(index, "dense", store=store).search("zebra crossing", 99)) == 31


def test_two_indexes_share_a_store_and_what_does_not_fit_is_refused(tmp_path: Path, hashed: Hashed) -> None:
    store = Distances(hashed)
    one, other = (build_index(tmp_path / name, tables(9), "dense", store=store) for name in "ab")
    one = delete_documents(one.path, ["table 3"], store=store)
    assert len(make_retriever(one, store=store).search("river", 99)) == 8
    assert len(make_retriever(other, store=store).search("river", 99)) == 9
    empty = InMemoryVectorStore(hashed)
    flat = build_index(tmp_path / "flat", tables(9), hashed.spec())
    for do, message in (
        (lambda: make_retriever(one), r"an object of Python\. Give it again as `store`"),
        (lambda: make_retriever(one, store=empty).search("river"), "none of the documents of this index"),
        (lambda: make_retriever(flat, store=store), r"is a file, not an object\. Leave `store` out"),
        (
            lambda: make_retriever(one, {"first": "bm25", "rerank": "dense"}, store=store),
            "cannot score those",
        ),
        (lambda: build_index(tmp_path / "c", [], "bm25", store=store), "leaves no part to a vector store"),
    ):
        with pytest.raises(InputError, match=message):
            do()
    store.fails = True
    with pytest.raises(ModelError, match="the vector store failed: ConnectionError") as caught:
        make_retriever(one, store=store).search("river")
    assert "0123456789" not in str(caught.value)
