"""Rank a few texts in memory by a query: rows or columns of a table, passages."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from chameleon.errors import InputError
from chameleon.retrieval.analysis import query_weights, terms
from chameleon.retrieval.embeddings import NONE, automatic, embedder
from chameleon.retrieval.spec import MINILM

_K1, _B = 1.5, 0.75  # of BM25: saturation of counts, and share of the length's influence


class TextCollection:
    """Texts given as terms, scored by BM25 with Lucene's idf (Robertson et al., 1995)."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self._count = len(texts)
        mean = sum(map(len, texts)) / (len(texts) or 1) or 1.0
        self._norms = [_K1 * (1 - _B + _B * len(text) / mean) for text in texts]
        self._holders: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for place, text in enumerate(texts):
            for term, count in Counter(text).items():
                self._holders[term].append((place, count))

    def scores(self, query: Mapping[str, float]) -> list[float]:
        """Score each text; `query` has the weight of each term."""
        scores = [0.0] * self._count
        for term, weight in query.items():
            rarity = self._rarity(term)
            for place, count in self._holders.get(term, ()):
                scores[place] += weight * rarity * count * (_K1 + 1) / (count + self._norms[place])
        return scores

    def bound(self, query: Mapping[str, float]) -> float:
        """Return an upper bound of the scores: that of a text that repeats each term endlessly."""
        return (_K1 + 1) * sum(weight * self._rarity(term) for term, weight in query.items())

    def _rarity(self, term: str) -> float:
        holders = len(self._holders.get(term, ()))
        return math.log1p((self._count - holders + 0.5) / (holders + 0.5))


def similarities(query: str, texts: Sequence[str], by: str = "auto") -> list[float]:
    """Return how near each text is to the query; higher is nearer, comparable within one call only.

    - `bm25`: BM25 (Robertson et al., 1995) over English stems, with these texts as the whole collection;
    - `dense` or `dense:NAME`: the cosine of embeddings, by default `minilm`;
    - `late` or `late:NAME`: token by token (MaxSim; Khattab and Zaharia, 2020), by default `minilm`;
    - `auto`: dense if `minilm` is installed, else bm25.

    Raises `InputError` for another `by`, `MissingPackage`, and `ModelError` when a model fails.
    """
    kind, colon, model = by.partition(":")
    if kind not in ("auto", "bm25", "dense", "late") or (colon and (not model or kind in ("auto", "bm25"))):
        hint = "There are: auto, bm25, dense, dense:NAME, late, late:NAME."
        raise InputError(f"texts cannot be compared by {by!r}", hint=hint)
    if kind == "auto":
        kind = "bm25" if automatic() == NONE else "dense"
    if not texts:
        return []
    if kind == "bm25":
        return TextCollection([terms(text) for text in texts]).scores(query_weights(query))
    if kind == "dense":
        return embedder(model or MINILM).cosines(query, texts)
    from chameleon.retrieval.sentence_transformer import late_encoder

    return late_encoder(model or MINILM).scores(query, texts)
