"""Vectors in a graph of neighbours (HNSW; Malkov and Yashunin, 2018), by FAISS."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chameleon.errors import MissingPackage
from chameleon.retrieval.index.files import Damaged
from chameleon.retrieval.vectors.rows import Vectors
from chameleon.retrieval.vectors.store import Nearest, VectorStore

if TYPE_CHECKING:
    from chameleon.retrieval.vectors.rows import Matrix, Places

NEIGHBOURS, BREADTH = 32, 200
"""Of each vector in the graph; and candidates while the graph is made."""
_SEARCH_BREADTH = 128
_FILE = "hnsw.faiss"


class Hnsw(VectorStore):
    """Finds nearly all of the nearest, in a time that hardly grows with their number.

    FAISS makes the graph in memory, with a copy of all vectors; it is opened memory-mapped.
    """

    def check(self) -> None:
        if find_spec("faiss") is None:
            raise MissingPackage(
                "vectors in a graph (hnsw) need the package faiss-cpu",
                hint="pip install 'chameleon-compose[faiss]', or take the store flat.",
            )

    def write(self, vectors: Vectors, folder: Path) -> None:
        self.check()
        import faiss

        graph = faiss.IndexHNSWFlat(vectors.size, NEIGHBOURS, faiss.METRIC_INNER_PRODUCT)
        graph.hnsw.efConstruction = BREADTH
        for _, block in vectors.living_blocks():
            graph.add(block)
        try:
            faiss.write_index(graph, str(folder / _FILE))
        except RuntimeError as problem:
            raise OSError(f"the graph of vectors cannot be written: {_first_line(problem)}") from problem

    def open(self, vectors: Vectors, folder: Path) -> Nearest:
        self.check()
        import faiss

        path = folder / _FILE
        try:
            graph = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
        except RuntimeError as problem:
            told = f"the graph of vectors cannot be read: {_first_line(problem)}"
            raise Damaged(told, where=str(path)) from problem
        if graph.ntotal != len(vectors.living) or graph.d != vectors.size:
            raise Damaged("the graph is not one of these vectors", where=str(path))
        return _GraphRows(graph, vectors)


class _GraphRows(Nearest):
    def __init__(self, graph: Any, vectors: Vectors) -> None:
        self._graph, self._vectors = graph, vectors

    def rows(self, queries: Matrix, k: int) -> tuple[Places, Matrix]:
        import faiss
        import numpy

        breadth = faiss.SearchParametersHNSW(efSearch=max(_SEARCH_BREADTH, 2 * k))
        cosines, places = self._graph.search(numpy.ascontiguousarray(queries), k, params=breadth)
        rows: Places = numpy.where(places < 0, -1, self._vectors.living[places])
        return rows, numpy.where(places < 0, numpy.float32(0), cosines)


def _first_line(problem: Exception) -> str:
    return str(problem).strip().splitlines()[-1][:200]
