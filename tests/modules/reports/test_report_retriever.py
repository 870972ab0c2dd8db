"""Facts of a report: which are kept, and what becomes of the table."""

from __future__ import annotations

from typing import Any

import pytest

from chameleon import State, Table
from chameleon.modules.reports.programs import FinqaExecutor
from chameleon.modules.reports.report import Fact, Report
from chameleon.modules.reports.report_retriever import ReportRetriever
from chameleon.values import freeze
from tests.modules.reports.pages import AFTER, BEFORE, PASSAGES, TABLE, page


def run(module: ReportRetriever, **given: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The input and the cache after the module has run."""
    state = State(input=freeze(given))
    output = module.run(state)
    return {**state.input, **module.update_input(state.input, output)}, dict(module.update_cache({}, output))


class TestFacts:
    def test_rows_with_their_columns_and_sentences_that_say_something(self) -> None:
        facts = Report(TABLE, PASSAGES).facts()
        rows = [{"row": number} for number in range(1, 6)]
        assert [fact.source for fact in facts] == [*rows, *({"passage": each} for each in (1, 2, 3, 5, 6))]
        text = "harbour dues: 2011 is $ 1250; 2010 is $ 900; 2009 is $ 870"
        assert facts[0] == Fact(text, row=1, name="harbour dues")

    def test_passages_of_any_form(self) -> None:
        facts = Report(None, ["a text", {"title": "Dues", "text": "rose"}, {}]).facts()
        assert [fact.text for fact in facts] == ["a text", "Dues: rose"]


class TestTheReport:
    def test_what_is_kept_stays_in_its_order(self) -> None:
        given, _ = run(
            ReportRetriever(3), **page("was more paid for dredging than for the crane and the port?")
        )
        texts = [each["text"] for each in given["passages"]]
        assert texts == [text for text in (*BEFORE, *AFTER) if text in texts] and texts

    @pytest.mark.parametrize("shown", ["marked", "whole", "rows"])
    def test_the_table(self, shown: Any) -> None:
        module = ReportRetriever(2, table=shown)
        given, cache = run(module, **page("what share of total income were ferry fares?"))
        assert given["table"] == (TABLE.take_rows([1, 3]) if shown == "rows" else TABLE)
        assert cache.get("relevant_rows") == ("ferry fares\ntotal income" if shown == "marked" else None)

    def test_a_report_without_a_table(self) -> None:
        given, cache = run(ReportRetriever(1), question="who owns the port?", passages=PASSAGES)
        assert [each["text"] for each in given["passages"]] == [BEFORE[0]] and "table" not in given
        assert cache["retrieved"][0]["source"] == {"passage": 1}

    def test_a_table_without_a_text(self) -> None:
        given, cache = run(ReportRetriever(1), question="ferry fares in 2011?", table=TABLE)
        assert "passages" not in given and cache["retrieved"][0]["source"] == {"row": 2}


INCOME = Table(["", "2011", "2010"], [["dues", "9", "6"], ["fares", "3", "2"]], "Income, in thousands")


PAPER = [
    {"title": "A > 1 Port", "text": "The town owns the port.", "file": "a.pdf", "page": 1},
    {"title": "A > 2 Income", "text": "", "table": INCOME, "rows": [4, 5], "file": "a.pdf", "page": 2},
    {"title": "A > 3 Staff", "text": "120 persons worked here.", "file": "a.pdf", "page": 3},
]


class TestTablesInPassages:
    def test_their_rows_are_facts_below_headings_and_caption(self) -> None:
        facts = Report(None, PAPER).facts()
        rows = [{"passage": 2, "row": number} for number in (1, 2)]
        assert [fact.source for fact in facts] == [{"passage": 1}, *rows, {"passage": 3}]
        assert facts[1].text == "A > 2 Income: Income, in thousands: dues: 2011 is 9; 2010 is 6"

    @pytest.mark.parametrize("shown", ["marked", "rows"])
    def test_what_is_kept(self, shown: Any) -> None:
        module = ReportRetriever(1, table=shown)
        given, cache = run(module, question="what were fares in 2011?", passages=PAPER)
        (kept,) = given["passages"]
        assert cache["retrieved"][0]["id"] == "passage 2, row 2"
        assert len(kept["table"].rows) == (1 if shown == "rows" else 2)
        assert list(kept["rows"]) == ([5] if shown == "rows" else [4, 5])
        assert cache.get("relevant_rows") == ("fares" if shown == "marked" else None)

    def test_sources_have_the_numbers_of_the_report_as_it_was_given(self) -> None:
        given, cache = run(ReportRetriever(1), question="what were fares in 2011?", passages=PAPER)
        program = {"finqa_program": "subtract(3, 2)"}
        state = State(input=freeze(given), cache=freeze({**cache, **program}))
        (source,) = FinqaExecutor().run(state)["sources"]
        assert source["passage"] == 2 and source["rows"] == [5] and source["columns"] == ["2011", "2010"]
        assert (source["file"], source["page"], source["table"]) == ("a.pdf", 2, "Income, in thousands")
