"""Segments: writing them, here or in processes of their own, and keeping them few and full."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from chameleon.errors import InputError
from chameleon.retrieval.index.files import failed, make_folder, sync
from chameleon.retrieval.index.manifest import Folder
from chameleon.retrieval.index.records import LINES, Line, write_lines
from chameleon.retrieval.part import Part

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from chameleon.retrieval.part import Piece

SEGMENT_SIZE = 8192
MOST_BYTES = 1 << 25
"""So many bytes of lines fill a segment, however few documents they are."""
Progress = Callable[[int, int | None], object]
"""Told how many documents are done, and of how many where that is known."""


@dataclass(slots=True)
class Segment:
    """A segment, and which of its documents count."""

    folder: Folder
    alive: NDArray[numpy.bool_]

    @property
    def living(self) -> int:
        return int(self.alive.sum())

    @property
    def bytes(self) -> int:
        return self.folder.files[LINES][0]


class Writer:
    """Writes segments, in this process or, with more than one worker, in others; their order is kept.

    `written` is told of each segment, in their order. Leaving the block ends the processes.
    """

    def __init__(
        self, root: Path, parts: Sequence[Part], number: int, workers: int, written: Callable[[Folder], None]
    ) -> None:
        self.root, self.parts, self.number, self.workers = root, parts, number, workers
        self._written = written
        self._pool: ProcessPoolExecutor | None = None
        self._waiting: deque[tuple[Path, Future[Folder]]] = deque()

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def write(self, lines: Sequence[Line]) -> None:
        """Write one segment, at once or soon. Raises `InputError` for a full disk."""
        path = self.root / f"{self.number:06d}"
        self.number += 1
        if self.workers == 1:
            self._written(self._placed(path, _write(path, self.parts, lines)))
            return
        if self._pool is None:
            from multiprocessing import get_context

            self._pool = ProcessPoolExecutor(self.workers, get_context("spawn"), _end_with_parent)
        bare = [line.line for line in lines]
        self._waiting.append((path, self._pool.submit(_write_lines, path, self.parts, bare)))
        while len(self._waiting) > self.workers:
            self._take()

    def join(self, pieces: Sequence[Piece], lines: Sequence[Line]) -> Folder:
        """Write one segment of these lines, the living ones of others; `written` is not told of it."""
        path = self.root / f"{self.number:06d}"
        self.number += 1
        return self._placed(path, _write(path, self.parts, lines, pieces))

    def flush(self) -> None:
        """Wait until every segment is written."""
        while self._waiting:
            self._take()

    def _take(self) -> None:
        path, coming = self._waiting.popleft()
        try:
            folder = coming.result()
        except BrokenProcessPool as problem:
            raise InputError(
                "a process that writes segments has died",
                where=str(path),
                hint="Perhaps memory ran out: build again with fewer workers; what is done is kept.",
            ) from problem
        self._written(self._placed(path, folder))

    def _placed(self, path: Path, folder: Folder) -> Folder:
        try:
            (self.root / folder.name).rename(path)
        except OSError as problem:
            raise failed("written", path, problem) from problem
        sync(path)
        return Folder(path.name, folder.documents, folder.files)


def _end_with_parent() -> None:
    """End this process when the one that started it has died: killed, it cannot tell its processes to end."""
    from multiprocessing import parent_process

    parent = parent_process()
    assert parent is not None, "started by another process"

    def end() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end, daemon=True).start()


def _write_lines(path: Path, parts: Sequence[Part], lines: Sequence[bytes]) -> Folder:
    return _write(path, parts, [Line.parsed(line) for line in lines])


def _write(path: Path, parts: Sequence[Part], lines: Sequence[Line], pieces: Sequence[Piece] = ()) -> Folder:
    """Write a segment beside its place: a process whose build has died may still be at it."""
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    make_folder(beside)
    write_lines(beside, lines)
    documents = [line.document for line in lines]
    for part in parts:
        inside = beside / part.name
        make_folder(inside)
        try:
            if pieces:
                part.join([(piece / part.name, alive) for piece, alive in pieces], documents, inside)
            else:
                part.write(documents, inside)
        except OSError as problem:
            raise failed("written", inside, problem) from problem
    return Folder.written(beside, len(lines))


def groups(segments: Iterable[Segment], size: int) -> list[list[Segment]]:
    """The segments in their order, those together that should be written anew as one.

    A group of one is written anew too if more than a third of it is dead (`needs_writing`). Neighbours are
    joined while the first is no larger than the second and both fit into one, so that there are few however
    small the additions, and a document is written again seldom (as in a log-structured merge tree; O'Neil et
    al., 1996).
    """
    found: list[list[Segment]] = []
    for segment in segments:
        if not segment.living:
            continue
        found.append([segment])
        while len(found) > 1 and _join(found[-2], found[-1], size):
            last = found.pop()
            found[-1] += last
    return found


def needs_writing(group: Sequence[Segment]) -> bool:
    """Whether a group is not a segment that can stay as it is."""
    return len(group) > 1 or 3 * group[0].living < 2 * len(group[0].alive)


def _join(first: Sequence[Segment], second: Sequence[Segment], size: int) -> bool:
    before, after = (sum(segment.living for segment in group) for group in (first, second))
    fits = sum(segment.bytes for segment in (*first, *second)) <= MOST_BYTES
    return before <= after and before + after <= size and fits
