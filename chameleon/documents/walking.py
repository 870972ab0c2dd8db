"""Which files of a folder hold tables or text, and what else lies there."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from chameleon.documents.reading import SUFFIXES
from chameleon.errors import InputError
from chameleon.retrieval.manifest import BUILDING, MANIFEST, WORDS
from chameleon.table.found import LeftOut
from chameleon.table.readers import KINDS, holds_tables
from chameleon.table.records import printable


@dataclass
class Walk:
    """A walk through a folder: what is passed over on the way is counted or told of."""

    root: Path
    others: Counter[str] = field(default_factory=Counter)
    left_out: list[LeftOut] = field(default_factory=list)
    unread: list[Path] = field(default_factory=list)

    def files(self) -> Iterator[Path]:
        """The files with a suffix that tells of tables or text, by name, folder by folder.

        Hidden files and folders, other kinds of files, and folders that hold an index, be it unfinished, are
        passed over; links are not followed: one that leads out of the folder, a device or a pipe is told of.
        """
        left = [self.root]
        while left:
            folders: list[Path] = []
            yield from self._files(left.pop(), folders)
            left += reversed(folders)

    def _files(self, folder: Path, folders: list[Path]) -> Iterator[Path]:
        """The files that lie right in a folder; those in it are added to `folders`."""
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as problem:
            self.unread.append(folder)
            self._leave(folder, f"cannot be read ({problem.strerror or problem})")
            return
        for entry in entries:
            path = folder / entry.name
            if entry.name.startswith((".", "~$")):
                self.others["hidden"] += 1
            elif entry.is_symlink():
                self._link(path)
            elif entry.is_dir(follow_symlinks=False):
                if is_ours(path):
                    self.others["index"] += 1
                else:
                    folders.append(path)
            elif not entry.is_file(follow_symlinks=False):
                if path.suffix.lower() in (*KINDS, *SUFFIXES):
                    self._leave(path, "is a device or a pipe, not a file")
                else:
                    self.others["device or pipe"] += 1
            elif not holds_tables(path) and path.suffix.lower() not in SUFFIXES:
                self.others[path.suffix.lower() or "no suffix"] += 1
            else:
                yield path

    def _link(self, path: Path) -> None:
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


def is_ours(folder: Path) -> bool:
    """Whether an index lies there, or what a build that did not end has left of one."""
    marks = (MANIFEST, BUILDING)
    try:
        return (folder / WORDS).is_dir() and any((folder / mark).is_file() for mark in marks)
    except OSError:  # the walk tells of a folder that cannot be read
        return False


def require_file(path: Path) -> None:
    """Raise `InputError` unless this is an ordinary file: a device may never end, and a pipe never begin."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as problem:
        said = getattr(problem, "strerror", None) or str(problem)
        raise InputError(f"cannot be read ({said})", where=printable(str(path))) from problem
    if not stat.S_ISREG(mode):
        raise InputError("is no file and no folder", where=printable(str(path)))
