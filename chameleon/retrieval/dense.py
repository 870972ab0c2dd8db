"""The vectors of an index: opened, and brought up to date with its documents."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from chameleon.errors import InputError
from chameleon.retrieval.embeddings import embedder
from chameleon.retrieval.engine import Damaged
from chameleon.retrieval.faiss_vectors import FaissVectors
from chameleon.retrieval.index import Index
from chameleon.retrieval.manifest import BUILDING, VECTORS, Manifest, is_index
from chameleon.retrieval.texts import about, texts
from chameleon.retrieval.vector_stores import StoreVectors, store_of
from chameleon.retrieval.vectors import Vectors, sum_of

if TYPE_CHECKING:
    from langchain_core.vectorstores import VectorStore

GIVEN = "given"
"""What the manifest says of a store that is an object: whoever opens the index gives it again."""
TEXTS = 8
_AT_ONCE = 64
_SAVED_EVERY = 60.0  # seconds
_WHOLE = 0x2144DF1C  # the CRC-32 of whatever ends with its own CRC-32


def bring_up_to_date(
    index: Index, vectors: Vectors, progress: Callable[[int, int | None], object] | None = None
) -> None:
    """Give every document of an index its vectors, and take those of others out.

    What was done is saved about once a minute, so that a build that dies goes on from there.
    """
    places = list(index.places())
    living, there = dict(zip(index.keys(places), places, strict=True)), vectors.keys()
    gone = sorted(there - living.keys())
    if not is_index(index.path):  # a build that died has left them, maybe by another model
        vectors.change(gone, ())
        gone = []
    new, saved = [(key, place) for key, place in living.items() if key not in there], time.monotonic()
    for start in range(0, len(new), _AT_ONCE):
        some = new[start : start + _AT_ONCE]
        documents = [(key, index.document_at(place)) for key, place in some]
        written = [(key, [about(each), *texts(each, TEXTS)]) for key, each in documents]
        vectors.change((), [(key, list(dict.fromkeys(said))) for key, said in written])
        if progress:
            progress(start + len(some), len(new))
        if time.monotonic() - saved > _SAVED_EVERY:
            vectors.save(is_last=False)
            saved = time.monotonic()
    vectors.change(gone, ())  # last: whoever has the old index open finds them
    vectors.save()


def open_vectors(index: Index, store: VectorStore | None = None) -> Vectors:
    """Open the vectors of an index; `store` is its store where that is an object.

    Raises `MissingPackage`, `InputError` where a build that died has left documents without vectors, and
    `Damaged` for a file that is not as it was written.
    """
    found = opened_for_build(index.path, index.manifest, store)
    if (index.path / BUILDING).exists() and found.keys() != set(index.keys(list(index.places()))):
        raise InputError(
            "the vectors of this index are not finished",
            where=str(index.path),
            hint="Wait for who builds it, or run the command again; {first: bm25} needs no vectors.",
        )
    return found


def opened_for_build(path: Path, manifest: Manifest, store: VectorStore | None) -> Vectors:
    """Open vectors that need not be those of all documents. Raises what `open_vectors` raises."""
    folder, is_file = path / VECTORS, manifest.store in ("flat", "hnsw")
    file = folder / ("faiss.index" if is_file else "stored.npy")
    if not file.exists() and is_index(path) and not (path / BUILDING).exists():
        raise Damaged("the file is missing", where=str(file))
    if file.exists() and sum_of(file) != _WHOLE:
        raise Damaged("the file is damaged", where=str(file))
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
    return StoreVectors(file, store or store_of(manifest.store, model, folder))
