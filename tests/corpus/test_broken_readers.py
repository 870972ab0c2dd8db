"""A file that its reader stumbles over, or with a cell like a book, is told of; the others are indexed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from chameleon.cli import Interrupted
from chameleon.documents import indexing
from chameleon.documents.found import LeftOut, tables_of
from chameleon.documents.indexing import Summary, index_files
from chameleon.retrieval.index import Index
from chameleon.table.records import MAX_CELL, Origin

pytest.importorskip("bm25s")

GOOD = "Team,Points\nNord,40\nSud,38\n"


def index(folder: Path) -> Summary:
    (folder / "zebra.csv").write_text(GOOD)
    summary = index_files([folder], folder.parent / "index")
    assert "zebra.csv" in Index.open(summary.index).ids
    return summary


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


def test_a_database_whose_schema_is_no_utf8_is_a_warning(folder: Path) -> None:
    path = folder / "a.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute('CREATE TABLE t ("caXX" TEXT)')
        connection.execute("INSERT INTO t VALUES ('x')")
        connection.commit()
    path.write_bytes(path.read_bytes().replace(b"caXX", b"ca\xff\xfe"))
    (fault,) = index(folder).faults
    assert fault.where == "a.sqlite" and "cannot be read (" in fault.why and "UnicodeDecodeError" in fault.why


@pytest.mark.parametrize("raised", [RuntimeError("odd\x1b[2Jbytes"), MemoryError(), RecursionError("deep")])
def test_whatever_a_reader_raises_is_a_warning_of_that_file(
    folder: Path, raised: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.csv").write_text(GOOD)
    read = indexing.file_documents

    def documents(path: Path, *rest: object) -> object:
        if path.name == "a.csv":
            raise raised
        return read(path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(indexing, "file_documents", documents)
    (fault,) = index(folder).faults
    assert fault.where == "a.csv" and type(raised).__name__ in fault.why and "\x1b" not in fault.why
    monkeypatch.undo()
    assert not index(folder).faults, "the file is read again"


@pytest.mark.parametrize("raised", [KeyboardInterrupt, Interrupted, SystemExit])
def test_what_ends_a_command_ends_it(
    folder: Path, raised: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> object:
        raise raised

    monkeypatch.setattr(indexing, "file_documents", stopped)
    with pytest.raises(raised):
        index(folder)


def _json(path: Path, cell: str) -> None:
    path.with_suffix(".json").write_text(json.dumps([{"a": "x", "b": cell}]))


def _json_lines(path: Path, cell: str) -> None:
    path.with_suffix(".jsonl").write_text(json.dumps({"a": "x", "b": cell}) + "\n")


def _html(path: Path, cell: str) -> None:
    page = f"<table><tr><th>a<th>b<tr><td>x<td>{cell}<tr><td>x<td>y</table>"
    path.with_suffix(".html").write_text(page)


def _csv(path: Path, cell: str) -> None:
    path.with_suffix(".csv").write_text(f"a,b\nx,{cell}\n")


def _sqlite(path: Path, cell: str) -> None:
    with closing(sqlite3.connect(path.with_suffix(".sqlite"))) as connection:
        connection.execute("CREATE TABLE t (a, b)")
        connection.execute("INSERT INTO t VALUES ('x', ?)", (cell,))
        connection.commit()


def _duckdb(path: Path, cell: str) -> None:
    duckdb = pytest.importorskip("duckdb")
    with closing(duckdb.connect(str(path.with_suffix(".duckdb")))) as connection:
        connection.execute("CREATE TABLE t (a TEXT, b TEXT)")
        connection.execute("INSERT INTO t VALUES ('x', ?)", [cell])


@pytest.mark.parametrize("write", [_json, _json_lines, _html, _csv, _sqlite, _duckdb])
def test_a_cell_has_a_bound_in_files_of_all_kinds(folder: Path, write: Callable[[Path, str], None]) -> None:
    write(folder / "right", "z" * MAX_CELL)
    assert not index(folder).faults
    write(folder / "wrong", "z" * (MAX_CELL + 1))
    (fault,) = index(folder).faults
    assert "a cell is longer than 131,072 characters" in fault.why and "wrong" in fault.where


@pytest.mark.parametrize("rows", [[["a", "b"], ["x", None]], [["a", "b"], ["x", "y"], [], [None]]])
def test_a_cell_of_a_sheet_has_a_bound_also_in_a_note(rows: list[list[str | None]]) -> None:
    long = "z" * (MAX_CELL + 1)
    records = [(n, [cell or long for cell in row]) for n, row in enumerate(rows, 1)]
    (found,) = tables_of(records, Origin("a.xlsx", "row"))
    assert isinstance(found, LeftOut) and "longer than 131,072" in found.why
