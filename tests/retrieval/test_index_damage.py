"""What is wrong with an index, or with the disk below it, is one sentence that names the file."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from chameleon.documents.indexing import index_files
from chameleon.errors import InputError
from chameleon.retrieval.engine import failing
from chameleon.retrieval.index import Index
from chameleon.retrieval.make import build_index, delete_documents
from tests.retrieval.corpora import tables
from tests.retrieval.hashed import Hashed
from tests.retrieval.test_index_crashes import know_embeddings, needs_fork, run

LIMITS = (50, 1_000, 30_000, 100_000, 10_000_000)
NEW = tables(300, seed=1)
HARMS: dict[str, Callable[[bytes], bytes | None]] = {
    "removed": lambda whole: None,
    "emptied": lambda whole: b"",
    "cut": lambda whole: whole[: len(whole) // 2],
    "longer": lambda whole: whole + b"\0",
    "garbled": lambda whole: bytes(byte ^ 16 for byte in whole),
    "flipped": lambda whole: whole[:-1] + bytes([whole[-1] ^ 1]),
}


def build(folder: Path) -> Index:
    return build_index(folder, tables(12), "bm25")


@pytest.mark.parametrize("harm", HARMS)
def test_every_damaged_file_is_named_with_what_rebuilds_it(tmp_path: Path, hashed: Hashed, harm: str) -> None:
    source, folder = tmp_path / "a.csv", tmp_path / "index"
    source.write_text("city,river\nLyon,Rhone\n")
    index_files([source], folder, {"first": "blend", "embeddings": hashed.name})
    build_index(folder, tables(3, seed=1))
    index = build_index(folder, tables(9))  # with documents that are replaced

    def index_again(folder: Path) -> object:
        return index_files([source], folder)

    def delete_nothing(folder: Path) -> object:
        return delete_documents(folder, [])

    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".lock"]
    assert {"manifest.json", "files.json", "meta.json"} < {path.name for path in files} and len(files) > 15
    for path in files:
        whole = path.read_bytes()
        path.unlink()  # what is mapped stays as it is
        if (content := HARMS[harm](whole)) is not None:
            path.write_bytes(content)
        is_unfinished = path.name == "manifest.json" and harm == "removed"
        hint = f"rebuild it: chameleon index FILES --out {folder}"
        if is_unfinished:
            hint = "Run the command that builds it again."
        for use_it in (Index.open, delete_nothing, *([] if is_unfinished else [index_again])):
            with pytest.raises(InputError) as caught:
                use_it(folder)
            assert str(caught.value).startswith(str(folder if is_unfinished else path))
            assert str(caught.value).endswith(hint), path
        path.unlink(missing_ok=True)
        path.write_bytes(whole)
    assert list(Index.open(folder).documents()) == list(index.documents())


MANIFESTS = {  # what `manifest.json` may be, and what is said of it
    **dict.fromkeys(["", "[]", "{" * 100, "\xff", '{"format": "chameleon-index-6"}'], "file is damaged"),
    '{"format": "chameleon-index-5", "check": 7}': "another format than chameleon-index-6",
}


@pytest.mark.parametrize("text", MANIFESTS)
def test_another_format_and_none_are_reported_and_left_alone(tmp_path: Path, text: str) -> None:
    build(tmp_path)
    (tmp_path / "manifest.json").write_text(text, "latin-1")
    for use_it in (Index.open, build):
        with pytest.raises(InputError, match=MANIFESTS[text]):
            use_it(tmp_path)
    assert (tmp_path / "manifest.json").read_text("latin-1") == text and any(tmp_path.glob("*/words/*.store"))


@pytest.mark.parametrize("name", ["letters.txt", "words/thesis.txt", "manifest.json", "chameleon/x.txt"])
def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path, name: str) -> None:
    mine = tmp_path / "site" / name
    mine.parent.mkdir(parents=True)
    mine.write_text('{"name": "a site of mine"}')
    top = name.partition("/")[0]
    for do, place, message in (
        (Index.open, "none", "there is no such index"),
        (lambda folder: delete_documents(folder, []), "none", "there is no such index"),
        (Index.open, "site", "the folder holds no index"),
        (build, "site", "the folder holds no index" if top == "manifest.json" else f"something else: {top}"),
        (build, f"site/{name}", "an index is a folder, and this is a file"),
    ):
        with pytest.raises(InputError, match=message):
            do(tmp_path / place)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [mine.name]


def test_a_full_disk_is_thought_of_where_the_engine_says_no_more(tmp_path: Path) -> None:
    for said, hint in {"An error occurred in a thread: 'x'": "Is the disk full?", "Schema error": ""}.items():
        with pytest.raises(InputError) as told, failing(tmp_path, "written"):
            raise ValueError(said)
        assert told.value.hint == hint


def apart(do: Callable[[], object]) -> None:
    """Print what a process of its own returns, raises, or dies of."""
    sys.stdout.flush()
    if pid := os.fork():
        status = os.waitpid(pid, 0)[1]
        return print("CRASHED", status) if status else None
    try:
        print(do(), flush=True)
    except InputError as problem:
        print(type(problem).__name__, problem, flush=True)
    os._exit(0)


def limit(folder: str) -> None:
    import resource

    know_embeddings()
    for most in LIMITS:
        limits = (resource.RLIMIT_FSIZE, (most, most))
        apart(lambda: resource.setrlimit(*limits) or len(build_index(f"{folder}/{most}", NEW)))  # noqa: B023


@pytest.mark.slow
@needs_fork
def test_a_full_disk_is_reported_and_the_old_index_stays(tmp_path: Path, hashed: Hashed) -> None:
    """The system refuses to write more than so many bytes to a file."""
    old = build_index(tmp_path / "old", tables(12), {"first": "dense", "embeddings": hashed.name})
    for most in LIMITS:
        shutil.copytree(old.path, tmp_path / str(most))
    *outcomes, last = run("test_index_damage.limit", tmp_path)
    assert last == "300"
    for most, message in zip(LIMITS[:-1], outcomes, strict=True):
        folder = tmp_path / str(most)
        assert message.startswith(f"InputError {folder}") and "cannot be written" in message
        assert list(Index.open(folder).documents()) == tables(12), most
        assert list(build_index(folder, NEW).documents()) == NEW
