"""BM25 as a part of an index: postings on disk, and searches of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chameleon.retrieval.document import Document
from chameleon.retrieval.index.arrays import load
from chameleon.retrieval.index.files import broken
from chameleon.retrieval.lexical.best import Column, Sums, sums_at
from chameleon.retrieval.lexical.fields import Bm25Settings, query_weights
from chameleon.retrieval.lexical.postings import digests, write_index, write_segment
from chameleon.retrieval.part import Part, Searcher

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

_TERMS_AT_HAND = 1 << 13
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
        self._column = lru_cache(maxsize=_TERMS_AT_HAND)(self._look_up)
        self._sums = Sums(count)
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
        return self.search_terms(query_weights(query, self.settings), k)

    def search_terms(
        self, weights: Mapping[str, float], k: int
    ) -> tuple[NDArray[numpy.int64], NDArray[numpy.float32]]:
        """The same for terms that are known, with what each of them counts for."""
        return self._sums.best(self._columns(weights), k)

    def scores(self, query: str, positions: NDArray[numpy.int64]) -> NDArray[numpy.float32]:
        import numpy

        return sums_at(self._columns(query_weights(query, self.settings)), positions.astype(numpy.uint32))

    def _columns(self, weights: Mapping[str, float]) -> list[Column]:
        """Of each term that is known here: the documents that have it, and its scores there, weighted."""
        columns = []
        for term, weight in weights.items():
            column = self._column(term)
            if column is not None and weight != 1:
                # A factor that is a Python number leaves the scores in single precision.
                column = Column(column.positions, column.scores * weight)
            if column is not None:
                columns.append(column)
        return columns

    def _look_up(self, term: str) -> Column | None:
        places, known = self._places([term])
        if not known[0]:
            return None
        begin, end = self._indptr[places[0] : places[0] + 2].tolist()
        return Column(self._indices[begin:end], self._data[begin:end])

    def _places(self, terms: Collection[str]) -> tuple[NDArray[numpy.int64], NDArray[numpy.bool_]]:
        """Where the terms stand in the vocabulary, and which of them do."""
        import numpy

        known = digests(terms)
        if not len(self._terms):
            return numpy.zeros(len(known), numpy.int64), numpy.zeros(len(known), numpy.bool_)
        places = numpy.minimum(numpy.searchsorted(self._terms, known), len(self._terms) - 1)
        return places, self._terms[places] == known
