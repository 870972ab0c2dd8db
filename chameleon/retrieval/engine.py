"""The search engine of an index, tantivy, which provides terms, ranking, merging and deletes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from chameleon.errors import InputError, require
from chameleon.retrieval.manifest import failed

if TYPE_CHECKING:
    import tantivy

ID, TERMS, DOCUMENT, LAYOUT, KEY, KIND = "id", "terms", "document", "layout", "key", "kind"
"""The fields of a document: its id, its counted terms, its JSON and layout, its key, and its kind.

A key is the order of adding, then `DIGEST` bits of a digest of the content and its embeddings.
"""
DIGEST = 28
_HEAP = 256 << 20  # bytes that the engine writes at a time


def load() -> Any:
    """Import tantivy. Raises `MissingPackage`."""
    also = {"PyStemmer": "Stemmer", "numpy": "numpy"}
    require("tantivy", "an index of documents needs", "retrieval", imports=True, also=also)
    import tantivy

    return tantivy


@contextmanager
def failing(path: Path, done: str) -> Iterator[None]:
    """Raise errors of the engine or the system as `InputError`: `done` is "read" or "written"."""
    try:
        yield
    except OSError as problem:
        raise failed(done, Path(problem.filename or path), problem) from problem
    except ValueError as problem:  # of the engine
        what = f"the index cannot be {done}: {str(problem)[:300]}"
        hint = "Check that the disk has space." if "error occurred in a thread" in str(problem) else ""
        raise InputError(what, where=str(path), hint=hint) from None


def open_index(path: Path) -> tantivy.Index:
    """Open the engine's folder. Raises `InputError`."""
    with suppress(InputError), failing(path, "read"):
        return _open(path)
    # In a read-only folder, open links instead: the engine writes a lock even to read.
    with failing(path, "read"), TemporaryDirectory(ignore_cleanup_errors=True) as links:
        for file in path.iterdir():
            if file.suffix != ".lock":
                (Path(links) / file.name).symlink_to(file.resolve())
        return _open(Path(links))


def _open(path: Path) -> tantivy.Index:
    index: tantivy.Index = load().Index.open(str(path))
    index.config_reader("Manual")  # an open index stays as it was opened
    return index


def writer(path: Path) -> tantivy.IndexWriter:
    """Return a writer to the engine's folder that keeps the given order. Raises `InputError`."""
    fields = load().SchemaBuilder()
    fields.add_text_field(ID, stored=True, tokenizer_name="raw", index_option="basic")
    fields.add_text_field(TERMS, tokenizer_name="whitespace", index_option="freq")
    fields.add_bytes_field(DOCUMENT, stored=True)
    fields.add_bytes_field(LAYOUT, stored=True)
    fields.add_integer_field(KEY, indexed=True, fast=True)
    fields.add_integer_field(KIND, indexed=True, fast=True)
    with failing(path, "written"):
        path.mkdir(parents=True, exist_ok=True)
        index: tantivy.Index = load().Index(fields.build(), str(path))
        return index.writer(_HEAP, 1)  # several threads would change the order
