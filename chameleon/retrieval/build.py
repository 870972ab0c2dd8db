"""Build an index, add to it and delete from it: all in a new folder of data, then a new manifest."""

import os
import shutil
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Self
from zlib import crc32

from chameleon.errors import InputError
from chameleon.retrieval import engine
from chameleon.retrieval.document import Document
from chameleon.retrieval.engine import DIGEST, DOCUMENT, ID, KEY, KIND, LAYOUT, TERMS, failing
from chameleon.retrieval.index import KINDS, Index, is_plain
from chameleon.retrieval.layout import Layout
from chameleon.retrieval.manifest import DATA, WORDS, Manifest, check_ours, is_index, replace_json
from chameleon.retrieval.texts import all_texts
from chameleon.retrieval.vectors import Vectors, opened_vectors

if sys.platform != "win32":
    import fcntl

Progress = Callable[[int], object]
"""A callback with the number of documents done."""
_PROGRESS_STEP, _EMBED_BATCH = 100, 64
_MAX_ID_CHARS = 1_000


class Build:
    """One change of an index, from its lock to its commit; until then the old one is opened.

    Args:
        settings: for a new index; for an existing one only the retriever may change.

    Attributes:
        old: the previous index, or None.
        data: the new folder.
    """

    def __init__(self, path: Path, settings: Manifest) -> None:
        self.path, self._settings = path, settings
        self._seen: set[str] = set()
        self._writer: Any = None
        self._vectors: Vectors | None = None
        self._embedded: set[int] = set()  # keys of documents that have vectors, or wait for them
        self._waiting: list[tuple[int, list[str]]] = []
        self._is_committed = False

    def __enter__(self) -> Self:
        check_ours(self.path)
        self._makes_folder = not self.path.exists()
        with failing(self.path, "written"):
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(self.path)
        try:
            self._begin()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _begin(self) -> None:
        self.data = self.path / f"chameleon-{os.urandom(4).hex()}"
        self.old = Index.open(self.path) if is_index(self.path) else None
        settings = self.old.manifest if self.old is not None else self._settings
        self.manifest = replace(settings, retriever=self._settings.retriever, data=self.data.name)
        self._changed = self.old is None or self.old.manifest.retriever != self.manifest.retriever
        self._next = (self.old.last_key() >> DIGEST) + 1 if self.old is not None else 0
        for folder in self.path.glob(DATA):  # of killed builds
            if self.old is None or folder != self.old.data:
                shutil.rmtree(folder, ignore_errors=True)
        if self.old is not None:
            with failing(self.path, "written"):
                locks = shutil.ignore_patterns("*.lock")
                shutil.copytree(self.old.data, self.data, copy_function=_link, ignore=locks)
        self._writer = engine.writer(self.data / WORDS)
        if self.manifest.embeddings:
            self._vectors = opened_vectors(self.data, self.manifest)
            self._embedded = self._vectors.keys()

    def _end(self) -> None:
        """Close the writer, remove uncommitted data, and release the lock."""
        if self._writer:
            with suppress(Exception):
                self._writer.rollback()
            with suppress(Exception):
                self._writer.wait_merging_threads()
        if not self._is_committed:
            shutil.rmtree(self.data, ignore_errors=True)
            if self._makes_folder:
                with suppress(OSError):
                    self.path.rmdir()
        os.close(self._lock)

    def add(self, documents: Iterable[Document], progress: Progress | None = None) -> None:
        """Add documents, keeping identical ones. Raises `InputError` for a repeated id."""
        done = 0
        for done, document in enumerate(documents, 1):
            self._add(document)
            if progress and done % _PROGRESS_STEP == 0:
                progress(done)
        if progress:
            progress(done)

    def delete(self, ids: Iterable[str]) -> None:
        """Delete documents. Raises `InputError` for an id that the index does not have."""
        for id in ids:
            if self.old is not None:
                self.old.place(id)
            self._delete(id)

    def add_file(self, name: str, content: Any) -> None:
        """Keep JSON with the index, in a file that the next build finds in the `data` of the old one."""
        file = self.data / name
        before = file.read_bytes() if file.exists() else b""
        replace_json(file, content)
        self._changed |= file.read_bytes() != before

    def commit(self) -> Index:
        """Replace the old index with the new one, unless nothing changed, and return it."""
        if self.old is not None and not self._changed:
            return self.old
        with failing(self.path, "written"):
            self._writer.commit()
            self._writer.wait_merging_threads()  # the writer cannot be used after this
            self._writer = None
            for file in (self.data / WORDS).glob("*.json"):  # the engine makes these unreadable for others
                file.chmod(self.data.stat().st_mode & 0o666)
        if self._vectors:
            self._embed(self._vectors)
            index = Index(self.path, self.manifest)
            self._vectors.keep(set(index.keys(list(index.places()))))
            self._vectors.save()
        with failing(self.path, "written"):
            self.manifest = self.manifest.with_files(self.path)
        self.manifest.write(self.path)  # the new index takes effect here
        self._is_committed = True
        if self.old is not None:
            shutil.rmtree(self.old.data, ignore_errors=True)
        return Index(self.path, self.manifest)

    def _add(self, document: Document) -> None:
        place = ", ".join(f"{key} {value}" for key, value in document.source.items())
        id = document.id
        if not (isinstance(id, str) and 0 < len(id) <= _MAX_ID_CHARS and is_plain(id)):
            what = f"a document's id is a text of 1 to {_MAX_ID_CHARS:,} characters, not {str(id)[:40]!r}"
            raise InputError(what, where=place)
        if id in self._seen:
            raise InputError(f"the id {id!r} occurs twice", where=place, hint="Give each its own id.")
        self._seen.add(id)
        line = document.to_line()
        if self.old is not None and (there := self.old.with_ids([id])):
            if self.old.line_at(there[id]) == line:
                return
            self._delete(id)
        digest = crc32(line, self.manifest.embeddings_sum)  # other embeddings, another key
        key = self._next << DIGEST | digest >> 32 - DIGEST  # the upper bits of the 32
        layout = Layout.of(document)
        fields: dict[str, Any] = {
            ID: id,
            TERMS: " ".join(layout.weighted()),
            DOCUMENT: line,
            LAYOUT: layout.to_bytes(),
            KEY: key,
            KIND: KINDS.index(document.kind),
        }
        with failing(self.path, "written"):
            self._writer.add_document(engine.load().Document(**fields))
        self._next += 1
        self._changed = True
        if self._vectors and key not in self._embedded:
            self._embedded.add(key)
            self._waiting.append((key, all_texts(document)))
            if len(self._waiting) >= _EMBED_BATCH:
                self._embed(self._vectors)

    def _embed(self, vectors: Vectors) -> None:
        if self._waiting:
            vectors.add(self._waiting)
            self._waiting = []

    def _delete(self, id: str) -> None:
        with failing(self.path, "written"):
            self._writer.delete_documents_by_term(ID, id)
        self._changed = True


def _locked(folder: Path) -> int:
    """Open a folder and lock it against other builds if the system can. Raises `InputError`, OSError."""
    if sys.platform == "win32":
        return os.open(os.devnull, os.O_RDONLY)
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as problem:
        os.close(handle)
        hint = "Wait for it, then run the command again."
        raise InputError("another process is building this index", where=str(folder), hint=hint) from problem
    except OSError:  # some network drives
        pass
    return handle


def _link(source: str, target: str) -> None:
    """Link a file, or copy it on a disk without links: files of an index are never rewritten."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
