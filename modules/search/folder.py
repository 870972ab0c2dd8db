"""Search a folder of documents on this machine: no key, no network."""

import hashlib
import logging
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar

from chameleon.documents.files import Walk
from chameleon.documents.reading import PICTURES, SUFFIXES, read_document
from chameleon.errors import InputError, require
from chameleon.lazy import cached_property
from chameleon.modules.search.provider import SearchResult
from chameleon.retrieval.analysis import query_weights, terms
from chameleon.retrieval.ranking import TextCollection
from chameleon.web.markup import require_lxml

MOST_FILES = 20_000
_log = logging.getLogger("chameleon")


@dataclass(frozen=True)
class DocumentFolder:
    """The texts and documents in a folder and its subfolders, their passages ranked by BM25.

    They are read at the first search; later changes are not seen. Pictures are skipped, links are not
    followed, and files that cannot be read are left out with a warning. Each file gives one result, its best
    passage.
    """

    name: ClassVar[str] = "folder"

    path: Path
    _reading: Lock = field(default_factory=Lock, repr=False, compare=False)

    def check(self) -> None:
        require_lxml()
        terms("folder")  # raises here if words cannot be stemmed
        if not self.path.is_dir():
            raise InputError(f"there is no folder {str(self.path)!r} to search", hint="Set folder: in YAML.")
        suffixes = {file.suffix.lower() for file in self._files()}
        if not suffixes:
            raise InputError(f"the folder {str(self.path)!r} has no texts or documents")
        if ".pdf" in suffixes:
            require("pypdfium2", "PDF files are read with", "papers")

    def runtime_info(self) -> Mapping[str, Any]:
        """Return the number of documents and a digest of their names and contents."""
        digest, files = hashlib.sha256(), list(self._files())
        for file in files:
            digest.update(f"{self._label(file)}\0{file.stat().st_size}\0".encode("utf-8", "surrogateescape"))
            with suppress(OSError):  # the first search reports it
                digest.update(file.read_bytes())
        info = {"documents": len(files), "sha256": digest.hexdigest()}
        return {"provider": self.name, "folder": self.path.name, **info}

    def search(self, query: str, count: int) -> list[SearchResult]:
        with self._reading:  # cached_property has no lock, and reading twice takes twice as long
            passages, index = self._indexed
        scores = index.scores(query_weights(query))
        hits = (i for i in range(len(scores)) if scores[i] > 0)
        best: dict[str, SearchResult] = {}  # one result per file, as search engines return one per page
        for i in sorted(hits, key=lambda i: (-scores[i], i)):
            best.setdefault(passages[i].url, passages[i])
        return list(best.values())[:count]

    @cached_property
    def _indexed(self) -> tuple[list[SearchResult], TextCollection]:
        passages = [passage for file in self._files() for passage in self._passages(file)]
        if not passages:
            raise InputError(f"no text could be read from the files in {str(self.path)!r}")
        return passages, TextCollection([terms(f"{p.title} {p.text}") for p in passages])

    def _files(self) -> Iterator[Path]:
        suffixes = SUFFIXES.difference(PICTURES)
        files = (file for file in Walk(self.path.resolve()).files() if file.suffix.lower() in suffixes)
        yield from islice(files, MOST_FILES)
        if next(files, None) is not None:
            raise InputError(f"the folder {str(self.path)!r} has more than {MOST_FILES:,} files")

    def _label(self, file: Path) -> str:
        """Return the path within the folder: the full path says more about the machine than the document."""
        return file.relative_to(self.path.resolve()).as_posix()

    def _passages(self, file: Path) -> Iterator[SearchResult]:
        name = self._label(file)
        try:
            passages = read_document(file, name)
        except Exception as problem:  # a file may be damaged in ways that its reader does not expect
            _log.warning("a document is not searched: %s", problem)
            return
        for passage in passages:
            yield SearchResult(passage["title"] or file.stem, name, passage["text"])
