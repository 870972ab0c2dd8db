"""Making an index, adding to it and taking out of it: one transaction of the engine, then the vectors."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sized
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any
from zlib import crc32

from chameleon.errors import InputError
from chameleon.retrieval import engine
from chameleon.retrieval.document import Document
from chameleon.retrieval.engine import DIGEST, DOCUMENT, ID, KEY, LAYOUT, TERMS, Damaged, failing
from chameleon.retrieval.index import Index
from chameleon.retrieval.layout import Layout
from chameleon.retrieval.manifest import BUILDING, MANIFEST, VECTORS, WORDS, Manifest, check_ours, is_index

if TYPE_CHECKING:
    import tantivy
    from langchain_core.vectorstores import VectorStore

Progress = Callable[[int, int | None], object]
"""Told how many documents are done, and of how many where that is known."""
_TOLD_EVERY = 100


class Build:
    """One change of an index, from its lock to its commit; until then whoever opens it sees the old one.

    `settings` are what a new index is to have besides words; those of one that is there stay.
    """

    def __init__(self, path: Path, settings: Manifest, store: VectorStore | None = None) -> None:
        self.path, self._words, self._store, self._settings = path, path / WORDS, store, settings
        check_ours(path)
        self._seen: set[str] = set()
        self._look()

    def _look(self) -> None:
        self._state = engine.meta_check(self._words)
        self.old = Index.open(self.path) if is_index(self.path) else None
        self.manifest = self.old.manifest if self.old else self._settings
        self._changed = self.old is None

    def __enter__(self) -> Build:
        self._index = engine.make_index(self._words)
        self._writer: tantivy.IndexWriter = engine.writer(self._index, self._words)
        if engine.meta_check(self._words) != self._state:  # another build has ended in between
            self._look()
        self._vectors = None
        if self.manifest.embeddings:  # what they lack is told before anything is read
            from chameleon.retrieval.dense import opened_for_build

            self._vectors = opened_for_build(self.path, self.manifest, self._store)
        with failing(self.path, "written"):
            (self.path / BUILDING).touch()
            self._writer.garbage_collect_files()  # what a build that died has left
            if self.old is None:
                self._writer.delete_all_documents()
        self._next = (self.old.last_key() >> DIGEST) + 1 if self.old else 0
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(Exception):  # a commit that has failed has told so
            if error is not None:
                self._writer.rollback()
                if self.old and self.manifest.check == engine.meta_check(self._words):
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

    def commit(self, progress: Progress | None = None) -> None:
        """Put the new state in the place of the old one, unless they are the same.

        `progress` is told how many documents are embedded, of how many.
        """
        if self._changed:
            with failing(self.path, "written"):
                self._writer.commit()
                self._index.reload()
        if self._vectors is not None:
            from chameleon.retrieval.dense import bring_up_to_date

            index = Index(self.path, replace(self.manifest, check=engine.meta_check(self._words)))
            bring_up_to_date(index, self._vectors, progress)
        with suppress(Exception):
            self._writer.wait_merging_threads()  # which gives the lock back
        self._writer = engine.writer(self._index, self._words)
        for file in self._words.glob("*.json"):  # which the engine lets nobody else read
            file.chmod((self.path / BUILDING).stat().st_mode)
        replace(self.manifest, check=engine.meta_check(self._words)).write(self.path)
        (self.path / BUILDING).unlink(missing_ok=True)

    def _add(self, document: Document) -> None:
        place = ", ".join(f"{key} {value}" for key, value in document.source.items())
        if not document.id:
            raise InputError("a document has no id", where=place)
        if document.id in self._seen:
            raise InputError(f"the id {document.id!r} is given twice", where=place, hint="Give each its own.")
        self._seen.add(document.id)
        line = document.to_line()
        if self.old is not None and (there := self.old.with_ids([document.id])):
            if self.old.line_at(there[document.id]) == line:
                return
            self._delete(document.id)
        layout = Layout.of(document)
        digest = crc32(repr(sorted(self.manifest.embeddings.items())).encode(), crc32(line))
        fields: dict[str, Any] = {
            ID: document.id,
            TERMS: " ".join(layout.weighted()),
            DOCUMENT: line,
            LAYOUT: layout.to_bytes(),
            KEY: self._next << DIGEST | digest >> 32 - DIGEST,
        }
        with failing(self.path, "written"):
            self._writer.add_document(engine.load().Document(**fields))
        self._next += 1
        self._changed = True

    def _delete(self, id: str) -> None:
        with failing(self.path, "written"):
            self._writer.delete_documents_by_term(ID, id)
        self._changed = True


def clear(folder: Path, problem: Damaged, retriever: Any) -> Any:
    """Remove what is left of a damaged index, and return the retriever that it was built for.

    What is known of the files stays. Raises `InputError` for a folder that holds anything else than an index,
    and where nothing tells the retriever.
    """
    check_ours(folder)
    if not (folder / WORDS).is_dir():
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
    for name in (MANIFEST, BUILDING, WORDS, VECTORS):
        path = folder / name
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
    return retriever
