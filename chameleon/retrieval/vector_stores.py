"""Vectors in any vector store of LangChain that the caller has made."""

from __future__ import annotations

import json
from collections.abc import Sequence, Set
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from chameleon.errors import InputError
from chameleon.retrieval.manifest import replace_json
from chameleon.retrieval.models import telling
from chameleon.retrieval.vectors import Found, Vectors, best_first

if TYPE_CHECKING:
    from langchain_core.vectorstores import VectorStore

_KEY = "chameleon"
_WIDER = 4  # as many documents are asked for, to have the scores of those that words have found
_FAILED = "the vector store failed"


class StoreVectors(Vectors):
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
        plain = [_plain(text) for _, texts in documents for text in texts]
        with telling(_FAILED):
            self.store.add_texts(plain, metadatas=metadatas, ids=ids)
        self._counts.update((key, len(texts)) for key, texts in documents)

    def keep(self, keys: Set[int]) -> None:
        for key in self.keys() - keys:
            self._gone += self._ids(key, self._counts.pop(key))

    def save(self, file: Path) -> None:
        replace_json(file, sorted(self._counts.items()))

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
                    raise InputError(
                        "the vector store has none of the documents of this index",
                        where=str(self.file),
                        hint="Give the store that it was built with, or build the index again.",
                    )
                return found[:k]
            rows *= 2
        return []

    def _name(self, key: int) -> str:
        return f"{self.place}-{key}"

    def _ids(self, key: int, count: int) -> list[str]:
        return [f"{self._name(key)}-{n}" for n in range(count)]


def _plain(text: str) -> str:
    """Return a text as every store takes it."""
    return text.encode("utf-8", "replace").decode().replace("\0", " ")
