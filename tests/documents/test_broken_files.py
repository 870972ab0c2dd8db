"""What cannot be read is reported, and the others stay as they are."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from chameleon.cli.out import Interrupted
from chameleon.documents import indexing
from chameleon.documents.indexing import Summary, index_files
from chameleon.retrieval.index import Index
from chameleon.table.found import LeftOut
from chameleon.table.records import MAX_CELL, Origin
from chameleon.table.text_files import tables_of

pytest.importorskip("tantivy")

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


TEXTS = {
    "json": '[{"a": "x", "b": "CELL"}]',
    "jsonl": '{"a": "x", "b": "CELL"}\n',
    "html": "<table><tr><th>a<th>b<tr><td>x<td>CELL<tr><td>x<td>y</table>",
    "csv": "a,b\nx,CELL\n",
}


def with_cell(path: Path, cell: str) -> None:
    """A file with one table that holds this cell, of the kind that its suffix names."""
    if (kind := path.suffix[1:]) in TEXTS:
        path.write_text(TEXTS[kind].replace("CELL", cell))
        return
    package = sqlite3 if kind == "sqlite" else pytest.importorskip("duckdb")
    with closing(package.connect(str(path))) as connection:
        connection.execute("CREATE TABLE t (a TEXT, b TEXT)")
        connection.execute("INSERT INTO t VALUES ('x', ?)", [cell])
        connection.commit()


@pytest.mark.parametrize("kind", [*TEXTS, "sqlite", "duckdb"])
def test_a_cell_has_a_bound_in_files_of_all_kinds(folder: Path, kind: str) -> None:
    with_cell(folder / f"right.{kind}", "z" * MAX_CELL)
    with_cell(folder / f"wrong.{kind}", "z" * (MAX_CELL + 1))
    [fault] = index(folder).faults
    assert "a cell is longer than 131,072 characters" in fault.why and "wrong" in fault.where


@pytest.mark.parametrize("rows", [[["a", "b"], ["x", None]], [["a", "b"], ["x", "y"], [], [None]]])
def test_a_cell_of_a_sheet_has_a_bound_also_in_a_note(rows: list[list[str | None]]) -> None:
    long = "z" * (MAX_CELL + 1)
    records = [(n, [cell or long for cell in row]) for n, row in enumerate(rows, 1)]
    (found,) = tables_of(records, Origin("a.xlsx", "row"))
    assert isinstance(found, LeftOut) and "longer than 131,072" in found.why
