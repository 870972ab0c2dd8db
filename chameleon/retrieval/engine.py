"""The search engine of an index, tantivy: transactions, merging and deletes are its own.

Its commits are atomic: whoever opens the folder sees the last one whole, and keeps seeing it while others
write. Each file ends with a checksum of its own, which is compared when the folder is opened; documents are
checked one by one when they are read.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chameleon.errors import InputError, MissingPackage

if TYPE_CHECKING:
    import tantivy

ID, TERMS, DOCUMENT, LAYOUT, NUMBER, CONTENT = "id", "terms", "document", "layout", "number", "content"
"""The fields of a document: its id, what is counted, its JSON and layout, when it came, the JSON's digest."""
AGAIN = "Build the index again."
_META, _STORE = "meta.json", ".store"
_FOOTER = re.compile(rb'"crc":(\d+)\}$')
_MAGIC = (1337).to_bytes(4, "little")
_BLOCK = 1 << 22
_HEAP = 256 << 20  # bytes that the engine writes at a time


class Damaged(InputError):
    """An index is not as it was written; `chameleon index` builds it anew."""

    def __init__(self, what: str, *, where: str = "", hint: str = AGAIN) -> None:
        super().__init__(what, where=where, hint=hint)


def load() -> Any:
    """Import tantivy. Raises `MissingPackage`."""
    try:
        import tantivy
    except ImportError:
        raise MissingPackage(
            "an index of documents needs the package tantivy",
            hint="pip install 'chameleon-compose[retrieval]'",
        ) from None
    return tantivy


def schema() -> tantivy.Schema:
    """Return the fields that every index has."""
    builder = load().SchemaBuilder()
    builder.add_text_field(ID, stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field(TERMS, tokenizer_name="whitespace", index_option="freq")
    builder.add_bytes_field(DOCUMENT, stored=True)
    builder.add_bytes_field(LAYOUT, stored=True)
    builder.add_integer_field(NUMBER, indexed=True, fast=True)
    builder.add_integer_field(CONTENT, fast=True)
    made: tantivy.Schema = builder.build()
    return made


@contextmanager
def failing(path: Path, done: str) -> Iterator[None]:
    """Tell what the engine raises as `InputError`: `done` is "read" or "written"."""
    try:
        yield
    except (ValueError, OSError) as problem:
        said = str(problem)
        if "LockBusy" in said:
            raise InputError(
                "another process is building this index", where=str(path), hint="Wait for it."
            ) from None
        if done == "read":
            raise Damaged(f"the index cannot be read: {said[:200]}", where=str(path)) from None
        raise InputError(f"the index cannot be written: {said[:200]}", where=str(path)) from None
    except BaseException as problem:
        if type(problem).__name__ != "PanicException":  # what Rust raises of a damaged file
            raise
        raise Damaged("the index is damaged", where=str(path)) from None


def open_index(path: Path) -> tantivy.Index:
    """Open the engine's folder, with every checksum compared. Raises `Damaged`."""
    check(path)
    with failing(path, "read"):
        if not load().Index.is_compatible(str(path)):
            raise Damaged("the index was written by another version of tantivy", where=str(path))
        found: tantivy.Index = load().Index.open(str(path))
    return found


def make_index(path: Path) -> tantivy.Index:
    """Open the engine's folder, or make an empty one. Raises `InputError`."""
    if (path / _META).exists():
        return open_index(path)
    with failing(path, "written"):
        path.mkdir(parents=True, exist_ok=True)
        made: tantivy.Index = load().Index(schema(), str(path))
    return made


def check(path: Path) -> None:
    """Compare the checksums at the ends of all files in use, but of the documents'. Raises `Damaged`."""
    try:
        meta = json.loads((path / _META).read_bytes())
        names = [segment["segment_id"].replace("-", "") for segment in meta["segments"]]
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as problem:
        raise Damaged("the file is damaged", where=str(path / _META)) from problem
    for file in sorted(path.iterdir()):
        if file.name.partition(".")[0] in names and file.suffix != _STORE and not is_whole(file):
            raise Damaged("the file is damaged", where=str(file))


def is_whole(file: Path) -> bool:
    """Tell whether a file's content has the checksum that its end tells."""
    try:
        with file.open("rb") as opened:
            opened.seek(-8, 2)
            size, magic = int.from_bytes(opened.read(4), "little"), opened.read(4)
            opened.seek(-8 - size, 2)
            left, told = opened.tell(), _FOOTER.search(opened.read(size))
            opened.seek(0)
            found = 0
            while left > 0 and (block := opened.read(min(_BLOCK, left))):
                found, left = zlib.crc32(block, found), left - len(block)
    except (OSError, ValueError):
        return False
    return magic == _MAGIC and told is not None and int(told[1]) == found


def meta_check(path: Path) -> int:
    """Return the checksum of the file that names the others: it alone has none of its own."""
    try:
        return zlib.crc32((path / _META).read_bytes())
    except OSError:
        return 0


def writer(index: tantivy.Index, path: Path) -> tantivy.IndexWriter:
    """Return what writes, in the order given. Raises `InputError` while another process does."""
    with failing(path, "written"):
        return index.writer(_HEAP, 1)
