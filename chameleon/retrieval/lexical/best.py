"""The best documents of a query's columns.

A column is what an index has of one term: the positions of its documents, ascending, and their scores. They
are always summed in the order of the query, so that documents that say the same have the same score.

Every posting is added up: to leave out those that cannot matter (MaxScore; Turtle and Flood, 1995) was
measured to take as long in numpy, over 16,500, 100,000 and a million documents.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray


class Column(NamedTuple):
    """A term's documents and scores."""

    positions: NDArray[numpy.uint32]
    scores: NDArray[numpy.float32]


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
        sums = self._zeros()
        for column in columns:
            numpy.add.at(sums, column.positions, column.scores)
        candidates = _candidates(sums, [column.positions for column in columns], k)
        found = sums[candidates]
        sums.fill(0)  # for the next query of this thread
        best = (-found).argsort(kind="stable")[:k]
        return candidates[best].astype(numpy.int64), found[best]

    def _zeros(self) -> NDArray[numpy.float32]:
        """An array of zeros that this thread has for itself, and leaves as it was."""
        import numpy

        if not hasattr(self._own, "zeros"):
            self._own.zeros = numpy.zeros(self._count, numpy.float32)
        zeros: NDArray[numpy.float32] = self._own.zeros
        return zeros


def sums_at(columns: Sequence[Column], positions: NDArray[numpy.uint32]) -> NDArray[numpy.float32]:
    """The sums of these documents over all columns."""
    import numpy

    found: NDArray[numpy.float32] = numpy.zeros(len(positions), numpy.float32)
    for column in columns:
        places = numpy.minimum(column.positions.searchsorted(positions), len(column.positions) - 1)
        same = column.positions[places] == positions
        found += numpy.where(same, column.scores[places], numpy.float32(0))
    return found


def _candidates(
    sums: NDArray[numpy.float32], columns: Sequence[NDArray[numpy.uint32]], k: int
) -> NDArray[numpy.integer]:
    """Positions, ascending, among which the best `k` are, of the documents that are in a column.

    The k-th best sum of one column is a bound from below for that of all: seldom are many above it.
    """
    import numpy

    if long := [column for column in columns if len(column) >= k]:
        sample = sums[min(long, key=len)]
        sample.partition(len(sample) - k)
        if (bound := sample[len(sample) - k]) > 0:
            return (sums >= bound).nonzero()[0]
    return numpy.unique(numpy.concatenate(columns))
