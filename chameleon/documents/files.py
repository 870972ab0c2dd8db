"""The files an index is made of: the files in a folder, and a record of each since it was read."""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from chameleon.documents.reading import READERS, SUFFIXES
from chameleon.retrieval.manifest import is_ours
from chameleon.table.found import LeftOut
from chameleon.table.readers import holds_tables
from chameleon.table.records import printable

LEDGER = "files.json"
_MAX_NAME_CHARS = 500  # characters
_SQLITE_SUFFIXES = ("-wal", "-journal")  # files next to a database that are part of it


@dataclass
class Walk:
    """A walk through a folder that counts or reports whatever it skips."""

    root: Path
    others: Counter[str] = field(default_factory=Counter)
    left_out: list[LeftOut] = field(default_factory=list)
    unread: list[Path] = field(default_factory=list)

    def files(self) -> Iterator[Path]:
        """Yield the files with a suffix for tables or text, by name, folder by folder.

        Hidden files and folders, other kinds of files, devices, pipes, and folders that hold an index are
        counted in `others`. Links are not followed; a link that leads out of the folder is left out, with the
        reason.
        """
        folders = [self.root]
        while folders:
            folder, inner = folders.pop(), list[Path]()
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except OSError as problem:
                self.unread.append(folder)
                self._leave(folder, f"cannot be read ({problem.strerror or problem})")
                continue
            for entry in entries:
                path = folder / entry.name
                suffix = path.suffix.lower()
                if path.name.startswith((".", "~$")):  # "~$": Office's marks of open files
                    self.others["hidden"] += 1
                elif entry.is_symlink():
                    self._note_link(path)
                elif entry.is_dir():
                    if is_ours(path):
                        self.others["index"] += 1
                    else:
                        inner.append(path)
                elif not entry.is_file():
                    self.others["device or pipe"] += 1
                elif holds_tables(path) or suffix in SUFFIXES:
                    yield path
                else:
                    self.others[suffix or "no suffix"] += 1
            folders += reversed(inner)  # a stack: the first one is next

    def _note_link(self, path: Path) -> None:
        try:
            leads_out = not path.resolve(strict=True).is_relative_to(self.root.resolve())
        except (OSError, RuntimeError):
            self._leave(path, "is a link that leads nowhere")
            return
        if leads_out:
            self._leave(path, "is a link that leads out of the folder, and is not followed")
        else:
            self.others["link"] += 1

    def _leave(self, path: Path, why: str) -> None:
        self.left_out.append(LeftOut(printable(path.relative_to(self.root).as_posix()), why))


@dataclass
class Entry:
    """A file: its name in the index, the digest of its bytes, its documents, and the parts left out.

    Attributes:
        left_out: repeated as long as the file is unchanged.
        summarized: whether a model has described all its tables.
        engine: the OCR engine, or "", that could not read some of its pages; else None.
    """

    name: str
    digest: str = ""
    ids: list[str] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    summarized: bool = False
    engine: str | None = None

    def read_again(self) -> None:
        """Make the next run read the file, whether it has changed or not."""
        self.digest = ""


class Ledger:
    """An index's record of the files its documents came from, by absolute path."""

    def __init__(self, data: Path | None = None) -> None:
        """Read the record in an index's data; it is empty for a new index, or one built from documents."""
        self.entries: dict[str, Entry] = {}
        self._taken = set[str]()
        if data is None or not (file := data / LEDGER).exists():
            return
        content = json.loads(file.read_bytes())
        for path, entry in content["files"].items():
            entry.pop("stamp", None)  # from older versions, as is the spelling of `summarised`
            entry["summarized"] = entry.pop("summarised", entry.get("summarized", False))
            left_out = [LeftOut(**each) for each in entry["left_out"]]
            self.entries[path] = Entry(**{**entry, "left_out": left_out})
            self._taken.add(entry["name"])
            if content["readers"] != READERS:
                self.entries[path].read_again()

    def to_json(self) -> dict[str, Any]:
        files = {path: asdict(entry) for path, entry in sorted(self.entries.items())}
        return {"readers": READERS, "files": files}

    def name_for(self, path: Path, relative: Path) -> str:
        """Return the name of a file in the index: its path in its folder, with more of its path if needed."""
        if str(path) in self.entries:
            return self.entries[str(path)].name
        free = next(name for name in _names(path, len(relative.parts)) if name not in self._taken)
        self._taken.add(free)
        return free


def _names(path: Path, min_parts: int) -> Iterator[str]:
    for parts in range(min_parts, len(path.parts)):
        yield printable("/".join(path.parts[-parts:]))[-_MAX_NAME_CHARS:]
    for number in count(2):
        yield printable(f"{path} ({number})")[-_MAX_NAME_CHARS:]


def digest_of(path: Path) -> str:
    """Return the digest of the bytes, including SQLite's files next to it. Raises OSError."""
    digest = hashlib.sha256()
    companions = [Path(f"{path}{end}") for end in _SQLITE_SUFFIXES]
    for file in [path, *(each for each in companions if os.access(each, os.F_OK))]:
        with file.open("rb") as opened:
            digest.update(hashlib.file_digest(opened, "sha256").digest())
    return digest.hexdigest()
