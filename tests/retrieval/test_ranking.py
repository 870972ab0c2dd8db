"""How near texts are to a query: by words, by vectors, by what is installed."""

from __future__ import annotations

import math

import pytest

from chameleon.errors import ChameleonError, InputError, ModelError
from chameleon.retrieval import embeddings as by_name
from chameleon.retrieval import ranking
from chameleon.retrieval.dense import Dense
from chameleon.retrieval.ranking import similarities
from tests.retrieval.vectors.hashed import NAME, Hashed, hashed

__all__ = ["hashed"]
TEXTS = ["Ships in the harbour", "A ship sails", "Rain in spring", "harbour harbours", ""]


def test_words_by_bm25() -> None:
    near = similarities("Which ships lie in a harbour?", TEXTS, "bm25")
    assert near[0] == max(near) and near[2] == near[4] == 0 < near[1]
    # One text of two terms, both "harbour"; 2 of 5 texts have it; the mean length is 1.6 terms.
    idf = math.log(1 + (5 - 2 + 0.5) / (2 + 0.5))
    length = [2, 2, 2, 2, 0]
    norm = 1.5 * (0.25 + 0.75 * 2 / (sum(length) / 5))
    assert similarities("harbour", TEXTS, "bm25")[3] == pytest.approx(idf * 2 * 2.5 / (2 + norm))


def test_a_term_said_twice_counts_twice() -> None:
    once, twice = (similarities(query, TEXTS, "bm25") for query in ("rain", "rain rain"))
    assert twice == pytest.approx([2 * each for each in once])


def test_vectors_by_cosine(hashed: Hashed) -> None:
    near = similarities("ships in the harbour", TEXTS, f"dense:{NAME}")
    assert near[0] == pytest.approx(1) and near[4] == 0
    assert near[3] == pytest.approx(1 / (2 * math.sqrt(2)))
    told = len(hashed.seen)
    assert similarities("ships in the harbour", TEXTS[:2], f"dense:{NAME}") == pytest.approx(near[:2])
    assert len(hashed.seen) == told


def test_auto_is_dense_where_minilm_is_installed(monkeypatch: pytest.MonkeyPatch, hashed: Hashed) -> None:
    monkeypatch.setattr(by_name, "find_spec", lambda _: None)
    assert similarities("harbour", TEXTS) == similarities("harbour", TEXTS, "bm25")
    monkeypatch.setattr(by_name, "find_spec", lambda name: name)
    monkeypatch.setattr(by_name, "_loaded", {"minilm": hashed})
    monkeypatch.setattr(by_name, "_dense", {})
    assert similarities("harbour", TEXTS) == Dense(hashed).cosines("harbour", TEXTS)


@pytest.mark.parametrize("by", ["guesswork", "bm25:x", "auto:x", "dense:", "late:", "", "Dense"])
def test_another_measure_is_an_error(by: str) -> None:
    with pytest.raises(InputError, match="There are: auto, bm25"):
        similarities("a", TEXTS, by)


def test_errors_of_the_model_are_told(hashed: Hashed, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ChameleonError, match="no embeddings"):
        similarities("a", TEXTS, "dense:mini")

    def refuse(self: Hashed, texts: list[str]) -> list[list[float]]:
        raise ConnectionError("refused")

    monkeypatch.setattr(by_name, "_dense", {})
    monkeypatch.setattr(Hashed, "embed_documents", refuse)
    with pytest.raises(ModelError, match="refused"):
        similarities("a", ["never seen"], f"dense:{NAME}")


@pytest.mark.parametrize("by", ["bm25", f"dense:{NAME}"])
def test_no_texts_and_texts_of_nothing(hashed: Hashed, by: str) -> None:
    assert similarities("a", [], by) == []
    assert similarities("", ["", " "], by) == [0, 0]
    assert ranking.similarities("a", ["", "?"], by) == [0, 0]
