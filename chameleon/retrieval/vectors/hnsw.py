"""Vectors in a graph of neighbours (HNSW; Malkov and Yashunin, 2018), by FAISS."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from chameleon.errors import MissingPackage
from chameleon.retrieval.vectors.faiss_files import has_faiss, read_faiss, write_faiss
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
        if not has_faiss():
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
        write_faiss(graph, folder / _FILE)

    def open(self, vectors: Vectors, folder: Path) -> Nearest:
        self.check()
        return _GraphRows(read_faiss(folder / _FILE, vectors), vectors)


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
