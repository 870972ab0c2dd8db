"""Vectors in a file of FAISS."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chameleon.errors import InputError, require
from chameleon.retrieval.vectors import Found, Vectors, best_first

if TYPE_CHECKING:
    from chameleon.retrieval.embeddings import Embedder

_VIEWS = 4  # the bits of a vector's id that follow its document's key: which of its texts


def require_faiss() -> None:
    """Raise `MissingPackage` where FAISS is not installed, or cannot be loaded."""
    require("faiss-cpu", "vectors in a file need", "faiss", module="faiss", imports=True)


class FaissVectors(Vectors):
    """A file of FAISS; a search compares all vectors."""

    def __init__(self, file: Path, load: Callable[[], Embedder]) -> None:
        """Set the file, and what loads the embedding model when it is first asked.

        Raises `MissingPackage`, and `InputError` for a file that cannot be read.
        """
        require_faiss()
        import faiss

        self._faiss, self.file, self._model = faiss, file, load
        try:
            self._index: Any = faiss.read_index(str(file)) if file.exists() else None
        except RuntimeError as problem:
            raise InputError("the vectors cannot be read", where=str(file)) from problem

    def keys(self) -> set[int]:
        return set((self._ids() >> _VIEWS).tolist())

    def add(self, documents: Sequence[tuple[int, list[str]]]) -> None:
        import numpy

        matrix = self._model().passages([text for _, texts in documents for text in texts])
        ids = numpy.array([key << _VIEWS | n for key, texts in documents for n in range(len(texts))])
        if self._index is None or not self._index.ntotal:
            self._index = self._empty(matrix.shape[1])
        self._require_length(matrix)
        self._index.add_with_ids(matrix, ids)

    def keep(self, keys: Set[int]) -> None:
        import numpy

        ids = self._ids()
        others = ids[~numpy.isin(ids >> _VIEWS, numpy.array(sorted(keys), numpy.int64))]
        if len(others):
            self._index.remove_ids(others)

    def save(self, file: Path) -> None:
        if self._index is None:
            self._index = self._empty(1)
        new = file.with_suffix(".new")
        try:
            self._faiss.write_index(self._index, str(new))
            new.replace(file)
        except (OSError, RuntimeError) as problem:
            raise InputError(f"the vectors cannot be written: {problem}", where=str(file)) from problem

    def clean(self) -> None:
        """Do nothing: the file has all."""

    def nearest(self, queries: Sequence[str], k: int) -> list[Found]:
        total, rows = self._index.ntotal if self._index is not None else 0, 4 * k
        if not total or not queries:
            return [[] for _ in queries]
        matrix = self._model().queries(queries)
        self._require_length(matrix)
        while True:
            scores, ids = self._index.search(matrix, min(rows, total))
            pairs = zip((ids >> _VIEWS).tolist(), scores.tolist(), strict=True)
            found = [best_first(list(zip(*each, strict=True))) for each in pairs]
            if rows >= total or all(len(one) >= k for one in found):
                return [one[:k] for one in found]
            rows *= 2

    def scores(self, query: str, keys: Sequence[int]) -> list[float]:
        import numpy

        vector = self._model().queries([query])
        self._require_length(vector)
        ends = [[key + n << _VIEWS for key in keys] for n in (0, 1)]
        places: Any = numpy.searchsorted(self._sorted, ends)
        some = [self._sorted[low:high] for low, high in places.T]
        return [
            float((self._index.reconstruct_batch(ids) @ vector[0]).max()) if len(ids) else -1.0
            for ids in some
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

    def _empty(self, length: int) -> Any:
        return self._faiss.IndexIDMap2(self._faiss.IndexFlatIP(length))

    def _require_length(self, vectors: Any) -> None:
        length = vectors.shape[1]
        if self._index is not None and self._index.ntotal and length != self._index.d:
            raise InputError(
                f"the embedding model answers with {length} numbers, and the vectors have {self._index.d}",
                where=str(self.file),
                hint="Use the model of that time, or build the index again in another folder.",
            )
