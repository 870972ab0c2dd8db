"""Making an index, adding to it and taking out of it: vectors first, then one transaction of the engine."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Sized
from contextlib import suppress
from dataclasses import replace
from os import urandom
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any
from zlib import crc32

from chameleon.errors import InputError
from chameleon.retrieval import engine
from chameleon.retrieval.document import Document
from chameleon.retrieval.engine import DIGEST, DOCUMENT, ID, KEY, KIND, LAYOUT, TERMS, Damaged, failing
from chameleon.retrieval.index import KINDS, Index, is_plain
from chameleon.retrieval.layout import Analysed
from chameleon.retrieval.manifest import BUILDING, MANIFEST, VECTORS, WORDS, Manifest, check_ours, is_index

if TYPE_CHECKING:
    import tantivy
    from langchain_core.vectorstores import VectorStore

    from chameleon.retrieval.dense import Embedding

Progress = Callable[[int, int | None], object]
"""Told how many documents are done, and of how many where that is known."""
_TOLD_EVERY = 100
_LONGEST_ID = 1_000


class Build:
    """One change of an index, from its lock to its commit; until then whoever opens it sees the old one.

    `settings` are what a new index is to have; of those of one that is there the retriever may change.
    `analyse` says what is kept of a document, where that is known before.
    """

    def __init__(
        self,
        path: Path,
        settings: Manifest,
        store: VectorStore | None = None,
        analyse: Callable[[Document], Analysed] = Analysed.of,
    ) -> None:
        self.path, self._words, self._store, self._settings = path, path / WORDS, store, settings
        self._analyse = analyse
        check_ours(path)
        self._seen: set[str] = set()
        self._look()

    def _look(self) -> None:
        self._state = engine.meta_check(self._words)
        self.old = Index.open(self.path) if is_index(self.path) else None
        known = self.old.manifest if self.old else self._settings
        self.manifest = replace(known, retriever=self._settings.retriever)
        self._changed = self.old is None

    def __enter__(self) -> Build:
        self._index = engine.make_index(self._words)
        self._writer: tantivy.IndexWriter = engine.writer(self._index, self._words)
        try:
            if engine.meta_check(self._words) != self._state:  # another build has ended in between
                self._look()
            self._begin()
        except BaseException:
            self._end(is_failed=True)
            raise
        return self

    def _begin(self) -> None:
        mark, fresh = self.path / BUILDING, self.old is None
        if fresh:  # what a build that died was for is gone on with; else its vectors are of no use
            told = {"embeddings": self.manifest.embeddings, "store": self.manifest.store}
            before = _read(mark)
            if {key: before.get(key) for key in told} != told:
                shutil.rmtree(self.path / VECTORS, ignore_errors=True)
                before = {}
            place = before.get("place") or f"chameleon_{urandom(8).hex()}"
            self.manifest = replace(self.manifest, place=place)
        with failing(self.path, "written"):
            if fresh:
                mark.write_text(json.dumps({**told, "place": place}), "utf-8")
                self._writer.delete_all_documents()
            mark.touch()
            self._writer.garbage_collect_files()  # what a build that died has left
        self._embedding: Embedding | None = None
        if self.manifest.embeddings:
            from chameleon.retrieval.dense import Embedding, opened_vectors

            vectors = opened_vectors(self.path, self.manifest, self._store, for_build=True)
            self._embedding = Embedding(vectors)
        self._next = (self.old.last_key() >> DIGEST) + 1 if self.old else 0

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end(is_failed=error is not None)

    def _end(self, *, is_failed: bool) -> None:
        with suppress(Exception):  # a commit that has failed has told so
            if is_failed:
                self._writer.rollback()
                if self.old and self.old.manifest.check == engine.meta_check(self._words):
                    (self.path / BUILDING).unlink()
        with suppress(Exception):
            self._writer.wait_merging_threads()

    def add(self, documents: Iterable[Document], progress: Progress | None = None) -> None:
        """Take documents in; one that is there word for word stays. Raises `InputError` for an id twice."""
        total, done = len(documents) if isinstance(documents, Sized) else None, 0
        for done, document in enumerate(documents, 1):
            self._add(document)
            if progress and done % _TOLD_EVERY == 0:
                progress(done, total)
        if progress:
            progress(done, total)

    def delete(self, ids: Iterable[str]) -> None:
        """Take documents out. Raises `InputError` for an id that the index does not have."""
        for id in ids:
            if self.old is not None:
                self.old.place(id)
            self._delete(id)

    def commit(self) -> None:
        """Put the new state in the place of the old one, unless they are the same."""
        if self._embedding:
            self._embedding.save()  # before the words: who opens the index has vectors of all documents
        with failing(self.path, "written"):
            if self._changed:
                self._writer.commit()
                self._index.reload()
                for file in self._words.glob("*.json"):  # which the engine lets nobody else read
                    file.chmod((self.path / BUILDING).stat().st_mode)
        self._write_manifest()
        if self._embedding:
            self._embedding.finish(Index(self.path, self.manifest))
        with suppress(Exception):
            self._writer.wait_merging_threads()  # which gives the lock back
        with suppress(InputError):  # where another build begins at once, it ends what is left to do
            self._writer = engine.writer(self._index, self._words)
            self._write_manifest()
            (self.path / BUILDING).unlink(missing_ok=True)

    def _write_manifest(self) -> None:
        self.manifest = replace(self.manifest, check=engine.meta_check(self._words))
        self.manifest.write(self.path)

    def _add(self, document: Document) -> None:
        if not isinstance(document, Document):
            kind = type(document).__name__
            hint = "Make each a chameleon.retrieval.document.Document."
            raise InputError(f"an index is built of documents, not of {kind}", hint=hint)
        place = ", ".join(f"{key} {value}" for key, value in document.source.items())
        if not (
            isinstance(document.id, str) and 0 < len(document.id) <= _LONGEST_ID and is_plain(document.id)
        ):
            what = (
                f"a document's id is a text of 1 to {_LONGEST_ID:,} characters, not {str(document.id)[:40]!r}"
            )
            raise InputError(what, where=place)
        if document.id in self._seen:
            raise InputError(f"the id {document.id!r} is given twice", where=place, hint="Give each its own.")
        self._seen.add(document.id)
        line, terms, layout = self._analyse(document)
        if self.old is not None and (there := self.old.with_ids([document.id])):
            if self.old.line_at(there[document.id]) == line:
                return
            self._delete(document.id)
        digest = crc32(repr(sorted(self.manifest.embeddings.items())).encode(), crc32(line))
        key = self._next << DIGEST | digest >> 32 - DIGEST
        fields: dict[str, Any] = {
            ID: document.id,
            TERMS: terms,
            DOCUMENT: line,
            LAYOUT: layout,
            KEY: key,
            KIND: KINDS.index(document.kind),
        }
        with failing(self.path, "written"):
            self._writer.add_document(engine.load().Document(**fields))
        self._next += 1
        self._changed = True
        if self._embedding:
            self._embedding.add(key, document)

    def _delete(self, id: str) -> None:
        with failing(self.path, "written"):
            self._writer.delete_documents_by_term(ID, id)
        self._changed = True


def _read(mark: Path) -> dict[str, Any]:
    """Return what a build that died was for, as far as it said so."""
    with suppress(OSError, ValueError):
        found = json.loads(mark.read_bytes())
        return found if isinstance(found, dict) else {}
    return {}


def is_of_vectors(problem: Damaged) -> bool:
    """Tell whether only the vectors of an index are damaged."""
    return VECTORS in Path(problem.where).parts[-2:]


def retriever_of(folder: Path, problem: Damaged, retriever: Any) -> Any:
    """Return the retriever that a damaged index was built for, `retriever` where that is known.

    Raises `InputError` for a folder that holds anything else than an index, and where nothing tells.
    """
    check_ours(folder)
    if is_of_vectors(problem):
        return Manifest.read(folder).retriever
    if not (folder / WORDS).is_dir() and b"chameleon-index" not in (folder / MANIFEST).read_bytes():
        raise InputError(
            f"the folder holds something else: {MANIFEST}",
            where=str(folder),
            hint="Name a folder of its own for the index.",
        )
    if retriever is None and is_index(folder):
        try:
            retriever = Manifest.read(folder).retriever
        except InputError:
            hint = "Name the retriever that the index was built for, and it is built again."
            raise InputError(problem.what, where=problem.where, hint=hint) from None
    return retriever


def clear(folder: Path, problem: Damaged) -> None:
    """Remove what is damaged of an index, and vectors alone where only they are; the ledger stays."""
    for name in (VECTORS,) if is_of_vectors(problem) else (MANIFEST, BUILDING, WORDS, VECTORS):
        path = folder / name
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
