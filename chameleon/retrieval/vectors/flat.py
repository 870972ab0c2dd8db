"""Every vector compared with the query: exact, and fast enough for some hundred thousand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from chameleon.retrieval.vectors.rows import Vectors
from chameleon.retrieval.vectors.store import Nearest, VectorStore

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from chameleon.retrieval.vectors.rows import Matrix, Places

_QUERIES = 64


class Flat(VectorStore):
    """Multiplies the queries with the vectors where they lie; keeps no files of its own."""

    def write(self, vectors: Vectors, folder: Path) -> None:
        return

    def open(self, vectors: Vectors, folder: Path) -> Nearest:
        return _FlatRows(vectors)


class _FlatRows(Nearest):
    def __init__(self, vectors: Vectors) -> None:
        import numpy

        self._vectors = vectors
        self._dead: NDArray[numpy.bool_] = numpy.ones(len(vectors), numpy.bool_)
        self._dead[vectors.living] = False

    def rows(self, queries: Matrix, k: int) -> tuple[Places, Matrix]:
        import numpy

        rows: Places = numpy.full((len(queries), k), -1, numpy.int64)
        cosines: Matrix = numpy.zeros((len(queries), k), numpy.float32)
        for start in range(0, len(queries), _QUERIES):
            for place, best in enumerate(self._some(queries[start : start + _QUERIES], k), start):
                found = min(k, len(best.rows))
                order = numpy.argsort(-best.cosines, kind="stable")[:k]
                rows[place, :found], cosines[place, :found] = best.rows[order], best.cosines[order]
        return rows, cosines

    def _some(self, queries: Matrix, k: int) -> list[_Best]:
        import numpy

        found = [_Best(k) for _ in queries]
        for first, block in self._vectors.blocks():
            products = queries @ block.T
            products[:, self._dead[first : first + len(block)]] = -numpy.inf
            for best, product in zip(found, products, strict=True):
                best.add(first, product)
        return found


class _Best:
    """The `k` greatest cosines so far with their rows, ascending by row, and those equal to the least."""

    def __init__(self, k: int) -> None:
        import numpy

        self._k = k
        self._least = numpy.float32(-2)
        self.rows: Places = numpy.empty(0, numpy.int64)
        self.cosines: Matrix = numpy.empty(0, numpy.float32)

    def add(self, first: int, cosines: NDArray[numpy.float32]) -> None:
        import numpy

        places = numpy.flatnonzero(cosines > self._least)
        if not len(places):
            return
        rows = numpy.concatenate([self.rows, places + first])
        values = numpy.concatenate([self.cosines, cosines[places]])
        if len(values) > self._k:
            least = numpy.partition(values, len(values) - self._k)[len(values) - self._k]
            kept = values >= least
            rows, values, self._least = rows[kept], values[kept], least
        self.rows, self.cosines = rows, values
