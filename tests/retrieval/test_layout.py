"""The terms of a document by their places."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.retrieval import layout as layouts
from chameleon.retrieval.document import Document
from chameleon.retrieval.layout import Layout, Layouts, decoded, number_of
from chameleon.retrieval.make import build_index, make_retriever
from chameleon.table import Table

TABLE = Document("t", Table(["River", ""], [["Rhone", "3 of 4"], ["the", "Rivers"]], "Length"), "Length")


def test_cells_stand_in_one_line_names_first() -> None:
    found = Layout.of(TABLE)
    names, caption, text = [("river",), ()], [("length",)], [()]
    assert found.cells == [*names, *caption, *text, ("rhone",), ("3", "4"), (), ("river",)]
    assert (found.width, found.height) == (2, 2)
    passage = Layout.of(Document("p", title="Rivers", text="The Rhone"))
    assert (passage.cells, passage.width, passage.height) == ([("river",), ("rhone",)], 0, 0)


def test_captions_count_three_times_and_names_twice() -> None:
    said = sorted(Layout.of(TABLE).weighted())
    assert said == sorted(["river"] * 2 + ["length"] * 3 + ["rhone", "3", "4", "river"])


cell = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=3).map(tuple)
cells = st.lists(cell, min_size=2, max_size=9)
WANTED = ["b", "d", "unheard"]


@given(st.lists(cells, min_size=1, max_size=5))
def test_what_was_written_is_found_in_its_cells(documents: list[list[tuple[str, ...]]]) -> None:
    written = [Layout(cells, 0, len(cells) - 2).to_bytes() for cells in documents]
    found = Layouts([decoded(data) for data in written])
    wanted = numpy.array([number_of(term) for term in WANTED], numpy.uint32)
    said, which, places, where = found.find(wanted)
    expected, place, number = [], 0, 0
    for document, of_one in enumerate(documents):
        for terms in of_one:
            for term in terms:
                if term in WANTED:
                    expected.append((document, WANTED.index(term), place, number))
                place += 1
            number += 1
    assert list(zip(*(each.tolist() for each in (said, which, places, where)), strict=True)) == expected
    assert found.heights.tolist() == [len(of_one) - 2 for of_one in documents]


def test_terms_beyond_the_most_are_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(layouts, "MOST_TERMS", 5)
    found = Layouts([decoded(Layout([(), ("a", "b"), ("c", "d"), ("e", "f"), ("g",)], 0, 3).to_bytes())])
    assert found.cells.tolist() == [0, 0, 2, 4, 5] and len(found.terms) == 5
    long = "river elm oak ash fir yew"
    for number, kinds in enumerate(
        ({"title": long}, {"text": long}, {"table": Table(["elm", long], [["", ""]])})
    ):
        index = build_index(tmp_path / str(number), [Document("a", **kinds)], "lexical")
        assert [hit.id for hit in make_retriever(index).search("rivers")] == ["a"]
