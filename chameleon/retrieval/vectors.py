"""The vectors of an index: a file by FAISS, or any vector store of LangChain, brought up to date by itself.

A document is known by its number, and has up to nine vectors: one of its caption and header, and one for
each of the first texts that it is cut into. The best of them counts.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

from chameleon.errors import InputError, MissingPackage
from chameleon.retrieval.embeddings import Embedder, embedder
from chameleon.retrieval.engine import Damaged
from chameleon.retrieval.manifest import VECTORS
from chameleon.retrieval.texts import about, texts

if TYPE_CHECKING:
    from langchain_core.vectorstores import VectorStore

    from chameleon.retrieval.index import Index
    from chameleon.retrieval.manifest import Manifest

GIVEN = "given"
"""What the manifest says of a store that is an object: whoever opens the index gives it again."""
TEXTS = 8
_VIEWS = 16  # numbers of vectors are those of documents times this
_AT_ONCE = 64
_SAVED_EVERY = 60.0  # seconds
_NEIGHBOURS = 32  # of each vector in a graph, as FAISS recommends

Found = list[tuple[int, float]]
"""Numbers of documents with their scores, the best first."""


class Vectors(ABC):
    """What keeps the vectors of documents and finds the nearest. One serves all threads."""

    @abstractmethod
    def numbers(self) -> set[int]:
        """Return the numbers of the documents that have vectors."""

    @abstractmethod
    def change(self, gone: Sequence[int], new: Sequence[tuple[int, list[str]]]) -> None:
        """Take documents out, and others in: the number and the texts of each."""

    @abstractmethod
    def save(self) -> int:
        """Bring what was changed to the disk, in one step; return a checksum of it."""

    @abstractmethod
    def nearest(self, queries: Sequence[str], k: int) -> list[Found]:
        """Return, of each query, up to `k` documents."""

    @abstractmethod
    def scores(self, query: str, numbers: Sequence[int]) -> list[float]:
        """Return how near these documents are; the least of all for one without vectors."""


def bring_up_to_date(index: Index, store: VectorStore | None = None) -> int:
    """Give every document of an index its vectors, and take those of others out; return their checksum.

    What was done is saved about once a minute, so that a build that dies goes on from there.
    """
    vectors = open_vectors(index.path, index.manifest, store, is_building=True)
    living = dict(index.numbered())
    there = vectors.numbers()
    if gone := sorted(there - living.keys()):
        vectors.change(gone, ())
    new = ((number, place) for number, place in living.items() if number not in there)
    saved = time.monotonic()
    while some := list(islice(new, _AT_ONCE)):
        documents = [(number, index.document_at(place)) for number, place in some]
        written = [(number, [about(each), *texts(each, TEXTS)]) for number, each in documents]
        vectors.change((), [(number, list(dict.fromkeys(said))) for number, said in written])
        if time.monotonic() - saved > _SAVED_EVERY:
            vectors.save()
            saved = time.monotonic()
    return vectors.save()


def open_vectors(
    path: Path, manifest: Manifest, store: VectorStore | None = None, *, is_building: bool = False
) -> Vectors:
    """Open the vectors of an index; `store` is its store where that is an object.

    Raises `MissingPackage`, `InputError`, and `Damaged` for a file that is not as it was written.
    """
    model = embedder(**manifest.embeddings)
    folder = path / VECTORS
    folder.mkdir(exist_ok=True)
    if manifest.store in ("flat", "hnsw"):
        check = None if is_building else manifest.vectors
        return FaissVectors(folder / "faiss.index", model, manifest.store, check)
    from chameleon.retrieval.vector_stores import StoreVectors, store_of

    if manifest.store == GIVEN and store is None:
        raise InputError(
            "the vectors of this index are in a store that is an object of Python",
            where=str(path),
            hint="Give it: make_retriever(index, store=…).",
        )
    return StoreVectors(folder / "stored.npy", store or store_of(manifest.store, model, folder))


class FaissVectors(Vectors):
    """A file of FAISS: `flat` compares all vectors, `hnsw` follows a graph (Malkov and Yashunin, 2018)."""

    def __init__(self, file: Path, model: Embedder, kind: str, check: int | None) -> None:
        """Open the file, whose checksum is to be `check`; None does not ask. Raises `Damaged`."""
        try:
            import faiss
        except ImportError:
            raise MissingPackage(
                "vectors in a file need the package faiss-cpu", hint="pip install faiss-cpu"
            ) from None
        self._faiss, self.file, self.model, self.kind = faiss, file, model, kind
        self._index: Any = None
        if file.exists() or check:
            if check is not None and _sum(file) != check:
                raise Damaged("the file is damaged", where=str(file))
            try:
                self._index = faiss.read_index(str(file))
            except RuntimeError as problem:
                if check is not None:
                    raise Damaged("the file is damaged", where=str(file)) from problem

    def numbers(self) -> set[int]:
        return set((self._ids() // _VIEWS).tolist())

    def change(self, gone: Sequence[int], new: Sequence[tuple[int, list[str]]]) -> None:
        import numpy

        flat = self._flat()
        if gone and flat is not None:
            ids = self._ids()
            flat.remove_ids(ids[numpy.isin(ids // _VIEWS, numpy.array(gone))])
        if new:
            matrix = self.model.passages([text for _, said in new for text in said])
            ids = numpy.array([number * _VIEWS + n for number, said in new for n in range(len(said))])
            if flat is None:
                flat = self._faiss.IndexIDMap2(self._faiss.IndexFlatIP(matrix.shape[1]))
            if flat.d != matrix.shape[1]:
                raise self._other_length(matrix.shape[1], flat.d)
            flat.add_with_ids(matrix, ids)
        self._index = flat

    def save(self) -> int:
        if self._index is None:
            return 0
        made = self._graph() if self.kind == "hnsw" else self._index
        beside = self.file.with_suffix(".new")
        try:
            self._faiss.write_index(made, str(beside))
            beside.replace(self.file)
        except (OSError, RuntimeError) as problem:
            raise InputError(f"the vectors cannot be written: {problem}", where=str(self.file)) from problem
        return _sum(self.file)

    def nearest(self, queries: Sequence[str], k: int) -> list[Found]:
        if self._index is None or not queries or k < 1:
            return [[] for _ in queries]
        asked = self.model.queries(queries)
        if asked.shape[1] != self._index.d:
            raise self._other_length(asked.shape[1], self._index.d)
        total, rows = self._index.ntotal, 4 * k
        while True:
            scores, ids = self._index.search(asked, min(rows, total))
            found = [_documents(*pair) for pair in zip(ids.tolist(), scores.tolist(), strict=True)]
            if rows >= total or all(len(one) >= k for one in found):
                return [one[:k] for one in found]
            rows *= 2

    def scores(self, query: str, numbers: Sequence[int]) -> list[float]:
        import numpy

        asked, ids = self.model.query(query), numpy.sort(self._ids())
        found = []
        for number in numbers:
            low, high = (int(numpy.searchsorted(ids, (number + n) * _VIEWS)) for n in (0, 1))
            rows = [self._index.reconstruct(id) for id in ids[low:high].tolist()]
            found.append(float((numpy.stack(rows) @ asked).max()) if rows else -1.0)
        return found

    def _ids(self) -> Any:
        import numpy

        if self._index is None:
            return numpy.empty(0, numpy.int64)
        return self._faiss.vector_to_array(self._index.id_map)

    def _flat(self) -> Any:
        """Return what can be changed: of a graph its vectors."""
        inner = self._faiss.downcast_index(self._index.index) if self._index is not None else None
        if inner is None or not hasattr(inner, "hnsw"):
            return self._index
        flat = self._faiss.IndexIDMap2(self._faiss.IndexFlatIP(inner.d))
        flat.add_with_ids(inner.reconstruct_n(0, inner.ntotal), self._ids())
        return flat

    def _graph(self) -> Any:
        flat = self._faiss.downcast_index(self._index.index)
        graph = self._faiss.IndexHNSWFlat(flat.d, _NEIGHBOURS, self._faiss.METRIC_INNER_PRODUCT)
        graph.hnsw.efConstruction, graph.hnsw.efSearch = 200, 128
        made = self._faiss.IndexIDMap2(graph)
        if flat.ntotal:
            made.add_with_ids(flat.reconstruct_n(0, flat.ntotal), self._ids())
        made.own_fields = False
        self._kept = graph  # FAISS does not keep it
        return made

    def _other_length(self, now: int, before: int) -> InputError:
        return InputError(
            f"the embedding model has vectors of {now} numbers, and had {before} when the index was built",
            where=str(self.file),
            hint="Use the model of that time, or build the index again in another folder.",
        )


def _documents(ids: Iterable[int], scores: Iterable[float]) -> Found:
    """Return each document once, with its best score, from its vectors, the best first."""
    best: dict[int, float] = {}
    for id, score in zip(ids, scores, strict=True):
        if id >= 0:
            best.setdefault(id // _VIEWS, score)
    return sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))


def _sum(file: Path) -> int:
    found = 0
    try:
        with file.open("rb") as opened:
            for block in _blocks(opened):
                found = crc32(block, found)
    except OSError:
        return -1
    return found


def _blocks(opened: Any) -> Iterator[bytes]:
    while block := opened.read(1 << 22):
        yield block
