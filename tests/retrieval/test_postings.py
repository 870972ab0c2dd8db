"""BM25 on disk: the scores of the published packages, in whatever pieces the documents come."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.retrieval.document import Document
from chameleon.retrieval.lexical import postings
from chameleon.retrieval.lexical.fields import Bm25Settings, query_terms, term_counts
from chameleon.retrieval.lexical.part import OKAPI, Bm25Part, Bm25Searcher, OkapiPart
from tests.retrieval.corpora import questions, tables

DOCUMENTS = tables(120)
WORDS = Bm25Settings(analysis="words", caption=1, header=1)


def searcher(
    folder: Path,
    part: Bm25Part,
    documents: Sequence[Document],
    size: int,
    alive: Sequence[bool] | None = None,
) -> Bm25Searcher:
    segments = []
    for start in range(0, len(documents), size):
        segment = folder / f"segment {start}"
        segment.mkdir(parents=True)
        part.write(documents[start : start + size], segment)
        segments.append(segment)
    finished = folder / "finished"
    finished.mkdir(parents=True)
    living = numpy.array([True] * len(documents) if alive is None else alive, bool)
    part.finish(segments, living, finished)
    return part.open(segments, living, finished)


def words_of(document: Document, settings: Bm25Settings) -> list[str]:
    counts, _ = term_counts(document, settings)
    return [term for term, count in counts.items() for _ in range(int(count))]


def ranked(scores: Sequence[float]) -> list[int]:
    return sorted((n for n, score in enumerate(scores) if score), key=lambda n: (-round(scores[n], 4), n))


@pytest.mark.parametrize("size", [7, 40, 1000])
def test_okapi_scores_as_rank_bm25_does(tmp_path: Path, size: int) -> None:
    bm25 = pytest.importorskip("rank_bm25")
    reference = bm25.BM25Okapi([words_of(document, OKAPI) for document in DOCUMENTS])
    ours = searcher(tmp_path, OkapiPart(), DOCUMENTS, size)
    everywhere = numpy.arange(len(DOCUMENTS))
    for question in questions(60):
        expected = reference.get_scores(query_terms(question, OKAPI))
        assert ours.scores(question, everywhere) == pytest.approx(expected, rel=1e-5, abs=1e-5)
        positions, scores = ours.search(question, len(DOCUMENTS))
        assert scores == pytest.approx(expected[positions], rel=1e-5, abs=1e-5)
        assert set(numpy.flatnonzero(expected)) <= set(positions.tolist())


def test_a_negative_idf_becomes_a_quarter_of_the_mean(tmp_path: Path) -> None:
    documents = [Document(str(n), text=text) for n, text in enumerate(["a b", "a c", "a d e", "f"])]
    ours = searcher(tmp_path, OkapiPart(), documents, 2)
    idf = [numpy.log((4 - df + 0.5) / (df + 0.5)) for df in (3, 1, 1, 1, 1, 1)]  # of a to f
    quarter = sum(idf) / len(idf) / 4
    norm = 1.5 * (0.25 + 0.75 * 2 / 2)
    assert ours.scores("a", numpy.array([0])) == pytest.approx([quarter * 2.5 / (1 + norm)])


def test_scores_are_those_of_bm25s_and_it_can_search_the_arrays(tmp_path: Path) -> None:
    bm25s = pytest.importorskip("bm25s")
    ours = searcher(tmp_path, Bm25Part(WORDS), DOCUMENTS, 50)
    terms = [words_of(document, WORDS) for document in DOCUMENTS]
    theirs = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    theirs.index(terms, show_progress=False)
    over = bm25s.BM25()
    over.scores, over.nonoccurrence_array = ours.arrays, None
    for question in questions(60, seed=1):
        asked = [term for term in query_terms(question, WORDS) if term in theirs.vocab_dict]
        if not asked:
            continue
        expected = theirs.get_scores(asked) * 2.5  # bm25s leaves out k1 + 1, as Lucene does now
        assert ours.scores(question, numpy.arange(len(DOCUMENTS))) == pytest.approx(expected, abs=1e-4)
        columns, known = ours._places(asked)
        assert known.all()
        assert over.get_scores_from_ids(columns) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("part", [OkapiPart(), Bm25Part()])
def test_search_is_the_order_of_the_scores_with_ties_by_position(tmp_path: Path, part: Bm25Part) -> None:
    twice = [*DOCUMENTS, *DOCUMENTS]  # every score comes twice at least
    ours = searcher(tmp_path, part, twice, 100)
    for question in questions(80, seed=2):
        everything = ours.scores(question, numpy.arange(len(twice)))
        full, scores = ours.search(question, len(twice))
        assert numpy.array_equal(everything[full], scores)
        assert full.tolist() == sorted(full.tolist(), key=lambda n: (-everything[n], n))
        for k in (1, 3, 10, 50):
            some, best = ours.search(question, k)
            assert some.tolist() == full[:k].tolist() and best.tolist() == scores[:k].tolist()


def test_a_term_said_twice_counts_twice(tmp_path: Path) -> None:
    ours = searcher(tmp_path, Bm25Part(WORDS), DOCUMENTS, 50)
    everywhere = numpy.arange(len(DOCUMENTS))
    once, twice = ours.scores("river", everywhere), ours.scores("River, river!", everywhere)
    assert once.any() and twice == pytest.approx(2 * once)


def test_what_no_document_says_finds_nothing(tmp_path: Path) -> None:
    ours = searcher(tmp_path, Bm25Part(), DOCUMENTS, 50)
    for question in ("", "unheard", "  ?! "):
        positions, scores = ours.search(question, 10)
        assert len(positions) == len(scores) == 0
    assert len(ours.search("river", 0)[0]) == 0
    empty = searcher(tmp_path / "empty", Bm25Part(), [], 5)
    assert len(empty.search("river", 10)[0]) == 0 and empty.df(["river"]).tolist() == [0]


@given(pieces=st.lists(st.integers(1, 40), max_size=6), dead=st.sets(st.integers(0, 59)))
def test_pieces_and_deleted_documents_make_no_difference(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[int], dead: set[int]
) -> None:
    documents = DOCUMENTS[:60]
    living = [number for number in range(60) if number not in dead]
    for part in (OkapiPart(), Bm25Part()):
        folder = tmp_path_factory.mktemp("postings")
        whole = searcher(folder / "whole", part, [documents[n] for n in living], 1000)
        alive = [number not in dead for number in range(60)]
        cut = searcher(folder / "cut", part, documents, pieces[0] if pieces else 13, alive)
        for question in questions(8, seed=len(dead)):
            positions, scores = whole.search(question, 20)
            found, same = cut.search(question, 20)
            assert found.tolist() == [living[n] for n in positions.tolist()]
            assert same == pytest.approx(scores, rel=1e-6)


def test_small_blocks_make_the_same_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = searcher(tmp_path / "whole", OkapiPart(), DOCUMENTS, 30)
    monkeypatch.setattr(postings, "_POSTINGS_AT_ONCE", 100)
    blocks = searcher(tmp_path / "blocks", OkapiPart(), DOCUMENTS, 30)
    for name, array in whole.arrays.items():
        assert numpy.array_equal(array, blocks.arrays[name]), name


def test_document_frequencies_are_of_living_documents(tmp_path: Path) -> None:
    documents = [Document(str(n), text=text) for n, text in enumerate(["river", "river bridge", "bridge"])]
    ours = searcher(tmp_path, Bm25Part(), documents, 2, [True, False, True])
    assert ours.df(["river", "bridg", "castl"]).tolist() == [1, 1, 0]


def test_counts_of_every_kind_survive(tmp_path: Path) -> None:
    weighted = Bm25Settings(analysis="words", text=400)
    ours = searcher(
        tmp_path, Bm25Part(weighted), [Document("a", text="bridge"), Document("b", text="x y")], 2
    )
    norm = 1.5 * (0.25 + 0.75 * 400 / 600)
    idf = numpy.log1p((2 - 1 + 0.5) / 1.5)
    assert ours.scores("bridge", numpy.array([0])) == pytest.approx([idf * 400 * 2.5 / (400 + norm)])
