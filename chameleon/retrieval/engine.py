"""The search engine of an index, tantivy: transactions, merging and deletes are its own.

Its commits are atomic: whoever opens the folder sees the last one whole, and keeps seeing it while others
write. Each file ends with a checksum of its own; all are compared when the folder is opened, since the engine
may abort the process over a damaged file.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from chameleon.errors import InputError, require

if TYPE_CHECKING:
    import tantivy

ID, TERMS, DOCUMENT, LAYOUT, KEY, KIND = "id", "terms", "document", "layout", "key", "kind"
"""The fields of a document: its id, what is counted, its JSON and layout, its key, and which kind it is.

A key is when the document came, then `DIGEST` bits of a digest of what it says and by what it is embedded.
"""
DIGEST = 28
AGAIN = "Build the index again."
_META = "meta.json"
_FOOTER = re.compile(rb'"crc":(\d+)\}(.{4})\x39\x05\0\0\Z', re.DOTALL)
_FOOTER_MOST, _BLOCK = 1 << 10, 1 << 20
_SYSTEM = re.compile(r'Os \{.*?message: "([^"]+)"')
_FILE = re.compile(r'file(?:path:)? `?"([\w.]+)"')
_HEAP = 256 << 20  # bytes that the engine writes at a time


class Damaged(InputError):
    """An index is not as it was written; `chameleon index` builds it anew."""

    def __init__(self, what: str, *, where: str = "", hint: str = AGAIN) -> None:
        super().__init__(what, where=where, hint=hint)


def load() -> Any:
    """Import tantivy. Raises `MissingPackage`."""
    require("tantivy", "an index of documents needs", "retrieval", imports=True)
    import tantivy

    return tantivy


def schema() -> tantivy.Schema:
    """Return the fields that every index has."""
    builder = load().SchemaBuilder()
    builder.add_text_field(ID, stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field(TERMS, tokenizer_name="whitespace", index_option="freq")
    builder.add_bytes_field(DOCUMENT, stored=True)
    builder.add_bytes_field(LAYOUT, stored=True)
    builder.add_integer_field(KEY, indexed=True, fast=True)
    builder.add_integer_field(KIND, indexed=True, fast=True)
    made: tantivy.Schema = builder.build()
    return made


@contextmanager
def failing(path: Path, done: str) -> Iterator[None]:
    """Tell what the engine or the system raises as `InputError`: `done` is "read" or "written"."""
    try:
        yield
    except OSError as problem:
        said, where = problem.strerror or str(problem), str(problem.filename or path)
        raise InputError(f"the index cannot be {done}: {said}", where=where) from problem
    except ValueError as problem:
        said, where = str(problem), str(path)
        if "LockBusy" in said:
            raise InputError("another process is building this index", where=where, hint="Wait.") from None
        system = _SYSTEM.search(said)
        kind = InputError if system or done == "written" else Damaged
        if "error occurred in a thread" in said:  # which one it was the engine keeps to itself
            said = "a file of it cannot be written; perhaps the disk is full"
        if kind is Damaged:
            file = _FILE.search(said)
            raise Damaged("the index is damaged", where=str(path / file[1]) if file else where) from None
        said = system[1] if system else said[:300]
        raise kind(f"the index cannot be {done}: {said}", where=where) from None
    except BaseException as problem:
        if type(problem).__name__ != "PanicException":  # what Rust raises of a damaged file
            raise
        raise Damaged("the index is damaged", where=str(path)) from None


def open_index(path: Path) -> tantivy.Index:
    """Open the engine's folder, with every checksum compared. Raises `Damaged`.

    Where nothing can be written, links to its files are opened: the engine writes a lock even to read.
    """
    check(path)
    with suppress(InputError), failing(path, "read"):
        return _opened(path)
    with failing(path, "read"), TemporaryDirectory(ignore_cleanup_errors=True) as beside:
        for file in path.iterdir():
            if file.suffix != ".lock":
                (Path(beside) / file.name).symlink_to(file.resolve())
        return _opened(Path(beside))


def _opened(path: Path) -> tantivy.Index:
    if not load().Index.is_compatible(str(path)):
        raise Damaged("the index was written by another version of tantivy", where=str(path))
    found: tantivy.Index = load().Index.open(str(path))
    found.config_reader("Manual")
    return found


def make_index(path: Path) -> tantivy.Index:
    """Open the engine's folder, or make an empty one. Raises `InputError`."""
    if (path / _META).exists():
        check(path)
    with failing(path, "written"):
        path.mkdir(parents=True, exist_ok=True)
        made: tantivy.Index = load().Index(schema(), str(path))
    return made


def check(path: Path) -> None:
    """Compare the checksums at the ends of all files in use. Raises `InputError`."""
    state = meta_check(path)
    with failing(path, "read"):
        try:
            segments = json.loads((path / _META).read_bytes())["segments"]
            names = [name for segment in segments for name in _files(segment)]
        except FileNotFoundError as problem:
            raise Damaged("the file is missing", where=str(path / _META)) from problem
        except (ValueError, LookupError, TypeError, AttributeError) as problem:
            raise Damaged("the file is damaged", where=str(path / _META)) from problem
        for name in names:
            if not is_whole(path / name):
                if meta_check(path) != state:  # another process has put other files in their place
                    return check(path)
                what = "damaged" if (path / name).exists() else "missing"
                raise Damaged(f"the file is {what}", where=str(path / name))


def _files(segment: dict[str, Any]) -> list[str]:
    id, ends = segment["segment_id"].replace("-", ""), ["fast", "fieldnorm", "idx", "pos", "store", "term"]
    if segment["deletes"]:
        ends.append(f"{segment['deletes']['opstamp']}.del")
    return [f"{id}.{end}" for end in ends]


def is_whole(file: Path) -> bool:
    """Tell whether a file's content has the checksum that its end tells."""
    found = 0
    with suppress(FileNotFoundError), file.open("rb", buffering=0) as opened:
        size = opened.seek(0, os.SEEK_END)
        opened.seek(max(0, size - _FOOTER_MOST))
        told = _FOOTER.search(opened.read())
        if told is None:
            return False
        left = size - 8 - int.from_bytes(told[2], "little")
        opened.seek(0)
        while left > 0 and (block := opened.read(min(_BLOCK, left))):
            found, left = zlib.crc32(block, found), left - len(block)
        return left == 0 and int(told[1]) == found
    return False


def meta_check(path: Path) -> int:
    """Return the checksum of the file that names the others: it alone has none of its own."""
    with failing(path, "read"), suppress(FileNotFoundError, NotADirectoryError):
        return zlib.crc32((path / _META).read_bytes())
    return 0


def writer(index: tantivy.Index, path: Path) -> tantivy.IndexWriter:
    """Return what writes, in the order given. Raises `InputError` while another process does."""
    with failing(path, "written"):
        return index.writer(_HEAP, 1)
