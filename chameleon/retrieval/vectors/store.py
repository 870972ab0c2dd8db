"""`VectorStore`: what finds the vectors nearest to a query; subclass it to plug in another."""

from __future__ import annotations

import re
import sys
from abc import ABC, abstractmethod
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from chameleon.errors import InputError
from chameleon.retrieval.vectors.rows import Vectors

if TYPE_CHECKING:
    from chameleon.retrieval.vectors.rows import Matrix, Places

FLAT = "flat"
_BUILT_IN = {
    FLAT: "chameleon.retrieval.vectors.flat:Flat",
    "hnsw": "chameleon.retrieval.vectors.hnsw:Hnsw",
    "pgvector": "chameleon.retrieval.vectors.pgvector:PgVector",
}
_CLASS = re.compile(r"[^\W\d][\w.]*:[^\W\d]\w*")


class VectorStore(ABC):
    """Searches the vectors of an index; made without arguments, so settings come from the environment.

    The vectors themselves stay in the index's segments, memory-mapped: a store keeps what it needs beside
    them, in the folder that it is given or on a server.
    """

    def check(self) -> None:
        """Raise `MissingPackage` or `InputError` for a package or a setting that is missing."""
        return

    def reach(self) -> None:
        """Raise `InputError` for a server that does not answer: asked before anything is embedded."""
        return

    @abstractmethod
    def write(self, vectors: Vectors, folder: Path) -> None:
        """Make what finds the living rows, of which there is at least one; their folder is there and empty.

        A crash leaves the index as it was before, so a server keeps what an earlier call made.
        """

    @abstractmethod
    def open(self, vectors: Vectors, folder: Path) -> Nearest:
        """What searches the rows. Raises `InputError` if what `write` made is not there."""


class Nearest(ABC):
    """Finds rows. One serves all threads."""

    @abstractmethod
    def rows(self, queries: Matrix, k: int) -> tuple[Places, Matrix]:
        """Of each query, a unit vector, up to `k` living rows with the greatest cosines, and these.

        Two matrices of (queries, k), the nearest first; where fewer are found the last rows are -1.
        """


def is_store(name: str) -> bool:
    """Whether it is the name of a store, or is formed like that of a class."""
    return name in _BUILT_IN or _CLASS.fullmatch(name) is not None


def store_named(name: str, *, load: bool = False) -> VectorStore:
    """The store `flat`, `hnsw` or `pgvector`, or one of the class that "package.module:Class" names.

    With `load` its module is imported; without, it must have been: no index has code imported that whoever
    uses it did not name. Raises `InputError`.
    """
    if not is_store(name):
        close = get_close_matches(name, _BUILT_IN, n=1, cutoff=0.5)
        hint = (
            f"Did you mean {close[0]!r}?"
            if close
            else "There are: flat, hnsw, pgvector, package.module:Class."
        )
        raise InputError(f"there is no store of vectors {name!r}", hint=hint)
    module, _, attribute = _BUILT_IN.get(name, name).partition(":")
    found = getattr(_module(module, name, load=load or name in _BUILT_IN), attribute, None)
    if not (isinstance(found, type) and issubclass(found, VectorStore)):
        raise InputError(f"the store of vectors {name!r} is no subclass of VectorStore")
    return found()


def _module(module: str, name: str, *, load: bool) -> object:
    if not load:
        if module not in sys.modules:
            raise InputError(
                f"the index's vectors are in the store {name!r}, which is not loaded",
                hint=f"Name the retriever dense@{name}, or import {module}.",
            )
        return sys.modules[module]
    try:
        return import_module(module)
    except ImportError as problem:
        raise InputError(f"the store of vectors {name!r} cannot be imported: {problem}") from problem
