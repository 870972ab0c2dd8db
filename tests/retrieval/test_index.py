"""An index on disk: built at once or in pieces, changed, killed and opened; what is wrong is reported."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import FrameType, MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon.errors import InputError
from chameleon.retrieval.build import Build
from chameleon.retrieval.document import Document
from chameleon.retrieval.index import Index
from chameleon.retrieval.make import build_index, delete_documents, make_retriever
from chameleon.retrieval.manifest import Manifest
from chameleon.table import Table
from tests.e2e.commands import environment
from tests.retrieval.hashed import Hashed, questions, table_document, tables


def build(folder: Path, documents: list[Document]) -> Index:
    return build_index(folder, documents, "bm25")


def found(index: Index, k: int = 20) -> list[list[tuple[str, float]]]:
    hits = make_retriever(index).search_many(questions(12), k)
    return [[(hit.id, round(hit.score, 4)) for hit in each] for each in hits]


text = st.text(max_size=12)
row = st.tuples(text, text).map(list)
table = st.builds(Table, row, st.lists(row, max_size=3), text)
id = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
source = st.dictionaries(st.sampled_from(["file", "sheet"]), text).map(MappingProxyType)
document = st.builds(Document, id, st.none() | table, st.text(st.characters(), max_size=9), text, source)


@settings(max_examples=15)
@given(st.lists(document, unique_by=lambda each: each.id, max_size=12))
def test_documents_come_back(tmp_path_factory: pytest.TempPathFactory, documents: list[Document]) -> None:
    index = build(tmp_path_factory.mktemp("index"), documents)
    assert len(index) == len(documents) and list(index.documents()) == documents
    assert list(index.ids) == [each.id for each in documents]
    assert all(index.document(each.id) == each for each in documents)


NUMBERS = st.lists(st.integers(0, 25), unique=True, max_size=20)
CHANGES = st.lists(st.tuples(st.booleans(), NUMBERS, st.integers(0, 2)), min_size=1, max_size=5)


@settings(max_examples=12)
@given(changes=CHANGES)
def test_changes_end_as_if_built_at_once(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[bool, list[int], int]]
) -> None:
    folder = tmp_path_factory.mktemp("index")
    state: dict[str, Document] = {}
    build(folder / "pieces", [])
    for is_addition, numbers, seed in changes:
        changed = {f"table {number}": table_document(number, seed) for number in numbers}
        if is_addition:
            build(folder / "pieces", list(changed.values()))
            new = {id: given for id, given in changed.items() if state.get(id) != given}
            state = {id: old for id, old in state.items() if id not in new} | new  # replaced: last
        else:
            delete_documents(folder / "pieces", state.keys() & changed.keys())
            state = {id: old for id, old in state.items() if id not in changed}
    pieces, once = Index.open(folder / "pieces"), build(folder / "once", list(state.values()))
    assert len(pieces) == len(state)
    assert list(pieces.documents()) == list(once.documents()) == list(state.values())
    if all(change[0] for change in changes) and len({seed for _, _, seed in changes}) == 1:
        assert found(pieces) == found(once)  # else the engine's idf knows of some that are gone
    for ours, theirs in zip(found(pieces, 50), found(once, 50), strict=True):
        assert {id for id, _ in ours} == {id for id, _ in theirs}


def test_ties_are_in_the_order_in_which_documents_came(tmp_path: Path) -> None:
    same = [Document(f"{number}", text=f"river {number}") for number in range(60)]
    for some in (same[40:], same[:20], same[20:40], [Document("45", text="4500 river")]):
        index = build(tmp_path, some)
    expected = [f"{number}" for number in (*range(40, 45), *range(46, 60), *range(40), 45)]
    for name in ("bm25", "lexical"):
        searched = make_retriever(index, {"first": name, "depth": 20})
        for k in (1, 7, 30, 60):
            assert [hit.id for hit in searched.search("rivers", k)] == expected[:k]


def test_an_opened_index_stays_as_it_was_while_others_build(tmp_path: Path) -> None:
    index = build(tmp_path, tables(30))
    before = found(index)
    delete_documents(tmp_path, [f"table {number}" for number in range(25)])
    for seed in range(1, 10):  # enough for the engine to merge
        build(tmp_path, tables(30, seed))
    assert found(index) == before and list(index.documents()) == tables(30)
    assert list(Index.open(tmp_path).documents()) == tables(30, 9)


def test_what_is_refused_and_what_is_raised_leave_the_old_index(tmp_path: Path) -> None:
    def broken() -> Iterator[Document]:
        yield from tables(3, seed=1)
        raise ZeroDivisionError

    again = Document("table 1", text="other", source={"file": "b.xlsx", "sheet": "S"})
    for is_first in (True, False):
        with pytest.raises(InputError, match=r"file b.xlsx, sheet S: the id 'table 1' occurs twice"):
            build(tmp_path, [*tables(7, seed=1), again])
        with pytest.raises(InputError, match="id is a text of 1 to 1,000 characters, not ''"):
            build(tmp_path, [Document("", text="something")])
        with pytest.raises(ZeroDivisionError):
            build_index(tmp_path, broken(), "bm25")
        if is_first:
            with pytest.raises(InputError, match="the folder is not an index"):
                Index.open(tmp_path)
            build(tmp_path, tables(5))
        with pytest.raises(InputError, match="the index has no document 'unheard'"):
            delete_documents(tmp_path, ["table 4", "unheard"])
        assert list(Index.open(tmp_path).documents()) == tables(5) and len(list(tmp_path.iterdir())) == 2


def test_another_format_is_left_alone_and_a_build_sees_what_another_has_done(tmp_path: Path) -> None:
    build(tmp_path, tables(12))
    other = '{"format": "chameleon-index-5", "check": 7}'
    for text in ("", "[]", "{" * 100, "\xff", '{"format": "chameleon-index-6"}', other):
        (tmp_path / "manifest.json").write_text(text, "latin-1")
        for use_it in (Index.open, partial(build, documents=tables(12))):
            with pytest.raises(InputError, match="the format of" if text == other else "file is damaged"):
                use_it(tmp_path)
        assert (tmp_path / "manifest.json").read_text("latin-1") == text
        assert any(tmp_path.glob("*/words/*.store"))
    build(tmp_path / "late", tables(3))
    late = Build(tmp_path / "late", Manifest())
    build(tmp_path / "late", tables(5, seed=1))
    with late:
        late.add([table_document(4, seed=1), table_document(9)])
        late.commit()
    assert list(Index.open(tmp_path / "late").documents()) == [*tables(5, seed=1), table_document(9)]
    counts: list[int] = []
    build_index(tmp_path / "new", iter(tables(250)), "bm25", counts.append)
    assert counts == [100, 200, 250]


@pytest.mark.parametrize("name", ["letters.txt", "words/thesis.txt", "manifest.json", "chameleon/x.txt"])
def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path, name: str) -> None:
    mine = tmp_path / "site" / name
    mine.parent.mkdir(parents=True)
    mine.write_text('{"name": "a site of mine"}')
    top, fresh = name.partition("/")[0], partial(build, documents=[])
    refused = "the folder is not an index" if top == "manifest.json" else f"something else: {top}"
    for do, place, message in (
        (Index.open, "none", "there is no such index"),
        (lambda folder: delete_documents(folder, []), "none", "there is no such index"),
        (Index.open, "site", "the folder is not an index"),
        (fresh, "site", refused),
        (fresh, f"site/{name}", "an index is a folder, and this is a file"),
    ):
        with pytest.raises(InputError, match=message):
            do(tmp_path / place)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [mine.name]


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
OLD, LATER = tables(20), [*tables(10, seed=1), *tables(130, first=100)]
# An event, the function, the how manieth; those after which LATER is there are last.
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
    know_embeddings()
    for number, moment in enumerate(MOMENTS):
        for place in (f"{folder}/{number}", f"{folder}/first-{number}"):
            if not (builder := os.fork()):
                sys.setprofile(killer(*moment))
                build_index(place, LATER, {"first": "dense", "embeddings": embeddings})
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


def all_found(index: Index) -> list[Any]:
    hits = [make_retriever(index, name).search_many(questions(6)) for name in ("bm25", "lexical", "dense")]
    return [list(index.documents()), *hits]


@pytest.mark.slow
@needs_fork
def test_a_build_that_is_killed_leaves_the_old_index(tmp_path: Path, hashed: Hashed) -> None:
    spec = {"first": "dense", "embeddings": hashed.name}
    old = build_index(tmp_path / "old", OLD, spec)
    for name in ("once", *range(len(MOMENTS))):
        shutil.copytree(old.path, tmp_path / str(name))
    before, after = all_found(old), all_found(build_index(tmp_path / "once", LATER))
    first = all_found(build_index(tmp_path / "first", LATER, spec))
    statuses = run("test_index.kill_builds", tmp_path, hashed.name)
    assert set(statuses) == {str(int(signal.SIGKILL))} and len(statuses) == 2 * len(MOMENTS)
    for number, moment in enumerate(MOMENTS):
        folder, is_new = tmp_path / str(number), number >= FIRST_NEW
        assert all_found(Index.open(folder)) == (after if is_new else before), moment
        assert all_found(build_index(folder, LATER)) == after, moment
        folder = tmp_path / f"first-{number}"
        if is_new:
            assert all_found(Index.open(folder)) == first, moment
        else:
            with pytest.raises(InputError, match=r"is not finished|is not an index"):
                Index.open(folder)
        assert all_found(build_index(folder, LATER, spec)) == first, moment
        assert len(list(folder.iterdir())) == 2, moment
