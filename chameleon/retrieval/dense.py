"""The vectors of an index: opened, and made for its documents."""

from __future__ import annotations

from collections.abc import Set
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from chameleon.errors import InputError
from chameleon.retrieval.document import Document
from chameleon.retrieval.embeddings import embedder
from chameleon.retrieval.manifest import Manifest
from chameleon.retrieval.texts import about, texts
from chameleon.retrieval.vectors import FaissVectors, StoreVectors, Vectors

if TYPE_CHECKING:
    from langchain_core.vectorstores import VectorStore

GIVEN = "given"
"""The name of the embeddings of an index whose vectors are in a store that the caller gives."""
TEXTS = 8
_AT_ONCE = 64


class Embedding:
    """Gives documents their vectors while they are added to an index."""

    def __init__(self, vectors: Vectors) -> None:
        """Set the vectors that are there."""
        self.vectors, self._there = vectors, vectors.keys()
        self._waiting: list[tuple[int, list[str]]] = []

    def add(self, key: int, document: Document) -> None:
        """Embed a document, unless it has its vectors."""
        if key in self._there:
            return
        self._there.add(key)
        self._waiting.append((key, list(dict.fromkeys([about(document), *texts(document, TEXTS)]))))
        if len(self._waiting) >= _AT_ONCE:
            self._embed()

    def finish(self, keys: Set[int]) -> None:
        """Embed what is left, take out all documents but these, and save. Raises `InputError`."""
        self._embed()
        self.vectors.keep(keys)
        self.vectors.save()

    def _embed(self) -> None:
        if self._waiting:
            self.vectors.add(self._waiting)
            self._waiting = []


def opened_vectors(data: Path, manifest: Manifest, store: VectorStore | None = None) -> Vectors:
    """Open the vectors in a folder of data; `store` is what they are in where that was an object.

    Raises `MissingPackage`, and `InputError` for a store that is not given, or given to an index of a file,
    and for an index that was built again after it was opened.
    """
    if (manifest.embeddings["name"] == GIVEN) != (store is not None):
        what = "an object of Python" if store is None else "a file, not an object"
        hint = "Give it again as `store`." if store is None else "Leave `store` out."
        raise InputError(f"the vector store of this index is {what}", where=str(data.parent), hint=hint)
    file = data / manifest.vectors_file
    if manifest.files and not file.exists():
        what = "the index was built again after it was opened"
        raise InputError(what, where=str(data.parent), hint="Open it again.")
    if store is not None:
        return StoreVectors(file, store, manifest.place)
    return FaissVectors(file, partial(embedder, **manifest.embeddings))
