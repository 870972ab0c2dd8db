"""`Vectors`: what keeps the vectors of an index and finds the nearest; a file of FAISS or a vector store.

A document has up to nine vectors: one of its caption and header, and one for each of the first texts that it
is cut into; the best of them counts. Here it is known by a key: its number, and 28 bits of a digest of what
it says and by which model. So what a build that died has left is used where it fits, and nowhere else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from zlib import crc32

VIEWS, DIGEST = 4, 28
"""The bits of a vector's id that follow those of its document's number: a digest, and which of its texts."""

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


def number_of(key: int) -> int:
    """Return the number of the document with this key."""
    return key >> DIGEST


def put(beside: Path, file: Path) -> int:
    """Put a file in the place of the old one, with its checksum at its end; return that."""
    found = sum_of(beside)
    with beside.open("ab") as opened:
        opened.write(found.to_bytes(4, "little"))
    beside.replace(file)
    return found


def sum_of(file: Path) -> int:
    """Return the CRC-32 of a file, 0 where there is none."""
    found = 0
    with suppress(OSError), file.open("rb") as opened:
        while block := opened.read(1 << 22):
            found = crc32(block, found)
    return found
