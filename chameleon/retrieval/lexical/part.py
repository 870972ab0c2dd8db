"""BM25 as a part of an index: postings on disk, and searches of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chameleon.retrieval.document import Document
from chameleon.retrieval.index.arrays import load
from chameleon.retrieval.index.files import broken
from chameleon.retrieval.lexical.fields import Bm25Settings, query_weights
from chameleon.retrieval.lexical.postings import digests, write_index, write_segment
from chameleon.retrieval.part import Part, Searcher

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

OKAPI = Bm25Settings(analysis="words", caption=1, header=1, cells=1, text=1, k1=1.5, b=0.75, idf="okapi")
"""The reference: Okapi's rule over words as they stand, all fields alike."""


class Bm25Part(Part):
    """The terms of documents, weighted by their fields, and their scores by BM25."""

    name = "bm25"

    def __init__(self, settings: Bm25Settings | None = None) -> None:
        self._settings = settings or Bm25Settings()

    def settings(self) -> Mapping[str, Any]:
        return self._settings.to_json()

    def write(self, documents: Sequence[Document], folder: Path) -> None:
        write_segment(documents, self._settings, folder)

    def finish(self, segments: Sequence[Path], alive: NDArray[numpy.bool_], folder: Path) -> None:
        write_index(segments, alive, self._settings, folder)

    def open(self, segments: Sequence[Path], alive: NDArray[numpy.bool_], folder: Path) -> Bm25Searcher:
        return Bm25Searcher(folder, self._settings, len(alive))


class OkapiPart(Bm25Part):
    """The reference that the default is compared with: what the package rank_bm25 computes."""

    name = "okapi"

    def __init__(self, settings: Bm25Settings = OKAPI) -> None:
        super().__init__(settings)


class Bm25Searcher(Searcher):
    """Searches the postings of a whole index; documents without a term of the query are not found."""

    def __init__(self, folder: Path, settings: Bm25Settings, count: int) -> None:
        self.settings, self._count = settings, count
        self._terms = load(folder / "terms.npy")
        self._df = load(folder / "df.npy")
        self._indptr = load(folder / "indptr.npy")
        self._indices = load(folder / "indices.npy")
        self._data = load(folder / "data.npy")
        if not len(self._terms) == len(self._df) == len(self._indptr) - 1:
            raise broken(folder / "indptr.npy")
        if not int(self._indptr[-1]) == len(self._indices) == len(self._data):
            raise broken(folder / "data.npy")

    @property
    def arrays(self) -> dict[str, Any]:
        """The scores as bm25s has them: a matrix of documents by terms, column by column."""
        return {
            "data": self._data,
            "indices": self._indices,
            "indptr": self._indptr,
            "num_docs": self._count,
        }

    def df(self, terms: Sequence[str]) -> NDArray[numpy.int64]:
        """How many living documents have each of these terms."""
        import numpy

        places, known = self._places(terms)
        found: NDArray[numpy.int64] = numpy.zeros(len(terms), numpy.int64)
        found[known] = self._df[places[known]]
        return found

    def search(self, query: str, k: int) -> tuple[NDArray[numpy.int64], NDArray[numpy.float32]]:
        import numpy

        columns = self._columns(query)
        if not columns or k < 1:
            return numpy.empty(0, numpy.int64), numpy.empty(0, numpy.float32)
        scores: NDArray[numpy.float32] = numpy.zeros(self._count, numpy.float32)
        for positions, values in columns:
            numpy.add.at(scores, positions, values)
        candidates = _candidates(scores, [positions for positions, _ in columns], k)
        found = scores[candidates]
        best = numpy.argsort(-found, kind="stable")[:k]
        return candidates[best].astype(numpy.int64), found[best]

    def scores(self, query: str, positions: NDArray[numpy.int64]) -> NDArray[numpy.float32]:
        import numpy

        wanted = positions.astype(numpy.uint32)
        scores: NDArray[numpy.float32] = numpy.zeros(len(wanted), numpy.float32)
        for held, values in self._columns(query):
            places = numpy.minimum(numpy.searchsorted(held, wanted), len(held) - 1)
            scores += numpy.where(held[places] == wanted, values[places], numpy.float32(0))
        return scores

    def _columns(self, query: str) -> list[tuple[NDArray[numpy.uint32], NDArray[numpy.float32]]]:
        """Of each term of the query that is known here: the documents that have it, and its scores there."""
        said = query_weights(query, self.settings)
        places, known = self._places(said)
        columns = []
        for weight, place, is_known in zip(said.values(), places.tolist(), known.tolist(), strict=True):
            if is_known:
                begin, end = self._indptr[place : place + 2].tolist()
                values = self._data[begin:end]
                columns.append((self._indices[begin:end], values if weight == 1 else values * weight))
        return columns

    def _places(self, terms: Collection[str]) -> tuple[NDArray[numpy.int64], NDArray[numpy.bool_]]:
        """Where the terms stand in the vocabulary, and which of them do."""
        import numpy

        known = digests(terms)
        if not len(self._terms):
            return numpy.zeros(len(known), numpy.int64), numpy.zeros(len(known), numpy.bool_)
        places = numpy.minimum(numpy.searchsorted(self._terms, known), len(self._terms) - 1)
        return places, self._terms[places] == known


def _candidates(
    scores: NDArray[numpy.float32], columns: Sequence[NDArray[numpy.uint32]], k: int
) -> NDArray[Any]:
    """Positions, ascending, among which the best `k` are, of the documents that are in a column.

    The k-th best score of one column is a bound from below for that of all: seldom are many above it.
    """
    import numpy

    if long := [column for column in columns if len(column) >= k]:
        sample = scores[min(long, key=len)]
        bound = numpy.partition(sample, len(sample) - k)[len(sample) - k]
        if bound > 0:
            return numpy.flatnonzero(scores >= bound)
    return numpy.unique(numpy.concatenate(columns))
