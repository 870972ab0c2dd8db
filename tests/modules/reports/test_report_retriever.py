"""Facts of a report: how near they are to a question, which are kept, and what becomes of the table."""

import sys
from typing import Any

import pytest

from chameleon import State, Table
from chameleon.errors import InventoryError, MissingPackage
from chameleon.modules.reports.report import Fact, Report
from chameleon.modules.reports.report_programs import FinqaExecutor
from chameleon.modules.reports.report_retriever import ReportRetriever, years_asked
from chameleon.retrieval import ranking
from chameleon.values import freeze
from tests.benchmarks.shared_data import needs_data
from tests.modules.reports.pages import AFTER, BEFORE, PASSAGES, TABLE, page
from tests.modules.reports.recall import files, recall


def names(question: str, k: int = 2, by: str = "auto", **given: Any) -> list[str]:
    output = ReportRetriever(k, by=by).run(State(input=freeze(page(question, **given))))
    return [fact["id"] for fact in output["kept"]]


def test_years() -> None:
    odd = "the port 2019s dues of 2011 , 2,010 and 20105 at december 312009"
    asked = {odd: "2009 2011", "from 2007 to 2010": "2007 2008 2009 2010", "2008-2007": "2007 2008"}
    asked |= {"in 2007 and 2010": "2007 2010", "from 1900 to 2010": "1900 2010"}
    for question, years in asked.items():
        assert years_asked(question) == set(years.split())


@pytest.mark.parametrize("by", ["auto", "lexical", "bm25"])
def test_a_row_is_found_by_its_name_and_a_sentence_by_its_words(by: str) -> None:
    assert names("what was the change in ferry fares from 2010 to 2011?", 1, by) == ["row 2"]
    assert names("how much was paid for dredging in 2011?", 1, by) == ["passage 5"]
    assert names("what?", table=Table(["a"]), passages=[], by=by) == []


def test_rankings_and_packages_that_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ReportRetriever().runtime_info() == {"by": "lexical"}
    with pytest.raises(InventoryError, match="there are no embeddings named 'small'"):
        ReportRetriever(by="dense", embeddings="small").check()
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    for by in ("dense", "hybrid"):
        with pytest.raises(MissingPackage):
            ReportRetriever(by=by).check()


def test_embeddings_alone_and_among_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand-ins for embeddings: the cosine is the share of the letter z in a text."""
    known = ranking.similarities

    def similarities(query: str, texts: Any, by: str = "auto") -> list[float]:
        if by.startswith("dense"):
            return [text.count("z") / max(len(text), 1) for text in texts]
        return known(query, texts, by)

    monkeypatch.setattr(ranking, "similarities", similarities)
    monkeypatch.setattr("chameleon.retrieval.embeddings.require_embeddings", lambda name: None)
    facts = Report(TABLE, [{"title": "", "text": "zzzzz zzz"}]).facts()
    dense = ReportRetriever(by="dense", embeddings="some:model").scores("ferry fares?", facts)
    hybrid, lexical = (ReportRetriever(by=by).scores("fares?", facts) for by in ("hybrid", "lexical"))
    assert dense.index(max(dense)) == 5 and hybrid[5] - lexical[5] > hybrid[4] - lexical[4]


@needs_data
def test_recall_of_the_gold_facts() -> None:
    """The figures of docs/reports.md."""
    questions = files()
    assert recall("bm25", questions["all"]) == pytest.approx([0.673, 0.775, 0.901], abs=0.0021)
    assert recall("lexical", questions["all"]) == pytest.approx([0.811, 0.886, 0.941], abs=0.0021)
    assert recall("lexical", questions["held out"]) == pytest.approx([0.777, 0.891, 0.962], abs=0.0021)


def run(module: ReportRetriever, **given: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The input and the cache after the module has run."""
    state = State(input=freeze(given))
    output = module.run(state)
    return {**state.input, **module.update_input(state.input, output)}, dict(module.update_cache({}, output))


def test_facts_are_rows_with_their_columns_and_sentences_that_say_something() -> None:
    facts = Report(TABLE, PASSAGES).facts()
    rows = [{"row": number} for number in range(1, 6)]
    assert [fact.source for fact in facts] == [*rows, *({"passage": each} for each in (1, 2, 3, 5, 6))]
    text = "harbour dues: 2011 is $ 1250; 2010 is $ 900; 2009 is $ 870"
    assert facts[0] == Fact(text, row=1, name="harbour dues")
    facts = Report(None, ["a text", {"title": "Dues", "text": "rose"}, {}]).facts()
    assert [fact.text for fact in facts] == ["a text", "Dues: rose"]


def test_what_is_kept_stays_in_its_order_and_the_table_stays_whole() -> None:
    asked = page("was more paid for dredging than for the crane and the port?")
    texts = [each["text"] for each in run(ReportRetriever(3), **asked)[0]["passages"]]
    assert texts == [text for text in (*BEFORE, *AFTER) if text in texts] and texts
    given, cache = run(ReportRetriever(2), **page("what share of total income were ferry fares?"))
    assert given["table"] == TABLE and cache["relevant_rows"] == "ferry fares\ntotal income"


def test_a_report_without_a_table_and_one_without_a_text() -> None:
    given, cache = run(ReportRetriever(1), question="who owns the port?", passages=PASSAGES)
    assert [each["text"] for each in given["passages"]] == [BEFORE[0]] and "table" not in given
    given, cache = run(ReportRetriever(1), question="ferry fares in 2011?", table=TABLE)
    assert "passages" not in given and cache["retrieved"][0]["source"] == {"row": 2}


INCOME = Table(["", "2011", "2010"], [["dues", "9", "6"], ["fares", "3", "2"]], "Income, in thousands")
PAPER = [
    {"title": "A > 1 Port", "text": "The town owns the port.", "file": "a.pdf", "page": 1},
    {"title": "A > 2 Income", "text": "", "table": INCOME, "rows": [4, 5], "file": "a.pdf", "page": 2},
    {"title": "A > 3 Staff", "text": "120 persons worked here.", "file": "a.pdf", "page": 3},
]


def test_rows_of_tables_in_passages_are_facts_with_the_numbers_of_the_report_as_it_was_given() -> None:
    facts = Report(None, PAPER).facts()
    rows = [{"passage": 2, "row": number} for number in (1, 2)]
    assert [fact.source for fact in facts] == [{"passage": 1}, *rows, {"passage": 3}]
    assert facts[1].text == "A > 2 Income: Income, in thousands: dues: 2011 is 9; 2010 is 6"
    given, cache = run(ReportRetriever(1), question="what were fares in 2011?", passages=PAPER)
    (kept,) = given["passages"]
    assert cache["retrieved"][0]["id"] == "passage 2, row 2" and cache["relevant_rows"] == "fares"
    assert len(kept["table"].rows) == 2 and list(kept["rows"]) == [4, 5]
    state = State(input=freeze(given), cache=freeze({**cache, "finqa_program": "subtract(3, 2)"}))
    (source,) = FinqaExecutor().run(state)["sources"]
    assert source["passage"] == 2 and source["rows"] == [5] and source["columns"] == ["2011", "2010"]
    assert (source["file"], source["page"], source["table"]) == ("a.pdf", 2, "Income, in thousands")
