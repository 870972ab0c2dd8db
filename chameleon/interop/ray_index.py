"""Read and analyse the files of an index on the machines of a Ray cluster; the index is written here."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from chameleon.documents.file_reader import Broken, FileReader, FileToRead, IsFree, Part, parts_of
from chameleon.documents.scans import engine_installed
from chameleon.errors import MachineError, versions_of
from chameleon.evaluation.settings import versions
from chameleon.interop.ray_pool import MOST_LOST, SAME_FILES, Lost, OnCluster, Pool, Told, connect
from chameleon.retrieval.document import Document
from chameleon.retrieval.layout import Analysed
from chameleon.state import Failure
from chameleon.table.found import LeftOut

_READERS = ("lxml", "pypdfium2", "python-calamine", "duckdb", "PyStemmer", "charset-normalizer", "tantivy")
_FILES, _BYTES = 64, 4 << 20  # of one message to a worker
_LARGEST = 32 << 20  # bytes of a file that goes through memory whole; larger ones are read here
_AHEAD = 2  # messages under way for each worker
Read = Sequence[Part | Analysed]


def _surroundings() -> Told:
    return {"versions": {**versions(), **versions_of(*_READERS)}, "engine": engine_installed()}


class IndexWorker:
    """Reads files, and analyses their documents."""

    def begin(self, recipe: Mapping[str, Any], variables: Mapping[str, str]) -> Told:
        """Return what reading depends on here."""
        os.environ.update(variables)
        return _surroundings()

    def read(self, files: Sequence[tuple[str, str]]) -> Told:
        """Return what each file holds, by path and name: documents as an index keeps them."""
        try:
            return {"found": [list(self._parts(Path(path), name)) for path, name in files]}
        except Exception as problem:
            return {"raised": Failure.of(problem).to_json()}

    def _parts(self, path: Path, name: str) -> Iterator[Part | Analysed]:
        if not path.exists():
            raise MachineError("a worker has no such file", where=str(path), hint=SAME_FILES)
        for part in parts_of(path, name):
            yield Analysed.of(part) if isinstance(part, Document) else part


class RayReader(OnCluster, FileReader):
    """Reads files on the cluster at `address` (see `OnRay`), for `index_files(…, reader=…)`.

    What it gives equals what `FileReader` gives. Use it in `with`. Raises as `OnRay` does.
    """

    def __init__(self, address: str | None = None) -> None:
        self.ends_cluster = connect(address)
        ours = {name: value for name, value in os.environ.items() if name.startswith("CHAMELEON_")}
        self.pool = Pool(IndexWorker, {}, ours, _surroundings())
        self._known: dict[str, tuple[Document, Analysed]] = {}

    def read(
        self, files: Iterable[FileToRead], is_free: IsFree
    ) -> Iterator[tuple[FileToRead, Iterable[Part]]]:
        """Yield each file with what it holds, in their order, while others are being read."""
        waiting: deque[tuple[Sequence[FileToRead], Future[list[Read]] | None]] = deque()
        with ThreadPoolExecutor(_AHEAD * self.pool.count) as threads:
            try:
                for several in _several(files):
                    is_large = _size(several[0]) > _LARGEST
                    waiting.append((several, None if is_large else threads.submit(self._read, several)))
                    if len(waiting) > _AHEAD * self.pool.count:
                        yield from self._taken(*waiting.popleft(), is_free)
                while waiting:
                    yield from self._taken(*waiting.popleft(), is_free)
            finally:
                threads.shutdown(wait=False, cancel_futures=True)

    def analyse(self, document: Document) -> Analysed:
        """Return what an index keeps of a document: as a worker has told it, unless it was changed since."""
        known, analysed = self._known.pop(document.id, (None, None))
        return analysed if analysed is not None and known is document else Analysed.of(document)

    def _read(self, files: Sequence[FileToRead]) -> list[Read]:
        """Return what files hold; where workers are lost with them, one by one, and without the one."""
        asked = [(str(file.path), file.name) for file in files]
        for _ in range(MOST_LOST):
            if (worker := self.pool.take()) is None:
                break
            try:
                told = self.pool.call(worker, "read", asked)
            except Lost:
                continue
            finally:
                self.pool.give_back(worker)
            if "raised" in told:
                raise Failure(**told["raised"]).exception
            found: list[Read] = told["found"]
            return found
        if len(files) > 1:
            return [parts for file in files for parts in self._read([file])]
        return [[Broken(LeftOut(files[0].name, f"cannot be read ({MOST_LOST} workers were lost with it)"))]]

    def _taken(
        self, files: Sequence[FileToRead], future: Future[list[Read]] | None, is_free: IsFree
    ) -> Iterator[tuple[FileToRead, Iterable[Part]]]:
        """Yield what was read of files; one that gives a document the id of another's is read again, here."""
        self._known = {}
        for file, found in zip(files, future.result() if future else [None] * len(files), strict=True):
            parts = [] if found is None else [self._part(each) for each in found]
            documents = [each.id for each in parts if isinstance(each, Document)]
            if found is None or not all(is_free(file.path, id) for id in documents):
                yield file, parts_of(file.path, file.name, partial(is_free, file.path))
            else:
                yield file, parts

    def _part(self, part: Part | Analysed) -> Part:
        if not isinstance(part, Analysed):
            return part
        document = Document.from_json(json.loads(part.line.decode("utf-8", "surrogatepass")))
        self._known[document.id] = document, part
        return document


def _several(files: Iterable[FileToRead]) -> Iterator[list[FileToRead]]:
    """Yield as many files as go into one message, in their order; a large one alone."""
    held: list[FileToRead] = []
    total = 0
    for file in files:
        size = _size(file)
        if held and (len(held) >= _FILES or total + size > _BYTES):
            yield held
            held, total = [], 0
        held.append(file)
        total += size
    if held:
        yield held


def _size(file: FileToRead) -> int:
    return sum(size for size, _ in file.stamp)
