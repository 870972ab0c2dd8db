"""What an index keeps of the files that its documents came from: those unchanged are not read again."""

from __future__ import annotations

import hashlib
import json
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

from chameleon.errors import InputError
from chameleon.retrieval.manifest import LEDGER, failed, is_index, replace_json
from chameleon.table.records import printable

FORMAT = 4
"""Raised when the readers come to give other documents for the same file: then each is read again."""

_LONGEST = 500  # characters of a name
_BESIDE = ("-wal", "-journal")  # what SQLite keeps beside a database counts as part of it
_RECENT = 2_000_000_000

Stamp = list[list[int]]


@dataclass(frozen=True)
class Entry:
    """A file: how the index calls it, its size and time of change, its digest, its documents, what it lacks.

    `left_out` has place, reason and `is_fault` of each part that was not read, to be told of again;
    `summarised` says whether a model has described all its tables; `engine` is the OCR engine, "" for none,
    by which some of its pages could not be read; `stale` are those of its documents that a fault has kept
    from being read anew.
    """

    name: str
    stamp: Stamp
    digest: str
    ids: list[str]
    left_out: list[tuple[str, str, bool]] = field(default_factory=list)
    summarised: bool = False
    engine: str | None = None
    stale: list[str] = field(default_factory=list)


@dataclass
class Ledger:
    """The files by their absolute paths, and the `retriever` that the index was built for, where it is known.

    `version` is the checksum of the file that it was loaded from, 0 where there was none; where that file was
    damaged, `is_damaged`, nothing is known.
    """

    entries: dict[str, Entry] = field(default_factory=dict)
    retriever: Mapping[str, Any] | None = None
    version: int = field(default=0, compare=False)
    is_damaged: bool = field(default=False, compare=False)

    @cached_property
    def _taken(self) -> set[str]:
        """The names of all files, those included that this process has given."""
        return {entry.name for entry in self.entries.values()}

    @classmethod
    def load(cls, index: Path) -> Ledger:
        """That of an index; an empty one where there is none. Raises `InputError` where it cannot be read."""
        path = index / LEDGER
        try:
            written = path.read_bytes()
        except FileNotFoundError:
            return cls()
        except OSError as problem:
            raise failed("read", path, problem) from problem
        version = zlib.crc32(written)
        try:
            data = json.loads(written)
            if data.pop("check") != _check(data):
                return cls(version=version, is_damaged=True)
            entries = {name: Entry(**entry) for name, entry in data["files"].items()}
            retriever = data.get("retriever")
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return cls(version=version, is_damaged=True)
        found = cls(entries, retriever, version)
        return found if data["format"] == FORMAT and is_index(index) else found.unread()

    def unread(self) -> Ledger:
        """Return it with every file to be read again; their names stay, so that the ids do."""
        entries = {path: unread_entry(entry) for path, entry in self.entries.items()}
        return replace(self, entries=entries)

    def require_current(self, index: Path) -> None:
        """Raise `InputError` if another process has saved one since this was loaded."""
        if Ledger.load(index).version != self.version:
            raise InputError(
                "another process has changed the index meanwhile", where=str(index), hint="Run it again."
            )

    def save(self, index: Path) -> None:
        """Put it in the place of the old one. Raises `InputError` where it cannot be written."""
        files = {path: asdict(entry) for path, entry in sorted(self.entries.items())}
        data: dict[str, Any] = {"format": FORMAT, "retriever": self.retriever, "files": files}
        replace_json(index / LEDGER, data | {"check": _check(data)})

    def intended(self, before: Mapping[str, Entry]) -> Ledger:
        """What to save before the index changes from `before` to this: true of either.

        Files that differ have the documents of both, and are read again should the process die in between.
        """
        entries: dict[str, Entry] = {}
        for path in before.keys() | self.entries.keys():
            old, new = before.get(path), self.entries.get(path)
            if old and new and (old.digest, old.ids) == (new.digest, new.ids):
                entries[path] = new
                continue
            both = [entry for entry in (old, new) if entry]
            ids = dict.fromkeys(id for entry in both for id in entry.ids)
            entries[path] = unread_entry(replace(both[-1], ids=list(ids)))
        return Ledger(entries, self.retriever)

    def name_for(self, path: Path, relative: Path) -> str:
        """What the index calls a file: its place in its folder, with more of its path where that is taken."""
        key = str(path)
        if key in self.entries:
            return self.entries[key].name
        found = next(name for name in _names(path, len(relative.parts)) if name not in self._taken)
        self._taken.add(found)
        return found


def unread_entry(entry: Entry) -> Entry:
    """The file as one that has to be read again."""
    return replace(entry, stamp=[], digest="", left_out=[])


def _check(data: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(data, sort_keys=True).encode())


def _names(path: Path, least: int) -> Iterator[str]:
    for parts in range(least, len(path.parts)):
        yield printable("/".join(path.parts[-parts:]))[-_LONGEST:]
    for number in count(2):
        yield printable(f"{path} ({number})")[-_LONGEST:]


def _parts(path: Path) -> list[Path]:
    """The file, and what there is beside it."""
    found = [path]
    for end in _BESIDE:
        with suppress(OSError):  # also for a name that grows too long
            (beside := Path(f"{path}{end}")).stat()
            found.append(beside)
    return found


def stamp_of(path: Path) -> Stamp:
    """Size and time of change. A time just past is left out: a later change might have the same.

    Raises OSError for a file that is not there.
    """
    found = []
    for file in _parts(path):
        status = file.stat()
        recent = time.time_ns() - status.st_mtime_ns < _RECENT
        found.append([status.st_size, 0 if recent else status.st_mtime_ns])
    return found


def digest_of(path: Path) -> str:
    """The digest of its bytes, those of what lies beside it included. Raises OSError."""
    digest = hashlib.sha256()
    for file in _parts(path):
        with file.open("rb") as opened:
            digest.update(hashlib.file_digest(opened, "sha256").digest())
    return digest.hexdigest()
