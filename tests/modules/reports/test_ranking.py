"""How near facts of a report are to a question, by each way."""

from __future__ import annotations

from typing import Any

import pytest

from chameleon import State, Table
from chameleon.errors import InputError, MissingPackage
from chameleon.modules.reports import ranking
from chameleon.modules.reports.ranking import measures, years_asked
from chameleon.modules.reports.report import Report
from chameleon.modules.reports.report_retriever import ReportRetriever
from chameleon.values import freeze
from tests.benchmarks.shared_data import needs_data
from tests.modules.reports.pages import PASSAGES, TABLE, page
from tests.modules.reports.recall import files, recall


def names(question: str, k: int = 2, by: str = "auto", **given: Any) -> list[str]:
    output = ReportRetriever(k, by=by).run(State(input=freeze(page(question, **given))))
    return [fact["id"] for fact in output["kept"]]


@pytest.mark.parametrize(
    ("question", "years"),
    [
        ("the port 2019s dues of 2011 , 2,010 and 20105 at december 312009", "2009 2011"),
        ("from 2007 to 2010", "2007 2008 2009 2010"),
        ("2008-2007", "2007 2008"),
        ("in 2007 and 2010", "2007 2010"),
        ("from 1900 to 2010", "1900 2010"),
    ],
)
def test_years(question: str, years: str) -> None:
    assert years_asked(question) == set(years.split())


@pytest.mark.parametrize("by", ["auto", "lexical", "bm25"])
class TestByWords:
    def test_a_row_by_its_name(self, by: str) -> None:
        assert names("what was the change in ferry fares from 2010 to 2011?", 1, by) == ["row 2"]

    def test_a_sentence(self, by: str) -> None:
        assert names("how much was paid for dredging in 2011?", 1, by) == ["passage 5"]

    def test_nothing_to_find(self, by: str) -> None:
        assert names("what?", table=Table(["a"]), passages=[], by=by) == []


class TestLexical:
    def test_a_share_needs_a_total(self) -> None:
        asked = "what percentage of income in 2011 were harbour dues?"
        assert set(names(asked)) == {"row 1", "row 4"}
        assert "row 4" not in names(asked.replace("percentage of income", "amount"), 1)

    def test_a_change_needs_a_balance(self) -> None:
        assert "row 5" in names("by how much did the funds change between 2010 and 2011?", 3)

    def test_measures_are_shares(self) -> None:
        for each in measures("what was the total of ferry fares in 2011?", Report(TABLE, PASSAGES).facts()):
            assert all(0 <= value <= 1 for name, value in each.items() if name != "digits")


class TestNames:
    @pytest.mark.parametrize(
        "by", ["colbert", "dense:", "bm25:x", "bm25+", "bm25+rerank", "bm25+rerank:", "x+rerank:y"]
    )
    def test_what_there_is_not(self, by: str) -> None:
        with pytest.raises(InputError, match="facts cannot be"):
            ReportRetriever(by=by).check()

    def test_what_auto_comes_to(self) -> None:
        ReportRetriever().check()
        assert ReportRetriever().runtime_info() == {"by": "lexical"}
        assert ReportRetriever(by="bm25").runtime_info() == {"by": "bm25"}

    def test_packages_that_are_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ranking, "find_spec", lambda name: None)
        monkeypatch.setattr("chameleon.retrieval.embeddings.find_spec", lambda name: None)
        for by in ("dense", "hybrid", "lexical+rerank:some/model"):
            with pytest.raises(MissingPackage):
                ReportRetriever(by=by).check()


def _counting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand-ins for embeddings: the cosine is the share of the letter z in a text."""
    from chameleon.retrieval import ranking as texts_ranking

    known = texts_ranking.similarities

    def similarities(query: str, texts: Any, by: str = "auto") -> list[float]:
        if by.startswith("dense"):
            return [text.count("z") / max(len(text), 1) for text in texts]
        return known(query, texts, by)

    monkeypatch.setattr(texts_ranking, "similarities", similarities)
    monkeypatch.setattr("chameleon.retrieval.embeddings.require", lambda name: None)


def test_embeddings_alone_and_among_words(monkeypatch: pytest.MonkeyPatch) -> None:
    _counting(monkeypatch)
    zeal = [{"title": "", "text": "zzzzz zzz"}]
    facts = Report(TABLE, zeal).facts()
    dense = ranking.scores("ferry fares?", facts, "dense:some:model")
    assert dense.index(max(dense)) == 5
    hybrid, lexical = (ranking.scores("fares?", facts, by) for by in ("hybrid", "lexical"))
    assert hybrid[5] - lexical[5] > hybrid[4] - lexical[4]
    assert hybrid.index(max(hybrid)) in (1, 5)


def test_a_cross_encoder_orders_the_first_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    class Longest:
        def scores(self, pairs: Any) -> list[float]:
            assert len(pairs) == 30 and all(query == "port?" for query, _ in pairs)
            return [float(len(text)) for _, text in pairs]

    pytest.importorskip("chameleon.retrieval.cross_encoder")
    monkeypatch.setattr("chameleon.retrieval.cross_encoder.cross_encoder", lambda name: Longest())
    monkeypatch.setattr(ranking, "find_spec", lambda name: name)
    facts = Report(None, ["port", *(f"the port has {'many ' * number}" for number in range(40))]).facts()
    before, after = (ranking.scores("port?", facts, f"bm25{more}") for more in ("", "+rerank:tiny"))
    first, order = (sorted(range(len(facts)), key=lambda place: -each[place]) for each in (before, after))
    assert order[:30] == sorted(first[:30], key=lambda place: -len(facts[place].text))
    assert order[30:] == first[30:]


@needs_data
@pytest.mark.parametrize(
    ("by", "questions", "expected"),
    [
        ("bm25", "all", [0.673, 0.775, 0.901]),
        ("lexical", "all", [0.811, 0.886, 0.941]),
        ("lexical", "held out", [0.777, 0.891, 0.962]),
    ],
)
def test_recall_of_the_gold_facts(by: str, questions: str, expected: list[float]) -> None:
    """The figures of docs/reports.md."""
    assert recall(by, files()[questions]) == pytest.approx(expected, abs=0.0021)
