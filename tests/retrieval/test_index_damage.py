"""What is wrong with an index, or with the disk below it, is told in a sentence that names the file."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from chameleon.documents.indexing import index_files
from chameleon.errors import InputError
from chameleon.retrieval.engine import Damaged
from chameleon.retrieval.index import Index
from chameleon.retrieval.make import build_index, make_retriever
from tests.retrieval.corpora import questions, tables
from tests.retrieval.hashed import Hashed
from tests.retrieval.test_index_crashes import needs_fork, run

HARMS = {
    **{f"flipped at {place}": place for place in (0.0, 0.3, 0.5, 0.7, 0.95, 1.0)},
    "cut off": None,
    "half": None,
    "empty": None,
    "longer": None,
    "missing": None,
}
PRELUDE = """
import os, sys
from pathlib import Path
import langchain.embeddings
from chameleon.errors import InputError
from chameleon.retrieval.index import Index
from chameleon.retrieval.make import build_index, make_retriever
from tests.retrieval.corpora import tables
from tests.retrieval.hashed import Hashed
from tests.retrieval.test_index_damage import *

model = Hashed()
langchain.embeddings.init_embeddings = lambda name: model

def apart(do):
    "Print what a process of its own returns, tells, or dies of."
    if pid := os.fork():
        status = os.waitpid(pid, 0)[1]
        return print("CRASHED", status) if status else None
    try:
        print(do(), flush=True)
    except InputError as told:
        print(type(told).__name__, told, flush=True)
    os._exit(0)
"""
FLIPS = """
folder = Path(sys.argv[1])
apart(lambda: use(folder))
for path in files(folder):
    whole = path.read_bytes()
    for harm in HARMS:
        print(path.name, harm, end=": ", flush=True)
        damage(path, whole, harm)
        apart(lambda: use(folder))
    path.write_bytes(whole)
apart(lambda: use(folder))
"""


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def damage(path: Path, whole: bytes, harm: str) -> None:
    path.unlink(missing_ok=True)
    if (place := HARMS[harm]) is not None and whole:
        at = min(int(len(whole) * place), len(whole) - 1)
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :])
    elif harm != "missing":
        cut = {"cut off": whole[:-1], "half": whole[: len(whole) // 2], "empty": b"", "longer": whole + b"\0"}
        path.write_bytes(cut.get(harm, whole))


def use(folder: Path) -> int:
    """Everything that reads the index, as a number."""
    index = Index.open(folder)
    names = ("bm25", "lexical", "dense") if index.manifest.embeddings else ("bm25", "lexical")
    hits = [make_retriever(index, name).search_many(questions(3), 20) for name in names]
    return zlib.crc32(repr((hits, list(index.documents()))).encode())


def build(folder: Path, count: int = 12) -> Index:
    return build_index(folder, tables(count), "bm25")


@needs_fork
def test_every_damaged_file_is_named_and_nothing_crashes(tmp_path: Path, hashed: Hashed) -> None:
    folder = tmp_path / "index"
    build_index(folder, tables(30), {"first": "blend", "embeddings": hashed.name})
    build_index(folder, [*tables(3, seed=1), *tables(9, first=50)])  # with documents that are replaced
    before, *told, after = run(PRELUDE + FLIPS, str(folder))
    assert before == after and before.isdecimal()
    assert len(told) == len(HARMS) * len(files(folder)) > 150
    for line in told:
        name, _, outcome = line.partition(" ")
        outcome = outcome.partition(": ")[2]
        is_spared = outcome == before and (name.startswith(".") or "flipped" in line or "longer" in line)
        is_told = outcome.startswith("Damaged ") and name in outcome and "again." in outcome
        assert is_spared or is_told or ("manifest.json" in line and "InputError" in outcome), line


@pytest.mark.parametrize("harmed", ["words/*.store", "words/*.term", "words/meta.json", "manifest.json"])
def test_index_files_builds_a_damaged_index_anew(tmp_path: Path, harmed: str) -> None:
    (tmp_path / "data").mkdir()
    for name in "ab":
        (tmp_path / "data" / f"{name}.csv").write_text(f"city,river\nLyon,Rhone {name}\n")
    folder = tmp_path / "index"
    index_files([tmp_path / "data"], folder, "bm25")
    before = list(Index.open(folder).documents())
    path = next(iter(folder.glob(harmed)))
    damage(path, path.read_bytes(), "flipped at 0.5")
    with pytest.raises(Damaged):
        Index.open(folder)
    summary = index_files([tmp_path / "data"], folder)
    assert path.name in summary.damaged and list(Index.open(folder).documents()) == before
    assert Index.open(folder).manifest.retriever == {"first": "bm25"}
    (folder / "files.json").unlink()
    (folder / "manifest.json").write_text("{")  # now nothing says what the index was for
    with pytest.raises(InputError, match="Name the retriever that the index was built for"):
        index_files([tmp_path / "data"], folder)
    assert index_files([tmp_path / "data"], folder, "bm25").held == 2


def test_leftovers_of_a_first_build_that_are_damaged_are_no_hindrance(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("city,river\nLyon,Rhone\n")
    index_files([tmp_path / "a.csv"], tmp_path / "index", "bm25")
    (tmp_path / "index" / "manifest.json").unlink()
    (tmp_path / "index" / "words" / "meta.json").write_text("{")
    index_files([tmp_path / "a.csv"], tmp_path / "index")
    assert len(Index.open(tmp_path / "index")) == 1


@pytest.mark.parametrize("format", [{"format": "chameleon-index-99"}, {"format": 1, "parts": {}}, {"sum": 1}])
def test_another_format_is_told_and_left_alone(tmp_path: Path, format: dict[str, object]) -> None:
    (tmp_path / "a.csv").write_text("city,river\nLyon,Rhone\n")
    folder = build(tmp_path / "index").path
    (folder / "manifest.json").write_text(json.dumps(format))
    for use_it in (Index.open, build, lambda folder: index_files([tmp_path / "a.csv"], folder, "bm25")):
        with pytest.raises(
            InputError, match=r"another format than chameleon-index-2, .* in another folder\."
        ):
            use_it(folder)
    assert json.loads((folder / "manifest.json").read_text()) == format and any(folder.glob("words/*.store"))


@pytest.mark.parametrize(
    "text", ["", "[]", "null", '"x"', '{"format": "chameleon-index-2"}', "{" * 100, "\xff"]
)
def test_a_manifest_that_is_none(tmp_path: Path, text: str) -> None:
    folder = build(tmp_path / "index").path
    (folder / "manifest.json").write_text(text, "latin-1")
    with pytest.raises(Damaged, match=r"manifest\.json: the file is damaged\. Build the index again\."):
        Index.open(folder)


def test_folders_that_hold_something_else(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such index"):
        Index.open(tmp_path / "none")
    with pytest.raises(InputError, match="the folder holds no index"):
        Index.open(tmp_path)
    (tmp_path / "letters.txt").write_text("x")
    with pytest.raises(InputError, match=r"holds something else: letters\.txt\. Name a folder of its own"):
        build(tmp_path)
    with pytest.raises(InputError, match=r"an index is a folder, and this is a file"):
        build(tmp_path / "letters.txt")
    with pytest.raises(InputError):
        Index.open(tmp_path / "letters.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["letters.txt"]


READ_ONLY = """
folder = Path(sys.argv[1])
use(folder)  # while modules may still be imported
for path in (folder, *folder.rglob("*")):
    path.chmod(0o555 if path.is_dir() else 0o444)
def as_nobody(do):
    if os.geteuid() == 0:
        os.setuid(65534)
    return do()
before = use(folder)
apart(lambda: as_nobody(lambda: use(folder)) == before)
apart(lambda: as_nobody(lambda: build(folder, 20)))
apart(lambda: as_nobody(lambda: build(folder / "new", 20)))
(folder / "words" / "meta.json").chmod(0)
apart(lambda: as_nobody(lambda: use(folder)))
"""


@needs_fork
def test_a_folder_that_is_read_only() -> None:
    with TemporaryDirectory() as place:  # pytest's own folders are closed to other users
        Path(place).chmod(0o755)
        folder = build(Path(place) / "index").path
        is_read, *told = run(PRELUDE + READ_ONLY, str(folder))
        assert is_read == "True"
        for line, done in zip(told, ("written", "written", "read"), strict=True):
            assert line.startswith("InputError ") and line.endswith(f"cannot be {done}: Permission denied")
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755)


LIMITED = """
import resource
def limited(most):
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    return len(build_index(Path(sys.argv[1]) / str(most), NEW))
for most in LIMITS:
    print(most, end=": ", flush=True)
    apart(lambda: limited(most))
"""
LIMITS = (50, 150, 1_000, 5_000, 30_000, 100_000, 10_000_000)
NEW = tables(300, seed=1)


@needs_fork
def test_a_write_that_the_system_refuses_is_told_and_the_old_index_stays(
    tmp_path: Path, hashed: Hashed
) -> None:
    old = build_index(tmp_path / "old", tables(12), {"first": "dense", "embeddings": hashed.name})
    for most in LIMITS:
        shutil.copytree(old.path, tmp_path / str(most))
    outcomes = run(PRELUDE + LIMITED, str(tmp_path))
    assert outcomes[-1].endswith(": 300")
    for most, told in zip(LIMITS[:-1], outcomes, strict=False):
        assert (
            told.startswith(f"{most}: InputError {tmp_path / str(most)}") and "cannot be written" in told
        ), told
        index = Index.open(tmp_path / str(most))
        assert list(index.documents()) in (tables(12), NEW), most
        assert make_retriever(index, "lexical").search("river bridge")
        assert list(build_index(tmp_path / str(most), NEW).documents()) == NEW


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 200 kB."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root can make one, on Linux")
    library, place = ctypes.CDLL(None, use_errno=True), str(tmp_path).encode()
    if library.mount(b"tmpfs", place, b"tmpfs", 0, b"size=200k"):
        pytest.skip("this system lets nobody make one")
    yield tmp_path
    library.umount2(place, 2)


def test_a_full_disk_is_told_and_the_old_index_stays(small_disk: Path) -> None:
    folder = small_disk / "index"
    build(folder, 20)
    for documents in (tables(3000, seed=1), tables(2000, seed=2)):
        with pytest.raises(InputError, match=r"cannot be written: .*(disk is full|No space left)"):
            build_index(folder, documents)
        assert list(Index.open(folder).documents()) == tables(20)
    assert list(build_index(folder, tables(40)).documents()) == tables(40)
