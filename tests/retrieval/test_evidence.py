"""Closer evidence: what the arrays on disk say is what a look at the documents says."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from chameleon.retrieval.document import Document
from chameleon.retrieval.index import Index
from chameleon.retrieval.lexical import columns
from chameleon.retrieval.lexical.analysis import terms
from chameleon.retrieval.lexical.evidence import WEIGHTS
from chameleon.retrieval.lexical.fields import WEAK, Bm25Settings, term_counts, weak_terms
from chameleon.retrieval.lexical.ranking import DEPTH, LexicalPart, LexicalSearcher
from chameleon.retrieval.names import retriever
from chameleon.table import Table
from tests.retrieval.corpora import questions, tables

pytest.importorskip("Stemmer")

WORDS = ["river", "bridge", "harbour", "3", "1", "2004", "name", "score", "opponent", "game", "many", "the"]


class Naive:
    """The measures, term by term and cell by cell."""

    def __init__(self, question: str, documents: Sequence[Document]) -> None:
        self.sequence = terms(question)
        self.different = list(dict.fromkeys(self.sequence))
        counts = [term_counts(document, Bm25Settings())[0] for document in documents]
        count = len(documents)
        df = {term: sum(term in each for each in counts) for each in counts for term in each}
        self.idf = lambda term: math.log1p((count - df.get(term, 0) + 0.5) / (df.get(term, 0) + 0.5))
        weak = weak_terms()
        self.weight = {t: self.idf(t) * (WEAK if t in weak else 1) for t in self.different}
        self.columns = columns.called_for(question, self.different)

    def sum(self, found: set[str]) -> float:
        return sum(self.weight[term] for term in found)

    def whole(self, cell: list[str]) -> bool:
        return bool(cell) and all(term in self.weight for term in cell)

    def near(self, one: str, other: str) -> bool:
        places = [[n for n, term in enumerate(self.sequence) if term == each] for each in (one, other)]
        return one != other and any(abs(a - b) <= 2 for a in places[0] for b in places[1])

    def measures(self, document: Document) -> dict[str, float]:
        table = document.table or Table(["x"], [])
        names = [terms(name) for name in table.header] if document.table else []
        caption = terms("\n".join(dict.fromkeys((document.title, table.caption))))
        rows = [[terms(document.text)], *([terms(cell) for cell in row] for row in table.rows)]
        cells = [cell for row in rows for cell in row]
        every = [*names, caption, *cells]
        known = set(self.weight)
        held = {term for cell in every for term in cell}
        said, asked = self.sum(known & held), sum(self.weight.values())
        share = sum(term in known for term in caption) / max(len(caption), 1)
        pairs = {
            pair
            for cell in every
            for pair in pairwise(cell)
            if pair in set(pairwise(self.sequence)) and set(pair) <= known
        }
        named = sum(map(bool, names))
        under = [0.0]
        for row in rows[1:]:
            linked = {
                term
                for cell, name in zip(row, names, strict=True)
                if self.whole(cell)
                for term in cell
                if any(other in known and self.near(term, other) for other in name)
            }
            under.append(sum(max(self.weight[term], 1.0) for term in linked))
        header = {term for name in names for term in name}
        return {
            "said": said,
            "share": said / (asked or 1.0),
            "whole caption": self.sum(known & set(caption)) * share,
            "rows": self.sum(known & {term for cell in cells for term in cell}),
            "one row": max(self.sum(known & {term for cell in row for term in cell}) for row in rows),
            "whole cells": self.sum({term for cell in cells if self.whole(cell) for term in cell}),
            "whole names": sum(map(self.whole, names)) / max(named, 1),
            "called for": sum(s * self.idf(t) for t, s in self.columns.items() if t in header),
            "neighbours": sum(min(self.weight[a], self.weight[b]) for a, b in pairs),
            "under their names": max(under),
            "length": math.log(2 + len(table.rows)),
        }


texts = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)


@st.composite
def documents(draw: st.DrawFn, number: int) -> Document:
    width = draw(st.integers(0, 3))
    header = draw(st.lists(texts, min_size=width, max_size=width))
    rows = draw(st.lists(st.lists(texts, min_size=width, max_size=width), max_size=4))
    table = Table(header, rows, draw(texts)) if width else None
    return Document(str(number), table, draw(texts), draw(texts))


collections = st.integers(1, 7).flatmap(lambda count: st.tuples(*map(documents, range(count))))
asked = st.lists(st.sampled_from([*WORDS, "unheard", "3-1", "who"]), max_size=7).map(" ".join)


def searcher(folder: Path, given: Sequence[Document], size: int) -> LexicalSearcher:
    found = Index.build(folder, given, [LexicalPart()], segment_size=size).searcher("lexical")
    assert isinstance(found, LexicalSearcher)
    return found


# Without shrinking: each example builds an index.
@settings(max_examples=12, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(collections, st.lists(asked, min_size=1, max_size=4), st.integers(1, 7))
def test_measures_are_those_of_the_documents(
    given: tuple[Document, ...], queries: list[str], size: int
) -> None:
    everywhere = numpy.arange(len(given))
    with TemporaryDirectory() as folder:
        ours = searcher(Path(folder) / "index", given, size)
        for query in queries:
            naive, found = Naive(query, given), ours.measures(query, everywhere)
            for number, document in enumerate(given):
                expected = naive.measures(document)
                assert expected.keys() == WEIGHTS.keys() - {"first"}
                for name, value in expected.items():
                    assert found[name][number] == pytest.approx(value, abs=1e-5), name
            first = ours.first.scores(query, everywhere)
            total = sum(
                weight * (first if name == "first" else found[name]) for name, weight in WEIGHTS.items()
            )
            assert ours.scores(query, everywhere) == pytest.approx(total, rel=1e-4, abs=1e-4)


def test_what_is_found_is_in_the_order_of_its_scores_and_the_rest_follows(tmp_path: Path) -> None:
    given = tables(DEPTH + 80)
    ours = searcher(tmp_path / "index", given, 50)
    for query in questions(12):
        first, _ = ours.first.search(query, len(given))
        positions, scores = ours.search(query, len(given))
        assert sorted(positions) == sorted(first)
        assert all(one >= other for one, other in pairwise(scores.tolist()))
        assert positions[DEPTH:].tolist() == first[DEPTH:].tolist()
        looked = ours.scores(query, positions[:DEPTH])
        assert scores[:DEPTH] == pytest.approx(looked, rel=1e-4, abs=1e-4)
        few, _ = ours.search(query, 7)
        assert few.tolist() == positions[:7].tolist()


def test_a_row_that_has_all_comes_before_rows_that_share_it(tmp_path: Path) -> None:
    together = Table(
        ["player", "club"], [["Ada Tern", "Wick Rovers"], ["Bo Finch", "Hale Town"]], "transfers"
    )
    apart = Table(["player", "club"], [["Ada Tern", "Hale Town"], ["Bo Finch", "Wick Rovers"]], "transfers")
    index = Index.build(tmp_path / "index", [Document("apart", apart), Document("together", together)])
    hits = retriever(index).search("did Ada Tern play for Wick Rovers?")
    assert [hit.id for hit in hits] == ["together", "apart"]


def test_a_value_under_the_name_that_is_said_counts(tmp_path: Path) -> None:
    def medals(id: str, gold: str, silver: str) -> Document:
        return Document(id, Table(["nation", "gold", "silver"], [["Elbonia", gold, silver]], "games"))

    index = Index.build(tmp_path / "index", [medals("other", "3", "5"), medals("this", "5", "3")])
    assert retriever(index).search("Elbonia won 5 gold medals")[0].id == "this"


def test_fields_of_no_weight_do_no_harm(tmp_path: Path) -> None:
    part = LexicalPart(Bm25Settings(cells=0))
    found = Index.build(tmp_path / "index", tables(20), [part], segment_size=6).searcher("lexical")
    assert len(found.search("river bridge", 5)[0]) <= 5


def test_nothing_is_found_of_nothing(tmp_path: Path) -> None:
    ours = searcher(tmp_path / "index", [*tables(3), Document("none")], 2)
    for query in ("", "the", "unheard", "?"):
        positions, scores = ours.search(query, 5)
        assert len(positions) == len(scores) == 0
    assert len(ours.search("river", 0)[0]) == 0


def test_columns_are_called_for_by_what_is_asked() -> None:
    found = columns.called_for("who won the match", terms("who won the match"))
    assert {"oppon", "score", "player", "winner"} & set(found) >= {"oppon", "score", "player"}
    assert all(0 < weight <= 1 for weight in found.values())
    assert "score" not in columns.called_for("score of the match", terms("score of the match"))
    assert columns.called_for("zebra", ["zebra"]) == {}
