"""What an index keeps of the files that its documents came from: those unchanged are not read again."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from chameleon.retrieval.index.files import broken, read_json, replace_json
from chameleon.retrieval.index.manifest import LEDGER
from chameleon.table.cells import printable

FORMAT = 1
"""Raised when the readers come to give other tables for the same file: then each is read again."""

_BESIDE = ("", "-wal", "-journal")  # what SQLite keeps beside a database counts as part of it
_RECENT = 2_000_000_000

Stamp = list[list[int]]


@dataclass(frozen=True)
class Entry:
    """A file: how the index calls it, its size and time of change, its digest, its documents, what it lacks.

    `left_out` has place, reason and `is_fault` of each part that gave no table, to be told of again.
    """

    name: str
    stamp: Stamp
    digest: str
    ids: list[str]
    left_out: list[tuple[str, str, bool]] = field(default_factory=list)


@dataclass
class Ledger:
    """The files by their absolute paths."""

    entries: dict[str, Entry] = field(default_factory=dict)

    @cached_property
    def _taken(self) -> set[str]:
        """The names of all files, those included that this process has given."""
        return {entry.name for entry in self.entries.values()}

    @classmethod
    def load(cls, index: Path) -> Ledger:
        """That of an index; an empty one where there is none. Raises `InputError` for a damaged file."""
        path = index / LEDGER
        if not path.exists():
            return cls()
        data = read_json(path)
        try:
            entries = {name: Entry(**entry) for name, entry in data["files"].items()}
            if data["format"] != FORMAT:  # the names stay, so that the ids do
                entries = {name: Entry(entry.name, [], "", entry.ids) for name, entry in entries.items()}
            return cls(entries)
        except (KeyError, TypeError, AttributeError):
            raise broken(path) from None

    def save(self, index: Path) -> None:
        """Put it in the place of the old one. Raises `InputError` where it cannot be written."""
        files: dict[str, Any] = {path: asdict(entry) for path, entry in sorted(self.entries.items())}
        replace_json(index / LEDGER, {"format": FORMAT, "files": files})

    def name_for(self, path: Path, relative: Path) -> str:
        """What the index calls a file: its place in its folder, with more of its path where that is taken."""
        key = str(path)
        if key in self.entries:
            return self.entries[key].name
        found = next(name for name in _names(path, len(relative.parts)) if name not in self._taken)
        self._taken.add(found)
        return found


def _names(path: Path, least: int) -> Iterator[str]:
    for count in range(least, len(path.parts)):
        yield printable("/".join(path.parts[-count:]))
    number = 2
    while True:
        yield printable(f"{path} ({number})")
        number += 1


def stamp_of(path: Path) -> Stamp:
    """Size and time of change. A time just past is left out: a later change might have the same.

    Raises OSError for a file that is not there.
    """
    found = []
    for end in _BESIDE:
        file = Path(f"{path}{end}")
        if end and not file.exists():
            continue
        status = file.stat()
        recent = time.time_ns() - status.st_mtime_ns < _RECENT
        found.append([status.st_size, 0 if recent else status.st_mtime_ns])
    return found


def digest_of(path: Path) -> str:
    """The digest of its bytes, those of what lies beside it included. Raises OSError."""
    digest = hashlib.sha256()
    for end in _BESIDE:
        file = Path(f"{path}{end}")
        if end and not file.exists():
            continue
        with file.open("rb") as opened:
            digest.update(hashlib.file_digest(opened, "sha256").digest())
    return digest.hexdigest()
