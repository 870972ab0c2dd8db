"""Vectors in a vector store of LangChain: by name, by class, or one that the caller made."""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from chameleon.errors import InputError, MissingPackage, require
from chameleon.retrieval.embeddings import Embedder
from chameleon.retrieval.models import telling
from chameleon.retrieval.vectors import Found, Vectors, best_first, put
from chameleon.text import one_line

if TYPE_CHECKING:
    from langchain_core.vectorstores import VectorStore

VARIABLE = "CHAMELEON_PGVECTOR"
_KEY = "chameleon"
_WIDER = 4  # as many documents are asked for, to have the scores of those that words have found
_MODEL_PARAMETERS = ("embedding", "embeddings", "embedding_function", "embedding_service")
"""What the stores of LangChain call their embedding model."""


class StoreVectors(Vectors):
    """A vector store of LangChain; `file` keeps which documents it was given, and in how many texts."""

    def __init__(self, file: Path, store: VectorStore, place: str) -> None:
        """Set the file, the store, and what the store knows this index by."""
        import numpy

        self.file, self.store, self.place = file, store, place
        self._given: dict[int, int] = dict(numpy.load(file).tolist()) if file.exists() else {}

    def keys(self) -> set[int]:
        return set(self._given)

    def change(self, gone: Sequence[int], new: Sequence[tuple[int, list[str]]]) -> None:
        old = [f"{self.place}-{key}-{n}" for key in gone for n in range(self._given[key])]
        ids = [f"{self.place}-{key}-{n}" for key, said in new for n in range(len(said))]
        keys = [{_KEY: f"{self.place}-{key}"} for key, said in new for _ in said]
        written = [_plain(text) for _, said in new for text in said]
        with _asking():
            if old:
                self.store.delete(ids=old)
            if ids:
                self.store.add_texts(written, metadatas=keys, ids=ids)
        for key in gone:
            del self._given[key]
        self._given.update((key, len(said)) for key, said in new)

    def save(self, *, is_last: bool = True) -> None:
        import numpy

        beside = self.file.with_name("stored.new.npy")
        try:
            numpy.save(beside, numpy.array(sorted(self._given.items()), numpy.int64).reshape(-1, 2))
            put(beside, self.file)
        except OSError as problem:
            raise InputError(f"cannot be written: {problem.strerror}", where=str(self.file)) from problem

    def nearest(self, queries: Sequence[str], k: int) -> list[Found]:
        return [self._nearest(query, k) for query in queries]

    def scores(self, query: str, keys: Sequence[int]) -> list[float]:
        """Return how near documents are; one that is not among the nearest is told as the last of these."""
        found = dict(self._nearest(query, _WIDER * len(keys)))
        least = min(found.values(), default=0.0)
        return [found.get(key, least) for key in keys]

    @cached_property
    def _names(self) -> dict[str, int]:
        return {f"{self.place}-{key}": key for key in self._given}

    def _nearest(self, query: str, k: int) -> Found:
        """Ask for texts until there are so many documents; some stores tell distances, others cosines."""
        rows = 4 * k
        while self._given and k:
            with _asking():
                hits = self.store.similarity_search_with_score(query, k=rows)
            sign = -1.0 if hits and hits[0][1] < hits[-1][1] else 1.0
            names = [str(text.metadata.get(_KEY)) for text, _ in hits]
            scores = [sign * float(score) for _, score in hits]
            pairs = [(self._names.get(name, -1), score) for name, score in zip(names, scores, strict=True)]
            # What else it has is somebody else's, or what a build that died has left.
            found = best_first([pair for pair in pairs if pair[0] >= 0])
            if len(hits) < rows or len(found) >= k:
                if not found:
                    raise InputError(
                        "the vector store has none of the documents of this index",
                        where=str(self.file.parent),
                        hint="Give the store that it was built with, or build the index again.",
                    )
                return found[:k]
            rows *= 2
        return []


def store_of(
    given: str | Mapping[str, Any], model: Embedder, place: str, *, make: bool = False
) -> VectorStore:
    """Return a vector store: "pgvector", {use: "package.module:Class", …} with its parameters.

    Raises `InputError` for what is none, or is not imported (`plug`); `MissingPackage` without a package.
    """
    if given == "pgvector":
        return _pgvector(model, place, make=make)
    from langchain_core.vectorstores import VectorStore

    assert isinstance(given, Mapping)
    name, parameters = str(given["use"]), {key: value for key, value in given.items() if key != "use"}
    module, _, attribute = name.partition(":")
    if module not in sys.modules:
        raise InputError(
            f"the vectors of this index are in the store {name!r}, which is not loaded",
            hint=f"Name it: {{first: dense, store: {{use: {name!r}}}}}, or import {module}.",
        )
    made = getattr(sys.modules[module], attribute, None)
    if not (isinstance(made, type) and issubclass(made, VectorStore)):
        raise InputError(f"there is no vector store {name!r}", hint="Name it package.module:Class.")
    known = inspect.signature(made).parameters
    wanted = next((parameter for parameter in _MODEL_PARAMETERS if parameter in known), None)
    with _asking():
        found: VectorStore = made(**({wanted: _for_langchain(model)} if wanted else {}), **parameters)
    return found


def plug(name: str) -> None:
    """Import the module of a store that the user names. Raises `MissingPackage` if it cannot be."""
    try:
        import_module(name.partition(":")[0])
    except (ImportError, ValueError, TypeError) as problem:
        raise MissingPackage(
            f"the vector store {name!r} cannot be imported",
            hint=f"{one_line(str(problem), 200)}. Name package.module:Class of one that is installed.",
        ) from problem


def _for_langchain(model: Embedder) -> Any:
    """Return the model, with its prefixes, as LangChain's stores call one."""
    from langchain_core.embeddings import Embeddings

    class WithPrefixes(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            found: list[list[float]] = model.passages(texts).tolist()
            return found

        def embed_query(self, text: str) -> list[float]:
            found: list[float] = model.query(text).tolist()
            return found

    return WithPrefixes()


def _pgvector(model: Embedder, table: str, *, make: bool) -> VectorStore:
    """Open this index's table on the server that the environment names; it is compared row by row: exact.

    `make` makes it where it is not there.

    Each search connects anew, so that none stays open or is found cut.
    """
    require(
        "langchain-postgres",
        "vectors in PostgreSQL need",
        "pgvector",
        module="langchain_postgres",
        imports=True,
    )
    from langchain_postgres import PGEngine, PGVectorStore
    from sqlalchemy.exc import ProgrammingError
    from sqlalchemy.pool import NullPool

    address = os.environ.get(VARIABLE, "").strip().partition("://")[2]
    if not address:
        raise InputError(
            "no PostgreSQL server is named for the vectors",
            hint=f"Set the environment variable {VARIABLE}, such as postgresql://user:password@host/database.",
        )
    with _asking():
        engine = PGEngine.from_connection_string(f"postgresql+psycopg://{address}", poolclass=NullPool)
        if make:
            id_column: Any = {"name": "langchain_id", "data_type": "TEXT", "nullable": False}
            with suppress(ProgrammingError):  # it is there
                engine.init_vectorstore_table(table, len(model.query("size")), id_column=id_column)
        found: VectorStore = PGVectorStore.create_sync(engine, _for_langchain(model), table)
    return found


def _plain(text: str) -> str:
    """Return a text as every store takes it."""
    return text.encode("utf-8", "replace").decode().replace("\0", " ")


def _asking() -> AbstractContextManager[None]:
    """Tell what a store raises as `ModelError`, without what the server's address says."""
    address = os.environ.get(VARIABLE, "").strip()
    parts = re.split(r"[:/@?&=]+", address.partition("://")[2])
    return telling("the vector store failed", also=[address, *parts, *map(unquote, parts)])
