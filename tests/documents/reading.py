"""How these tests read a file: what is found, by id, and what is left out."""

from __future__ import annotations

from pathlib import Path

from chameleon.documents.table_documents import file_documents
from chameleon.retrieval.document import Document
from chameleon.table.found import LeftOut


def read(path: Path) -> tuple[list[Document], list[LeftOut]]:
    """The tables of a file and what is left out of it."""
    found = list(file_documents(path, path.name))
    tables = [one for one in found if isinstance(one, Document)]
    return tables, [one for one in found if isinstance(one, LeftOut)]


def written(folder: Path, name: str, content: str | bytes) -> Path:
    """A file with this content."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def only(path: Path) -> Document:
    """The one table of a file in which nothing is left out."""
    documents, left_out = read(path)
    assert len(documents) == 1 and not left_out, (documents, left_out)
    return documents[0]


def rows(document: Document) -> list[list[str]]:
    """The header and the rows of its table."""
    assert document.table is not None
    return [list(document.table.header), *map(list, document.table.rows)]
