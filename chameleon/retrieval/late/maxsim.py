"""MaxSim, the score of late interaction (Khattab and Zaharia, 2020), over documents of any length.

The tokens of all documents lie one after another in one matrix, and nothing is padded. A block of whole
documents is multiplied with the query in the layout in which each query token's products lie side by side:
there the maximum over a document is one run of memory, which numpy reduces with vector instructions. A
block's products stay in the processor's cache until then. The matrix product has threads of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

BLOCK = 1 << 16
"""How many tokens are multiplied at once: with 32 query tokens the products are 8 MiB."""
HALF_BLOCK = 1 << 14
"""The same of float16: what they are widened to is to stay in the cache as well."""
_MOST_KEPT = 1 << 22
"""Numbers of memory that each thread keeps at most, twice: 16 MiB."""
_HALF_SCALE = 112
_HALF_BITS = 0x8FFFE000


def maxsim(
    query: NDArray[numpy.float32],
    tokens: NDArray[Any],
    offsets: NDArray[numpy.int64],
    chosen: NDArray[numpy.int64] | None = None,
) -> NDArray[numpy.float32]:
    """Of each document the sum over the query's tokens of the greatest dot product with one of its tokens.

    `query` is a matrix of (query tokens, dimensions), `tokens` one of (tokens, dimensions) in float32 or
    finite float16, memory-mapped if it is large; document i has the rows from `offsets[i]` up to
    `offsets[i + 1]`. With `chosen` only these documents are scored, in this order. A document without tokens
    scores 0. Raises ValueError where dimensions or offsets do not fit.
    """
    import numpy

    _check(query, tokens, offsets)
    starts, ends = offsets[:-1], offsets[1:]
    if chosen is not None:
        starts, ends = starts[chosen], ends[chosen]
    scores: NDArray[numpy.float32] = numpy.zeros(len(starts), numpy.float32)
    filled = numpy.flatnonzero(ends > starts)
    if not query.size or not len(filled):
        return scores
    scorer = _Scorer(query, tokens)
    for block in _blocks(ends[filled] - starts[filled], HALF_BLOCK if scorer.half else BLOCK):
        documents = filled[block]
        scores[documents] = scorer.scores(starts[documents], ends[documents])
    return scores


def _check(query: NDArray[Any], tokens: NDArray[Any], offsets: NDArray[numpy.int64]) -> None:
    if query.ndim != 2 or tokens.ndim != 2 or query.shape[1] != tokens.shape[1]:
        raise ValueError(f"a query of {query.shape} does not fit tokens of {tokens.shape}")
    if (
        not len(offsets)
        or offsets[0] != 0
        or offsets[-1] != len(tokens)
        or (offsets[1:] < offsets[:-1]).any()
    ):
        raise ValueError(f"the offsets do not divide {len(tokens)} tokens")


def _blocks(counts: NDArray[numpy.int64], size: int) -> Iterator[slice]:
    """Runs of whole documents that together have up to `size` tokens; a longer one is alone."""
    import numpy

    bounds = numpy.concatenate([[0], numpy.cumsum(counts)])
    first = 0
    while first < len(counts):
        last = int(numpy.searchsorted(bounds, bounds[first] + size, "right")) - 1
        last = max(last, first + 1)
        yield slice(first, last)
        first = last


class _Memory(threading.local):
    """Memory that a thread writes its blocks to, kept between queries: new memory costs much time."""

    def __init__(self) -> None:
        self._held: dict[str, NDArray[numpy.float32]] = {}

    def take(self, name: str, size: int) -> NDArray[numpy.float32]:
        import numpy

        held = self._held.get(name)
        if held is None or len(held) < size:
            held = numpy.empty(size, numpy.float32)
            if size <= _MOST_KEPT:
                self._held[name] = held
        return held[:size]


_memory = _Memory()


class _Scorer:
    """Scores blocks of documents for one query."""

    def __init__(self, query: NDArray[Any], tokens: NDArray[Any]) -> None:
        import numpy

        self.half = tokens.dtype == numpy.float16
        self._tokens = tokens.view(numpy.int16) if self.half else tokens
        query = numpy.asarray(query, numpy.float32)
        self._query = numpy.ldexp(query, _HALF_SCALE) if self.half else query

    def scores(self, starts: NDArray[numpy.int64], ends: NDArray[numpy.int64]) -> NDArray[numpy.float32]:
        """The scores of documents of one token or more."""
        import numpy

        begins = numpy.cumsum(ends - starts)
        count, asked = int(begins[-1]), len(self._query)
        begins -= ends - starts
        products = _memory.take("products", asked * count).reshape(asked, count)
        numpy.matmul(self._query, self._rows(starts, ends).T, out=products)
        best: NDArray[numpy.float32] = numpy.maximum.reduceat(products, begins, axis=1)
        return best.sum(axis=0)

    def _rows(self, starts: NDArray[numpy.int64], ends: NDArray[numpy.int64]) -> NDArray[numpy.float32]:
        """The tokens of these documents one after another: where they lie so already, they themselves."""
        import numpy

        if (starts[1:] == ends[:-1]).all():
            found = self._tokens[starts[0] : ends[-1]]
        else:
            pairs = zip(starts.tolist(), ends.tolist(), strict=True)
            found = numpy.concatenate([self._tokens[start:end] for start, end in pairs])
        return self._widen(found) if self.half else found

    def _widen(self, halves: NDArray[numpy.int16]) -> NDArray[numpy.float32]:
        """Numbers of float16 as those of float32 that are 2 ** 112 times smaller: the query makes up for it.

        The bits are moved to where float32 has them: exact for all but infinities and NaN, and seven times
        as fast as numpy, which converts one number at a time.
        """
        import numpy

        found = _memory.take("widened", halves.size).reshape(halves.shape)
        bits = found.view(numpy.int32)
        numpy.copyto(bits, halves)
        numpy.left_shift(bits, 13, out=bits)
        numpy.bitwise_and(bits, numpy.uint32(_HALF_BITS).view(numpy.int32), out=bits)
        return found
