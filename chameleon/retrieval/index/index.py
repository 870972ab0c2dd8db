"""`Index`: documents in a folder on disk, with what finds them."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chameleon.errors import InputError
from chameleon.retrieval.document import Document
from chameleon.retrieval.index import manifest as manifests
from chameleon.retrieval.index.files import allow_files
from chameleon.retrieval.index.manifest import MANIFEST, SEGMENTS, Manifest
from chameleon.retrieval.index.records import LINES, Catalogue, Ids
from chameleon.retrieval.index.segments import SEGMENT_SIZE, Progress
from chameleon.retrieval.part import Part, Searcher

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

_TRIES = 5


class Index:
    """Documents and the parts that search them, opened memory-mapped; made by `open` and `build`.

    An opened index stays as it is while others build; one serves all threads.
    """

    def __init__(self, path: Path, manifest: Manifest) -> None:
        """Check every file, but of the documents the size alone. Raises `InputError`."""
        finished = manifest.finished
        if finished is None:
            raise InputError("the index is not finished", where=str(path))
        self.path, self.manifest = path, manifest
        self._finished = path / finished.name
        self._segments = [path / SEGMENTS / segment.name for segment in manifest.segments]
        finished.check(self._finished)
        for folder, segment in zip(self._segments, manifest.segments, strict=True):
            segment.check(folder, without=LINES)
        allow_files(2 * sum(len(folder.files) for folder in (finished, *manifest.segments)))
        self.catalogue = Catalogue(self._finished, self._segments)
        self._searchers: dict[str, Searcher] = {}
        self._lock = threading.Lock()

    @classmethod
    def open(cls, path: str | Path) -> Index:
        """The index in a folder.

        Raises `InputError` for a folder that holds none, or one that is damaged or was written by a newer
        version.
        """
        folder = Path(path)
        found = manifests.at(folder)
        for _ in range(_TRIES):
            try:
                return cls(folder, found)
            except InputError:  # a build that ended meanwhile has removed what the older manifest names
                if (newer := manifests.at(folder)) == found:
                    raise
                found = newer
        return cls(folder, found)

    @classmethod
    def build(
        cls,
        path: str | Path,
        documents: Iterable[Document],
        parts: Sequence[Part] | None = None,
        *,
        progress: Progress | None = None,
        segment_size: int = SEGMENT_SIZE,
        workers: int = 1,
        retriever: str = "",
    ) -> Index:
        """Make an index in this folder, or add to the one that is there.

        A document with an id that the index has is kept where it says the same, and replaces the old one
        where not. Until the last moment the old index stays in place; what is done when the process dies is
        not done again by the next call with the same documents. `parts` are those of the index that is there,
        or those of the retriever `auto`. A segment has at most `segment_size` documents; `workers` processes
        write segments. A new index remembers the name of the `retriever` that its parts are for.

        Raises `InputError` for an id that is given twice, other parts than the index has, a folder with
        something else in it, and when the disk takes no more.
        """
        from chameleon.retrieval.index.build import Build

        with Build(
            Path(path), parts, cls.open, segment_size=segment_size, workers=workers, retriever=retriever
        ) as build:
            build.add(documents, progress)
            build.commit()
        return cls.open(path)

    @classmethod
    def delete(cls, path: str | Path, ids: Iterable[str]) -> Index:
        """Take documents out of the index in a folder. Raises `InputError` for an id that is not in it."""
        from chameleon.retrieval.index.build import Build

        manifests.at(Path(path))
        with Build(Path(path), None, cls.open) as build:
            build.delete(ids)
            build.commit()
        return cls.open(path)

    def __len__(self) -> int:
        return len(self.catalogue)

    def __repr__(self) -> str:
        return f"Index({str(self.path)!r}: {len(self):,} documents; {', '.join(self.settings)})"

    @property
    def ids(self) -> Sequence[str]:
        """The ids of all documents, in the order in which they were added."""
        return Ids(self.catalogue)

    @property
    def settings(self) -> Mapping[str, Mapping[str, Any]]:
        """The parts by their names, with their settings."""
        return self.manifest.parts

    @property
    def retriever(self) -> str:
        """The name of the retriever that it was built for; "" where only its parts were told."""
        return self.manifest.retriever

    def document(self, id: str) -> Document:
        """The document with this id. Raises `InputError` if there is none, or if it is damaged."""
        position = self.catalogue.find(id)
        if position is None:
            raise InputError(f"the index has no document {id!r}", where=str(self.path))
        return self.catalogue.line(position).document

    def documents(self) -> Iterator[Document]:
        """All documents, in the order in which they were added."""
        return (line.document for line in self.catalogue.lines())

    def ids_at(self, positions: NDArray[numpy.int64]) -> list[str]:
        """The ids of the documents at these positions."""
        return self.catalogue.ids(positions)

    def positions(self, ids: Iterable[str]) -> NDArray[numpy.int64]:
        """The positions of these documents. Raises `InputError` for an id that the index does not have."""
        import numpy

        found = []
        for id in ids:
            position = self.catalogue.find(id)
            if position is None:
                raise InputError(f"the index has no document {id!r}", where=str(self.path))
            found.append(position)
        return numpy.array(found, numpy.int64)

    def searcher(self, part: str) -> Searcher:
        """What searches a part of the index, opened once. Raises `InputError` for a part it does not have."""
        from chameleon.retrieval.parts import part_of

        if part not in self.settings:
            raise InputError(
                f"the index has no {part!r}; it has: {', '.join(self.settings)}",
                where=str(self.path),
                hint="Build it again for that retriever, in another folder.",
            )
        with self._lock:
            if part not in self._searchers:
                opened = part_of(part, self.settings[part])
                folders = [segment / part for segment in self._segments]
                try:
                    self._searchers[part] = opened.open(folders, self.catalogue.alive, self._finished / part)
                except OSError as problem:
                    raise InputError(str(problem), where=str(self._finished / part)) from problem
            return self._searchers[part]


def is_index(path: Path) -> bool:
    """Whether a folder holds an index."""
    return (path / MANIFEST).is_file()
