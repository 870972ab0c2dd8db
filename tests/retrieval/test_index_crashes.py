"""A build that is killed at any moment leaves the old index or none, and the next one is not harmed by it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from chameleon.errors import InputError
from chameleon.retrieval.document import Document
from chameleon.retrieval.engine import failing
from chameleon.retrieval.index import Index
from chameleon.retrieval.make import build_index, make_retriever
from tests.e2e.commands import environment
from tests.retrieval.corpora import questions, tables
from tests.retrieval.hashed import Hashed

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
OLD, NEW = tables(20), [*tables(10, seed=1), *tables(130, first=100)]
# An event, the function, the how manieth; those after which NEW is there are last.
MOMENTS = [
    *(("c_call", "Index.writer", 1), ("c_call", "IndexWriter.add_document", 100)),
    *(("call", "Hashed.embed_documents", 2), ("c_return", "IndexWriter.commit", 1)),
    *(("c_return", "IndexWriter.wait_merging_threads", 1), ("call", "write_index", 1)),
    *(("return", "write_index", 1), ("call", "Manifest.write", 1)),
    *(("return", "Manifest.write", 1), ("return", "Build.commit", 1)),
]
FIRST_NEW = len(MOMENTS) - 2


def command(function: str, *given: object) -> list[str]:
    name = __name__.rpartition(".")[0] + "." + function.replace(".", " import ")
    return [sys.executable, "-c", f"import sys; from {name} as do; do(*sys.argv[1:])", *map(str, given)]


def run(function: str, *given: object) -> list[str]:
    done = subprocess.run(command(function, *given), capture_output=True, text=True, env=environment())
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def know_embeddings() -> None:
    import langchain.embeddings

    model = Hashed()
    langchain.embeddings.init_embeddings = lambda name: model  # type: ignore[assignment]


def kill_builds(folder: str, embeddings: str) -> None:
    """Kill a build at each moment: one that adds to an index, and a first one."""
    know_embeddings()
    for number, moment in enumerate(MOMENTS):
        for place in (f"{folder}/{number}", f"{folder}/first-{number}"):
            if not (builder := os.fork()):
                sys.setprofile(killer(*moment))
                build_index(place, NEW, {"first": "dense", "embeddings": embeddings})
                os._exit(0)
            print(os.waitpid(builder, 0)[1])


def killer(event: str, name: str, left: int) -> Any:
    def profile(frame: FrameType, now: str, given: Any) -> None:
        nonlocal left
        called = given.__qualname__ if now[:2] == "c_" else frame.f_code.co_qualname
        left -= (now, called) == (event, name)
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

    return profile


def found(index: Index) -> list[Any]:
    hits = [make_retriever(index, name).search_many(questions(6)) for name in ("bm25", "lexical", "dense")]
    return [list(index.documents()), *hits]


@needs_fork
def test_a_build_that_is_killed_leaves_the_old_index(tmp_path: Path, hashed: Hashed) -> None:
    spec = {"first": "dense", "embeddings": hashed.name}
    old = build_index(tmp_path / "old", OLD, spec)
    for name in ("once", *range(len(MOMENTS))):
        shutil.copytree(old.path, tmp_path / str(name))
    before, after = found(old), found(build_index(tmp_path / "once", NEW))
    first = found(build_index(tmp_path / "first", NEW, spec))
    statuses = run("test_index_crashes.kill_builds", tmp_path, hashed.name)
    assert set(statuses) == {str(int(signal.SIGKILL))} and len(statuses) == 2 * len(MOMENTS)
    for number, moment in enumerate(MOMENTS):
        folder, is_new = tmp_path / str(number), number >= FIRST_NEW
        assert found(Index.open(folder)) == (after if is_new else before), moment
        assert found(build_index(folder, NEW)) == after, moment
        folder = tmp_path / f"first-{number}"
        if is_new:
            assert found(Index.open(folder)) == first, moment
        else:
            with pytest.raises(InputError, match=r"is not finished|holds no index"):
                Index.open(folder)
        assert found(build_index(folder, NEW, spec)) == first, moment
        assert len(list(folder.iterdir())) == 2, moment


def build_for_long(folder: str) -> None:
    def documents() -> Iterator[Document]:
        yield from tables(10, seed=1)
        print("begun", flush=True)
        sys.stdin.read()

    build_index(folder, documents(), "bm25")
    for number in range(12):
        build_index(folder, tables(10, first=10 * number), "bm25")


def test_while_another_process_builds(tmp_path: Path) -> None:
    """A second build is refused in one line; whoever opens the index finds it whole at any time."""
    folder = build_index(tmp_path / "index", OLD, "bm25").path
    building = command("test_index_crashes.build_for_long", folder)
    with subprocess.Popen(building, stdin=-1, stdout=-1, env=environment()) as other:
        assert other.stdin is not None and other.stdout is not None and other.stdout.readline() == b"begun\n"
        with pytest.raises(InputError, match="another process is building this index"):
            build_index(folder, tables(3), "bm25")
        assert list(Index.open(folder).documents()) == OLD
        other.stdin.close()
        while other.poll() is None:
            index = Index.open(folder)
            assert len(list(index.documents())) == len(index) and len(index) % 10 == 0
    assert other.returncode == 0 and len(Index.open(folder)) == 120


def test_a_full_disk_is_thought_of_where_the_engine_says_no_more(tmp_path: Path) -> None:
    for said, hint in {"An error occurred in a thread: 'x'": "Is the disk full?", "Schema error": ""}.items():
        with pytest.raises(InputError) as told, failing(tmp_path, "written"):
            raise ValueError(said)
        assert told.value.hint == hint
