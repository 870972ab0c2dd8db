"""`Vectors`: the vectors of an index where they lie, segment by segment, memory-mapped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from chameleon.retrieval.index.arrays import load, save
from chameleon.retrieval.index.files import Damaged, broken

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Matrix: TypeAlias = NDArray[numpy.float32]
    Places: TypeAlias = NDArray[numpy.int64]

_VECTORS, _ENDS, _DIGESTS = "vectors.npy", "ends.npy", "digests.npy"
BLOCK = 1 << 14
"""So many vectors are in hand at once."""


def write_rows(folder: Path, vectors: Matrix, counts: Sequence[int], digests: NDArray[Any]) -> None:
    """Write a segment's vectors: of each document as many as `counts` says, of each the text's digest."""
    import numpy

    save(folder / _VECTORS, vectors.reshape(-1))
    save(folder / _ENDS, numpy.cumsum(counts, dtype=numpy.int64))
    save(folder / _DIGESTS, digests)


def read_rows(folder: Path) -> tuple[Matrix, Places, NDArray[Any]]:
    """What `write_rows` wrote: vectors, where each document's end, digests. Raises `InputError`."""
    flat, ends, digests = (load(folder / name) for name in (_VECTORS, _ENDS, _DIGESTS))
    count = len(digests)
    if (int(ends[-1]) if len(ends) else 0) != count or (len(flat) % count if count else len(flat)):
        raise broken(folder / _VECTORS)
    return flat.reshape(count, -1) if count else flat.reshape(0, 0), ends, digests


class Vectors:
    """Unit vectors by row: those of the first document, of the second, …; a document has one or several.

    `size` is how many numbers a vector has (0 where there are none), `position` the document of each row,
    `living` the rows of documents that count.
    """

    def __init__(self, folders: Sequence[Path], alive: NDArray[numpy.bool_]) -> None:
        """Raises `InputError` for segments that do not fit each other."""
        import numpy

        read = [read_rows(folder) for folder in folders]
        self._pieces = [vectors for vectors, _, _ in read]
        counts = [numpy.diff(ends, prepend=0) for _, ends, _ in read]
        counts_of_all = numpy.concatenate([numpy.empty(0, numpy.int64), *counts])
        if len(counts_of_all) != len(alive):
            raise broken(folders[-1] if folders else Path(_ENDS))
        sizes = {vectors.shape[1] for vectors in self._pieces if len(vectors)}
        if len(sizes) > 1:
            raise Damaged(
                f"the segments' vectors have {' and '.join(map(str, sorted(sizes)))} numbers: the embedding "
                "model is not the one that the index was begun with"
            )
        self.size: int = sizes.pop() if sizes else 0
        self._firsts = [0, *accumulate(len(vectors) for vectors in self._pieces)]
        self.ends: Places = numpy.cumsum(counts_of_all)
        self.position: NDArray[numpy.uint32] = numpy.repeat(
            numpy.arange(len(alive), dtype=numpy.uint32), counts_of_all
        )
        self.living: Places = numpy.flatnonzero(alive[self.position])

    def __len__(self) -> int:
        """How many rows there are, those of deleted documents too."""
        return self._firsts[-1]

    def blocks(self, size: int = BLOCK) -> Iterator[tuple[int, Matrix]]:
        """All rows, piece by piece, each with the number of its first."""
        for first, piece in zip(self._firsts, self._pieces, strict=False):
            for start in range(0, len(piece), size):
                yield first + start, piece[start : start + size]

    def living_blocks(self, size: int = BLOCK) -> Iterator[tuple[Places, Matrix]]:
        """The rows that count, piece by piece, with their numbers."""
        import numpy

        for first, block in self.blocks(size):
            begin = int(numpy.searchsorted(self.living, first))
            end = int(numpy.searchsorted(self.living, first + len(block)))
            rows = self.living[begin:end]
            if len(rows):
                yield rows, block if len(rows) == len(block) else block[rows - first]

    def take(self, rows: Places) -> Matrix:
        """These rows, in their order."""
        import numpy

        found: Matrix = numpy.empty((len(rows), self.size), numpy.float32)
        owners = numpy.searchsorted(self._firsts, rows, "right") - 1
        for number in numpy.unique(owners).tolist():
            here = owners == number
            found[here] = self._pieces[number][rows[here] - self._firsts[number]]
        return found

    def rows_of(self, positions: Places) -> tuple[Places, Places]:
        """The rows of these documents one after another, and where those of each begin."""
        import numpy

        ends = self.ends[positions]
        counts = ends - numpy.where(positions > 0, self.ends[positions - 1], 0)
        firsts = numpy.cumsum(counts) - counts
        return numpy.repeat(ends - counts - firsts, counts) + numpy.arange(counts.sum()), firsts
