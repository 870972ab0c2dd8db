"""What is wrong with an index, or with the disk below it, is told in a sentence that names the file."""

from __future__ import annotations

import os
import shutil
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from chameleon.documents.indexing import index_files
from chameleon.errors import InputError
from chameleon.retrieval.engine import Damaged
from chameleon.retrieval.index import Index
from chameleon.retrieval.make import build_index, delete_documents, make_retriever
from tests.retrieval.corpora import questions, tables
from tests.retrieval.hashed import Hashed
from tests.retrieval.test_index_crashes import know_embeddings, needs_fork, run

LIMITS = (50, 150, 1_000, 5_000, 30_000, 100_000, 10_000_000)
NEW = tables(300, seed=1)


def harmed(whole: bytes) -> dict[str, bytes | None]:
    """A file's content, damaged in many ways; None where it is missing."""
    places = {min(int(len(whole) * place), len(whole) - 1) for place in (0, 0.3, 0.5, 0.7, 0.95, 1)} - {-1}
    flipped = {f"flipped at {at}": whole[:at] + bytes([whole[at] ^ 16]) + whole[at + 1 :] for at in places}
    cut = {"half": whole[: len(whole) // 2], "empty": b"", "cut off": whole[:-1], "missing": None}
    return flipped | cut | {"longer": whole + b"\0"}


def replace(path: Path, content: bytes | None) -> None:
    path.unlink(missing_ok=True)  # what is mapped stays as it is
    if content is not None:
        path.write_bytes(content)


def use(folder: Path) -> int:
    """Everything that reads the index, as a number."""
    index = Index.open(folder)
    names = ("bm25", "lexical", "dense") if index.manifest.embeddings else ("bm25", "lexical")
    hits = [make_retriever(index, name).search_many(questions(3), 20) for name in names]
    return zlib.crc32(repr((hits, list(index.documents()))).encode())


def build(folder: Path) -> Index:
    return build_index(folder, tables(12), "bm25")


def apart(do: Callable[[], object]) -> None:
    """Print what a process of its own returns, tells, or dies of."""
    sys.stdout.flush()
    if pid := os.fork():
        status = os.waitpid(pid, 0)[1]
        return print("CRASHED", status) if status else None
    try:
        print(do(), flush=True)
    except InputError as told:
        print(type(told).__name__, told, flush=True)
    os._exit(0)


def harm_all(folder: str) -> None:
    know_embeddings()
    apart(lambda: use(Path(folder)))
    for path in sorted(path for path in Path(folder).rglob("*") if path.is_file()):
        whole = path.read_bytes()
        for harm, content in harmed(whole).items():
            replace(path, content)
            print(path.name, harm, end=": ")
            apart(lambda: use(Path(folder)))
        replace(path, whole)


@needs_fork
def test_every_damaged_file_is_named_and_nothing_crashes(tmp_path: Path, hashed: Hashed) -> None:
    build_index(tmp_path, tables(30), {"first": "blend", "embeddings": hashed.name})
    build_index(tmp_path, [*tables(3, seed=1), *tables(9, first=50)])  # with documents that are replaced
    before, *outcomes = run("test_index_damage.harm_all", tmp_path)
    assert before.isdecimal() and len(outcomes) > 150
    for line in outcomes:
        harm, _, outcome = line.partition(": ")
        name = harm.split()[0]
        is_spared = outcome == before and (name[0] == "." or "flipped" in harm or "longer" in harm)
        is_told = outcome.startswith("Damaged ") and name in outcome and outcome.endswith("again.")
        assert is_spared or is_told or (name == "manifest.json" and outcome.startswith("InputError ")), line


def test_what_was_read_of_other_files_is_not_lost_over_damage(tmp_path: Path, hashed: Hashed) -> None:
    folder, sources = tmp_path / "index", [tmp_path / "a.csv", tmp_path / "b.csv"]
    for source in sources:
        source.write_text(f"city,river\nLyon,{source.stem}\n")
        index_files([source], folder, hashed.spec())
    (vectors,) = folder.glob("vectors/*")
    replace(vectors, b"?")
    assert "faiss.index" in index_files([sources[1]], folder).damaged and len(Index.open(folder)) == 2
    assert len(make_retriever(Index.open(folder)).search("river", 9)) == 2
    shutil.rmtree(folder / "words")
    with pytest.raises(InputError, match=r"of the files in it 1 are not given, such as .*a\.csv"):
        index_files([sources[1]], folder)
    assert index_files(sources, folder).held["table"] == 2


@pytest.mark.parametrize("harm", ["words/*.store", "words/*.term", "words/meta.json", "manifest.json"])
def test_index_files_builds_a_damaged_index_anew(tmp_path: Path, harm: str) -> None:
    source, folder = tmp_path / "a.csv", tmp_path / "index"
    source.write_text("city,river\nLyon,Rhone\n")
    index_files([source], folder, "bm25")
    before = list(Index.open(folder).documents())
    path = next(iter(folder.glob(harm)))
    replace(path, path.read_bytes()[:-20] + b"?" * 20)
    with pytest.raises(Damaged):
        Index.open(folder)
    assert path.name in index_files([source], folder).damaged
    assert list(Index.open(folder).documents()) == before
    assert Index.open(folder).manifest.retriever == {"first": "bm25"}
    for name in ("files.json", "manifest.json"):  # now nothing says what the index was for
        (folder / name).write_text("{")
    with pytest.raises(InputError, match="Name the retriever that the index was built for"):
        index_files([source], folder)
    assert index_files([source], folder, "bm25").held["table"] == 1
    (folder / "manifest.json").unlink()  # as a first build that died leaves it
    (folder / "words" / "meta.json").write_text("{")
    assert index_files([source], folder).held["table"] == 1


MANIFESTS = {  # what `manifest.json` may say, and what is told of it
    **dict.fromkeys(["", "[]", "{" * 100, "\xff", '{"format": "chameleon-index-4"}'], "file is damaged"),
    **dict.fromkeys(
        ['{"format": "chameleon-index-99"}', '{"format": 1, "parts": {}}'], "another format than"
    ),
}


@pytest.mark.parametrize("text", MANIFESTS)
def test_another_format_and_none_are_told_and_left_alone(tmp_path: Path, text: str) -> None:
    build(tmp_path)
    (tmp_path / "manifest.json").write_text(text, "latin-1")
    for use_it in (Index.open, build):
        with pytest.raises(InputError, match=MANIFESTS[text]):
            use_it(tmp_path)
    assert (tmp_path / "manifest.json").read_text("latin-1") == text and any(tmp_path.glob("words/*.store"))


def test_folders_that_hold_something_else(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("x")
    for do, place, told in (
        (Index.open, "none", "there is no such index"),
        (lambda folder: delete_documents(folder, []), "none", "there is no such index"),
        (Index.open, ".", "the folder holds no index"),
        (build, ".", r"holds something else: letters\.txt\. Name a folder of its own"),
        (build, "letters.txt", "an index is a folder, and this is a file"),
    ):
        with pytest.raises(InputError, match=told):
            do(tmp_path / place)
    (tmp_path / "own" / "words").mkdir(parents=True)
    (tmp_path / "own" / "words" / "thesis.txt").write_text("x")
    with pytest.raises(InputError, match=r"holds something else: words/thesis\.txt"):
        build(tmp_path / "own")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["letters.txt", "own"]


def read_only(place: str) -> None:
    folder = Path(place, "index")
    before = use(folder)  # which imports what the other user may not
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    for do in (use, lambda folder: build_index(folder, NEW), lambda folder: build(folder / "new")):
        apart(lambda: do(folder) if os.geteuid() else os.setuid(65534) or do(folder))  # noqa: B023
    print(before)


@needs_fork
def test_a_folder_that_is_read_only() -> None:
    with TemporaryDirectory() as place:  # pytest's own folders are closed to other users
        Path(place).chmod(0o755)
        folder = build(Path(place) / "index").path
        read, added, new, before = run("test_index_damage.read_only", place)
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755)
    assert read == before
    assert all(line.endswith("cannot be written: Permission denied") for line in (added, new))


def limit(folder: str) -> None:
    import resource

    know_embeddings()
    for most in LIMITS:
        limits = (resource.RLIMIT_FSIZE, (most, most))
        apart(lambda: resource.setrlimit(*limits) or len(build_index(f"{folder}/{most}", NEW)))  # noqa: B023


@needs_fork
def test_a_full_disk_is_told_and_the_old_index_stays(tmp_path: Path, hashed: Hashed) -> None:
    """The system refuses to write more than so many bytes to a file."""
    old = build_index(tmp_path / "old", tables(12), {"first": "dense", "embeddings": hashed.name})
    for most in LIMITS:
        shutil.copytree(old.path, tmp_path / str(most))
    *outcomes, last = run("test_index_damage.limit", tmp_path)
    assert last == "300"
    for most, told in zip(LIMITS[:-1], outcomes, strict=True):
        folder = tmp_path / str(most)
        assert told.startswith(f"InputError {folder}") and "cannot be written" in told
        assert list(Index.open(folder).documents()) in (tables(12), NEW), most
        assert list(build_index(folder, NEW).documents()) == NEW
