"""BM25 over texts in memory and over an index: the scores of the published formula."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.retrieval.analysis import query_weights
from chameleon.retrieval.document import Document
from chameleon.retrieval.layout import Layout
from chameleon.retrieval.make import build_index, make_retriever
from chameleon.retrieval.ranking import TextCollection
from chameleon.table import Table
from tests.retrieval.corpora import questions, tables


def by_formula(query: dict[str, float], texts: Sequence[Sequence[str]], k1: float) -> list[float]:
    mean = sum(map(len, texts)) / max(len(texts), 1) or 1.0
    total = [0.0] * len(texts)
    for term, weight in query.items():
        df = sum(term in text for text in texts)
        idf = math.log(1 + (len(texts) - df + 0.5) / (df + 0.5))
        for number, text in enumerate(texts):
            tf, norm = text.count(term), k1 * (0.25 + 0.75 * len(text) / mean)
            total[number] += weight * idf * tf * (k1 + 1) / (tf + norm)
    return total


TEXTS = st.lists(st.lists(st.sampled_from("abcdef"), max_size=8), max_size=9)


@given(TEXTS, st.dictionaries(st.sampled_from("abcdefg"), st.sampled_from([0.3, 1.0, 2.0])))
def test_texts_score_by_the_formula_below_the_bound(texts: list[list[str]], query: dict[str, float]) -> None:
    scores = TextCollection(texts).scores(query)
    assert scores == pytest.approx(by_formula(query, texts, 1.5))
    assert all(score <= TextCollection(texts).bound(query) + 1e-9 for score in scores)


def test_an_index_scores_by_the_formula(tmp_path: Path) -> None:
    said = {one.id: list(Layout.of(one).weighted()) for one in tables(90)}
    texts = {id: text for id, text in said.items() if len(text) <= 40}  # such lengths the engine has exactly
    given = [one for one in tables(90) if one.id in texts]
    searched = make_retriever(build_index(tmp_path, given, "bm25"))
    for question in questions(30):
        scores = dict(zip(texts, by_formula(query_weights(question), [*texts.values()], 1.2), strict=True))
        hits = searched.search(question, 90)
        assert {hit.id for hit in hits} == {id for id, score in scores.items() if score}
        assert [hit.score for hit in hits] == pytest.approx([scores[hit.id] for hit in hits], rel=1e-4)


def test_captions_count_three_times_and_names_twice() -> None:
    document = Document("t", Table(["River", ""], [["3 of 4", "the Rivers"]], "Length"), "Length")
    assert list(Layout.of(document).weighted()) == ["river"] * 2 + ["length"] * 3 + ["3", "4", "river"]
