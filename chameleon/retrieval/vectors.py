"""`Vectors`: what keeps the vectors of an index and finds the nearest.

A document has up to nine vectors: one of its caption and header, and one for each of the first texts that it
is cut into; the best of them counts. Here it is known by its key in the index: when it came, and a digest of
what it says and by which model. So what a build that died has left is used where it fits, and nowhere else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from zlib import crc32

Found = list[tuple[int, float]]
"""Keys of documents with their scores, the best first."""


class Vectors(ABC):
    """What keeps the vectors of documents and finds the nearest. One serves all threads."""

    @abstractmethod
    def keys(self) -> set[int]:
        """Return the keys of the documents that have vectors."""

    @abstractmethod
    def change(self, gone: Sequence[int], new: Sequence[tuple[int, list[str]]]) -> None:
        """Take documents out, and others in: the key and the texts of each."""

    @abstractmethod
    def save(self, *, is_last: bool = True) -> None:
        """Bring what was changed to the disk, in one step."""

    @abstractmethod
    def nearest(self, queries: Sequence[str], k: int) -> list[Found]:
        """Return, of each query, up to `k` documents."""

    @abstractmethod
    def scores(self, query: str, keys: Sequence[int]) -> list[float]:
        """Return how near these documents are; the least of all for one without vectors."""


def put(beside: Path, file: Path) -> None:
    """Put a file in the place of the old one, with its checksum at its end."""
    found = sum_of(beside)
    with beside.open("ab") as opened:
        opened.write(found.to_bytes(4, "little"))
    beside.replace(file)


def sum_of(file: Path) -> int:
    """Return the CRC-32 of a file."""
    found = 0
    with suppress(OSError), file.open("rb") as opened:
        while block := opened.read(1 << 22):
            found = crc32(block, found)
    return found


def best_first(pairs: Sequence[tuple[int, float]]) -> Found:
    """Return each document once, with the best score of its vectors."""
    best: dict[int, float] = {}
    for key, score in pairs:
        best[key] = max(score, best.get(key, score))
    return sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))
