"""What is wrong with an index, or with the disk below it, is told in a sentence that names the file."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chameleon.errors import InputError
from chameleon.retrieval.document import Document
from chameleon.retrieval.index import Index
from chameleon.retrieval.index.manifest import Manifest
from chameleon.retrieval.lexical.part import Bm25Part
from chameleon.retrieval.names import retriever
from tests.e2e.commands import environment
from tests.retrieval.corpora import tables


def build(folder: str | Path) -> Index:
    return Index.build(folder, tables(12), [Bm25Part()], segment_size=5)


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "lock")


def use(folder: Path) -> None:
    """Everything that reads the index."""
    index = Index.open(folder)
    retriever(index, "bm25").search("river bridge")
    list(index.documents())


Harm = Callable[[bytes], bytes]


def flipped(place: float) -> Harm:
    def harm(data: bytes) -> bytes:
        at = min(int(len(data) * place), len(data) - 1)
        return data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :]

    return harm


@pytest.mark.parametrize(
    "harm",
    [
        flipped(0.0),
        flipped(0.5),
        flipped(1.0),
        lambda data: data[:-1],
        lambda data: b"",
        lambda data: data + b"\0",
    ],
    ids=["first byte", "a byte", "last byte", "cut off", "empty", "longer"],
)
def test_every_damaged_file_is_named(tmp_path: Path, harm: Harm) -> None:
    build(tmp_path / "index")
    for path in files(tmp_path / "index"):
        whole = path.read_bytes()
        if harm(whole) == whole:
            continue
        path.write_bytes(harm(whole))
        with pytest.raises(InputError, match=r"Build the index again") as told:
            use(tmp_path / "index")
        assert told.value.where == str(path)
        path.write_bytes(whole)
    use(tmp_path / "index")


def test_every_missing_file_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    build(folder)
    for path in files(folder):
        whole = path.read_bytes()
        path.unlink()
        with pytest.raises(InputError) as told:
            use(folder)
        assert told.value.where == str(folder if path.name == "manifest.json" else path)
        path.write_bytes(whole)


def test_one_damaged_document_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    index = build(tmp_path / "index")
    path = index.path / "segments" / "000002" / "documents.jsonl"
    whole = path.read_bytes()
    place = whole.index(b'"table 6"') + len('"table 6","') + 30
    path.write_bytes(flipped((place + 0.5) / len(whole))(whole))
    opened = Index.open(index.path)
    with pytest.raises(InputError, match=r"the document 'table 6' is damaged") as told:
        opened.document("table 6")
    assert told.value.where == str(path)
    assert opened.document("table 5") == tables(12)[5] and opened.document("table 7") == tables(12)[7]
    assert retriever(opened).search("river bridge castle")


def test_a_newer_format_is_told(tmp_path: Path) -> None:
    folder = build(tmp_path / "index").path
    said = json.loads((folder / "manifest.json").read_bytes())
    (folder / "manifest.json").write_text(json.dumps(said | {"format": 99, "parts": []}))
    with pytest.raises(
        InputError, match=r"has format 99; this version of Chameleon reads 1\. Bring Chameleon"
    ):
        Index.open(folder)
    with pytest.raises(InputError, match="has format 99"):
        build(folder)


def test_a_manifest_leads_nowhere_else(tmp_path: Path) -> None:
    folder = build(tmp_path / "index").path
    manifest = Manifest.read(folder / "manifest.json")
    for name in ("../../elsewhere", "/etc"):
        object.__setattr__(manifest.segments[0], "name", name)
        manifest.write(folder / "manifest.json")
        with pytest.raises(InputError, match="the file is damaged"):
            Index.open(folder)


@pytest.mark.parametrize("text", ["", "[]", "null", "{}", '{"format": "x"}', '{"format": 1}', "{" * 100])
def test_a_manifest_that_is_none(tmp_path: Path, text: str) -> None:
    folder = build(tmp_path / "index").path
    (folder / "manifest.json").write_text(text)
    with pytest.raises(InputError, match="the file is damaged"):
        Index.open(folder)


def test_settings_that_nobody_wrote_are_told(tmp_path: Path) -> None:
    folder = build(tmp_path / "index").path
    manifest = Manifest.read(folder / "manifest.json")
    for parts, told in (
        ({"bm25": {"unheard": 1}}, "has settings that this version does not know"),
        ({"unheard": {}}, "knows no part 'unheard'"),
    ):
        Manifest(parts, manifest.segments, manifest.finished).write(folder / "manifest.json")
        with pytest.raises(InputError, match=told):
            Index.open(folder).searcher(next(iter(parts)))


def test_folders_that_hold_no_index(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such index"):
        Index.open(tmp_path / "none")
    with pytest.raises(InputError, match="the folder holds no index"):
        Index.open(tmp_path)
    with pytest.raises(InputError, match="no such index"):
        Index.delete(tmp_path / "none", [])
    assert not (tmp_path / "none").exists()
    (tmp_path / "file").write_text("x")
    for open_or_build in (Index.open, build):
        with pytest.raises(InputError):
            open_or_build(tmp_path / "file")


def test_nothing_is_written_among_other_files(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("x")
    with pytest.raises(
        InputError, match=r"the folder holds something else: letters\.txt\. Name a folder of its own"
    ):
        build(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["letters.txt"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is read-only to root")
def test_a_folder_that_is_read_only(tmp_path: Path) -> None:
    folder = build(tmp_path / "index").path
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    use(folder)
    with pytest.raises(InputError, match="no index can be written here: Permission denied"):
        Index.build(folder, tables(13))


def test_a_place_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Path, "mkdir", refused)
    with pytest.raises(InputError, match="no index can be written here: Read-only file system"):
        build(tmp_path / "index")


@pytest.mark.parametrize("writes", range(0, 120, 9))
def test_a_full_disk_is_told_and_the_old_index_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    folder = tmp_path / "index"
    build(folder)
    done = 0

    def synced(_: int) -> None:
        nonlocal done
        done += 1
        if done > writes:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", synced)
        try:
            Index.build(folder, [*tables(6, seed=1), *tables(9, first=50)], segment_size=4)
        except InputError as error:
            assert "No space left on device" in str(error) and str(folder) in error.where
        else:
            assert done <= writes or len(Index.open(folder)) == 21
    assert len(Index.open(folder)) in (12, 21)
    use(folder)
    again = Index.build(folder, [*tables(6, seed=1), *tables(9, first=50)], segment_size=4)
    assert len(again) == 21


LIMITED = """
import resource, sys
from chameleon.errors import InputError
from chameleon.retrieval.index import Index
from tests.retrieval.test_index_damage import build
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
try:
    build(sys.argv[1])
except InputError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="this system has no such limit")
@pytest.mark.parametrize("limit", [40, 200, 1500])
def test_a_write_that_the_system_refuses_is_told(tmp_path: Path, limit: int) -> None:
    command = [sys.executable, "-c", LIMITED, str(tmp_path / "index"), str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, env=environment())
    assert "cannot be written: File too large" in done.stdout and str(tmp_path / "index") in done.stdout
    assert len(build(tmp_path / "index")) == 12


FEW_FILES = """
import resource, sys
from chameleon.retrieval.index import Index
from chameleon.retrieval.names import retriever
from chameleon.retrieval.parts import parts_for
from tests.retrieval.corpora import tables
resource.setrlimit(resource.RLIMIT_NOFILE, (100, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
index = Index.build(sys.argv[1], tables(80), parts_for("auto"), segment_size=1)
print(len(retriever(Index.open(sys.argv[1])).search("river bridge")))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="this system has no such limit")
def test_many_segments_are_opened_where_few_files_may_be(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FEW_FILES, str(tmp_path / "index")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, env=environment())
    assert done.stdout == "10\n"


def test_what_a_source_of_documents_raises_goes_through(tmp_path: Path) -> None:
    def documents() -> Iterator[Document]:
        yield from tables(3)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Index.build(tmp_path / "index", documents(), [Bm25Part()])
    assert len(build(tmp_path / "index")) == 12
