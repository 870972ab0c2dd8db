"""BM25 over texts in memory; that of an index is its engine's (`chameleon.retrieval.engine`)."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

_K1, _B = 1.5, 0.75


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
        """Score each text; `query` says what each term counts for."""
        scores = [0.0] * self._count
        for term, weight in query.items():
            rarity = self._rarity(term)
            for place, count in self._holders.get(term, ()):
                scores[place] += weight * rarity * count * (_K1 + 1) / (count + self._norms[place])
        return scores

    def bound(self, query: Mapping[str, float]) -> float:
        """Return what no text can score more than: one that says each term ever so often."""
        return (_K1 + 1) * sum(weight * self._rarity(term) for term, weight in query.items())

    def _rarity(self, term: str) -> float:
        holders = len(self._holders.get(term, ()))
        return math.log1p((self._count - holders + 0.5) / (holders + 0.5))
