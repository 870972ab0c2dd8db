"""The vectors of an index, in a file of FAISS.

A document has up to nine vectors: one of its caption and header, and one for each of its first texts; the
best of them counts. It is identified by its key in the index: the order of adding, and a digest of the
content and the model.
"""

from collections.abc import Callable, Sequence, Set
from functools import partial
from pathlib import Path
from typing import Any

from chameleon.errors import InputError, require
from chameleon.lazy import cached_property
from chameleon.retrieval.embeddings import Embedder, embedder
from chameleon.retrieval.manifest import Manifest

Found = list[tuple[int, float]]
"""Keys of documents with their scores, the best first."""
_TEXT_BITS = 4  # of the id of a FAISS vector: the number of its text, after the document's key


class Vectors:
    """A file of FAISS; a search compares all vectors. One serves all threads."""

    def __init__(self, file: Path, load: Callable[[], Embedder]) -> None:
        """Set the file, and the loader of the model. Raises `MissingPackage`, `InputError`."""
        require_faiss()
        import faiss

        self._faiss, self.file, self._model = faiss, file, load
        try:
            self._index: Any = faiss.read_index(str(file)) if file.exists() else None
        except RuntimeError as problem:
            raise InputError("the vectors cannot be read", where=str(file)) from problem

    def keys(self) -> set[int]:
        """Return the keys of the documents that have vectors."""
        return set((self._ids() >> _TEXT_BITS).tolist())

    def add(self, documents: Sequence[tuple[int, list[str]]]) -> None:
        """Embed documents, given as the key and the texts of each."""
        import numpy

        matrix = self._model().passages([text for _, texts in documents for text in texts])
        ids = numpy.array([key << _TEXT_BITS | n for key, texts in documents for n in range(len(texts))])
        if self._index is None or not self._index.ntotal:
            self._index = self._empty(matrix.shape[1])
        self._require_length(matrix)
        self._index.add_with_ids(matrix, ids)

    def keep(self, keys: Set[int]) -> None:
        """Delete all documents except these."""
        import numpy

        ids = self._ids()
        stale = ids[~numpy.isin(ids >> _TEXT_BITS, numpy.array(sorted(keys), numpy.int64))]
        if len(stale):
            self._index.remove_ids(stale)

    def save(self) -> None:
        """Write the vectors to the file, atomically. Raises `InputError`."""
        if self._index is None:
            self._index = self._empty(1)
        new = self.file.with_suffix(".new")
        try:
            self._faiss.write_index(self._index, str(new))
            new.replace(self.file)
        except (OSError, RuntimeError) as problem:
            raise InputError(f"the vectors cannot be written: {problem}", where=str(self.file)) from problem

    def nearest(self, queries: Sequence[str], k: int) -> list[Found]:
        """Return up to `k` documents for each query."""
        total, rows = self._index.ntotal if self._index is not None else 0, 4 * k  # rows: one per text
        if not total or not queries:
            return [[] for _ in queries]
        matrix = self._model().queries(queries)
        self._require_length(matrix)
        while True:
            scores, ids = self._index.search(matrix, min(rows, total))
            pairs = zip((ids >> _TEXT_BITS).tolist(), scores.tolist(), strict=True)
            rankings = [_best_first(list(zip(*each, strict=True))) for each in pairs]
            if rows >= total or all(len(one) >= k for one in rankings):
                return [one[:k] for one in rankings]
            rows *= 2

    def scores(self, query: str, keys: Sequence[int]) -> list[float]:
        """Return how near these documents are, with the lowest score for one without vectors."""
        import numpy

        vector = self._model().queries([query])
        self._require_length(vector)
        ends = [[key + n << _TEXT_BITS for key in keys] for n in (0, 1)]  # first ids of a key and the next
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
            what = f"the embedding model has {length} dimensions, but the index has {self._index.d}"
            hint = "Use the model that built it, or build another index in a new folder."
            raise InputError(what, where=str(self.file), hint=hint)


def opened_vectors(data: Path, manifest: Manifest) -> Vectors:
    """Open the vectors in a folder of data.

    Raises `MissingPackage`, and `InputError` for an index that was rebuilt after it was opened.
    """
    file = data / f"vectors-{manifest.embeddings_sum:08x}"
    if manifest.files and not file.exists():
        what = "the index was rebuilt after it was opened"
        raise InputError(what, where=str(data.parent), hint="Open it again.")
    return Vectors(file, partial(embedder, **manifest.embeddings))


def require_faiss() -> None:
    """Raise `MissingPackage` if FAISS is not installed, or cannot be loaded."""
    require("faiss-cpu", "vectors in a file need", "faiss", module="faiss", imports=True)


def _best_first(pairs: Sequence[tuple[int, float]]) -> Found:
    """Return each document once, with the best score of its vectors."""
    best: dict[int, float] = {}
    for key, score in pairs:
        best[key] = max(score, best.get(key, score))
    return sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))
