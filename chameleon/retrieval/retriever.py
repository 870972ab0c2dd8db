"""`Retriever`: finds documents of an index for a query; `RankedDocuments` reorders the results of others."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest
from typing import NamedTuple, TypeAlias

from chameleon.retrieval.document import Kind
from chameleon.retrieval.index import Index, Place
from chameleon.retrieval.spec import RerankerSpec
from chameleon.retrieval.texts import texts
from chameleon.retrieval.vectors import Vectors

Ranking: TypeAlias = list[tuple[Place, float]]
"""Documents with their scores, the best first."""
Score: TypeAlias = Callable[[str, Sequence[Place], Sequence[Ranking]], Sequence[float]]
"""Scores documents for a query: higher is better. The rankings are the ones that found them."""
_DEPTH_FACTOR = 8
_WINDOW, _TEXTS = 400, 3  # word pieces of a text, and texts of a long document, that a model reads


class Hit(NamedTuple):
    """A found document with its score: higher is nearer, comparable within one search only."""

    id: str
    score: float


class Retriever(ABC):
    """Finds the documents that a query is about, the best first. One serves all threads."""

    def __init__(self, index: Index) -> None:
        self.index = index

    def search(self, query: str, k: int = 10, kind: Kind | None = None) -> list[Hit]:
        """Return up to `k` documents (of a `kind`), the best first, ties in the order of adding."""
        return self.search_many([query], k, kind)[0]

    def search_many(self, queries: Sequence[str], k: int = 10, kind: Kind | None = None) -> list[list[Hit]]:
        """Search for each query; with embeddings one batch is cheaper."""
        rankings = self.find(queries, min(k, len(self.index)), kind) if k > 0 else [[] for _ in queries]
        return [[Hit(self.index.id_at(place), score) for place, score in one[:k]] for one in rankings]

    @abstractmethod
    def find(self, queries: Sequence[str], k: int, kind: Kind | None = None) -> Iterable[Ranking]:
        """Yield for each query at least `k` documents (of a `kind`) if possible; `k` changes no order."""


class Bm25(Retriever):
    """Finds documents by BM25 over stems."""

    def find(self, queries: Sequence[str], k: int, kind: Kind | None = None) -> Iterable[Ranking]:
        return (self.index.find(query, k, kind) for query in queries)


class Dense(Retriever):
    """Finds documents by the cosine of embeddings."""

    def __init__(self, index: Index, vectors: Vectors) -> None:
        super().__init__(index)
        self.vectors = vectors

    def find(self, queries: Sequence[str], k: int, kind: Kind | None = None) -> Iterable[Ranking]:
        if kind is not None:
            return self._of_kind(queries, min(k, self.index.count(kind)), kind)
        hits = self.vectors.nearest(queries, k)
        places = self.index.with_keys(sorted({key for one in hits for key, _ in one}))
        return [[(places[key], score) for key, score in one] for one in hits]

    def _of_kind(self, queries: Sequence[str], k: int, kind: Kind) -> list[Ranking]:
        """Find more and more, until enough of the kind are among them."""
        depth = max(k, 1)
        while True:
            rankings = []
            for ranking in self.find(queries, depth):
                kinds = self.index.kinds([place for place, _ in ranking])
                rankings.append([one for one, actual in zip(ranking, kinds, strict=True) if actual == kind])
            if depth >= len(self.index) or min(map(len, rankings), default=k) >= k:
                return rankings
            depth = min(_DEPTH_FACTOR * depth, len(self.index))

    def scores(self, query: str, places: Sequence[Place], _: Sequence[Ranking] = ()) -> Sequence[float]:
        """Return how near documents are."""
        return self.vectors.scores(query, self.index.keys(places))


class RankedDocuments(Retriever):
    """The first `depth` documents of each of several retrievers, ordered by a score; then their other ones.

    Ties keep the order of the retrievers' documents: the first of each, the second of each, …
    """

    def __init__(self, finders: Sequence[Retriever], score: Score, depth: int) -> None:
        super().__init__(finders[0].index)
        self.finders, self.score, self.depth = finders, score, depth

    def find(self, queries: Sequence[str], k: int, kind: Kind | None = None) -> Iterable[Ranking]:
        depth = max(k, self.depth)
        rankings = zip(*(one.find(queries, depth, kind) for one in self.finders), strict=True)
        return (self._rank(query, group) for query, group in zip(queries, rankings, strict=True))

    def _rank(self, query: str, rankings: Sequence[Ranking]) -> Ranking:
        first, rest = [one[: self.depth] for one in rankings], [one[self.depth :] for one in rankings]
        if not (places := _places(first)):
            return []
        scores = self.score(query, places, first)
        ranking = sorted(zip(places, scores, strict=True), key=lambda pair: -pair[1])
        ranked = set(places)
        after = [place for place in _places(rest) if place not in ranked]
        # The others have no score: their numbers only keep them in order, below those that have one.
        return [*ranking, *((place, min(scores) - rank) for rank, place in enumerate(after, 1))]


def _places(rankings: Sequence[Ranking]) -> list[Place]:
    """Return the documents of all rankings, each once."""
    return list(dict.fromkeys(pair[0] for pairs in zip_longest(*rankings) for pair in pairs if pair))


def by_evidence(index: Index, *, after_bm25: bool = True) -> Score:
    """Score by closer evidence (`chameleon.retrieval.evidence`); the first ranking may be that of BM25."""
    return lambda query, places, rankings: index.evidence(query, places, rankings[0] if after_bm25 else ())


def by_sum(one: Score, other: Score, most: float) -> Score:
    """Score by one score plus another that is scaled to 0 to `most` (Bruch, Gai and Ingber, 2023).

    Unlike ranks, scores show how far the first is ahead.
    """

    def score(query: str, places: Sequence[Place], rankings: Sequence[Ranking]) -> list[float]:
        second = other(query, places, rankings)
        low, scale = min(second), most / ((max(second) - min(second)) or 1.0)  # all may be equal
        pairs = zip(one(query, places, rankings), second, strict=True)
        return [first + scale * (value - low) for first, value in pairs]

    return score


def by_model(index: Index, spec: RerankerSpec) -> Score:
    """Score by a model, loaded with the first query, that reads a document's texts; the best one counts."""

    def score(query: str, places: Sequence[Place], _: Sequence[Ranking]) -> list[float]:
        from chameleon.retrieval.sentence_transformer import cross_encoder, late_encoder

        model = late_encoder(spec.name) if spec.late else cross_encoder(spec.name)
        documents = [texts(index.document_at(place), _TEXTS, _WINDOW) for place in places]
        scores = iter(model.scores(query, [text for some in documents for text in some]))
        return [max(next(scores) for _ in some) for some in documents]

    return score
