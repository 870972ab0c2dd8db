"""Late interaction in an index: built, added to, deleted from, named, and as the second stage of a search."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from chameleon.errors import InputError, MissingPackage
from chameleon.retrieval.document import Document
from chameleon.retrieval.index import Index
from chameleon.retrieval.late import encoder as encoders
from chameleon.retrieval.names import retriever
from chameleon.retrieval.parts import check_retriever, part_of, parts_for
from tests.retrieval.late.hashing import NAME, Hashing

LATE = f"late:{NAME}"
DOCUMENTS = [
    Document("rain", text="rain and snow in the hills"),
    Document("tea", text="green tea from china"),
    Document("pot", text="a pot of tea"),
    Document("wind", text="wind on the hills"),
]


def ids(index: Index, query: str, name: str = LATE, k: int = 10) -> list[str]:
    return [hit.id for hit in retriever(index, name).search(query, k)]


def test_an_index_is_searched_added_to_and_deleted_from(tmp_path: Path) -> None:
    Index.build(tmp_path, DOCUMENTS[:2], parts_for(LATE), segment_size=1)
    index = Index.build(tmp_path, DOCUMENTS, segment_size=1)
    assert ids(index, "green tea", k=2) == ["tea", "pot"]
    assert ids(Index.delete(tmp_path, ["tea"]), "green tea", k=1) == ["pot"]
    assert set(ids(Index.open(tmp_path), "green tea", "late")) == {"rain", "pot", "wind"}


def test_it_puts_in_order_what_another_part_has_found(tmp_path: Path) -> None:
    for name in (f"bm25+rerank:{LATE}", "bm25+rerank:late"):
        parts = parts_for(f"bm25+rerank:{LATE}")
        index = Index.build(tmp_path / name.replace(":", "-"), DOCUMENTS, parts)
        assert list(index.settings) == ["bm25", "late"]
        assert ids(index, "green tea", name) == ["tea", "pot"]
        assert ids(index, "hills wind", name)[0] == "wind"


def test_the_part_is_made_again_from_its_settings() -> None:
    (part,) = parts_for(LATE)
    again = part_of("late", part.settings())
    assert type(again) is type(part) and again.settings() == part.settings()
    with pytest.raises(InputError, match="settings that this version does not know"):
        part_of("late", {"encoder": NAME, "precision": "int8"})


def test_names() -> None:
    assert check_retriever("late").model == ""
    assert check_retriever("late:org/model@flat").model == "org/model@flat"
    assert check_retriever("lexical+rerank:late:org/model").rerank == "late:org/model"
    for wrong in ("late:", "late@flat", "lat"):
        with pytest.raises(InputError, match="there is no retriever"):
            check_retriever(wrong)


def test_another_encoder_than_that_of_the_index_is_told(tmp_path: Path) -> None:
    index = Index.build(tmp_path, DOCUMENTS, parts_for(LATE))
    with pytest.raises(InputError, match=r"has the encoder .*Hashing', not .*Wider'"):
        retriever(index, LATE.replace("Hashing", "Wider"))


def test_an_index_has_no_code_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = Index.build(tmp_path, DOCUMENTS, parts_for(LATE))
    monkeypatch.setattr(encoders, "_loaded", dict[str, encoders.TokenEncoder]())
    monkeypatch.delitem(sys.modules, NAME.partition(":")[0])
    with pytest.raises(InputError, match="is not loaded"):
        retriever(index, "late").search("tea")
    assert ids(index, "green tea", k=1) == ["tea"]


def test_what_is_not_installed_is_told_before_anything_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoders, "find_spec", lambda _: None)
    with pytest.raises(MissingPackage, match="pip install torch"):
        parts_for("late")


def test_segments_are_joined_without_the_encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []
    made = Hashing.documents

    def counted(self: Hashing, given: Sequence[str]) -> list[object]:
        texts.extend(given)
        return made(self, given)

    monkeypatch.setattr(Hashing, "documents", counted)
    documents = [Document(str(number), text=f"tea number {number} of {number % 7}") for number in range(90)]
    whole = Index.build(tmp_path / "whole", documents, parts_for(LATE))  # 16 and 64 become one; then 10
    assert len(texts) == 90 and len(whole.manifest.segments) == 2
    smaller = Index.delete(tmp_path / "whole", [str(number) for number in range(0, 90, 2)])
    assert len(texts) == 90 and len(smaller) == 45
    expected = Index.build(tmp_path / "few", documents[1::2], parts_for(LATE))
    assert ids(smaller, "tea number 3", k=45) == ids(expected, "tea number 3", k=45)
