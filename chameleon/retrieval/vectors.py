"""`Vectors`: what keeps the vectors of an index and finds the nearest.

A document has up to nine vectors: one of its caption and header, and one for each of the first texts that it
is cut into; the best of them counts. Here it is known by its key in the index: when it came, and a digest of
what it says and by which model. So what a killed build has saved is used where it fits, and nowhere else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence, Set
from pathlib import Path

Found = list[tuple[int, float]]
"""Keys of documents with their scores, the best first."""


class Vectors(ABC):
    """What keeps the vectors of documents and finds the nearest. One serves all threads."""

    @abstractmethod
    def keys(self) -> set[int]:
        """Return the keys of the documents that have vectors."""

    @abstractmethod
    def add(self, documents: Sequence[tuple[int, list[str]]]) -> None:
        """Embed documents: the key and the texts of each."""

    @abstractmethod
    def keep(self, keys: Set[int]) -> None:
        """Take out all documents but these."""

    @abstractmethod
    def save(self, file: Path) -> None:
        """Write them to a file, in one step. Raises `InputError`."""

    @abstractmethod
    def clean(self) -> None:
        """Remove elsewhere what was taken out: the index without it has been committed."""

    @abstractmethod
    def nearest(self, queries: Sequence[str], k: int) -> list[Found]:
        """Return, of each query, up to `k` documents."""

    @abstractmethod
    def scores(self, query: str, keys: Sequence[int]) -> list[float]:
        """Return how near these documents are; the least of all for one without vectors."""


def best_first(pairs: Sequence[tuple[int, float]]) -> Found:
    """Return each document once, with the best score of its vectors."""
    best: dict[int, float] = {}
    for key, score in pairs:
        best[key] = max(score, best.get(key, score))
    return sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))
