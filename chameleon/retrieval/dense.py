"""The vectors of an index: opened, and made for its documents."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from chameleon.errors import InputError
from chameleon.retrieval.document import Document
from chameleon.retrieval.embeddings import embedder
from chameleon.retrieval.engine import Damaged
from chameleon.retrieval.faiss_vectors import FaissVectors
from chameleon.retrieval.index import Index
from chameleon.retrieval.manifest import VECTORS, Manifest, is_index
from chameleon.retrieval.texts import about, texts
from chameleon.retrieval.vector_stores import StoreVectors, store_of
from chameleon.retrieval.vectors import Vectors, sum_of

if TYPE_CHECKING:
    from langchain_core.vectorstores import VectorStore

GIVEN = "given"
"""What the manifest says of a store that is an object, and of the model that such a one embeds by."""
TEXTS = 8
_AT_ONCE = 64
_SAVED_EVERY = 60.0  # seconds
_WHOLE = 0x2144DF1C  # the CRC-32 of whatever ends with its own CRC-32


class Embedding:
    """Gives documents their vectors while they are added to an index.

    What was done is saved about once a minute, so that a build that dies goes on from there.
    """

    def __init__(self, vectors: Vectors) -> None:
        self.vectors, self._there = vectors, vectors.keys()
        self._waiting: list[tuple[int, list[str]]] = []
        self._saved, self._has_changed = time.monotonic(), False

    def add(self, key: int, document: Document) -> None:
        """Embed a document, unless it has its vectors."""
        if key in self._there:
            return
        self._there.add(key)
        self._waiting.append((key, list(dict.fromkeys([about(document), *texts(document, TEXTS)]))))
        if len(self._waiting) >= _AT_ONCE:
            self._embed()

    def save(self) -> None:
        """Bring to the disk what was added; what is to go is still there."""
        self._embed()
        if self._has_changed:
            self.vectors.save(is_last=False)

    def finish(self, index: Index) -> None:
        """Embed what has no vectors yet, and take out those of other documents."""
        places = list(index.places())
        keys = index.keys(places)
        for key, place in zip(keys, places, strict=True):
            if key not in self._there:
                self.add(key, index.document_at(place))
        self._embed()
        if gone := sorted(self._there.difference(keys)):
            self.vectors.change(gone, ())
        if gone or self._has_changed or not len(index):
            self.vectors.save()

    def _embed(self) -> None:
        if self._waiting:
            self.vectors.change((), self._waiting)
            self._waiting, self._has_changed = [], True
        if self._has_changed and time.monotonic() - self._saved > _SAVED_EVERY:
            self.vectors.save(is_last=False)
            self._saved = time.monotonic()


def opened_vectors(
    path: Path, manifest: Manifest, store: VectorStore | None = None, *, for_build: bool = False
) -> Vectors:
    """Open the vectors of an index; `store` is its store where that is an object.

    Raises `MissingPackage`, `Damaged` for a file that is not as it was written, and `InputError` for a store
    that is not given, or given to an index of another.
    """
    folder, is_file = path / VECTORS, manifest.store in ("flat", "hnsw")
    file = folder / ("faiss.index" if is_file else "stored.npy")
    if file.exists() and sum_of(file) != _WHOLE:
        raise Damaged("the file is damaged", where=str(file))
    if not file.exists() and is_index(path) and (folder.exists() or not for_build):
        raise Damaged("the file is missing", where=str(file))
    if (manifest.store == GIVEN) != (store is not None):
        what = "an object of Python" if store is None else f"{manifest.store!r}, not an object"
        raise InputError(
            f"the vector store of this index is {what}",
            where=str(path),
            hint="Give it again as `store`." if store is None else "Leave `store` out.",
        )
    load = partial(embedder, **manifest.embeddings)
    folder.mkdir(exist_ok=True)
    if is_file:
        return FaissVectors(file, load, manifest.store)
    made = store if store is not None else store_of(manifest.store, load(), manifest.place, make=for_build)
    return StoreVectors(file, made, manifest.place)
