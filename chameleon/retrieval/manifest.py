"""The description of an index: `manifest.json`, with its data folder and every file in it.

A build writes a new folder of data and then replaces the manifest, so an index is either the old one or the
new one, even if a build is killed. Anything that the manifest does not name is left from a killed build.
"""

import json
import os
import shlex
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from chameleon.errors import InputError

FORMAT = "chameleon-index-6"
MANIFEST, DATA, WORDS = "manifest.json", "chameleon-????????", "words"
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Manifest:
    """The state of an index: the retriever it was built for, its embeddings, and its files.

    Attributes:
        embeddings: empty for an index of words only.
        data: the folder of the files.
        files: the size and the CRC-32 of each file, by its path in that folder.
    """

    retriever: Mapping[str, Any] = field(default_factory=dict)
    embeddings: Mapping[str, Any] = field(default_factory=dict)
    data: str = ""
    files: Mapping[str, list[int]] = field(default_factory=dict)

    @property
    def embeddings_sum(self) -> int:
        """Return the CRC-32 of the embeddings: vectors of other ones cannot be used."""
        return zlib.crc32(repr(sorted(self.embeddings.items())).encode())

    def with_files(self, folder: Path) -> Self:
        """Return a copy with all files of its data. Raises OSError."""
        data = folder / self.data
        files = [file for file in sorted(data.rglob("*")) if file.is_file() and file.suffix != ".lock"]
        return replace(self, files={file.relative_to(data).as_posix(): _size_and_sum(file) for file in files})

    def check(self, folder: Path) -> None:
        """Compare all files with their recorded sizes and sums. Raises `InputError` if one differs."""
        for name, expected in self.files.items():
            file = folder / self.data / name
            try:
                is_same = _size_and_sum(file) == expected
            except FileNotFoundError:
                raise damaged("the file is missing", file, folder) from None
            except OSError as problem:
                raise failed("read", file, problem) from problem
            if not is_same:
                raise damaged("the file is damaged", file, folder)

    def write(self, folder: Path) -> None:
        """Replace the old manifest. Raises `InputError`."""
        content = {"format": FORMAT, **asdict(self)}
        replace_json(folder / MANIFEST, content | {"sum": _sum(content)})

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Return a folder's manifest. Raises `InputError` if it is missing, damaged, or in another format."""
        path = folder / MANIFEST
        try:
            data = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            raise _absent(folder) from None
        except OSError as problem:
            raise failed("read", path, problem) from problem
        what = "the file is damaged"
        with suppress(ValueError, LookupError, TypeError, AttributeError, RecursionError):
            content = json.loads(data)
            if content["format"] != FORMAT:
                what = f"the format of the index is not {FORMAT}"
            elif content.pop("sum") == _sum(content):
                del content["format"]
                return cls(**content)
        raise damaged(what, path, folder) if is_ours(folder) else _absent(folder)


def damaged(what: str, file: Path, index: Path) -> InputError:
    """Return the error for an unusable index, with what to do."""
    hint = f"Delete the folder, then rebuild it: chameleon index FILES --out {shlex.quote(str(index))}"
    return InputError(what, where=str(file), hint=hint)


def failed(done: str, path: Path, problem: OSError) -> InputError:
    """Return the error for a failed system call: `done` is "read" or "written"."""
    return InputError(f"the index cannot be {done}: {problem.strerror or problem}", where=str(path))


def is_index(folder: Path) -> bool:
    """Return whether a folder holds an index."""
    return (folder / MANIFEST).is_file()


def is_ours(folder: Path) -> bool:
    """Return whether a folder holds an index of any format, or remains of a killed build."""
    try:
        is_format = is_index(folder) and b'"chameleon-index-' in (folder / MANIFEST).read_bytes()[:100]
        return is_format or any(each.is_dir() for each in folder.glob(f"{DATA}/{WORDS}"))
    except OSError:
        return False


def check_ours(folder: Path) -> None:
    """Raise `InputError` if the folder holds anything but an index."""
    if folder.is_file():
        raise InputError("an index is a folder, and this is a file", where=str(folder))
    names = (MANIFEST, f"{MANIFEST}.new") if is_ours(folder) else ()
    for entry in sorted(folder.glob("*")):
        if entry.name not in names and not entry.match(DATA):
            what = f"the folder holds something else: {entry.name}"
            raise InputError(what, where=str(folder), hint="Name a folder of its own for the index.")


def replace_json(path: Path, data: Any) -> None:
    """Replace a JSON file: a crash leaves the old or the new one. Raises `InputError`."""
    new = path.with_name(f"{path.name}.new")
    try:
        with new.open("wb") as file:
            file.write(json.dumps(data, indent=1).encode())
            file.flush()
            os.fsync(file.fileno())  # or a crash could leave the new name without the content
        new.replace(path)
    except OSError as problem:
        raise failed("written", path, problem) from problem


def _absent(folder: Path) -> InputError:
    if is_ours(folder):
        hint = "Run the command that built it again."
        return InputError("the index is not finished", where=str(folder), hint=hint)
    what = "the folder is not an index" if folder.is_dir() else "there is no such index"
    what = "is a file, not the folder of an index" if folder.is_file() else what
    return InputError(what, where=str(folder), hint="`chameleon index` builds one.")


def _size_and_sum(file: Path) -> list[int]:
    """Return the size of a file and its CRC-32. Raises OSError."""
    size = total = 0
    with file.open("rb", buffering=0) as opened:
        while block := opened.read(_BLOCK):
            size, total = size + len(block), zlib.crc32(block, total)
    return [size, total]


def _sum(content: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(content, sort_keys=True).encode())
