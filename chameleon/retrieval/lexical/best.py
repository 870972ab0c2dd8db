"""The best documents of a query's columns: exact, and without looking at most postings of frequent terms.

A column is what an index has of one term: the positions of its documents, ascending, and their scores. They
are always summed in the order of the query, so that documents that say the same have the same score.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

_MANY = 1 << 17
"""From so many postings on it pays to leave some out."""

_LONG = 1 << 13
_SLACK = 1e-4
"""By how much of itself a bound may be off, for sums in single precision taken in another order."""


class Column(NamedTuple):
    """A term's documents and scores; no score is higher than `limit`."""

    positions: NDArray[numpy.uint32]
    scores: NDArray[numpy.float32]
    limit: float


class Sums:
    """Finds the best sums over columns for `count` documents. One serves all threads."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._own = threading.local()

    def best(self, columns: Sequence[Column], k: int) -> tuple[NDArray[numpy.int64], NDArray[numpy.float32]]:
        """The positions and sums of the best `k` documents that are in a column, ties by position."""
        import numpy

        if not columns or k < 1:
            return numpy.empty(0, numpy.int64), numpy.empty(0, numpy.float32)
        few = sum([len(column.positions) for column in columns]) < _MANY
        if few or min([column.limit for column in columns]) < 0:  # of a negative idf
            candidates, found = self._of_all(columns, k)
        else:
            candidates = self._pruned(columns, k)
            found = sums(columns, candidates)
        best = (-found).argsort(kind="stable")[:k]
        return candidates[best].astype(numpy.int64), found[best]

    def _of_all(
        self, columns: Sequence[Column], k: int
    ) -> tuple[NDArray[numpy.int64], NDArray[numpy.float32]]:
        """Positions, ascending, among which the best are, and their sums: by adding up every posting."""
        import numpy

        scores: NDArray[numpy.float32] = numpy.zeros(self._count, numpy.float32)
        for column in columns:
            numpy.add.at(scores, column.positions, column.scores)
        if (bound := _bound(scores, columns, k)) > 0:
            candidates = (scores >= bound).nonzero()[0]
        else:
            candidates = numpy.unique(numpy.concatenate([column.positions for column in columns]))
        return candidates, scores[candidates]

    def _pruned(self, columns: Sequence[Column], k: int) -> NDArray[numpy.uint32]:
        """Positions, ascending, among which the best are.

        The short columns are added up first. As soon as what the others can give is less than the k-th best
        sum so far, no document that is in these alone can be among the best (MaxScore; Turtle and Flood,
        1995): they are looked up for the documents that still can.
        """
        import numpy

        scores = self._zeros()
        waiting = sorted(columns, key=lambda column: len(column.positions), reverse=True)
        done: list[Column] = []
        bound = 0.0
        while waiting:
            if done and len(waiting[-1].positions) > _LONG:
                bound = _bound(scores, done, k)
                if bound * (1 - _SLACK) > sum(column.limit for column in waiting):
                    break
            done.append(waiting.pop())
            numpy.add.at(scores, done[-1].positions, done[-1].scores)
        if not waiting:
            bound = _bound(scores, done, k)
        met = numpy.concatenate([column.positions for column in done])
        rest = sum(column.limit for column in waiting)
        candidates = numpy.unique(met if bound <= 0 else met[scores[met] >= (bound - rest) * (1 - _SLACK)])
        found = scores[candidates]
        scores[met] = 0  # for the next query of this thread
        for column in sorted(waiting, key=lambda column: -column.limit):
            found = found + _at(column, candidates)
            rest -= column.limit
            if len(found) > k:
                bound = float(numpy.partition(found, len(found) - k)[len(found) - k])
                kept = found >= (bound - rest) * (1 - _SLACK)
                candidates, found = candidates[kept], found[kept]
        return candidates

    def _zeros(self) -> NDArray[numpy.float32]:
        """An array of zeros that this thread has for itself."""
        import numpy

        if not hasattr(self._own, "zeros"):
            self._own.zeros = numpy.zeros(self._count, numpy.float32)
        zeros: NDArray[numpy.float32] = self._own.zeros
        return zeros


def sums(columns: Sequence[Column], positions: NDArray[numpy.uint32]) -> NDArray[numpy.float32]:
    """The sums of these documents over all columns."""
    import numpy

    found: NDArray[numpy.float32] = numpy.zeros(len(positions), numpy.float32)
    for column in columns:
        found += _at(column, positions)
    return found


def _at(column: Column, positions: NDArray[numpy.uint32]) -> NDArray[numpy.float32]:
    """The scores of these documents in one column; 0 where they are not in it."""
    import numpy

    places = numpy.minimum(column.positions.searchsorted(positions), len(column.positions) - 1)
    same = column.positions[places] == positions
    found: NDArray[numpy.float32] = numpy.where(same, column.scores[places], numpy.float32(0))
    return found


def _bound(scores: NDArray[numpy.float32], columns: Sequence[Column], k: int) -> float:
    """A bound from below for the k-th best sum: that of the k-th best of one column; 0 if all are shorter."""
    long = [column.positions for column in columns if len(column.positions) >= k]
    if not long:
        return 0.0
    sample = scores[min(long, key=len)]
    sample.partition(len(sample) - k)
    return float(sample[len(sample) - k])
