"""Search a folder of documents on this machine: no key, no network."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar

from chameleon.errors import InputError
from chameleon.markup import decoded, markup_text, require_lxml
from chameleon.modules.search.provider import SearchResult
from chameleon.retrieval.analysis import query_weights, terms
from chameleon.retrieval.bm25 import TextCollection

SUFFIXES = (".txt", ".md", ".html", ".htm")
LARGEST_FILE = 5_000_000
MOST_FILES = 20_000
_PASSAGE = 800  # characters: what a result has room for
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)


@dataclass(frozen=True)
class DocumentFolder:
    """The .txt, .md and .html files in a folder and its subfolders, ranked by BM25.

    Files are cut into passages of some 800 characters between paragraphs, so that the passage that fits is
    found and not the longest file. They are read at the first search; what changes later is not seen. Links
    that lead out of the folder are not followed, and files past 5 MB are left out.
    """

    name: ClassVar[str] = "folder"

    path: Path
    _reading: Lock = field(default_factory=Lock, repr=False, compare=False)

    def check(self) -> None:
        require_lxml()
        terms("folder")  # where words cannot be stemmed, that is told here
        if not self.path.is_dir():
            raise InputError(f"there is no folder {str(self.path)!r} to search", hint="Set folder: in YAML.")
        if next(self._files(), None) is None:
            raise InputError(f"the folder {str(self.path)!r} holds no .txt, .md or .html file")

    def runtime_info(self) -> Mapping[str, Any]:
        """Return the number of documents and a digest of their names and what they hold."""
        digest, files = hashlib.sha256(), list(self._files())
        for file in files:
            digest.update(f"{self._shown(file)}\0{file.stat().st_size}\0".encode("utf-8", "surrogateescape"))
            try:
                digest.update(file.read_bytes())
            except OSError:  # told by the first search
                digest.update(b"unreadable")
        told = {"documents": len(files), "sha256": digest.hexdigest()}
        return {"provider": self.name, "folder": self.path.name, **told}

    def search(self, query: str, count: int) -> list[SearchResult]:
        with self._reading:  # cached_property has no lock of its own, and reading twice takes twice as long
            passages, index = self._indexed
        scores = index.scores(query_weights(query))
        found = (i for i in range(len(scores)) if scores[i] > 0)
        best: dict[str, SearchResult] = {}  # one result per file, as a search engine gives one per page
        for i in sorted(found, key=lambda i: (-scores[i], i)):
            best.setdefault(passages[i].url, passages[i])
        return list(best.values())[:count]

    @cached_property
    def _indexed(self) -> tuple[list[SearchResult], TextCollection]:
        passages = [passage for file in self._files() for passage in self._passages(file)]
        if not passages:
            raise InputError(f"the files in {str(self.path)!r} hold no text")
        return passages, TextCollection([terms(f"{p.title} {p.text}") for p in passages])

    def _files(self) -> Iterator[Path]:
        root, found = self.path.resolve(), 0
        for folder, folders, names in os.walk(root):
            folders.sort()  # the same order, and so the same ranking of ties, on every machine
            for file in (Path(folder, name) for name in sorted(names)):
                if file.suffix.lower() not in SUFFIXES or not file.resolve().is_relative_to(root):
                    continue
                if not file.is_file() or file.stat().st_size > LARGEST_FILE:
                    continue
                found += 1
                if found > MOST_FILES:
                    raise InputError(f"the folder {str(self.path)!r} holds more than {MOST_FILES:,} files")
                yield file

    def _shown(self, file: Path) -> str:
        """Return the path within the folder: the whole one says more of the machine than of the document."""
        return file.relative_to(self.path.resolve()).as_posix()

    def _passages(self, file: Path) -> Iterator[SearchResult]:
        try:
            text = decoded(file.read_bytes())
        except OSError as problem:
            raise InputError(f"cannot be read: {problem.strerror}", where=str(file)) from problem
        title = ""
        if file.suffix.lower() in (".html", ".htm"):
            title, text = markup_text(text)
        elif heading := _HEADING.search(text):
            title = heading[1]
        for passage in split(text, _PASSAGE):
            yield SearchResult(title or file.stem, self._shown(file), passage)


def split(text: str, length: int) -> Iterator[str]:
    """Cut the text into passages of about `length` characters, between paragraphs or else words."""
    part = re.compile(rf".{{1,{length}}}(?: |$)|.{{{length}}}")
    passage = ""
    for paragraph in re.split(r"\n\s*\n", text):
        for piece in part.findall(" ".join(paragraph.split())):
            if passage and len(passage) + len(piece) > length:
                yield passage
                passage = ""
            passage = f"{passage}\n{piece}".strip()
    if passage:
        yield passage
