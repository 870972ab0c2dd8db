"""Files that survive a crash: written beside, brought to the disk, then put in place; and their checksums."""

from __future__ import annotations

import json
import os
import shutil
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from chameleon.errors import InputError

if sys.platform != "win32":
    import fcntl
    import resource

AGAIN = "Build the index again."
_BLOCK = 1 << 22
_FILES_OF_OTHERS = 256


class Damaged(InputError):
    """An index is not as it was written; `chameleon index` builds it anew."""

    def __init__(self, what: str, *, where: str = "", hint: str = AGAIN) -> None:
        super().__init__(what, where=where, hint=hint)


def broken(path: Path) -> Damaged:
    """The error for a file that is not as the index wrote it."""
    return Damaged("the file is damaged", where=str(path))


def failed(done: str, path: Path, problem: OSError) -> InputError:
    """The error for what the system refuses: `done` is "read" or "written"."""
    if isinstance(problem, FileNotFoundError):
        return Damaged("a file of the index is missing", where=str(path))
    return InputError(f"a file of the index cannot be {done}: {problem.strerror or problem}", where=str(path))


def read_json(path: Path) -> Any:
    """What a JSON file says. Raises `InputError`."""
    try:
        return json.loads(path.read_bytes())
    except OSError as problem:
        raise failed("read", path, problem) from problem
    except ValueError as problem:
        raise broken(path) from problem


def replace_json(path: Path, data: Any) -> None:
    """Put a JSON file in the place of the old one: a crash leaves the old or the new. Raises `InputError`."""
    beside = path.with_name(f"{path.name}.new")
    try:
        with beside.open("wb") as file:
            file.write(json.dumps(data, indent=1).encode())
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
        _sync(path.parent)
    except OSError as problem:
        raise failed("written", path, problem) from problem


def sync(folder: Path) -> None:
    """Bring a folder, with everything in it, to the disk. Raises `InputError`."""
    try:
        for path in [*folder.rglob("*"), folder, folder.parent]:
            _sync(path)
    except OSError as problem:
        raise failed("written", folder, problem) from problem


def _sync(path: Path) -> None:
    if path.is_dir() and sys.platform == "win32":  # there folders cannot be opened
        return
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def make_folder(path: Path) -> None:
    """Make a folder, empty. Raises `InputError`."""
    try:
        if path.exists():
            shutil.rmtree(path)
        path.mkdir(parents=True)
    except OSError as problem:
        raise failed("written", path, problem) from problem


def remove(path: Path) -> None:
    """Remove a file or a folder; what cannot be removed stays, and the next build tries again."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def allow_files(count: int) -> None:
    """Let this process have so many more files open, as far as the system does: each mapped array is one."""
    if sys.platform != "win32":
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = _FILES_OF_OTHERS + count
        if soft != resource.RLIM_INFINITY and soft < wanted:
            most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            with suppress(OSError, ValueError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))


def checksum(path: Path) -> tuple[int, int]:
    """The size of a file in bytes, and its CRC-32. Raises `InputError`."""
    size = check = 0
    try:
        with path.open("rb", buffering=0) as file:
            while block := file.read(_BLOCK):
                size, check = size + len(block), zlib.crc32(block, check)
    except OSError as problem:
        raise failed("read", path, problem) from problem
    return size, check


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep others from building in this folder, which is made if it is not there. Raises `InputError`."""
    path = folder / "lock"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = path.open("ab")
    except OSError as problem:
        raise InputError(f"no index can be written here: {problem.strerror}", where=str(folder)) from problem
    with file:
        if sys.platform != "win32":
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as problem:
                raise InputError(
                    "another process is building this index", where=str(folder), hint="Wait for it."
                ) from problem
            except OSError:  # some network drives know no locks
                pass
        yield
