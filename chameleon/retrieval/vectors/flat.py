"""Every vector compared with the query: exact, and fast enough for some hundred thousand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from chameleon.retrieval.vectors.faiss_files import has_faiss, read_faiss, write_faiss
from chameleon.retrieval.vectors.rows import Vectors
from chameleon.retrieval.vectors.store import Nearest, VectorStore

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from chameleon.retrieval.vectors.rows import Matrix, Places

MOST_BYTES = 1 << 30
_FILE = "flat.faiss"
_QUERIES = 64


class Flat(VectorStore):
    """Compares all living vectors, by FAISS where that is installed: the same are found with it and without.

    FAISS (IndexFlatIP) has a second copy of the vectors in a file, which is opened memory-mapped; since it is
    made in memory, more than 1 GiB of vectors have none. Without it the queries are multiplied with the
    vectors where they lie.
    """

    def write(self, vectors: Vectors, folder: Path) -> None:
        if not has_faiss() or 4 * vectors.size * len(vectors.living) > MOST_BYTES:
            return
        import faiss

        index = faiss.IndexFlatIP(vectors.size)
        for _, block in vectors.living_blocks():
            index.add(block)
        write_faiss(index, folder / _FILE)

    def open(self, vectors: Vectors, folder: Path) -> Nearest:
        rows, path = _FlatRows(vectors), folder / _FILE
        return _FaissRows(read_faiss(path, vectors), rows) if has_faiss() and path.exists() else rows


class _FaissRows(Nearest):
    """Ties are left to the rows themselves: FAISS knows no order among them."""

    def __init__(self, index: Any, rows: _FlatRows) -> None:
        self._index, self._rows = index, rows

    def rows(self, queries: Matrix, k: int) -> tuple[Places, Matrix]:
        import numpy

        # One more than is wanted tells whether the last has rivals that are as near.
        cosines, places = self._index.search(numpy.ascontiguousarray(queries), k + 1)
        found = places >= 0
        rows: Places = numpy.where(found, self._rows.vectors.living[places], -1)
        cosines = numpy.where(found, cosines, numpy.float32(0))
        tied = ((cosines[:, 1:] == cosines[:, :-1]) & found[:, 1:]).any(axis=1)
        rows, cosines = rows[:, :k], cosines[:, :k]
        if tied.any():
            rows[tied], cosines[tied] = self._rows.rows(queries[tied], k)
        return rows, cosines


class _FlatRows(Nearest):
    def __init__(self, vectors: Vectors) -> None:
        import numpy

        self.vectors = vectors
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
        for first, block in self.vectors.blocks():
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
