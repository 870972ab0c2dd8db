"""The default search by words: BM25 finds a hundred documents, and closer evidence puts them in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chameleon.retrieval.document import Document
from chameleon.retrieval.lexical.analysis import reader
from chameleon.retrieval.lexical.evidence import WEIGHTS, Question, evidence
from chameleon.retrieval.lexical.fields import Bm25Settings
from chameleon.retrieval.lexical.occurrences import Segment, write_occurrences
from chameleon.retrieval.lexical.part import Bm25Part, Bm25Searcher
from chameleon.retrieval.lexical.postings import write_segment
from chameleon.retrieval.part import Part, Searcher

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

DEPTH = 100
"""So many documents are looked into."""


class LexicalPart(Part):
    """BM25's postings, and where the terms stand in each document."""

    name = "lexical"

    def __init__(self, settings: Bm25Settings | None = None) -> None:
        self._settings = settings or Bm25Settings()
        self._first = Bm25Part(self._settings)

    def settings(self) -> Mapping[str, Any]:
        return self._settings.to_json()

    def write(self, documents: Sequence[Document], folder: Path) -> None:
        read = reader(self._settings.analysis)
        write_segment(documents, self._settings, folder, read)
        write_occurrences(documents, read, folder)

    def finish(self, segments: Sequence[Path], alive: NDArray[numpy.bool_], folder: Path) -> None:
        self._first.finish(segments, alive, folder)

    def open(self, segments: Sequence[Path], alive: NDArray[numpy.bool_], folder: Path) -> LexicalSearcher:
        return LexicalSearcher(self._first.open(segments, alive, folder), alive, segments)


class LexicalSearcher(Searcher):
    """Searches by BM25 (`first`), then orders what it found first by `evidence`."""

    def __init__(self, first: Bm25Searcher, alive: NDArray[numpy.bool_], segments: Sequence[Path]) -> None:
        self.first = first
        self._living = int(alive.sum())
        self._segments = [Segment(path) for path in segments]
        self._firsts = [0, *accumulate(segment.count for segment in self._segments)]

    def search(self, query: str, k: int) -> tuple[NDArray[numpy.int64], NDArray[numpy.float32]]:
        import numpy

        if k < 1:
            return numpy.empty(0, numpy.int64), numpy.empty(0, numpy.float32)
        positions, first = self.first.search(query, max(k, DEPTH))
        if not len(positions):
            return positions, first
        looked = self._weighed(query, positions[:DEPTH], first[:DEPTH])
        order = numpy.argsort(-looked, kind="stable")
        # What was not looked into comes after, as BM25 has it.
        rest = looked.min() - (first[:DEPTH].min() - first[DEPTH:]) - numpy.float32(1)
        ordered = numpy.concatenate([positions[:DEPTH][order], positions[DEPTH:]])
        return ordered[:k], numpy.concatenate([looked[order], rest])[:k]

    def scores(self, query: str, positions: NDArray[numpy.int64]) -> NDArray[numpy.float32]:
        return self._weighed(query, positions, self.first.scores(query, positions))

    def measures(self, query: str, positions: NDArray[numpy.int64]) -> dict[str, NDArray[numpy.float64]]:
        """What `evidence` measures of these documents, by the names of the measures."""
        import numpy

        question = Question.read(query, self.first.settings, self._idf)
        found = {name: numpy.zeros(len(positions)) for name in WEIGHTS}
        owners = numpy.searchsorted(self._firsts, positions, "right") - 1
        for number in numpy.unique(owners).tolist():
            here = numpy.flatnonzero(owners == number)
            documents = positions[here] - self._firsts[number]
            for name, values in evidence(question, self._segments[number], documents).items():
                found[name][here] = values
        return found

    def _weighed(
        self, query: str, positions: NDArray[numpy.int64], first: NDArray[numpy.float32]
    ) -> NDArray[numpy.float32]:
        import numpy

        found = self.measures(query, positions) | {"first": first.astype(numpy.float64)}
        total = sum((weight * found[name] for name, weight in WEIGHTS.items()), numpy.zeros(len(positions)))
        return total.astype(numpy.float32)

    def _idf(self, terms: Sequence[str]) -> NDArray[numpy.float64]:
        import numpy

        df = self.first.df(terms)
        found: NDArray[numpy.float64] = numpy.log1p((self._living - df + 0.5) / (df + 0.5))
        return found
