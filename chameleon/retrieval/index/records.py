"""The documents of an index as lines of JSON, and where each of them lies."""

from __future__ import annotations

import json
import os
import sys
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from chameleon.errors import InputError
from chameleon.retrieval.document import Document
from chameleon.retrieval.index.arrays import ArrayWriter, load, save
from chameleon.retrieval.index.files import Damaged, broken, failed

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

LINES = "documents.jsonl"
# Of a document: where its line begins and how long it is, the digests of its id and of its line, and where
# its id begins and ends in `ids.npy`.
_RECORD = [(name, "<u8") for name in ("start", "size", "key", "content", "id_start", "id_end")]
_ALIVE, _KEYS, _PLACES, _RECORDS, _IDS = "alive.npy", "keys.npy", "places.npy", "records.npy", "ids.npy"


class Line(NamedTuple):
    """A document with its line of JSON, and the digests of its id and of the line."""

    document: Document
    line: bytes
    key: int
    content: int

    @classmethod
    def of(cls, document: Document) -> Line:
        """Raises `InputError` for a document without an id."""
        if not document.id:
            raise InputError("a document has no id", where=", ".join(document.source.values()))
        text = json.dumps(document.to_json(), ensure_ascii=False, separators=(",", ":"))
        line = text.encode("utf-8", "surrogatepass") + b"\n"
        return cls(document, line, key_of(document.id), _digest(line))

    @classmethod
    def parsed(cls, line: bytes) -> Line:
        """The document of a line that `of` made."""
        document = Document.from_json(json.loads(line))
        return cls(document, line, key_of(document.id), _digest(line))


def key_of(id: str) -> int:
    """The number that a document's id is looked up by."""
    return _digest(id.encode("utf-8", "surrogatepass"))


def _digest(data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


def write_lines(folder: Path, lines: Sequence[Line]) -> None:
    """Write the documents of a segment. Raises `InputError` for a full disk."""
    import numpy

    ids = [line.document.id.encode("utf-8", "surrogatepass") for line in lines]
    records: NDArray[Any] = numpy.zeros(len(lines), _RECORD)
    records["size"] = [len(line.line) for line in lines]
    records["start"] = numpy.cumsum(records["size"]) - records["size"]
    records["key"] = numpy.array([line.key for line in lines], numpy.uint64)
    records["content"] = numpy.array([line.content for line in lines], numpy.uint64)
    sizes = numpy.array([len(id) for id in ids], numpy.uint64)
    records["id_end"] = numpy.cumsum(sizes)
    records["id_start"] = records["id_end"] - sizes
    save(folder / _RECORDS, records)
    save(folder / _IDS, numpy.frombuffer(b"".join(ids), numpy.uint8))
    path = folder / LINES
    try:
        with path.open("wb") as file:
            file.writelines(line.line for line in lines)
    except OSError as problem:
        raise failed("written", path, problem) from problem


def read_records(folder: Path) -> NDArray[Any]:
    """Where the documents of a segment lie. Raises `InputError`."""
    return load(folder / _RECORDS)


def read_lines(folder: Path, alive: NDArray[numpy.bool_]) -> Iterator[Line]:
    """Those documents of a segment that count. Raises `InputError` for one that is damaged."""
    path, records = folder / LINES, read_records(folder)
    try:
        with path.open("rb") as file:
            for place in alive.nonzero()[0].tolist():
                record = records[place]
                file.seek(int(record["start"]))
                yield _checked(file.read(int(record["size"])), record, path, f"number {place + 1}")
    except OSError as problem:
        raise failed("read", path, problem) from problem


def _checked(line: bytes, record: Any, path: Path, name: str) -> Line:
    if _digest(line) != int(record["content"]):
        raise Damaged(f"the document {name} is damaged", where=str(path))
    return Line.parsed(line)


def write_catalogue(segments: Iterable[Path], alive: NDArray[numpy.bool_], folder: Path) -> None:
    """Write what finds documents by position and by id, over all segments."""
    import numpy

    keys: NDArray[numpy.uint64] = numpy.empty(len(alive), numpy.uint64)
    count = base = 0
    with ArrayWriter(folder / _RECORDS, _RECORD) as records, ArrayWriter(folder / _IDS, "u1") as ids:
        for segment in segments:
            found = read_records(segment).copy()
            keys[count : count + len(found)] = found["key"]
            for field in ("id_start", "id_end"):
                found[field] += numpy.uint64(base)
            records.append(found)
            names = load(segment / _IDS)
            ids.append(names)
            count, base = count + len(found), base + len(names)
    living = numpy.flatnonzero(alive)
    order = numpy.argsort(keys[living], kind="stable")
    save(folder / _KEYS, keys[living][order])
    save(folder / _PLACES, living[order].astype(numpy.uint32))
    save(folder / _ALIVE, alive)


class Catalogue:
    """All documents of an index by position and by id, memory-mapped; documents are read when asked for."""

    def __init__(self, folder: Path, segments: Sequence[Path]) -> None:
        import numpy

        self.alive = load(folder / _ALIVE)
        self.records = load(folder / _RECORDS)
        self._keys, self._places = load(folder / _KEYS), load(folder / _PLACES)
        self._spans, self._names = self.records[["id_start", "id_end"]], memoryview(load(folder / _IDS))
        self._lines = [segment / LINES for segment in segments]
        if len(self.alive) != len(self.records):
            raise broken(folder / _RECORDS)
        counts = [len(read_records(segment)) for segment in segments]
        self._firsts = numpy.cumsum([0, *counts])
        self._files, self._seeking = _opened(self._lines), threading.Lock()
        weakref.finalize(self, _close, self._files)

    def __len__(self) -> int:
        """How many documents are alive."""
        return len(self._places)

    def id(self, position: int) -> str:
        """The id of the document at this position."""
        begin, end = self._spans[position].tolist()
        return str(self._names[begin:end], "utf-8", "surrogatepass")

    def ids(self, positions: NDArray[numpy.int64]) -> list[str]:
        """The ids of the documents at these positions."""
        names, spans = self._names, self._spans[positions].tolist()
        return [str(names[begin:end], "utf-8", "surrogatepass") for begin, end in spans]

    def find(self, id: str, key: int | None = None) -> int | None:
        """The position of the living document with this id."""
        import numpy

        wanted = numpy.uint64(key_of(id) if key is None else key)
        place = int(numpy.searchsorted(self._keys, wanted))
        while place < len(self._keys) and self._keys[place] == wanted:
            position = int(self._places[place])
            if self.id(position) == id:
                return position
            place += 1
        return None

    def line(self, position: int) -> Line:
        """The document at this position, with its line. Raises `InputError` if what lies there is damaged."""
        import numpy

        number = int(numpy.searchsorted(self._firsts, position, side="right")) - 1
        record = self.records[position]
        path = self._lines[number]
        try:
            line = self._read(self._files[number], int(record["size"]), int(record["start"]))
        except OSError as problem:
            raise failed("read", path, problem) from problem
        return _checked(line, record, path, repr(self.id(position)))

    def _read(self, file: int, size: int, start: int) -> bytes:
        if sys.platform != "win32":
            return os.pread(file, size, start)
        with self._seeking:  # there threads share the place in a file
            os.lseek(file, start, os.SEEK_SET)
            return os.read(file, size)

    def lines(self) -> Iterator[Line]:
        """The living documents, in their order."""
        return (self.line(position) for position in range(len(self.alive)) if self.alive[position])


class Ids(Sequence[str]):
    """The ids of the living documents, in their order, each read when asked for."""

    def __init__(self, catalogue: Catalogue) -> None:
        import numpy

        self._catalogue = catalogue
        self._positions = numpy.flatnonzero(catalogue.alive)

    def __len__(self) -> int:
        return len(self._positions)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return self._catalogue.ids(self._positions[place])
        return self._catalogue.id(int(self._positions[place]))

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self._catalogue.find(id) is not None


def _opened(paths: Sequence[Path]) -> list[int]:
    opened: list[int] = []
    try:
        for path in paths:
            opened.append(os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0)))
    except OSError as problem:
        _close(opened)
        raise failed("read", path, problem) from problem
    return opened


def _close(files: Sequence[int]) -> None:
    for file in files:
        os.close(file)
