"""Making an index and adding to it: segments of documents, then what is made of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from chameleon.errors import InputError
from chameleon.retrieval.document import Document
from chameleon.retrieval.index import manifest as manifests
from chameleon.retrieval.index.files import allow_files, failed, locked, make_folder, remove, sync
from chameleon.retrieval.index.manifest import BUILDING, MANIFEST, SEGMENTS, Folder, Manifest
from chameleon.retrieval.index.pace import Pace
from chameleon.retrieval.index.records import Line, read_lines, read_records, write_catalogue
from chameleon.retrieval.index.segments import (
    MOST_BYTES,
    SEGMENT_SIZE,
    Progress,
    Segment,
    Writer,
    groups,
    needs_writing,
)
from chameleon.retrieval.part import Part

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from chameleon.retrieval.index.index import Index

_TOLD_EVERY = 100


class Build:
    """One change of an index, from its lock to its commit; until then the old index stays as it is.

    `segments` are those of the old index, then those that an earlier build left behind when it died, then the
    new ones; documents are numbered over all of them. Of an earlier build's only those count that are given
    again.
    """

    def __init__(
        self,
        path: Path,
        parts: Sequence[Part] | None,
        open_index: Callable[[Path], Index],
        *,
        segment_size: int = SEGMENT_SIZE,
        workers: int = 1,
        retriever: str = "",
    ) -> None:
        if segment_size < 1 or workers < 1:
            raise ValueError("a segment has at least one document, a build at least one worker")
        self.path, self._given, self._open, self._retriever = path, parts, open_index, retriever
        self._size, self._workers = segment_size, workers
        self._close = ExitStack()
        self._buffer: list[Line] = []
        self._bytes = 0
        self._seen: set[int] = set()
        self._changed = self._is_prepared = False

    def __enter__(self) -> Build:
        manifests.check_ours(self.path)
        with ExitStack() as close:
            close.enter_context(locked(self.path))
            self.old = self._open(self.path) if (self.path / MANIFEST).exists() else None
            self.parts = agreed(self._given, self.old)
            self._retriever = self.old.retriever if self.old else self._retriever
            self._pace = Pace(self._size, slow=any(part.is_slow for part in self.parts))
            self._alive = _alive(self.old)
            self.segments = self._old_segments()
            self._building: list[Folder] = []
            self._left = self._left_behind()
            number = self._clean()
            writer = Writer(self.path / SEGMENTS, self.parts, number, self._workers, self._written)
            self._writer = close.enter_context(writer)
            self._close = close.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close.__exit__(kind, error, trace)

    def add(self, documents: Iterable[Document], progress: Progress | None = None) -> None:
        """Take documents in. Raises `InputError` for an id that comes twice."""
        total = len(documents) if isinstance(documents, Sized) else None
        done = 0
        for done, document in enumerate(documents, 1):
            self._add(Line.of(document))
            if progress and done % _TOLD_EVERY == 0:
                progress(done, total)
        self._flush()
        self._writer.flush()
        if progress:
            progress(done, total)

    def delete(self, ids: Iterable[str]) -> None:
        """Take documents out. Raises `InputError` for an id that the index does not have."""
        if self.old is not None:
            gone = self.old.positions(ids)
            self._alive[gone] = False
            self._changed = self._changed or len(gone) > 0

    def commit(self) -> None:
        """Put the new state in the place of the old one, unless they are the same."""
        if self._changed or self.old is None:
            manifest = self._finished()
            manifest.write(self.path / MANIFEST)
            self.old = None
            self._forget(manifest)
        elif self._building:
            self._forget(self.old.manifest)

    def _add(self, line: Line) -> None:
        if line.key in self._seen:
            raise self._twice(line)
        self._seen.add(line.key)
        position = self.old.catalogue.find(line.document.id, line.key) if self.old else None
        if self.old and position is not None:
            if int(self.old.catalogue.records["content"][position]) == line.content:
                return
            self._alive[position] = False
        self._changed = True
        segment, place, content = self._left.pop(line.key, (None, 0, 0))
        if segment is not None and content == line.content:
            segment.alive[place] = True
            return
        self._buffer.append(line)
        self._bytes += len(line.line)
        if self._bytes >= MOST_BYTES or self._pace.is_due(len(self._buffer)):
            self._flush()

    def _flush(self) -> None:
        if self._buffer:
            if not self._is_prepared:
                for part in self.parts:
                    part.prepare()
                self._is_prepared = True
            self._pace.begins(len(self._buffer))
            self._writer.write(self._buffer)
            self._buffer, self._bytes = [], 0

    def _written(self, folder: Folder) -> None:
        """Keep a new segment, for this build and, if it dies, for the next."""
        import numpy

        self.segments.append(Segment(folder, numpy.ones(folder.documents, numpy.bool_)))
        self._building.append(folder)
        self._manifest(self._building).write(self.path / BUILDING)
        self._pace.ends()

    def _manifest(self, segments: Sequence[Folder], finished: Folder | None = None) -> Manifest:
        parts = {part.name: part.settings() for part in self.parts}
        return Manifest(parts, segments, finished, self._retriever)

    def _old_segments(self) -> list[Segment]:
        found, first = [], 0
        for folder in self.old.manifest.segments if self.old else ():
            found.append(Segment(folder, self._alive[first : first + folder.documents]))
            first += folder.documents
        return found

    def _left_behind(self) -> dict[int, tuple[Segment | None, int, int]]:
        """Where the documents lie that a build which died had written: segment, place and content by key."""
        import numpy

        try:
            left = Manifest.read(self.path / BUILDING)
        except InputError:  # there is none, or it is of no use
            return {}
        if left.parts != self._manifest([]).parts:
            return {}
        known = {segment.folder.name for segment in self.segments}
        found: dict[int, tuple[Segment | None, int, int]] = {}
        for folder in left.segments:
            if folder.name in known:
                continue
            path = self.path / SEGMENTS / folder.name
            try:
                folder.check(path)
            except InputError:  # it is written again
                continue
            segment = Segment(folder, numpy.zeros(folder.documents, numpy.bool_))
            self.segments.append(segment)
            self._building.append(folder)
            records = read_records(path)
            keys, contents = records["key"].tolist(), records["content"].tolist()
            for place, (key, content) in enumerate(zip(keys, contents, strict=True)):
                found[key] = segment, place, content
        return found

    def _clean(self) -> int:
        """Remove what no manifest names, and return a number that no segment has had."""
        kept = {segment.folder.name for segment in self.segments}
        root = self.path / SEGMENTS
        try:
            root.mkdir(exist_ok=True)
            names = {entry.name for entry in root.iterdir()}
        except OSError as problem:
            raise failed("written", root, problem) from problem
        for name in names - kept:
            remove(root / name)
        numbers = [int(name.partition(".")[0]) for name in names if name[:6].isdecimal()]
        return max(numbers, default=0) + 1

    def _finished(self) -> Manifest:
        """Write what is made of all segments."""
        import numpy

        kept = [self._one(group) for group in groups(self.segments, self._size)]
        allow_files(2 * sum(len(segment.folder.files) for segment in kept))
        folder = self.path / manifests.next_finished(self.old.manifest if self.old else None)
        make_folder(folder)
        paths = [self.path / SEGMENTS / segment.folder.name for segment in kept]
        alive = numpy.concatenate([numpy.empty(0, numpy.bool_), *(segment.alive for segment in kept)])
        write_catalogue(paths, alive, folder)
        for part in self.parts:
            inside = folder / part.name
            make_folder(inside)
            try:
                part.finish([path / part.name for path in paths], alive, inside)
            except OSError as problem:
                raise failed("written", inside, problem) from problem
        sync(folder)
        finished = Folder.written(folder, int(alive.sum()))
        return self._manifest([segment.folder for segment in kept], finished)

    def _one(self, group: Sequence[Segment]) -> Segment:
        """A group of segments as one, without what is deleted."""
        import numpy

        if not needs_writing(group):
            return group[0]
        root = self.path / SEGMENTS
        lines = [line for part in group for line in read_lines(root / part.folder.name, part.alive)]
        pieces = [(root / part.folder.name, part.alive) for part in group]
        return Segment(self._writer.join(pieces, lines), numpy.ones(len(lines), numpy.bool_))

    def _forget(self, manifest: Manifest) -> None:
        """Remove everything that the manifest, which stands, does not name."""
        remove(self.path / BUILDING)
        kept = {segment.name for segment in manifest.segments}
        finished = manifest.finished.name if manifest.finished else ""
        for path in (self.path / SEGMENTS).iterdir():
            if path.name not in kept:
                remove(path)
        for path in self.path.glob("final-*"):
            if path.name != finished:
                remove(path)

    def _twice(self, line: Line) -> InputError:
        """The error for an id that has come before, naming where both are from."""
        self._writer.flush()
        paths = [self.path / SEGMENTS / segment.folder.name for segment in self.segments]
        before = [other for other in self._buffer if other.key == line.key]
        for path, segment in zip(paths, self.segments, strict=True):
            same = (read_records(path)["key"] == line.key) & segment.alive
            before += read_lines(path, same) if same.any() else []
        first, second = before[0].document, line.document
        if first.id != second.id:
            return InputError(f"the ids {first.id!r} and {second.id!r} have one digest: change one of them")
        places = " and ".join(map(_place, (first, second)))
        return InputError(f"the id {second.id!r} is given twice: {places}", hint="Give each its own.")


def _place(document: Document) -> str:
    """Where a document is from, in a few words."""
    return ", ".join(f"{key} {value}" for key, value in document.source.items()) or f"{document.name!r}"


def _alive(old: Index | None) -> NDArray[numpy.bool_]:
    import numpy

    return old.catalogue.alive.copy() if old else numpy.empty(0, numpy.bool_)


def agreed(given: Sequence[Part] | None, old: Index | None) -> Sequence[Part]:
    """The parts of a build: those given, or those that the index has. Raises `InputError` if they differ."""
    from chameleon.retrieval.parts import part_of, parts_for

    if old is None:
        return parts_for("auto") if given is None else given
    parts = {name: part_of(name, settings) for name, settings in old.settings.items()}
    wanted = parts.values() if given is None else given
    if differing := _differing({part.name: part.settings() for part in wanted}, old.settings):
        raise InputError(
            f"the index was built with other parts: {differing}",
            where=str(old.path),
            hint="Build in another folder, or name the retriever that it was built for.",
        )
    return list(wanted)


def _differing(wanted: Mapping[str, Mapping[str, Any]], there: Mapping[str, Mapping[str, Any]]) -> str:
    """In what the settings of parts differ, in words."""
    if set(wanted) != set(there):
        return f"it has {', '.join(there)}, and not {', '.join(wanted)}"
    pairs = [
        f"{name}: {key} is {there[name].get(key)!r}, not {value!r}"
        for name, settings in wanted.items()
        for key, value in settings.items()
        if there[name].get(key) != value
    ]
    return "; ".join(pairs)
