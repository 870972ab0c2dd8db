"""An index on disk: built at once or in pieces, added to, deleted from, opened by id and by search."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon.errors import InputError
from chameleon.retrieval.document import Document
from chameleon.retrieval.index import Index
from chameleon.retrieval.lexical.fields import Bm25Settings
from chameleon.retrieval.lexical.part import Bm25Part, OkapiPart
from chameleon.retrieval.names import retriever
from chameleon.retrieval.retriever import Hit
from tests.retrieval.corpora import questions, table_document, tables

QUESTIONS = questions(12)


def found(index: Index, k: int = 20) -> list[list[Hit]]:
    hits = retriever(index, "bm25").search_many(QUESTIONS, k)
    return [[Hit(hit.id, round(hit.score, 4)) for hit in each] for each in hits]


def bm25() -> list[Bm25Part]:
    return [Bm25Part()]


def test_documents_come_back_as_they_were_given(tmp_path: Path) -> None:
    given = [
        *tables(30),
        Document("a passage", title="Title", text="Some text.", source=MappingProxyType({"file": "a.txt"})),
        Document("\ud800 ü/\n\x00 \U0001f642", text="an id of any letters"),
    ]
    index = Index.build(tmp_path / "index", given, bm25(), segment_size=8)
    assert len(index) == len(given) and list(index.documents()) == given
    assert list(index.ids) == [document.id for document in given]
    assert (
        index.ids[2] == "table 2"
        and index.ids[-1] == given[-1].id
        and index.ids[1:3] == ["table 1", "table 2"]
    )
    assert all(index.document(document.id) == document for document in given)
    assert "a passage" in index.ids and "none" not in index.ids and 5 not in index.ids
    with pytest.raises(InputError, match="no document 'none'"):
        index.document("none")


def test_an_opened_index_is_the_one_that_was_built(tmp_path: Path) -> None:
    built = Index.build(tmp_path / "index", tables(50), bm25(), segment_size=20)
    opened = Index.open(str(tmp_path / "index"))
    assert found(opened) == found(built) and any(found(built))
    assert opened.settings == {"bm25": Bm25Settings().to_json()}
    assert "50 documents; bm25" in repr(opened)


def test_the_same_documents_again_change_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    Index.build(folder, tables(30), bm25(), segment_size=8)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    Index.build(folder, tables(30)[5:25], segment_size=8)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()} == before


def test_what_is_added_is_found_and_what_is_replaced_is_not(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    Index.build(folder, tables(30), bm25(), segment_size=8)
    changed = Document("table 3", text="zeppelin")
    index = Index.build(folder, [changed, Document("new", text="zeppelin zeppelin")])
    assert len(index) == 31 and index.document("table 3") == changed
    assert [hit.id for hit in retriever(index).search("zeppelins")] == ["new", "table 3"]
    as_one = [*tables(3), *tables(26, first=4), changed, Document("new", text="zeppelin zeppelin")]
    assert list(index.documents()) == as_one
    assert found(index) == found(Index.build(tmp_path / "one", as_one, bm25()))


def test_deleted_documents_are_gone(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    Index.build(folder, tables(30), bm25(), segment_size=8)
    index = Index.delete(folder, ["table 3", "table 29"])
    left = [document for document in tables(30) if document.id not in {"table 3", "table 29"}]
    assert len(index) == 28 and list(index.documents()) == left and "table 3" not in index.ids
    assert found(index) == found(Index.build(tmp_path / "left", left, bm25()))
    with pytest.raises(InputError, match="no document 'table 3'"):
        Index.delete(folder, ["table 4", "table 3"])
    assert "table 4" in Index.open(folder).ids
    again = Index.build(folder, [table_document(3)])
    assert again.ids[-1] == "table 3" and len(again) == 29
    emptied = Index.delete(folder, list(again.ids))
    assert len(emptied) == 0 and found(emptied) == [[]] * len(QUESTIONS)
    assert found(Index.build(folder, tables(30))) == found(Index.build(tmp_path / "anew", tables(30), bm25()))


def test_an_index_of_nothing(tmp_path: Path) -> None:
    index = Index.build(tmp_path / "index", [], bm25())
    assert len(index) == 0 and list(index.ids) == [] and list(index.documents()) == []
    assert len(Index.build(tmp_path / "index", tables(2))) == 2


def test_many_small_additions_make_few_segments(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    for number in range(24):
        Index.build(folder, [table_document(number)], bm25(), segment_size=16)
    index = Index.open(folder)
    assert [segment.documents for segment in index.manifest.segments] == [16, 8]
    assert list(index.documents()) == tables(24)
    assert {path.name for path in (folder / "segments").iterdir()} == {
        segment.name for segment in index.manifest.segments
    }
    assert len(list(folder.glob("final-*"))) == 1


def test_what_is_mostly_dead_is_written_again(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    Index.build(folder, tables(30), bm25())
    few = Index.delete(folder, [f"table {number}" for number in range(10)])
    assert [segment.documents for segment in few.manifest.segments] == [30] and len(few) == 20
    many = Index.delete(folder, ["table 10"])
    assert [segment.documents for segment in many.manifest.segments] == [19] and len(many) == 19
    assert list(many.documents()) == tables(19, first=11)


def test_an_opened_index_stays_as_it_was_while_others_build(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    index = Index.build(folder, tables(30), bm25(), segment_size=8)
    before, documents = found(index), list(index.documents())
    Index.delete(folder, [f"table {number}" for number in range(25)])
    Index.build(folder, tables(30, seed=1))
    assert found(index) == before and list(index.documents()) == documents
    assert Index.open(folder).document("table 7") == table_document(7, seed=1)


@pytest.mark.parametrize("workers", [1, 3])
def test_workers_write_the_same_index(tmp_path: Path, workers: int) -> None:
    index = Index.build(tmp_path / "index", tables(60), bm25(), segment_size=9, workers=workers)
    files = {
        path.relative_to(index.path): path.read_bytes()
        for path in index.path.rglob("*")
        if path.suffix in (".npy", ".jsonl")
    }
    alone = Index.build(tmp_path / "alone", tables(60), bm25(), segment_size=9)
    assert len(files) > 50
    assert all((alone.path / name).read_bytes() == data for name, data in files.items())


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[tuple[int, int | None]] = []
    Index.build(tmp_path / "a", tables(250), bm25(), progress=lambda *done: told.append(done))
    assert told == [(100, 250), (200, 250), (250, 250)]
    told.clear()
    Index.build(tmp_path / "b", iter(tables(3)), bm25(), progress=lambda *done: told.append(done))
    assert told == [(3, None)]


def test_an_id_given_twice_is_told_with_both_sources(tmp_path: Path) -> None:
    for size in (2, 100):
        again = Document("table 1", text="other", source=MappingProxyType({"file": "b.xlsx", "sheet": "S"}))
        with pytest.raises(
            InputError, match=r"'table 1' is given twice: file tables/1.csv and file b.xlsx, sheet S"
        ):
            Index.build(tmp_path / str(size), [*tables(7), again], bm25(), segment_size=size)
    folder = tmp_path / "kept"
    Index.build(folder, tables(5), bm25())
    with pytest.raises(InputError, match="given twice"):
        Index.build(folder, [table_document(1), table_document(1)])


def test_an_index_is_added_to_with_its_own_parts_alone(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    Index.build(folder, tables(5), bm25())
    with pytest.raises(InputError, match=r"it has bm25, and not bm25, okapi"):
        Index.build(folder, tables(5), [Bm25Part(), OkapiPart()])
    with pytest.raises(InputError, match=r"bm25: k1 is 1.5, not 0.9"):
        Index.build(folder, tables(5), [Bm25Part(Bm25Settings(k1=0.9))])
    assert len(Index.build(folder, tables(8), bm25())) == 8
    with pytest.raises(InputError, match=r"no 'okapi'; it has: bm25"):
        Index.open(folder).searcher("okapi")


def test_other_settings_are_kept_with_the_index(tmp_path: Path) -> None:
    settings = Bm25Settings(analysis="words", caption=7)
    Index.build(tmp_path / "index", tables(30), [Bm25Part(settings), OkapiPart()])
    index = Index.open(tmp_path / "index")
    assert index.settings["bm25"] == json.loads(json.dumps(settings.to_json()))
    assert index.searcher("bm25") is index.searcher("bm25")
    for part in ("bm25", "okapi"):
        assert retriever(index, part).search("river", 3)


def test_two_builds_at_once_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "index"

    def documents() -> Sequence[Document]:
        with pytest.raises(InputError, match="another process is building this index"):
            Index.build(folder, tables(2), bm25())
        return tables(3)

    class Late:
        def __iter__(self):  # type: ignore[no-untyped-def]
            return iter(documents())

    assert len(Index.build(folder, Late(), bm25())) == 3


def test_a_document_without_an_id_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a document has no id"):
        Index.build(tmp_path / "index", [Document("", text="something")], bm25())


Change = tuple[str, list[int], int]
CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["build", "delete"]),
        st.lists(st.integers(0, 25), unique=True, max_size=20),
        st.integers(0, 2),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=15)
@given(changes=CHANGES, size=st.integers(1, 12))
def test_pieces_deletions_and_replacements_end_as_if_built_at_once(
    tmp_path_factory: pytest.TempPathFactory, changes: list[Change], size: int
) -> None:
    folder = tmp_path_factory.mktemp("index")
    state: dict[str, Document] = {}
    Index.build(folder / "pieces", [], bm25())
    for kind, numbers, seed in changes:
        if kind == "delete":
            gone = [f"table {number}" for number in numbers if f"table {number}" in state]
            Index.delete(folder / "pieces", gone)
            for id in gone:
                del state[id]
            continue
        given = [table_document(number, seed) for number in numbers]
        Index.build(folder / "pieces", given, segment_size=size)
        for document in given:
            if state.get(document.id) != document:
                state.pop(document.id, None)  # what is replaced goes to the end
                state[document.id] = document
    pieces = Index.open(folder / "pieces")
    once = Index.build(folder / "once", list(state.values()), bm25())
    assert list(pieces.documents()) == list(once.documents()) == list(state.values())
    assert found(pieces) == found(once)
