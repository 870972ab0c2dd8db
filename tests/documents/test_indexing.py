"""Folders and files into an index, and again: what is read, kept, replaced, taken out and reported."""

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from chameleon.cli.terminal import Interrupted
from chameleon.documents import file_documents, indexing
from chameleon.documents.files import LEDGER, READERS, Entry, Ledger
from chameleon.documents.indexing import Summary, index_files
from chameleon.errors import InputError, MissingPackage
from chameleon.retrieval.index import Index
from chameleon.retrieval.make import make_retriever
from chameleon.table.found import LeftOut
from chameleon.table.records import MAX_CELL, Origin
from chameleon.table.text_files import tables_of

pytest.importorskip("tantivy")

OLD = 1_600_000_000
LAKES = "town/lakes.md#Lakes"


def put(path: Path, text: str, time: int = OLD) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (time, time))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    put(tmp_path / "data" / "teams.csv", "Team,Points\nNord,40\nSud,38\n")
    put(tmp_path / "data" / "town" / "lakes.md", "# Lakes\n\n| Lake | Depth |\n|---|---|\n| Como | 410 |\n")
    return tmp_path / "data"


def index(folder: Path, *sources: Path, retriever: str | None = None) -> Summary:
    return index_files(sources or (folder,), folder.parent / "index", retriever)


def cells(folder: Path, id: str = "teams.csv") -> list[list[str]]:
    table = Index.open(folder.parent / "index").document(id).table
    assert table is not None
    return [list(row) for row in table.rows]


def ids(folder: Path) -> list[str]:
    return sorted(Index.open(folder.parent / "index").ids)


def test_again_only_what_has_changed_is_read_and_what_is_gone_is_taken_out(folder: Path) -> None:
    first = index(folder)
    assert (first.files, first.tables, first.rows, first.held["table"]) == (2, 2, 3, 2)
    opened = Index.open(first.index)
    assert make_retriever(opened).search("depth of Como", 1)[0].id == LAKES
    assert opened.document(LAKES).source == {"file": "town/lakes.md", "heading": "Lakes"}
    (folder / "teams.csv").chmod(0o600)
    again = index(folder)
    assert (again.files, again.unchanged, again.tables, again.held["table"]) == (0, 2, 0, 2)
    os.utime(folder / "teams.csv", (OLD + 9, OLD + 9))  # as after a copy: another time, the same bytes
    assert index(folder).unchanged == 2
    put(folder / "teams.csv", "Team,Points\nNord,41\nSud,38\n", OLD + 5)
    (folder / "town" / "lakes.md").unlink()
    put(folder / "new.csv", "a,b\n1,2\n")
    summary = index(folder)
    assert (summary.files, summary.unchanged, summary.vanished, summary.held["table"]) == (2, 0, 1, 2)
    assert cells(folder) == [["Nord", "41"], ["Sud", "38"]]
    assert ids(folder) == ["new.csv", "teams.csv"]


def test_a_change_of_the_same_size_at_once_and_in_a_write_ahead_log_is_seen(folder: Path) -> None:
    (folder / "teams.csv").write_text("Team,Points\nNord,40\n")  # just now
    with closing(sqlite3.connect(folder / "x.db")) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript("CREATE TABLE t (a); INSERT INTO t VALUES (1);")
        index(folder)
        status = (folder / "teams.csv").stat()
        (folder / "teams.csv").write_text("Team,Points\nNord,77\n")
        os.utime(folder / "teams.csv", ns=(status.st_atime_ns, status.st_mtime_ns))
        connection.executescript("INSERT INTO t VALUES (2);")
        index(folder)
        assert (cells(folder), cells(folder, "x.db#t")) == ([["Nord", "77"]], [["1"], ["2"]])


def test_other_folders_and_files_are_added_and_the_first_stays(folder: Path) -> None:
    once = index(folder, folder, folder / "teams.csv", folder / "town" / ".." / "teams.csv")
    assert once.held["table"] == 2
    other = put(folder.parent / "other" / "teams.csv", "Team,Points\nWest,1\n")
    index(folder, other.parent, put(folder.parent / "single.csv", "a\n1\n"))
    assert ids(folder) == ["other/teams.csv", "single.csv", "teams.csv", LAKES]
    (folder / "teams.csv").unlink()
    assert index(folder, other.parent).vanished == 0  # that folder was not looked at
    assert index(folder).vanished == 1
    assert ids(folder) == ["other/teams.csv", "single.csv", LAKES]


def test_what_is_passed_over(folder: Path, tmp_path: Path) -> None:
    secret = put(tmp_path / "secret.csv", "a\n1\n")
    for name, target in {
        **{"out.csv": secret, "inside.csv": folder / "teams.csv", "loop": folder},
        "lost.csv": folder / "nowhere.csv",
    }.items():
        (folder / name).symlink_to(target)
    os.mkfifo(folder / "pipe.csv")
    for name in (".hidden.csv", ".git/x.csv", "~$book.xlsx", "a.pdf", "README", "Thumbs.db"):
        put(folder / name, "a\n1\n")
    put(folder / "settings.json", '{"size": 3, "names": ["a", "b"]}')
    put(folder / "prose.md", "No table | here.")
    assert index_files([folder], folder / "index").without == 1
    (folder / "index" / "chameleon-0123abcd" / "words").mkdir(parents=True)  # as a killed build leaves it
    icons = '{"icons": [{"src": "a.png"}]}'
    put(folder / "index" / "chameleon-0123abcd" / "files.json", icons)
    put(folder / "site" / "manifest.json", icons)  # of something else
    summary = index_files([folder], folder / "index")  # the index itself holds JSON files
    assert summary.held == {"table": 3, "passage": 1}
    assert {fault.where for fault in summary.faults} == {"out.csv", "lost.csv", "a.pdf"}
    others = {"hidden": 3, "link": 2, "no suffix": 1, ".db": 1, "index": 1, "device or pipe": 1}
    assert dict(summary.others) == others
    assert (summary.unchanged, summary.without) == (4, 0)


def test_odd_names_and_closed_folders_stop_nothing_but_another_build_does(folder: Path) -> None:
    def meanwhile(done: int, total: int, name: str) -> None:
        with pytest.raises(InputError, match="another process is building this index"):
            index(folder.parent / "other")

    put(folder.parent / "other" / "more.csv", "a\n1\n")
    index_files([folder], folder.parent / "index", None, meanwhile)
    assert ids(folder) == ["teams.csv", LAKES]
    put(folder / f"{'n' * 248}.csv", "a,b\n1,2\n")
    put(folder / "/".join(["d" * 200] * 8) / "deep.csv", "a,b\n1,2\n")
    closed = folder / "closed"
    closed.mkdir(mode=0)
    summary = index(folder)
    closed.chmod(0o700)
    assert summary.files == 2 and all(one.where == "closed" for one in summary.faults)
    assert max(map(len, ids(folder))) <= 500
    with pytest.raises(InputError, match="is an index, not a file or folder"):
        index(folder, summary.index)


def test_files_of_one_name_and_tables_of_one_id_each_have_their_own(folder: Path) -> None:
    ledger = Ledger()
    paths = [Path("/a/x.csv"), Path("/b/x.csv"), Path("/c/b/x.csv")]
    assert [ledger.name_for(path, Path("x.csv")) for path in paths] == ["x.csv", "b/x.csv", "c/b/x.csv"]
    table = "| a |\n|---|\n| {} |\n"
    put(folder / "a.md", "# T.md\n\n" + table.format(1))
    put(folder / "a.md#T.md", table.format(2))
    expected = ["a.md#T.md", "a.md#T.md#2", "teams.csv", LAKES]
    assert index(folder).held["table"] == 4 and ids(folder) == expected
    put(folder / "a.md", "# T.md\n\n" + table.format(3), OLD + 1)
    assert index(folder).held["table"] == 4 and ids(folder) == expected
    assert (cells(folder, "a.md#T.md"), cells(folder, "a.md#T.md#2")) == ([["3"]], [["2"]])
    put(folder / "a.md#T.md", table.format(4), OLD + 1)
    (folder / "a.md").unlink()
    assert index(folder).held["table"] == 3 and cells(folder, "a.md#T.md#2") == [["4"]]


def test_another_engine_reads_pictures_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.png", "b.png", "c.jpg"):
        (folder / name).write_bytes(name.encode())

    def lacks(path: Path, name: str) -> list[Any]:
        if path.suffix == ".md":
            return []
        raise MissingPackage("its pages are pictures, and no engine is installed", hint="Install one.")

    monkeypatch.setattr(file_documents, "read_document", lacks)
    summary = index(folder)
    assert not summary.faults and (summary.others[".png"], summary.others[".jpg"]) == (2, 1)
    assert [note.where for note in summary.notes] == ["pictures"] and "Install one." in summary.notes[0].what
    monkeypatch.setattr(file_documents, "read_document", lambda *_: [{"title": "", "text": "Closed."}])
    again = index(folder)
    assert (again.passages, again.unchanged) == (3, 2) and not again.notes
    unread = {"title": "", "text": "[This page was not read: no engine.]", "page": 2, "is_unread": True}
    pages = [{"title": "", "text": "Fees", "page": 1}, unread, {**unread, "page": 3}]
    monkeypatch.setattr(file_documents, "read_document", lambda *_: pages)
    put(folder / "a.pdf", "%PDF-")
    for engine, passages in (("", 1), ("", 0), ("rapidocr", 1), ("rapidocr", 0)):
        monkeypatch.setattr(indexing, "engine_installed", lambda engine=engine: engine)
        summary = index(folder)
        (lacking,) = summary.faults
        assert summary.passages == passages and lacking.where == "a.pdf, page 2" and "1 more" in lacking.why


def test_of_a_file_that_changed_for_the_worse_what_it_held_stays(folder: Path) -> None:
    put(folder / "notes.txt", "The lamp is red.")
    assert index(folder).held["passage"] == 1
    for _ in range(2):
        (folder / "notes.txt").write_bytes(b"\xff\xfe\xfd")
        put(folder / "teams.csv", "Team,Points\nNord,41\nSud,38,1,2\n")
        summary = index(folder)
        assert summary.held == {"passage": 1, "table": 2}
        found = {one.where: one.why for one in summary.faults}
        assert all(why.endswith("; its earlier entries stay in the index") for why in found.values())
        assert list(found) == ["notes.txt", "teams.csv, line 3"] and "is not UTF-16" in found["notes.txt"]
        assert cells(folder) == [["Nord", "40"], ["Sud", "38"]]
    put(folder / "notes.txt", "The lamp is blue.")
    put(folder / "teams.csv", "Team,Points\nNord,41\n")
    assert index(folder).files == 2 and cells(folder) == [["Nord", "41"]]


ERRORS = [RuntimeError("odd\x1b[2Jbytes"), MemoryError(), RecursionError("deep")]


@pytest.mark.parametrize("raised", [*ERRORS, KeyboardInterrupt, Interrupted, SystemExit])
def test_an_error_is_a_fault_of_its_file(folder: Path, raised: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    read = indexing.file_documents

    def documents(path: Path, *rest: Any) -> Any:
        if path.name == "teams.csv":
            raise raised
        return read(path, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(indexing, "file_documents", documents)
        if isinstance(raised, type):
            with pytest.raises(raised):
                index(folder)
            return
        (fault,) = index(folder).faults
    assert fault.where == "teams.csv" and type(raised).__name__ in fault.why and "\x1b" not in fault.why
    assert ids(folder) == [LAKES] and not index(folder).faults, "the file is read again"


@pytest.mark.parametrize("rows", [[["a", "b"], ["x", None]], [["a", "b"], ["x", "y"], [], [None]]])
def test_a_cell_of_a_sheet_has_a_bound_also_in_a_note(rows: list[list[str | None]]) -> None:
    long = "z" * (MAX_CELL + 1)
    records = [(n, [cell or long for cell in row]) for n, row in enumerate(rows, 1)]
    (found,) = tables_of(records, Origin("a.xlsx", "row"))
    assert isinstance(found, LeftOut) and "more than 131,072" in found.why


def test_the_record_of_an_older_version_is_read(tmp_path: Path) -> None:
    old = {"name": "a.csv", "digest": "x", "left_out": [], "stamp": [1, 2], "summarised": True}
    (tmp_path / LEDGER).write_text(json.dumps({"readers": READERS, "files": {"/a.csv": old}}))
    assert Ledger(tmp_path).entries["/a.csv"] == Entry("a.csv", "x", summarized=True)
