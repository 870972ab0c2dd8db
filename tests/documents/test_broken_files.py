"""What cannot be read is reported, and the others stay as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from chameleon.cli.terminal import Interrupted
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


@pytest.mark.parametrize("rows", [[["a", "b"], ["x", None]], [["a", "b"], ["x", "y"], [], [None]]])
def test_a_cell_of_a_sheet_has_a_bound_also_in_a_note(rows: list[list[str | None]]) -> None:
    long = "z" * (MAX_CELL + 1)
    records = [(n, [cell or long for cell in row]) for n, row in enumerate(rows, 1)]
    (found,) = tables_of(records, Origin("a.xlsx", "row"))
    assert isinstance(found, LeftOut) and "longer than 131,072" in found.why
