"""The vectors of an index: a file by FAISS, or any vector store of LangChain, brought up to date by itself.

A document has up to nine vectors: one of its caption and header, and one for each of the first texts that it
is cut into; the best of them counts. Here it is known by a key: its number, and 28 bits of a digest of what
it says and by which model. So what a build that died has left is used where it fits, and nowhere else.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

from chameleon.errors import InputError, MissingPackage
from chameleon.retrieval.embeddings import Embedder, embedder
from chameleon.retrieval.engine import Damaged
from chameleon.retrieval.manifest import BUILDING, VECTORS, is_index
from chameleon.retrieval.texts import about, texts

if TYPE_CHECKING:
    from langchain_core.vectorstores import VectorStore

    from chameleon.retrieval.index import Index
    from chameleon.retrieval.manifest import Manifest

GIVEN = "given"
"""What the manifest says of a store that is an object: whoever opens the index gives it again."""
TEXTS = 8
_VIEWS, _DIGEST = 4, 28  # bits of a vector's id, after those of the document's number
_AT_ONCE = 64
_SAVED_EVERY = 60.0  # seconds
_NEIGHBOURS = 32  # of each vector in a graph, as FAISS recommends
_WHOLE = 0x2144DF1C  # the CRC-32 of whatever ends with its own CRC-32

Found = list[tuple[int, float]]
"""Numbers of documents with their scores, the best first."""


class Vectors(ABC):
    """What keeps the vectors of documents and finds the nearest. One serves all threads."""

    @abstractmethod
    def keys(self) -> set[int]:
        """Return the keys of the documents that have vectors."""

    @abstractmethod
    def change(self, gone: Sequence[int], new: Sequence[tuple[int, list[str]]]) -> None:
        """Take documents out, and others in: the key and the texts of each."""

    @abstractmethod
    def save(self, *, is_last: bool = True) -> int:
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
    vectors = _opened(index.path, index.manifest, store)
    numbers, places = zip(*index.numbered(), strict=True) if len(index) else ((), ())
    model = repr(sorted(index.manifest.embeddings.items()))
    digests = [crc32(f"{content} {model}".encode()) >> 4 for content in index.contents(places)]
    keys = [number << _DIGEST | digest for number, digest in zip(numbers, digests, strict=True)]
    living = dict(zip(keys, places, strict=True))
    there = vectors.keys()
    gone = sorted(there - living.keys())
    if not is_index(index.path):  # a build that died has left them, maybe by another model
        vectors.change(gone, ())
        gone = []
    new = ((key, place) for key, place in living.items() if key not in there)
    saved = time.monotonic()
    while some := list(islice(new, _AT_ONCE)):
        documents = [(key, index.document_at(place)) for key, place in some]
        written = [(key, [about(each), *texts(each, TEXTS)]) for key, each in documents]
        vectors.change((), [(key, list(dict.fromkeys(said))) for key, said in written])
        if time.monotonic() - saved > _SAVED_EVERY:
            vectors.save(is_last=False)
            saved = time.monotonic()
    vectors.change(gone, ())  # last: whoever has the old index open finds them
    return vectors.save()


def open_vectors(path: Path, manifest: Manifest, store: VectorStore | None = None) -> Vectors:
    """Open the vectors of an index; `store` is its store where that is an object.

    Raises `MissingPackage`, `InputError` where a build that died has left documents without vectors, and
    `Damaged` for a file that is not as it was written.
    """
    from chameleon.retrieval.index import Index

    found = _opened(path, manifest, store)
    if (path / BUILDING).exists():
        there = set(map(number_of, found.keys()))
        if any(number not in there for number, _ in Index.open(path).numbered()):
            raise InputError(
                "the vectors of this index are not finished",
                where=str(path),
                hint="Wait for who builds it, or run the command again; {first: bm25} needs no vectors.",
            )
    return found


def _opened(path: Path, manifest: Manifest, store: VectorStore | None) -> Vectors:
    folder = path / VECTORS
    is_file = manifest.store in ("flat", "hnsw")
    file = folder / ("faiss.index" if is_file else "stored.npy")
    if (manifest.vectors or file.exists()) and _sum(file) != _WHOLE:
        raise Damaged("the file is damaged" if file.exists() else "the file is missing", where=str(file))
    if manifest.store == GIVEN and store is None:
        raise InputError(
            "the vectors of this index are in a store that is an object of Python",
            where=str(path),
            hint="Give it: make_retriever(index, store=…).",
        )
    model = embedder(**manifest.embeddings)
    folder.mkdir(exist_ok=True)
    if is_file:
        return FaissVectors(file, model, manifest.store)
    from chameleon.retrieval.vector_stores import StoreVectors, store_of

    return StoreVectors(file, store or store_of(manifest.store, model, folder))


class FaissVectors(Vectors):
    """A file of FAISS: `flat` compares all vectors, `hnsw` follows a graph (Malkov and Yashunin, 2018)."""

    def __init__(self, file: Path, model: Embedder, kind: str) -> None:
        try:
            import faiss
        except ImportError:
            raise MissingPackage(
                "vectors in a file need the package faiss-cpu", hint="pip install faiss-cpu"
            ) from None
        self._faiss, self.file, self.model, self.kind = faiss, file, model, kind
        self._index: Any = faiss.read_index(str(file)) if file.exists() else None

    def keys(self) -> set[int]:
        return set((self._ids() >> _VIEWS).tolist())

    def change(self, gone: Sequence[int], new: Sequence[tuple[int, list[str]]]) -> None:
        import numpy

        if self._index is not None and hasattr(self._inner(), "hnsw"):  # which nothing can be taken out of
            self._move(self._faiss.IndexFlatIP(self._index.d))
        if gone:
            ids = self._ids()
            self._index.remove_ids(ids[numpy.isin(ids >> _VIEWS, numpy.array(gone))])
        if new:
            matrix = self.model.passages([text for _, said in new for text in said])
            ids = numpy.array([key << _VIEWS | n for key, said in new for n in range(len(said))])
            if self._index is None or not self._index.ntotal:
                self._index = self._faiss.IndexIDMap2(self._faiss.IndexFlatIP(matrix.shape[1]))
            self._require_length(matrix)
            self._index.add_with_ids(matrix, ids)

    def save(self, *, is_last: bool = True) -> int:
        if self._index is None:
            return 0
        if is_last and self.kind == "hnsw" and not hasattr(self._inner(), "hnsw"):
            graph = self._faiss.IndexHNSWFlat(self._index.d, _NEIGHBOURS, self._faiss.METRIC_INNER_PRODUCT)
            graph.hnsw.efConstruction, graph.hnsw.efSearch = 200, 128
            self._move(graph)
        beside = self.file.with_suffix(".new")
        try:
            self._faiss.write_index(self._index, str(beside))
            return put(beside, self.file)
        except (OSError, RuntimeError) as problem:
            raise InputError(f"the vectors cannot be written: {problem}", where=str(self.file)) from problem

    def nearest(self, queries: Sequence[str], k: int) -> list[Found]:
        total, rows = self._index.ntotal if self._index is not None else 0, 4 * k
        if not total or not queries or k < 1:
            return [[] for _ in queries]
        asked = self.model.queries(queries)
        self._require_length(asked)
        while True:
            scores, ids = self._index.search(asked, min(rows, total))
            found = [_documents(*pair) for pair in zip(ids.tolist(), scores.tolist(), strict=True)]
            if rows >= total or all(len(one) >= k for one in found):
                return [one[:k] for one in found]
            rows *= 2

    def scores(self, query: str, numbers: Sequence[int]) -> list[float]:
        import numpy

        asked = self.model.queries([query])
        self._require_length(asked)
        ends = [[number + n << _DIGEST + _VIEWS for number in numbers] for n in (0, 1)]
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

    def _inner(self) -> Any:
        return self._faiss.downcast_index(self._index.index)

    def _move(self, empty: Any) -> None:
        """Put all vectors into an empty index of another kind."""
        moved = self._faiss.IndexIDMap2(empty)
        if self._index.ntotal:
            moved.add_with_ids(self._inner().reconstruct_n(0, self._index.ntotal), self._ids())
        self._index = moved

    def _require_length(self, vectors: Any) -> None:
        now = vectors.shape[1]
        if self._index is not None and now != self._index.d:
            raise InputError(
                f"the embedding model answers with {now} numbers, and the vectors have {self._index.d}",
                where=str(self.file),
                hint="Use the model of that time, or build the index again in another folder.",
            )


def _documents(ids: Iterable[int], scores: Iterable[float]) -> Found:
    """Return each document once, with its best score, from its vectors, the best first."""
    best: dict[int, float] = {}
    for id, score in zip(ids, scores, strict=True):
        if id >= 0:
            best.setdefault(number_of(id >> _VIEWS), score)
    return sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))


def number_of(key: int) -> int:
    """Return the number of the document with this key."""
    return key >> _DIGEST


def put(beside: Path, file: Path) -> int:
    """Put a file in the place of the old one, with its checksum at its end; return that."""
    found = _sum(beside)
    with beside.open("ab") as opened:
        opened.write(found.to_bytes(4, "little"))
    beside.replace(file)
    return found


def _sum(file: Path) -> int:
    """Return the CRC-32 of a file, 0 where there is none."""
    found = 0
    with suppress(OSError), file.open("rb") as opened:
        while block := opened.read(1 << 22):
            found = crc32(block, found)
    return found
