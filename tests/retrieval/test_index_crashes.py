"""A build that is killed at any moment leaves the old index or none, and the next one is not harmed by it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from chameleon.errors import InputError
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
