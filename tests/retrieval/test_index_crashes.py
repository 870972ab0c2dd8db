"""A build that is killed at any moment leaves the old index, and the next build goes on where it was."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from chameleon.errors import InputError
from chameleon.retrieval.document import Document
from chameleon.retrieval.index import Index, segments
from chameleon.retrieval.index.manifest import Manifest
from chameleon.retrieval.lexical.part import Bm25Part
from chameleon.retrieval.names import retriever
from chameleon.retrieval.vectors.part import DensePart, DenseSettings
from chameleon.retrieval.vectors.texts import about, texts
from tests.e2e.commands import environment
from tests.retrieval.corpora import questions, tables
from tests.retrieval.vectors.hashed import NAME, Hashed
from tests.retrieval.vectors.hashed import hashed as hashed

OLD, NEW = 40, 900
SIZE = 60
BUILD = """
import sys
from chameleon.retrieval.index import Index
from chameleon.retrieval.lexical.part import Bm25Part
from tests.retrieval.corpora import tables
told = lambda done, total: print(done, flush=True)
folder, (count, size, workers) = sys.argv[1], map(int, sys.argv[2:])
told(0, count)
Index.build(folder, tables(count, seed=1), [Bm25Part()], progress=told, segment_size=size, workers=workers)
"""
STALLED = """
import sys
from chameleon.retrieval.index import Index
from chameleon.retrieval.lexical.part import Bm25Part
from tests.retrieval.corpora import tables
def some():
    yield from tables(40)
    print("begun", flush=True)
    sys.stdin.read()
Index.build(sys.argv[1], some(), [Bm25Part()], segment_size=5, workers=3)
"""
needs_signals = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")


def begin(folder: Path, workers: int = 1) -> subprocess.Popen[bytes]:
    """A process that builds, as soon as it has begun."""
    command = [sys.executable, "-c", BUILD, str(folder), str(NEW), str(SIZE), str(workers)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment())
    assert process.stdout is not None and process.stdout.readline() == b"0\n"
    return process


def end(process: subprocess.Popen[bytes]) -> None:
    process.communicate(timeout=60)


def answers(index: Index) -> list[object]:
    return [*index.ids, *retriever(index, "bm25").search_many(questions(10), 20)]


def arrays(index: Index) -> dict[str, bytes]:
    """The files that are made of all segments."""
    finished = index.manifest.finished
    assert finished is not None
    folder = index.path / finished.name
    return {path.name: path.read_bytes() for path in folder.rglob("*.npy")}


@needs_signals
@pytest.mark.parametrize("workers", [1, 2])
def test_kills_in_a_row_then_the_same_index_as_in_one_go(tmp_path: Path, workers: int) -> None:
    folder = tmp_path / "index"
    old = Index.build(folder, tables(OLD), [Bm25Part()], segment_size=SIZE)
    before = answers(old)
    chance, killed = random.Random(workers), 0
    for _ in range(5):
        process = begin(folder, workers)
        assert process.stdout is not None
        for _ in range(chance.randint(0, NEW // 100)):
            process.stdout.readline()
        process.kill()
        end(process)
        killed += process.returncode == -signal.SIGKILL
        now = Index.open(folder)
        assert answers(now) == before or len(now) == NEW
    assert killed
    process = begin(folder, workers)
    end(process)
    assert process.returncode == 0
    expected = Index.build(tmp_path / "one", tables(OLD), [Bm25Part()], segment_size=SIZE)
    expected = Index.build(tmp_path / "one", tables(NEW, seed=1), [Bm25Part()], segment_size=SIZE)
    resumed = Index.open(folder)
    assert answers(resumed) == answers(expected) and arrays(resumed) == arrays(expected)
    assert list(resumed.documents()) == tables(NEW, seed=1)
    names = {"lock", "manifest.json", "segments"} | {path.name for path in folder.glob("final-*")}
    assert {path.name for path in folder.iterdir()} == names and len(names) == 4
    left = {path.name for path in (folder / "segments").iterdir()}
    assert left == {segment.name for segment in resumed.manifest.segments}


@needs_signals
def test_processes_that_wait_for_work_end_with_the_build_that_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", STALLED, str(tmp_path / "index")]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment())
    assert process.stdout is not None and process.stdout.readline() == b"begun\n"
    helpers = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    end(process)
    ended, left = psutil.wait_procs(helpers, timeout=60)
    for each in left:
        each.kill()
    assert len(ended) >= 3 and not left


class Died(BaseException):
    """Stands for the death of the process: nothing of ours catches it."""


@pytest.mark.parametrize("moment", range(0, 136, 9))
def test_a_death_at_any_step_leaves_the_old_state_or_the_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    """Dies at one call of the system that changes the disk; each of them in turn, over the moments."""
    folder = tmp_path / "index"
    before = answers(Index.build(folder, tables(20), [Bm25Part()], segment_size=8))
    changed = [*tables(5, seed=1), *tables(20, first=100)]
    calls = 0

    def mortal(call):  # type: ignore[no-untyped-def]
        def counted(*given, **named):  # type: ignore[no-untyped-def]
            nonlocal calls
            calls += 1
            if calls > moment:
                raise Died
            return call(*given, **named)

        return counted

    with monkeypatch.context() as patched:
        for owner, names in (
            (os, ("fsync", "replace", "rename", "unlink", "rmdir")),
            (Path, ("mkdir", "rename")),
        ):
            for name in names:
                patched.setattr(owner, name, mortal(getattr(owner, name)))
        with suppress(Died):
            Index.build(folder, changed, segment_size=8)
    expected = Index.build(tmp_path / "one", tables(20), [Bm25Part()], segment_size=8)
    expected = Index.build(tmp_path / "one", changed, segment_size=8)
    assert answers(Index.open(folder)) in (before, answers(expected))
    again = Index.build(folder, changed, segment_size=8)
    assert answers(again) == answers(expected) and list(again.documents()) == list(expected.documents())
    left = {path.name for path in (folder / "segments").iterdir()}
    assert left == {segment.name for segment in again.manifest.segments}


def stopping(count: int, documents: list[Document]):  # type: ignore[no-untyped-def]
    yield from documents[:count]
    raise Died


def test_finished_segments_are_not_processed_again(tmp_path: Path) -> None:
    counted: list[int] = []

    class Counting(Bm25Part):
        def write(self, documents, folder):  # type: ignore[no-untyped-def]
            counted.append(len(documents))
            super().write(documents, folder)

    folder = tmp_path / "index"
    with pytest.raises(Died):
        Index.build(folder, stopping(35, tables(50)), [Counting()], segment_size=10)
    assert counted == [10, 10, 10]
    with pytest.raises(InputError, match=r"the index is not finished\. Run the command that builds it again"):
        Index.open(folder)
    counted.clear()
    index = Index.build(folder, tables(50), [Counting()], segment_size=10)
    assert counted == [10, 10] and list(index.documents()) == tables(50)


def test_what_is_not_given_again_does_not_count(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    with pytest.raises(Died):
        Index.build(folder, stopping(35, tables(50)), [Bm25Part()], segment_size=10)
    index = Index.build(folder, tables(20, first=15), [Bm25Part()], segment_size=10)
    assert sorted(index.ids) == sorted(document.id for document in tables(20, first=15))


def test_other_parts_or_broken_segments_are_begun_anew(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    with pytest.raises(Died):
        Index.build(folder, stopping(35, tables(50)), [Bm25Part()], segment_size=10)
    lines = sorted((folder / "segments").glob("*/documents.jsonl"))[1]
    lines.write_bytes(lines.read_bytes()[:-3])
    index = Index.build(folder, tables(50), [Bm25Part()], segment_size=10)
    assert sorted(index.ids) == sorted(document.id for document in tables(50))
    assert all(index.document(document.id) == document for document in tables(50))


def test_a_building_file_that_is_no_use_is_passed_over(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    Index.build(folder, tables(10), [Bm25Part()])
    (folder / "building.json").write_bytes(b"{")
    assert len(Index.build(folder, tables(12))) == 12
    assert not (folder / "building.json").exists()


def test_a_worker_that_dies_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "_write_lines", _die)
    with pytest.raises(InputError, match=r"a process that writes segments has died\. Perhaps memory ran out"):
        Index.build(tmp_path / "index", tables(30), [Bm25Part()], segment_size=10, workers=2)


def _die(*_: object) -> None:
    os._exit(9)


SLOW = """
import sys
from chameleon.retrieval import embeddings
from chameleon.retrieval.index import Index, pace
from chameleon.retrieval.vectors.part import DensePart, DenseSettings
from tests.retrieval.corpora import tables
from tests.retrieval.vectors.hashed import NAME, Hashed

class Slow(Hashed):
    def embed_documents(self, texts):
        if len(self.seen) > 400:
            print("begun", flush=True)
            sys.stdin.read()
        return super().embed_documents(texts)

embeddings._loaded[NAME] = Slow()
pace.SECONDS = 0.1
Index.build(sys.argv[1], tables(600), [DensePart(DenseSettings(NAME))])
"""


@needs_signals
def test_what_a_killed_build_has_embedded_is_not_embedded_again(tmp_path: Path, hashed: Hashed) -> None:
    folder = tmp_path / "index"
    command = [sys.executable, "-c", SLOW, str(folder)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment())
    assert process.stdout is not None and process.stdout.readline() == b"begun\n"
    process.kill()
    end(process)
    assert process.returncode == -signal.SIGKILL
    with pytest.raises(InputError, match="the index is not finished"):
        Index.open(folder)
    count = sum(each.documents for each in Manifest.read(folder / "building.json").segments)
    assert 16 < count < 600  # far from a segment of the usual size
    index = Index.build(folder, tables(600), [DensePart(DenseSettings(NAME))])
    done = {text for document in tables(count) for text in (about(document), *texts(document, 8))}
    assert done and not done & set(hashed.seen) and list(index.documents()) == tables(600)
    whole = Index.build(tmp_path / "one", tables(600), [DensePart(DenseSettings(NAME))])
    for query in questions(5):
        assert retriever(index).search(query) == retriever(whole).search(query)


def test_a_build_that_died_at_once_is_not_finished(tmp_path: Path) -> None:
    with pytest.raises(Died):
        Index.build(tmp_path / "index", stopping(3, tables(5)), [Bm25Part()])
    with pytest.raises(InputError, match="the index is not finished"):
        Index.open(tmp_path / "index")
