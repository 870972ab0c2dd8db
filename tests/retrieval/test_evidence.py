"""Closer evidence: where the words of a question stand in a document decides among those that have them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy
import pytest

from chameleon.retrieval.document import Document
from chameleon.retrieval.evidence import WEIGHTS, AskedWords, evidence
from chameleon.retrieval.layout import Layout, Layouts
from chameleon.retrieval.make import build_index, make_retriever
from chameleon.table import Table


def measured(question: str, documents: Sequence[Document]) -> dict[str, list[float]]:
    layouts = Layouts([numpy.frombuffer(Layout.of(each).to_bytes(), numpy.uint32) for each in documents])
    found = evidence(AskedWords(question, lambda _: 2.0), layouts)
    return {name: values.tolist() for name, values in found.items()}


def table(header: str, *rows: str, caption: str = "") -> Document:
    """A table of cells with slashes between them."""
    return Document("t", Table(header.split("/"), [row.split("/") for row in rows], caption))


DECIDES = [  # a measure, a question, the document that has more of it, with its value, and one that has less
    ("said", "elm and oak", table("x", "elm", "oak"), 4.0, table("x", "elm", "elm elm")),
    ("said", "elm and oak", table("elm", caption="oak"), 4.0, Document("d", text="oak")),
    ("said", "the last elm", table("x", "elm"), 2.0, table("x", "last")),
    ("share", "elm, oak, ash, fir", table("x", "elm", "oak"), 0.5, table("x", "elm")),
    ("whole caption", "rivers of Lyon", table("x", caption="Lyon rivers"), 4.0, table("x", "Lyon rivers")),
    ("whole caption", "rivers", table("x", caption="rivers"), 2.0, table("x", caption="rivers of France")),
    ("rows", "elm", Document("d", text="an elm"), 2.0, table("elm", caption="elm")),
    ("one row", "Ada of Wick", table("a/b", "Ada/Wick", "Bo/Hale"), 4.0, table("a/b", "Ada/Hale", "Bo/Wick")),
    ("whole cells", "Ada of Wick", table("x", "Ada"), 2.0, table("x", "Ada Tern")),
    ("whole names", "which nation", table("nation/", "a/b"), 1.0, table("nation/city", "a/b")),
    ("neighbours", "elm oak", table("x", "an elm, oak"), 2.0, table("x", "oak, elm")),
    ("neighbours", "elm oak", table("x", "elm oak"), 2.0, table("x", "elm", "oak")),
    ("under their names", "5 gold", table("gold/tin", "5/3"), 2.0, table("gold/tin", "3/5")),
    ("under their names", "5 gold", table("gold", "5"), 2.0, table("gold", "5 6")),
    ("under their names", "5 of a heap of pure gold", table("gold", "5", "heap"), 2.0, table("gold", "5")),
    ("length", "elm", table("x", "a", "b"), math.log(4), table("x", "a")),
]


@pytest.mark.parametrize(("name", "question", "more", "value", "less"), DECIDES)
def test_what_each_measures(name: str, question: str, more: Document, value: float, less: Document) -> None:
    found = measured(question, [more, less])
    ours, other = found[name]
    assert found.keys() | {"first"} == WEIGHTS.keys()
    assert ours == pytest.approx(value) and ours > other


def test_the_document_that_fits_comes_first(tmp_path: Path) -> None:
    apart = table("player/club", "Ada Tern/Hale Town", "Bo Finch/Wick Rovers")
    better = table("player/club", "Ada Tern/Wick Rovers", "Bo Finch/Hale Town")
    index = build_index(tmp_path, [Document("apart", apart.table), Document("better", better.table)], "bm25")
    hits = make_retriever(index, "lexical").search("did Ada Tern play for Wick Rovers?")
    assert [hit.id for hit in hits] == ["better", "apart"]


def test_terms_beyond_the_most_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chameleon.retrieval.layout.MOST_TERMS", 2)
    elm = "elm oak ash"  # of which two are looked at, after what stands before them
    for document in (Document("a", title=elm), Document("a", text=elm)):
        assert measured(elm, [document])["said"] == [4.0]
    for document in (table(f"fir/{elm}", "elm/elm"), table("fir", elm, "elm")):
        assert measured(elm, [document])["said"] == [2.0]
