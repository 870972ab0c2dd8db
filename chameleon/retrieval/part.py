"""`Part`: what an index keeps of its documents for one way of searching them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from chameleon.retrieval.document import Document

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Piece: TypeAlias = tuple[Path, NDArray[numpy.bool_]]
    """A part's folder in a segment, and which of the segment's documents are alive."""


class Part(ABC):
    """Written segment by segment while an index is built, finished once, then opened to be searched.

    Documents have positions: 0, 1, … in the order of the segments and within them. Files are arrays
    (`numpy.save`, opened with `mmap_mode="r"` and without pickle), JSON, or a library's own format, pickle
    never. The index keeps their checksums: a part neither writes elsewhere nor changes a file later.
    """

    name: ClassVar[str]
    is_slow: ClassVar[bool] = False
    """Whether a model writes it: then segments are small enough for a crash to lose little."""

    @abstractmethod
    def settings(self) -> Mapping[str, Any]:
        """What the files depend on, as JSON: an index is only added to with the same settings."""

    def prepare(self) -> None:
        """Called before the first segment of a build: raise what would else come up after hours of work."""
        return

    @abstractmethod
    def write(self, documents: Sequence[Document], folder: Path) -> None:
        """Write one segment's files into this folder, which is there and empty."""

    def join(self, pieces: Sequence[Piece], documents: Sequence[Document], folder: Path) -> None:
        """Write one segment of several, of those documents that are alive; override it where that is slow."""
        self.write(documents, folder)

    @abstractmethod
    def finish(self, segments: Sequence[Path], alive: NDArray[numpy.bool_], folder: Path) -> None:
        """Write what is made of all segments into this folder, in memory that does not grow with them.

        `alive` says of each position whether the document still counts; a deleted one keeps its position.
        """

    @abstractmethod
    def open(self, segments: Sequence[Path], alive: NDArray[numpy.bool_], folder: Path) -> Searcher:
        """A searcher over the files, memory-mapped. Raises `InputError` naming a file that is broken."""


class Searcher(ABC):
    """Finds positions of documents. One serves all threads."""

    @abstractmethod
    def search(self, query: str, k: int) -> tuple[NDArray[numpy.int64], NDArray[numpy.float32]]:
        """The positions and scores of up to `k` living documents, the best first, ties by position."""

    def search_many(
        self, queries: Sequence[str], k: int
    ) -> list[tuple[NDArray[numpy.int64], NDArray[numpy.float32]]]:
        """A search for each query; override it where many at once cost less."""
        return [self.search(query, k) for query in queries]

    @abstractmethod
    def scores(self, query: str, positions: NDArray[numpy.int64]) -> NDArray[numpy.float32]:
        """The scores of these documents, in their order: what reranking asks for."""
