"""Vectors in a file of FAISS."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chameleon.errors import InputError, require
from chameleon.retrieval.vectors import Found, Vectors, best_first, put

if TYPE_CHECKING:
    from chameleon.retrieval.embeddings import Embedder

_VIEWS = 4  # the bits of a vector's id that follow its document's key: which of its texts
_NEIGHBOURS = 32  # of each vector in a graph, as FAISS recommends


def require_faiss() -> None:
    """Raise `MissingPackage` where FAISS is not installed, or cannot be loaded."""
    require("faiss-cpu", "vectors in a file need", "faiss", module="faiss", imports=True)


class FaissVectors(Vectors):
    """A file of FAISS: `flat` compares all vectors, `hnsw` follows a graph (Malkov and Yashunin, 2018)."""

    def __init__(self, file: Path, load: Callable[[], Embedder], kind: str) -> None:
        """Set the file, what loads the embedding model when it is first asked, and the kind."""
        require_faiss()
        import faiss

        self._faiss, self.file, self._model, self.kind = faiss, file, load, kind
        self._index: Any = faiss.read_index(str(file)) if file.exists() else None

    def keys(self) -> set[int]:
        return set((self._ids() >> _VIEWS).tolist())

    def change(self, gone: Sequence[int], new: Sequence[tuple[int, list[str]]]) -> None:
        import numpy

        if self._index is not None and self._is_graph():  # which nothing can be taken out of
            self._move(self._faiss.IndexFlatIP(self._index.d))
        if gone:
            ids = self._ids()
            self._index.remove_ids(ids[numpy.isin(ids >> _VIEWS, numpy.array(gone))])
        if new:
            matrix = self._model().passages([text for _, said in new for text in said])
            ids = numpy.array([key << _VIEWS | n for key, said in new for n in range(len(said))])
            if self._index is None or not self._index.ntotal:
                self._index = self._faiss.IndexIDMap2(self._faiss.IndexFlatIP(matrix.shape[1]))
            self._require_length(matrix)
            self._index.add_with_ids(matrix, ids)

    def save(self, *, is_last: bool = True) -> None:
        if self._index is None:
            self._index = self._faiss.IndexIDMap2(self._faiss.IndexFlatIP(1))
        if is_last and self.kind == "hnsw" and not self._is_graph():
            graph = self._faiss.IndexHNSWFlat(self._index.d, _NEIGHBOURS, self._faiss.METRIC_INNER_PRODUCT)
            graph.hnsw.efConstruction, graph.hnsw.efSearch = 200, 128
            self._move(graph)
        beside = self.file.with_suffix(".new")
        try:
            self._faiss.write_index(self._index, str(beside))
            put(beside, self.file)
        except (OSError, RuntimeError) as problem:
            raise InputError(f"the vectors cannot be written: {problem}", where=str(self.file)) from problem

    def nearest(self, queries: Sequence[str], k: int) -> list[Found]:
        total, rows = self._index.ntotal if self._index is not None else 0, 4 * k
        if not total or not queries:
            return [[] for _ in queries]
        asked = self._model().queries(queries)
        self._require_length(asked)
        while True:
            scores, ids = self._index.search(asked, min(rows, total))
            pairs = zip((ids >> _VIEWS).tolist(), scores.tolist(), strict=True)
            found = [best_first([pair for pair in zip(*each, strict=True) if pair[0] >= 0]) for each in pairs]
            if rows >= total or all(len(one) >= k for one in found):
                return [one[:k] for one in found]
            rows *= 2

    def scores(self, query: str, keys: Sequence[int]) -> list[float]:
        import numpy

        asked = self._model().queries([query])
        self._require_length(asked)
        ends = [[key + n << _VIEWS for key in keys] for n in (0, 1)]
        places: Any = numpy.searchsorted(self._sorted, ends)
        some = [self._sorted[low:high] for low, high in places.T]
        return [
            float((self._index.reconstruct_batch(ids) @ asked[0]).max()) if len(ids) else -1.0 for ids in some
        ]

    @cached_property
    def _sorted(self) -> Any:
        import numpy

        return numpy.sort(self._ids())

    def _ids(self) -> Any:
        import numpy

        if self._index is None:
            return numpy.empty(0, numpy.int64)
        return self._faiss.vector_to_array(self._index.id_map)

    def _vectors(self) -> Any:
        return self._faiss.downcast_index(self._index.index)

    def _is_graph(self) -> bool:
        return hasattr(self._vectors(), "hnsw")

    def _move(self, empty: Any) -> None:
        """Put all vectors into an empty index of another kind."""
        moved = self._faiss.IndexIDMap2(empty)
        if self._index.ntotal:
            moved.add_with_ids(self._vectors().reconstruct_n(0, self._index.ntotal), self._ids())
        self._index = moved

    def _require_length(self, vectors: Any) -> None:
        now = vectors.shape[1]
        if self._index is not None and self._index.ntotal and now != self._index.d:
            raise InputError(
                f"the embedding model answers with {now} numbers, and the vectors have {self._index.d}",
                where=str(self.file),
                hint="Use the model of that time, or build the index again in another folder.",
            )
