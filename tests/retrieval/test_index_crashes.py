"""A build that is killed at any moment leaves the old index, and the next one ends as if nothing had been."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from chameleon.errors import InputError
from chameleon.retrieval.document import Document
from chameleon.retrieval.index import Index
from chameleon.retrieval.make import build_index, make_retriever
from chameleon.retrieval.retriever import Hit
from tests.e2e.commands import environment
from tests.retrieval.corpora import questions, tables
from tests.retrieval.hashed import Hashed

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
OLD, NEW = tables(30), [*tables(10, seed=1), *tables(300, first=100)]
MOMENTS = {  # an event, the function, the how manieth time; whether the new documents are there then
    "before the lock": ("c_call", "Index.writer", 1, False),
    "locked": ("c_return", "Index.writer", 1, False),
    "before the first document": ("c_call", "IndexWriter.add_document", 1, False),
    "while adding": ("c_call", "IndexWriter.add_document", 200, False),
    "before the commit": ("c_call", "IndexWriter.commit", 1, False),
    "in the commit": ("file", ".term", 2, None),
    "at the end of the commit": ("file", ".del", 1, None),
    "after the commit": ("c_return", "IndexWriter.commit", 1, True),
    "while embedding": ("call", "Hashed.embed_documents", 3, True),
    "before the vectors are written": ("call", "write_index", 1, True),
    "after the vectors are written": ("return", "write_index", 1, True),
    "when merged": ("c_return", "IndexWriter.wait_merging_threads", 1, True),
    "before the manifest": ("call", "Manifest.write", 1, True),
    "after the manifest": ("return", "Manifest.write", 1, True),
}
KILLED = """
import os, signal, sys
from pathlib import Path
import langchain.embeddings
from chameleon.retrieval.make import build_index
from tests.retrieval.hashed import Hashed
from tests.retrieval.test_index_crashes import MOMENTS, NEW

model = Hashed()
langchain.embeddings.init_embeddings = lambda name: model

def watch(folder, suffix, count):
    builder = os.getppid()
    while sum(path.stat().st_size > 0 for path in folder.glob("words/*" + suffix)) < count:
        if os.getppid() != builder:
            os._exit(1)
    os.kill(builder, signal.SIGKILL)
    os._exit(0)

def build(folder, event, name, times):
    if event == "file":
        if os.fork():
            return build_index(folder, NEW)
        watch(folder, name, times)
    left = times
    def kill(frame, now, given):
        nonlocal left
        called = given.__qualname__ if now.startswith("c_") else frame.f_code.co_qualname
        left -= (now, called) == (event, name)
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
    sys.setprofile(kill)
    build_index(folder, NEW)

for number, (event, name, times, _) in enumerate(MOMENTS.values()):
    pid = os.fork()
    if not pid:
        build(Path(sys.argv[1]) / str(number), event, name, times)
        os._exit(0)
    print(os.waitpid(pid, 0)[1])
"""


def build(folder: Path, documents: list[Document], hashed: Hashed) -> Index:
    return build_index(folder, documents, {"first": "dense", "embeddings": hashed.name})


def found(index: Index) -> list[list[Hit]]:
    return [hits for name in ("bm25", "lexical", "dense") for hits in searched(index, name)]


def searched(index: Index, name: str) -> list[list[Hit]]:
    return make_retriever(index, name).search_many(questions(6), 20)


def run(script: str, *given: str) -> list[str]:
    """The lines that a script prints, which writes nothing to stderr."""
    command = [sys.executable, "-c", script, *given]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, env=environment()
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@needs_fork
def test_a_build_that_is_killed_leaves_the_old_index_and_the_next_one_goes_on(
    tmp_path: Path, hashed: Hashed
) -> None:
    old = build(tmp_path / "0", OLD, hashed)
    before = [searched(old, name) for name in ("bm25", "lexical")]
    shutil.copytree(old.path, tmp_path / "once")
    for number in range(1, len(MOMENTS)):
        shutil.copytree(old.path, tmp_path / str(number))
    once = build(tmp_path / "once", NEW, hashed)
    expected, documents = found(once), list(once.documents())
    statuses = run(KILLED, str(tmp_path))
    for number, (moment, (event, _, _, is_new)) in enumerate(MOMENTS.items()):
        assert statuses[number] == str(int(signal.SIGKILL)) or event == "file", moment
        folder = tmp_path / str(number)
        left = Index.open(folder)
        is_new = len(left) > len(OLD) if is_new is None else is_new
        assert list(left.documents()) == (documents if is_new else OLD), moment
        now = [searched(left, name) for name in ("bm25", "lexical")]
        assert now == ([expected[:6], expected[6:12]] if is_new else before), moment
        with suppress(InputError):  # vectors that are not up to date
            searched(left, "dense")
        again = build(folder, NEW, hashed)
        assert list(again.documents()) == documents and found(again) == expected, moment
        assert not (folder / "building").exists()


BUILDER = """
import sys
from pathlib import Path
from chameleon.retrieval.make import build_index
from tests.retrieval.corpora import tables
def documents():
    yield from tables(10, seed=1)
    print("begun", flush=True)
    sys.stdin.read()
build_index(Path(sys.argv[1]), documents(), "bm25")
for number in range(12):
    build_index(Path(sys.argv[1]), tables(10, first=10 * number), "bm25")
"""


@pytest.mark.parametrize("is_first", [True, False])
def test_while_another_process_builds(tmp_path: Path, is_first: bool) -> None:
    """A second build is refused in one line; whoever opens the index finds it whole at any time."""
    folder = tmp_path / "index"
    if not is_first:
        build_index(folder, OLD, "bm25")
    command = [sys.executable, "-c", BUILDER, str(folder)]
    other = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment())
    assert other.stdout is not None and other.stdout.readline() == b"begun\n"
    with pytest.raises(InputError, match="another process is building this index"):
        build_index(folder, tables(3), "bm25")
    if is_first:
        with pytest.raises(InputError, match="the index is not finished"):
            Index.open(folder)
    else:
        assert list(Index.open(folder).documents()) == OLD
    assert other.stdin is not None
    other.stdin.close()
    while other.poll() is None:
        if not is_first:
            index = Index.open(folder)
            assert len(list(index.documents())) == len(index) and len(index) % 10 == 0
    other.stdout.close()
    assert other.returncode == 0 and len(Index.open(folder)) == 120
