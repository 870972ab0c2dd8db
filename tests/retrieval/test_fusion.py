"""Several retrievers as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from chameleon.retrieval.fusion import Blend, Fusion, Hybrid
from chameleon.retrieval.retriever import Hit, Reranker, Retriever


class Known(Retriever, Reranker):
    """Has a score for every document, and finds those of more than nothing."""

    def __init__(self, known: Mapping[str, float]) -> None:
        self.known = known

    def search(self, query: str, k: int = 10) -> list[Hit]:
        hits = [Hit(id, score) for id, score in self.known.items() if score > 0]
        return sorted(hits, key=lambda hit: -hit.score)[:k]

    def scores(self, query: str, ids: Sequence[str]) -> list[float]:
        return [self.known.get(id, 0.0) for id in ids]


WORDS = Known({"a": 20.0, "b": 15.0, "c": 10.0, "d": 0.0})
VECTORS = Known({"a": 0.2, "b": 0.6, "c": 0.4, "d": 0.1})


def test_scores_are_added_those_of_vectors_on_one_scale() -> None:
    # Words: 20, 15, 10, 0; vectors: 0.2, 1, 0.6, 0.
    found = Blend([WORDS, VECTORS], [1.0, 10.0]).search("")
    assert found == [("b", approx(25)), ("a", approx(22)), ("c", approx(16)), ("d", 0)]
    few = Blend([WORDS, VECTORS], [1.0, 4.0], depth=1).search("", 2)  # each scores what the other has found
    assert few == [("a", approx(20)), ("b", approx(19))]


def test_reciprocal_ranks_are_added_by_weight() -> None:
    # Words: a, b, c; vectors: b, c, a, d.
    found = Hybrid([WORDS, VECTORS], [2.0, 1.0]).search("")
    expected = {"a": 2 / 61 + 1 / 63, "b": 2 / 62 + 1 / 61, "c": 2 / 63 + 1 / 62, "d": 1 / 64}
    assert found == [(id, approx(score)) for id, score in expected.items()]
    assert Hybrid([WORDS, VECTORS], [2.0, 1.0], depth=1).search("", 2) == [("a", 2 / 61), ("b", 1 / 61)]


@pytest.mark.parametrize("kind", [Hybrid, Blend])
def test_each_has_a_weight_and_nothing_is_found_where_nothing_is(kind: type[Fusion]) -> None:
    with pytest.raises(ValueError, match="1 weights for 2 retrievers"):
        kind([WORDS, VECTORS], [1.0])
    assert kind([Known({}), Known({})], [1, 1]).search_many(["", ""], 5) == [[], []]
    assert [hit.id for hit in kind([Known({"a": 3}), Known({})], [1, 1]).search("")] == ["a"]


SCORES = st.dictionaries(st.sampled_from("abcdefghij"), st.floats(0, 9), max_size=10)


@given(SCORES, SCORES, st.integers(1, 4), st.integers(1, 12), st.sampled_from([Hybrid, Blend]))
def test_how_many_are_wanted_changes_no_order(
    first: dict[str, float], second: dict[str, float], depth: int, k: int, kind: type[Fusion]
) -> None:
    hybrid = kind([Known(first), Known(second)], [1.0, 0.2], depth=depth)
    found = hybrid.search("", 12)
    assert {hit.id for hit in found} == {id for known in (first, second) for id in known if known[id] > 0}
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
    firsts = {hit.id for some in (first, second) for hit in Known(some).search("", depth)}
    sure = min(k, len(firsts))
    assert hybrid.search("", k)[:sure] == found[:sure]
