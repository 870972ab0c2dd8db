"""What an index consists of: `manifest.json`, and `building.json` while a build is not finished."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from chameleon.errors import InputError
from chameleon.retrieval.index.files import broken, checksum, read_json, replace_json

FORMAT = 1
MANIFEST, BUILDING, SEGMENTS, LOCK = "manifest.json", "building.json", "segments", "lock"
LEDGER = "files.json"  # what `chameleon.documents` keeps of the files that the documents came from
OWNER = "owner.json"  # by what name a server knows the index
FINISHED = re.compile(r"final-(\d{4,})", re.ASCII)
_SEGMENT = re.compile(r"\d{6,}", re.ASCII)

Files = Mapping[str, tuple[int, int]]
"""Size and CRC-32 of files by their paths within a folder."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that is written once: its name, how many documents it has, and its files."""

    name: str
    documents: int
    files: Files

    @classmethod
    def written(cls, path: Path, documents: int) -> Folder:
        """What lies in a folder now, with checksums."""
        found = sorted(file for file in path.rglob("*") if file.is_file())
        return cls(
            path.name, documents, {file.relative_to(path).as_posix(): checksum(file) for file in found}
        )

    def check(self, path: Path, *, without: str = "") -> None:
        """Raise `InputError` unless the files are as they were written; of `without`, see the size."""
        for name, (size, check) in self.files.items():
            file = path / name
            if name == without:
                same = file.is_file() and file.stat().st_size == size
            else:
                same = checksum(file) == (size, check)
            if not same:
                raise broken(file)

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "documents": self.documents, "files": self.files}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], pattern: re.Pattern[str]) -> Folder:
        files = {name: (int(size), int(check)) for name, (size, check) in data["files"].items()}
        if not pattern.fullmatch(data["name"]) or any(".." in name or name[0] == "/" for name in files):
            raise ValueError(data["name"])
        return cls(data["name"], int(data["documents"]), files)


@dataclass(frozen=True, slots=True)
class Manifest:
    """The state of an index, or of a build: its parts with their settings, its segments, what is finished.

    `retriever` is the name of the one that it was built for; "" where only its parts were told.
    """

    parts: Mapping[str, Mapping[str, Any]]
    segments: Sequence[Folder]
    finished: Folder | None = None
    retriever: str = ""

    def write(self, path: Path) -> None:
        """Put it in the place of the file that is there. Raises `InputError`."""
        said: dict[str, Any] = {
            "format": FORMAT,
            "written_by": _our_version(),
            "retriever": self.retriever,
            "parts": self.parts,
            "segments": [segment.to_json() for segment in self.segments],
            "finished": self.finished.to_json() if self.finished else None,
        }
        replace_json(path, said | {"check": _check(said)})

    @classmethod
    def read(cls, path: Path) -> Manifest:
        """Raises `InputError` for a file that is missing, damaged, or of a newer format."""
        data = read_json(path)
        try:
            if data["format"] > FORMAT:
                raise InputError(
                    f"the index has format {data['format']}; this version of Chameleon reads {FORMAT}",
                    where=str(path),
                    hint="Bring Chameleon up to date, or build the index again in another folder.",
                )
            if data.pop("check") != _check(data):
                raise broken(path)
            segments = [Folder.from_json(segment, _SEGMENT) for segment in data["segments"]]
            finished = Folder.from_json(data["finished"], FINISHED) if data["finished"] else None
            retriever = str(data.get("retriever", ""))
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as problem:
            raise broken(path) from problem
        return cls(data["parts"], segments, finished, retriever)


def at(folder: Path) -> Manifest:
    """The manifest of the index in this folder. Raises `InputError` where there is none."""
    path = folder / MANIFEST
    if not path.exists():
        if (folder / BUILDING).exists() or (folder / SEGMENTS).is_dir():
            raise InputError(
                "the index is not finished",
                where=str(folder),
                hint="Run the command that builds it again: it goes on from there.",
            )
        what = "the folder holds no index" if folder.is_dir() else "there is no such index"
        raise InputError(what, where=str(folder), hint="`chameleon index` builds one.")
    found = Manifest.read(path)
    if found.finished is None:
        raise broken(path)
    return found


def check_ours(folder: Path) -> None:
    """Raise `InputError` if something else than an index lies in the folder."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError("an index is a folder, and this is a file", where=str(folder))
    written = {MANIFEST, BUILDING, LEDGER, OWNER}
    ours = {SEGMENTS, LOCK, *written, *(f"{name}.new" for name in written)}
    for entry in sorted(folder.iterdir()):
        if entry.name not in ours and not FINISHED.fullmatch(entry.name):
            raise InputError(
                f"the folder holds something else: {entry.name}",
                where=str(folder),
                hint="Name a folder of its own for the index.",
            )


def next_finished(old: Manifest | None) -> str:
    """The name of a new folder for what is made of all segments."""
    last = old.finished.name if old and old.finished else "final-0000"
    return f"final-{int(last.partition('-')[2]) + 1:04d}"


def _check(said: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(said, sort_keys=True).encode())


def _our_version() -> str:
    try:
        return version("chameleon-compose")
    except PackageNotFoundError:
        return "unknown"
