"""BM25 over texts in memory and over an index: the scores of the published formula."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.retrieval.analysis import query_weights
from chameleon.retrieval.bm25 import TextCollection
from chameleon.retrieval.document import Document
from chameleon.retrieval.layout import Layout
from chameleon.retrieval.make import build_index, make_retriever
from chameleon.table import Table
from tests.retrieval.corpora import questions, tables


def by_formula(query: dict[str, float], texts: Sequence[Sequence[str]], k1: float, b: float) -> list[float]:
    mean = sum(map(len, texts)) / max(len(texts), 1) or 1.0
    total = [0.0] * len(texts)
    for term, weight in query.items():
        df = sum(term in text for text in texts)
        idf = math.log(1 + (len(texts) - df + 0.5) / (df + 0.5))
        for number, text in enumerate(texts):
            tf, norm = text.count(term), k1 * (1 - b + b * len(text) / mean)
            total[number] += weight * idf * tf * (k1 + 1) / (tf + norm)
    return total


@given(
    st.lists(st.lists(st.sampled_from("abcdef"), max_size=8), max_size=9),
    st.dictionaries(st.sampled_from("abcdefg"), st.sampled_from([0.3, 1.0, 2.0])),
)
def test_texts_score_by_the_formula_and_never_above_the_bound(
    texts: list[list[str]], query: dict[str, float]
) -> None:
    collection = TextCollection(texts)
    assert collection.scores(query) == pytest.approx(by_formula(query, texts, 1.5, 0.75))
    assert all(score <= collection.bound(query) + 1e-9 for score in collection.scores(query))


def test_an_index_scores_by_the_formula_with_caption_and_names_said_more_often(tmp_path: Path) -> None:
    documents = [*tables(60), *tables(40, seed=1, first=60)]
    texts = [list(Layout.of(document).weighted()) for document in documents]
    documents = [one for one, text in zip(documents, texts, strict=True) if len(text) <= 40]
    texts = [text for text in texts if len(text) <= 40]  # the engine has lengths up to 40 exactly
    assert len(texts) > 50
    searched = make_retriever(build_index(tmp_path, documents, "bm25"))
    for question in questions(40):
        expected = by_formula(query_weights(question), texts, 1.2, 0.75)
        hits = searched.search(question, len(documents))
        scores = dict(zip((document.id for document in documents), expected, strict=True))
        assert {hit.id for hit in hits} == {id for id, score in scores.items() if score}
        assert [hit.score for hit in hits] == pytest.approx([scores[hit.id] for hit in hits], rel=1e-4)


def test_a_caption_says_more_than_a_column_and_that_more_than_a_cell(tmp_path: Path) -> None:
    documents = [
        Document("text", text="river elm oak ash fir yew box"),
        Document("cell", Table(["oak"], [["river"]], "elm")),
        Document("name", Table(["river"], [["ash"]], "elm")),
        Document("caption", Table(["oak"], [["ash"]], "river")),
    ]
    index = build_index(tmp_path, documents, "bm25")
    assert [hit.id for hit in make_retriever(index).search("rivers")] == ["caption", "name", "cell", "text"]


def test_nothing_is_found_of_nothing(tmp_path: Path) -> None:
    index = build_index(tmp_path / "index", [*tables(3), Document("empty")], "bm25")
    empty = build_index(tmp_path / "empty", [], "bm25")
    for name in ("bm25", "lexical"):
        searched = make_retriever(index, name)
        assert searched.search_many(["", "the", "unheard", " ?! "], 5) == [[]] * 4
        assert searched.search("river", 0) == searched.search("river", -1) == []
        assert make_retriever(empty, name).search("river") == []
