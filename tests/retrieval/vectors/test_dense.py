"""The vectors of an index: built, added to, crashed, searched, reranked by; by the names of retrievers."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest

from chameleon.errors import InputError, InventoryError, MissingPackage, ModelError
from chameleon.retrieval import embeddings as by_name
from chameleon.retrieval.document import Document
from chameleon.retrieval.fusion import Hybrid
from chameleon.retrieval.index import Index
from chameleon.retrieval.names import HYBRID_WEIGHTS, retriever
from chameleon.retrieval.parts import check_retriever, part_of, parts_for
from chameleon.retrieval.retriever import Hit
from chameleon.retrieval.vectors.flat import Flat
from chameleon.retrieval.vectors.part import DensePart, DenseSettings
from chameleon.table import Table
from tests.retrieval.corpora import questions, tables
from tests.retrieval.vectors.hashed import NAME, Hashed

DENSE = f"dense:{NAME}"


def by_hand(model: Hashed, documents: list[Document], query: str) -> dict[str, float]:
    """The cosines of small documents: of caption and header, or of these and the rows, the greater."""

    def cosine(first: str, second: str) -> float:
        a, b = (numpy.array(model.embed_query(text)) for text in (first, second))
        return float(a @ b / max(1e-9, float(numpy.linalg.norm(a) * numpy.linalg.norm(b))))

    def best(table: Table) -> float:
        about = " ".join([table.caption, *table.header])
        whole = " ".join([about, *(cell for row in table.rows for cell in row)])
        return max(cosine(query, about), cosine(query, whole))

    return {each.id: best(each.table) for each in documents if each.table}


@pytest.mark.parametrize("name", [DENSE, f"{DENSE}@flat", f"{DENSE}@hnsw"])
def test_the_nearest_by_cosine(tmp_path: Path, hashed: Hashed, name: str) -> None:
    if name.endswith("hnsw"):
        pytest.importorskip("faiss")
    documents = tables(60)
    index = Index.build(tmp_path / "index", documents, parts_for(name), segment_size=25)
    found = retriever(Index.open(index.path), name)
    asked = questions(20)
    hits = found.search_many(asked, 60)
    for query, some in zip(asked, hits, strict=True):
        assert sorted(hit.id for hit in some) == sorted(each.id for each in documents)
        assert [hit.score for hit in some] == sorted((hit.score for hit in some), reverse=True)
        assert dict(some) == pytest.approx(by_hand(hashed, documents, query), abs=1e-5)
        scores = [hit.score for hit in some[:5]]
        assert [hit.score for hit in found.search(query, 5)] == pytest.approx(scores, abs=1e-5)


def test_documents_of_several_texts_count_once_by_their_best(tmp_path: Path, hashed: Hashed) -> None:
    long = Table(["Ship"], [[f"vessel {number}"] for number in range(300)], "Fleet")
    documents = [Document("long", long), *tables(9)]
    index = Index.build(tmp_path / "index", documents, parts_for(DENSE))
    hits = retriever(index, DENSE).search("vessel 77", 10)
    assert [hit.id for hit in hits].count("long") == 1 and len(hits) == 10 and hits[0].id == "long"


def test_deleted_and_replaced_documents_are_not_found(tmp_path: Path, hashed: Hashed) -> None:
    path = tmp_path / "index"
    Index.build(path, tables(30), parts_for(DENSE))
    index = Index.delete(path, ["table 3", "table 7"])
    ids = {hit.id for hit in retriever(index, DENSE).search("river", 40)}
    assert ids == {f"table {number}" for number in range(30)} - {"table 3", "table 7"}
    index = Index.build(path, [Document("table 5", title="zebra crossing")])
    assert retriever(index, DENSE).search("zebra crossing", 1)[0] == Hit("table 5", pytest.approx(1))
    Index.delete(path, list(index.ids))
    assert retriever(Index.open(path), DENSE).search("river") == []


def test_no_text_is_embedded_again_when_segments_are_joined(tmp_path: Path, hashed: Hashed) -> None:
    path = tmp_path / "index"
    for first in range(0, 40, 10):
        Index.build(path, tables(10, first=first), parts_for(DENSE))
    assert len(Index.open(path).manifest.segments) < 4
    assert len(hashed.seen) == len(set(hashed.seen)) and hashed.most_at_once <= 2 * 10
    once = retriever(Index.build(tmp_path / "once", tables(40), parts_for(DENSE)), DENSE)
    several = retriever(Index.open(path), DENSE)
    for query in questions(10):
        assert several.search(query, 40) == once.search(query, 40)


def test_a_build_that_dies_leaves_the_old_index_and_goes_on(
    tmp_path: Path, hashed: Hashed, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "index"
    before = retriever(Index.build(path, tables(20), parts_for(DENSE)), DENSE).search("river", 5)

    def die(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Flat, "write", die)
        with pytest.raises(KeyboardInterrupt):
            Index.build(path, tables(40))
    assert retriever(Index.open(path), DENSE).search("river", 5) == before
    told = len(hashed.seen)
    assert len(Index.build(path, tables(40))) == 40 and len(hashed.seen) == told


def test_a_model_that_fails_ends_the_build_with_its_error(
    tmp_path: Path, hashed: Hashed, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Hashed, texts: list[str]) -> list[list[float]]:
        raise ConnectionError("refused for https://user:secret@example.org")

    with monkeypatch.context() as patch:
        patch.setattr(Hashed, "embed_documents", refuse)
        with pytest.raises(ModelError, match="refused") as told:
            Index.build(tmp_path / "index", tables(3), parts_for(DENSE))
    assert "secret" not in str(told.value)
    assert len(Index.build(tmp_path / "index", tables(3), parts_for(DENSE))) == 3


@pytest.mark.parametrize(
    "answer", [[[1.0], [1.0, 2.0], [1.0]], [[1.0]], [1.0, 1.0, 1.0], [[]] * 3, [[float("nan")]] * 3]
)
def test_answers_that_are_no_vectors(
    tmp_path: Path, hashed: Hashed, monkeypatch: pytest.MonkeyPatch, answer: Any
) -> None:
    monkeypatch.setattr(Hashed, "embed_documents", lambda self, texts: answer)
    documents = [Document(id, title=id) for id in "abc"]
    with pytest.raises(ModelError, match="did not answer with 3 vectors"):
        Index.build(tmp_path / "index", documents, parts_for(DENSE))


def test_another_model_than_at_the_time_of_building_is_told(tmp_path: Path, hashed: Hashed) -> None:
    index = Index.build(tmp_path / "index", tables(5), parts_for(DENSE))
    with pytest.raises(InputError, match="has the embeddings 'hashed:words', not 'hashed:others'"):
        retriever(index, "dense:hashed:others")
    with pytest.raises(InputError, match="has the store 'flat', not 'hnsw'"):
        retriever(index, f"{DENSE}@hnsw")
    with pytest.raises(InputError, match="built with other parts"):
        Index.build(index.path, tables(6), [DensePart()])
    hashed.size = 32
    with pytest.raises(InputError, match="have 32 numbers, and had 64"):
        retriever(index, "dense").search("river")
    with pytest.raises(InputError, match="have 32 numbers, and had 64"):
        Index.build(index.path, tables(6))
    hashed.size = 64
    assert len(Index.build(index.path, tables(6))) == 6


def test_packages_that_are_missing_are_told_before_anything_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(by_name, "find_spec", lambda _: None)
    for name in ("dense", "hybrid", "dense+rerank"):
        with pytest.raises(MissingPackage, match="pip install"):
            parts_for(name)


def test_hybrid_is_of_words_and_vectors(tmp_path: Path, hashed: Hashed) -> None:
    name = f"hybrid:{NAME}"
    index = Index.build(tmp_path / "index", tables(40), parts_for(name))
    assert sorted(index.settings) == ["dense", "lexical"]
    both = [retriever(index, each) for each in ("lexical", "dense")]
    wanted = Hybrid(both, HYBRID_WEIGHTS)  # type: ignore[arg-type]
    found = retriever(index, name)
    told = len(hashed.asked)
    assert found.search_many(questions(5), 7) == [wanted.search(query, 7) for query in questions(5)]
    assert len(hashed.asked) - told == 5  # a query is embedded once, and what it found is scored by it
    assert retriever(index, "bm25+rerank:hybrid").search("river", 3)


def test_reranking_orders_what_the_first_has_found(tmp_path: Path, hashed: Hashed) -> None:
    index = Index.build(tmp_path / "index", tables(40), parts_for(f"hybrid:{NAME}"))
    for name, judge in (("dense+rerank", "lexical"), ("bm25+rerank:dense", "dense")):
        for query in questions(5):
            first = [hit.id for hit in retriever(index, name.partition("+")[0]).search(query, 100)]
            scores = retriever(index, judge).scores(query, first)  # type: ignore[attr-defined]
            order = sorted(range(len(first)), key=lambda place: -scores[place])
            assert [hit.id for hit in retriever(index, name).search(query, 6)] == [first[n] for n in order][
                :6
            ]
            assert retriever(index, name).search_many([query], 6) == [retriever(index, name).search(query, 6)]


def test_the_vectors_score_what_is_asked_for(tmp_path: Path, hashed: Hashed) -> None:
    index = Index.build(tmp_path / "index", tables(30), parts_for(DENSE), segment_size=7)
    found = retriever(index, "dense")
    hits = found.search("river bridge", 30)
    scores = found.scores("river bridge", [hit.id for hit in hits])  # type: ignore[attr-defined]
    assert scores == pytest.approx([hit.score for hit in hits], abs=1e-6)
    assert found.scores("river bridge", []) == []  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        (f"{DENSE}+rerank", ["dense", "lexical"]),
        ("bm25+rerank", ["lexical"]),
        ("okapi+rerank:bm25", ["bm25", "okapi"]),
        (f"{DENSE}+rerank:cross-encoder/some-model", ["dense"]),
        (f"hybrid:{NAME}@flat+rerank:dense", ["dense", "lexical"]),
        (f"{DENSE}+rerank:hybrid", ["dense", "lexical"]),
    ],
)
def test_which_parts_a_name_needs(
    hashed: Hashed, monkeypatch: pytest.MonkeyPatch, name: str, parts: list[str]
) -> None:
    monkeypatch.setitem(by_name._PACKAGES, "never_installed", "never-installed")  # so there is no minilm
    needed = parts_for(name)
    assert sorted(part.name for part in needed) == parts
    for part in needed:
        assert part_of(part.name, part.settings()).settings() == part.settings()


def test_names_are_taken_apart() -> None:
    given = check_retriever("dense:google_vertexai:embedding@002@hnsw+rerank:org/model")
    assert (given.first, given.model, given.store) == ("dense", "google_vertexai:embedding@002", "hnsw")
    assert given.rerank == "org/model" and check_retriever("hybrid+rerank").rerank == ""
    assert check_retriever("dense:a:b@002").model == "a:b@002"
    assert check_retriever("dense@my.stores:Mine").store == "my.stores:Mine"
    for wrong in (
        "dense:",
        "dense@",
        "dense:@flat",
        "bm25@flat",
        "dense+rerank:",
        "dense+more",
        "dense+rerank+x",
    ):
        with pytest.raises(InputError):
            check_retriever(wrong)
    with pytest.raises(InputError, match="Did you mean 'hnsw'"):
        check_retriever("dense@hnws")
    with pytest.raises(InventoryError, match="no embeddings 'mini'"):
        check_retriever("dense:mini")


def test_a_part_goes_to_other_processes() -> None:
    part = pickle.loads(pickle.dumps(parts_for("dense:openai:small")[0]))
    assert part.settings() == {"embeddings": "openai:small", "store": "flat", "texts": DenseSettings().texts}


def test_opening_loads_neither_vectors_nor_a_model(tmp_path: Path, hashed: Hashed) -> None:
    chance = numpy.random.default_rng(0)
    hashed.size = 2000
    hashed.embed_documents = lambda texts: chance.standard_normal((len(texts), 2000)).tolist()  # type: ignore[method-assign]
    documents = [Document(str(number), text=f"word{number}") for number in range(4_000)]
    path = tmp_path / "index"
    Index.build(path, documents, parts_for(DENSE))
    code = f"""
import psutil, sys
from chameleon.retrieval.index import Index
import numpy, langchain
from chameleon.retrieval.vectors.part import DensePart
own = psutil.Process()
private = lambda: own.memory_full_info().uss
before = private()
searcher = Index.open({str(path)!r}).searcher("dense")
print(private() - before, "torch" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    grown, torch = done.stdout.split()
    assert int(grown) < 20_000_000 < 4_000 * 2000 * 4 and torch == "False"
