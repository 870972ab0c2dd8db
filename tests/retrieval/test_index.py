"""An index on disk: built at once or in pieces, added to, deleted from, opened by id and by search."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon.errors import InputError
from chameleon.retrieval.build import Build
from chameleon.retrieval.document import Document
from chameleon.retrieval.index import Index
from chameleon.retrieval.make import build_index, delete_documents, make_retriever
from chameleon.retrieval.manifest import Manifest
from chameleon.retrieval.retriever import Hit
from chameleon.table import Table
from tests.retrieval.corpora import questions, table_document, tables

QUESTIONS = questions(12)


def build(folder: Path, documents: list[Document]) -> Index:
    return build_index(folder, documents, "bm25")


def found(index: Index, k: int = 20) -> list[list[Hit]]:
    hits = make_retriever(index).search_many(QUESTIONS, k)
    return [[Hit(hit.id, round(hit.score, 4)) for hit in each] for each in hits]


text = st.text(max_size=12)
table = st.integers(1, 3).flatmap(
    lambda width: st.builds(
        Table,
        st.lists(text, min_size=width, max_size=width),
        st.lists(st.lists(text, min_size=width, max_size=width), max_size=3),
        text,
    )
)
document = st.builds(
    Document,
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12),
    st.none() | table,
    st.text(st.characters(), max_size=12),  # with what no file can hold as UTF-8
    text,
    st.dictionaries(st.sampled_from(["file", "sheet"]), text).map(MappingProxyType),
)


@settings(max_examples=15)
@given(st.lists(document, unique_by=lambda each: each.id, max_size=12))
def test_documents_come_back_as_they_were_given(
    tmp_path_factory: pytest.TempPathFactory, documents: list[Document]
) -> None:
    index = build(tmp_path_factory.mktemp("index"), documents)
    assert len(index) == len(documents) and list(index.documents()) == documents
    assert list(index.ids) == [each.id for each in documents]
    assert all(index.document(each.id) == each and each.id in index for each in documents)
    assert "not there at all" not in index and 5 not in index
    with pytest.raises(InputError, match="the index has no document 'not there at all'"):
        index.document("not there at all")


def test_the_same_documents_again_change_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    before = build(folder, tables(30))
    words = {path.name: path.stat().st_mtime_ns for path in before.path.glob("words/*.*")}
    assert len(build(folder, tables(30)[5:25])) == 30
    assert {path.name: path.stat().st_mtime_ns for path in folder.glob("words/*.*")} == words


Change = tuple[str, list[int], int]
CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["build", "delete"]),
        st.lists(st.integers(0, 25), unique=True, max_size=20),
        st.integers(0, 2),
    ),
    min_size=1,
    max_size=5,
)


@settings(max_examples=12)
@given(changes=CHANGES)
def test_pieces_deletions_and_replacements_end_as_if_built_at_once(
    tmp_path_factory: pytest.TempPathFactory, changes: list[Change]
) -> None:
    folder = tmp_path_factory.mktemp("index")
    state: dict[str, Document] = {}
    build(folder / "pieces", [])
    for kind, numbers, seed in changes:
        if kind == "delete":
            gone = [f"table {number}" for number in numbers if f"table {number}" in state]
            delete_documents(folder / "pieces", gone)
            for id in gone:
                del state[id]
            continue
        given = [table_document(number, seed) for number in numbers]
        build(folder / "pieces", given)
        for document in given:
            if state.get(document.id) != document:
                state.pop(document.id, None)  # what is replaced goes to the end
                state[document.id] = document
    pieces, once = Index.open(folder / "pieces"), build(folder / "once", list(state.values()))
    assert len(pieces) == len(state)
    assert list(pieces.documents()) == list(once.documents()) == list(state.values())
    if all(kind == "build" for kind, _, _ in changes) and len({seed for _, _, seed in changes}) == 1:
        assert found(pieces) == found(once)
    for ours, theirs in zip(found(pieces, 50), found(once, 50), strict=True):  # the dead count in idf
        assert {hit.id for hit in ours} == {hit.id for hit in theirs}


def test_ties_are_in_the_order_in_which_documents_came(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    same = [Document(f"{number}", text=f"river {number}") for number in range(60)]
    for some in (same[40:], same[:20], same[20:40]):
        build(folder, some)
    index = build(folder, [Document("45", text="4500 river")])
    expected = [f"{number}" for number in (*range(40, 45), *range(46, 60), *range(40), 45)]
    for name in ("bm25", "lexical"):
        searched = make_retriever(index, {"first": name, "depth": 20})
        for k in (1, 7, 30, 60):
            assert [hit.id for hit in searched.search("rivers", k)] == expected[:k]


def test_an_opened_index_stays_as_it_was_while_others_build(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    index = build(folder, tables(30))
    before = found(index)
    delete_documents(folder, [f"table {number}" for number in range(25)])
    for seed in range(1, 10):  # enough for the engine to merge
        build(folder, tables(30, seed))
    assert found(index) == before and list(index.documents()) == tables(30)
    assert list(Index.open(folder).documents()) == tables(30, 9)


def test_deleted_documents_are_gone_and_may_come_again(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    build(folder, tables(5))
    index = delete_documents(folder, ["table 3"])
    assert "table 3" not in index and len(index) == 4
    for ids in (["table 4", "table 3"], ["unheard"]):
        with pytest.raises(InputError, match="the index has no document"):
            delete_documents(folder, ids)
    assert "table 4" in Index.open(folder)
    assert list(build(folder, tables(5)).ids) == [f"table {number}" for number in (0, 1, 2, 4, 3)]
    emptied = delete_documents(folder, [f"table {number}" for number in range(5)])
    assert len(emptied) == 0 and found(emptied) == [[]] * len(QUESTIONS)
    with pytest.raises(InputError, match="there is no such index"):
        delete_documents(tmp_path / "none", [])
    assert not (tmp_path / "none").exists()


def test_an_id_twice_or_none_is_refused_and_the_old_index_stays(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    build(folder, tables(5))
    again = Document("table 1", text="other", source={"file": "b.xlsx", "sheet": "S"})
    with pytest.raises(InputError, match=r"file b.xlsx, sheet S: the id 'table 1' is given twice"):
        build(folder, [*tables(7, seed=1), again])
    with pytest.raises(InputError, match="a document has no id"):
        build(folder, [Document("", text="something")])
    assert list(Index.open(folder).documents()) == tables(5) and not (folder / "building").exists()
    assert len(build(folder, tables(7))) == 7


def test_what_a_source_of_documents_raises_goes_through(tmp_path: Path) -> None:
    def documents() -> Iterator[Document]:
        yield from tables(3)
        raise ZeroDivisionError

    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            build_index(tmp_path / "index", documents(), "bm25")
    with pytest.raises(InputError, match=r"the index is not finished\. Run the command that builds it again"):
        Index.open(tmp_path / "index")
    assert list(build(tmp_path / "index", tables(5, seed=1)).documents()) == tables(5, seed=1)


def test_a_build_sees_what_another_has_done_since_it_was_made(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    build(folder, tables(3))
    late = Build(folder, Manifest())
    build(folder, tables(5, seed=1))
    with late:
        late.add([table_document(4, seed=1), table_document(9)])
        late.commit()
    assert list(Index.open(folder).documents()) == [*tables(5, seed=1), table_document(9)]


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[tuple[int, int | None]] = []
    build_index(tmp_path / "a", tables(250), "bm25", lambda *done: told.append(done))
    assert told == [(100, 250), (200, 250), (250, 250)]
    told.clear()
    build_index(tmp_path / "b", iter(tables(3)), "bm25", lambda *done: told.append(done))
    assert told == [(3, None)]


def test_numbers_go_up_over_all_builds(tmp_path: Path) -> None:
    """Vectors know documents by them."""
    for seed in range(3):
        index = build(tmp_path / "index", tables(4, seed))
    numbers = [number for number, _ in index.numbered()]
    assert numbers == [8, 9, 10, 11] and index.last_number() == 11
    places = index.at_numbers([9, 3, 11])
    assert {number: index.id_at(place) for number, place in places.items()} == {9: "table 1", 11: "table 3"}
