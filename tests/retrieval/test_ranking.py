"""How near texts are to a query: by words, by vectors, by what is installed; token by token with torch."""

from __future__ import annotations

import math

import pytest

from chameleon.errors import InputError, InventoryError
from chameleon.retrieval import models
from chameleon.retrieval.ranking import similarities
from tests.retrieval.hashed import Hashed

TEXTS = ["Ships in the harbour", "A ship sails", "Rain in spring", "harbour harbours", ""]


def test_words_by_bm25() -> None:
    near = similarities("Which ships lie in a harbour?", TEXTS, "bm25")
    assert near[0] == max(near) and near[2] == near[4] == 0 < near[1]
    # "harbour" is in 2 of 5 texts, twice in one of two terms; the mean length is 1.6 terms.
    idf, norm = math.log(1 + 3.5 / 2.5), 1.5 * (0.25 + 0.75 * 2 / 1.6)
    once = similarities("harbour", TEXTS, "bm25")
    assert once[3] == pytest.approx(idf * 2 * 2.5 / (2 + norm))
    assert similarities("harbour harbour", TEXTS, "bm25") == pytest.approx([2 * each for each in once])


def test_vectors_by_cosine(hashed: Hashed) -> None:
    near = similarities("ships in the harbour", TEXTS, f"dense:{hashed.name}")
    assert near == pytest.approx([hashed.cosine("ships in the harbour", text) for text in TEXTS], abs=1e-6)
    similarities("rain", TEXTS[:2], f"dense:{hashed.name}")
    assert hashed.passages == TEXTS  # each once


def test_auto_is_by_words_where_minilm_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "find_spec", lambda _: None)
    assert similarities("harbour", TEXTS) == similarities("harbour", TEXTS, "bm25")


@pytest.mark.parametrize("by", ["guesswork", "bm25:x", "auto:x", "dense:", "late:", "", "Dense"])
def test_another_measure_is_an_error(by: str) -> None:
    with pytest.raises(InputError, match="There are: auto, bm25"):
        similarities("a", TEXTS, by)
    with pytest.raises(InventoryError, match="no embeddings 'mini'"):
        similarities("a", TEXTS, "dense:mini")


def test_no_texts_and_texts_of_nothing(hashed: Hashed) -> None:
    for by in ("bm25", f"dense:{hashed.name}"):
        assert similarities("a", [], by) == []
        assert similarities("", ["", " "], by) == similarities("a", ["", "?"], by) == [0, 0]
