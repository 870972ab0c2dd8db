"""The vectors of an index: in a file of FAISS, or in a vector store of LangChain that the caller has made.

A document has up to nine vectors: one of its caption and header, and one for each of the first texts that it
is cut into; the best of them counts. Here it is known by its key in the index: when it came, and a digest of
what it says and by which model. So what a killed build has left in a vector store is not found.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence, Set
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chameleon.errors import InputError, require
from chameleon.lazy import cached_property
from chameleon.retrieval.embeddings import Embedder, embedder
from chameleon.retrieval.manifest import Manifest, replace_json
from chameleon.retrieval.models import telling

if TYPE_CHECKING:
    from langchain_core.vectorstores import VectorStore

GIVEN = "given"
"""The name of the embeddings of an index whose vectors are in a store that the caller gives."""
Found = list[tuple[int, float]]
"""Keys of documents with their scores, the best first."""
_TEXT_BITS = 4  # of the id of a vector in FAISS: which text of the document it is of, after its key
_KEY = "chameleon"
_WIDER = 4  # as many documents are asked for, to have the scores of those that words have found
_FAILED = "the vector store failed"


class FaissVectors:
    """A file of FAISS; a search compares all vectors. One serves all threads."""

    def __init__(self, file: Path, load: Callable[[], Embedder]) -> None:
        """Set the file, and what loads the model when it is asked. Raises `MissingPackage`, `InputError`."""
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
        """Embed documents: the key and the texts of each."""
        import numpy

        matrix = self._model().passages([text for _, texts in documents for text in texts])
        ids = numpy.array([key << _TEXT_BITS | n for key, texts in documents for n in range(len(texts))])
        if self._index is None or not self._index.ntotal:
            self._index = self._empty(matrix.shape[1])
        self._require_length(matrix)
        self._index.add_with_ids(matrix, ids)

    def keep(self, keys: Set[int]) -> None:
        """Take out all documents but these."""
        import numpy

        ids = self._ids()
        others = ids[~numpy.isin(ids >> _TEXT_BITS, numpy.array(sorted(keys), numpy.int64))]
        if len(others):
            self._index.remove_ids(others)

    def save(self) -> None:
        """Write them to the file, in one step. Raises `InputError`."""
        if self._index is None:
            self._index = self._empty(1)
        new = self.file.with_suffix(".new")
        try:
            self._faiss.write_index(self._index, str(new))
            new.replace(self.file)
        except (OSError, RuntimeError) as problem:
            raise InputError(f"the vectors cannot be written: {problem}", where=str(self.file)) from problem

    def clean(self) -> None:
        """Remove elsewhere what was taken out, once the index is committed: nothing, the file has all."""

    def nearest(self, queries: Sequence[str], k: int) -> list[Found]:
        """Return, of each query, up to `k` documents."""
        total, rows = self._index.ntotal if self._index is not None else 0, 4 * k
        if not total or not queries:
            return [[] for _ in queries]
        matrix = self._model().queries(queries)
        self._require_length(matrix)
        while True:
            scores, ids = self._index.search(matrix, min(rows, total))
            pairs = zip((ids >> _TEXT_BITS).tolist(), scores.tolist(), strict=True)
            found = [best_first(list(zip(*each, strict=True))) for each in pairs]
            if rows >= total or all(len(one) >= k for one in found):
                return [one[:k] for one in found]
            rows *= 2

    def scores(self, query: str, keys: Sequence[int]) -> list[float]:
        """Return how near these documents are; the least of all for one without vectors."""
        import numpy

        vector = self._model().queries([query])
        self._require_length(vector)
        ends = [[key + n << _TEXT_BITS for key in keys] for n in (0, 1)]
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
            what = f"the embedding model answers with {length} numbers, and the vectors have {self._index.d}"
            hint = "Use the model of that time, or build the index again in another folder."
            raise InputError(what, where=str(self.file), hint=hint)


class StoreVectors:
    """A vector store of LangChain; a file keeps which documents it was given, and in how many texts."""

    def __init__(self, file: Path, store: VectorStore, place: str) -> None:
        """Set the file, the store, and what the store knows this index by."""
        self.file, self.store, self.place = file, store, place
        self._counts: dict[int, int] = dict(json.loads(file.read_bytes())) if file.exists() else {}
        self._gone: list[str] = []

    def keys(self) -> set[int]:
        return set(self._counts)

    def add(self, documents: Sequence[tuple[int, list[str]]]) -> None:
        ids = [id for key, texts in documents for id in self._ids(key, len(texts))]
        metadatas = [{_KEY: self._name(key)} for key, texts in documents for _ in texts]
        # Some stores take no lone surrogates and no NUL.
        written = (text.encode("utf-8", "replace").decode() for _, texts in documents for text in texts)
        plain = [text.replace("\0", " ") for text in written]
        with telling(_FAILED):
            self.store.add_texts(plain, metadatas=metadatas, ids=ids)
        self._counts.update((key, len(texts)) for key, texts in documents)

    def keep(self, keys: Set[int]) -> None:
        for key in self.keys() - keys:
            self._gone += self._ids(key, self._counts.pop(key))

    def save(self) -> None:
        replace_json(self.file, sorted(self._counts.items()))

    def clean(self) -> None:
        if self._gone:
            with telling(_FAILED):
                self.store.delete(ids=self._gone)

    def nearest(self, queries: Sequence[str], k: int) -> list[Found]:
        return [self._nearest(query, k) for query in queries]

    def scores(self, query: str, keys: Sequence[int]) -> list[float]:
        """Return how near documents are; one that is not among the nearest scores as the last of these."""
        found = dict(self._nearest(query, _WIDER * len(keys)))
        least = min(found.values(), default=0.0)
        return [found.get(key, least) for key in keys]

    @cached_property
    def _keys_by_name(self) -> dict[str, int]:
        return {self._name(key): key for key in self._counts}

    def _nearest(self, query: str, k: int) -> Found:
        """Ask for texts until there are so many documents; some stores return distances, others cosines."""
        rows = 4 * k
        while self._counts and k:
            with telling(_FAILED):
                hits = self.store.similarity_search_with_score(query, k=rows)
            sign = -1.0 if hits and hits[0][1] < hits[-1][1] else 1.0
            names = [str(text.metadata.get(_KEY)) for text, _ in hits]
            pairs = zip(names, (sign * float(score) for _, score in hits), strict=True)
            # What else it holds belongs to somebody else, or is left from a killed build.
            known = self._keys_by_name
            found = best_first([(known[name], score) for name, score in pairs if name in known])
            if len(hits) < rows or len(found) >= k:
                if not found:
                    what = "the vector store has none of the documents of this index"
                    hint = "Give the store that it was built with, or build the index again."
                    raise InputError(what, where=str(self.file), hint=hint)
                return found[:k]
            rows *= 2
        return []

    def _name(self, key: int) -> str:
        return f"{self.place}-{key}"

    def _ids(self, key: int, count: int) -> list[str]:
        return [f"{self._name(key)}-{n}" for n in range(count)]


Vectors = FaissVectors | StoreVectors


def opened_vectors(data: Path, manifest: Manifest, store: VectorStore | None = None) -> Vectors:
    """Open the vectors in a folder of data; `store` is what they are in where that was an object.

    Raises `MissingPackage`, and `InputError` for a store that is not given, or given to an index of a file,
    and for an index that was built again after it was opened.
    """
    if (manifest.embeddings["name"] == GIVEN) != (store is not None):
        what = "an object of Python" if store is None else "a file, not an object"
        hint = "Give it again as `store`." if store is None else "Leave `store` out."
        raise InputError(f"the vector store of this index is {what}", where=str(data.parent), hint=hint)
    file = data / f"vectors-{manifest.embeddings_sum:08x}"
    if manifest.files and not file.exists():
        what = "the index was built again after it was opened"
        raise InputError(what, where=str(data.parent), hint="Open it again.")
    if store is not None:
        return StoreVectors(file, store, manifest.place)
    return FaissVectors(file, partial(embedder, **manifest.embeddings))


def require_faiss() -> None:
    """Raise `MissingPackage` where FAISS is not installed, or cannot be loaded."""
    require("faiss-cpu", "vectors in a file need", "faiss", module="faiss", imports=True)


def best_first(pairs: Sequence[tuple[int, float]]) -> Found:
    """Return each document once, with the best score of its vectors."""
    best: dict[int, float] = {}
    for key, score in pairs:
        best[key] = max(score, best.get(key, score))
    return sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))
