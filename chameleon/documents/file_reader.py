"""Reading the files of an index: what each holds, what of it cannot be read, and what is kept of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeAlias

from chameleon.documents.file_documents import file_documents
from chameleon.documents.ledger import Entry, Stamp
from chameleon.errors import ChameleonError, MissingPackage, lack_of
from chameleon.retrieval.document import Document
from chameleon.retrieval.layout import Analysed
from chameleon.table.found import LeftOut, Note
from chameleon.table.records import shown


class FileToRead(NamedTuple):
    """A file that is new or has changed: its place among all, what it is called, and what it was `before`."""

    number: int
    path: Path
    name: str
    stamp: Stamp
    digest: str
    before: Entry | None


class Broken(NamedTuple):
    """Why the rest of a file cannot be read; `lacks_package` where a package is missing."""

    left_out: LeftOut
    lacks_package: bool = False


Part: TypeAlias = Document | LeftOut | Note | Broken
IsFree = Callable[[Path, str], bool]
"""Tells whether no other file than this one has an id."""


class FileReader:
    """Reads files here, one after the other; `chameleon.interop.ray_index` reads them on a cluster."""

    def read(
        self, files: Iterable[FileToRead], is_free: IsFree
    ) -> Iterator[tuple[FileToRead, Iterable[Part]]]:
        """Yield each file with what it holds, in their order; raises `MachineError` alone."""
        for file in files:
            yield file, parts_of(file.path, file.name, partial(is_free, file.path))

    def analyse(self, document: Document) -> Analysed:
        """Return what an index keeps of a document."""
        return Analysed.of(document)


def parts_of(path: Path, name: str, is_free: Callable[[str], bool] = lambda id: True) -> Iterator[Part]:
    """Yield what a file holds, and at last why it could not be read to its end, where that is so.

    Raises `MachineError` for what is no fault of the file.
    """
    try:
        yield from file_documents(path, name, is_free)
    except MissingPackage as problem:
        yield Broken(LeftOut.of(problem, name), lacks_package=True)
    except Exception as problem:  # a file may be damaged in ways that its reader does not know
        if (lack := lack_of(problem)) is not None:
            raise lack from problem
        if isinstance(problem, ChameleonError):
            yield Broken(LeftOut.of(problem, name))
        else:
            said = shown(f"{type(problem).__name__}: {problem}".removesuffix(": "), 100)
            yield Broken(LeftOut(name, f"cannot be read ({said})"))
