"""Questions about reports without a model: which forms are read, what is found, what is declined."""

from __future__ import annotations

import contextlib
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import Declined, Executor, Inventory, Table
from chameleon.benchmarks.finqa import Finqa
from chameleon.modules.reports.facts import PlacedTable, tables_of
from chameleon.modules.reports.naming import content
from chameleon.modules.reports.rule_programs import rule_program
from chameleon.modules.reports.rules import asked
from chameleon.modules.reports.sentences import of_sentences
from tests.benchmarks.shared_data import needs_data, rows
from tests.modules.reports.halves import FIRST, SECOND
from tests.modules.reports.pages import PASSAGES, TABLE, page

TEXTS = [each["text"] for each in PASSAGES]
DUE = Table(
    ["year", "operating leases"],
    [["2012", "$ 40"], ["2013", "55"], ["thereafter", "205"], ["total", "$ 300"]],
)
STAFF = Table(
    ["", "skerry", "arvik", "total"],
    [["pilots", "12", "30", "42"], ["deckhands", "8", "20", "28"], ["total", "20", "50", "70"]],
)
BRIDGE = Table(
    ["", "amount ( in millions )"],
    [["2010 net revenue", "$ 500.5"], ["fares", "12.0"], ["2011 net revenue", "$ 540.0"]],
)


def program(question: str, table: Table | None = TABLE) -> str:
    return rule_program(question, tables_of(table, ()), TEXTS).program


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "what was the percentage change in harbour dues from 2010 to 2011?",
            "subtract(1250, 900), divide(#0, 900)",
        ),
        (
            "by what percent did ferry fares increase between 2009 and 2011?",
            "subtract(310, 275), divide(#0, 275)",
        ),
        ("what is the growth rate in ferry fares in 2011?", "subtract(310, 290), divide(#0, 290)"),
        ("what was the net change in harbour dues from 2010 to 2011, in thousands?", "subtract(1250, 900)"),
        ("what percentage of total income was harbour dues in 2011?", "divide(1250, 1655)"),
        ("what were ferry fares as a percentage of total income in 2010?", "divide(290, 1300)"),
        ("what was the ratio of ferry fares to warehouse rents in 2010?", "divide(290, 110)"),
        ("what were the average ferry fares from 2009 to 2011?", "table_average(ferry fares, none)"),
        ("what were average ferry fares for 2010 and 2011?", "add(290, 310), divide(#0, const_2)"),
        (
            "what was the average of ferry fares over the last three years?",
            "table_average(ferry fares, none)",
        ),
        ("what were the total ferry fares in 2010 and 2011?", "add(290, 310)"),
        ("what was the highest amount of ferry fares?", "table_max(ferry fares, none)"),
        ("what was the lowest amount of harbour dues?", "table_min(harbour dues, none)"),
        ("what was the change in warehouse rents from 2009 to 2010?", "subtract(110, -12)"),
    ],
)
def test_what_is_understood(question: str, expected: str) -> None:
    assert program(question) == expected


@pytest.mark.parametrize(
    ("question", "table", "expected"),
    [
        ("what percentage of total operating leases is due in 2013?", DUE, "divide(55, 300)"),
        ("what portion of the total operating leases is due after 2013?", DUE, "divide(205, 300)"),
        ("what portion of the total of skerry are pilots?", STAFF, "divide(12, 20)"),
        (
            "what is the percentage change in net revenue from 2010 to 2011?",
            BRIDGE,
            "subtract(540.0, 500.5), divide(#0, 500.5)",
        ),
    ],
)
def test_tables_of_other_forms(question: str, table: Table, expected: str) -> None:
    assert program(question, table) == expected


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("who owns the port?", "none of the forms"),
        ("what was the change in tolls from 2010 to 2011?", "no figures are called 'tolls'"),
        ("what was the change in harbour dues from 2007 to 2008?", "has no single figure of 2007"),
        ("what was the percentage change in dredging from 2010 to 2011?", "no figures are called"),
        ("what was the percentage change in harbour dues?", "none of the forms"),
        ("what were the total harbour dues in 2011?", "no years to add up"),
        ("what was the average of harbour dues over the last two years?", "of 3 years, not of 2"),
        ("what percentage of harbour dues was harbour dues in 2011?", "the same figure"),
        ("what percentage of total income was harbour dues in 2010 and 2011?", "several years"),
        ("what portion of total income are harbour dues?", "not clear which figure"),
        ("what portion of total income is due in 2015?", "no row is called"),
        ("what was the change in harbour dues from 2010 to 2011, in millions?", "in another unit"),
        ("what was the average amount in 2011?", "does not say what it is about"),
    ],
)
def test_what_is_declined(question: str, told: str) -> None:
    with pytest.raises(Declined) as caught:
        program(question)
    assert told in caught.value.what and "finqa" in caught.value.hint


def test_a_row_without_figures_has_nothing_to_compare() -> None:
    blank = Table(["", "2011", "2010"], [["gross profit", "", ""], ["revenue", "3", "4"]])
    with pytest.raises(Declined, match="'gross profit' has no figure of a year"):
        program("what was the lowest gross profit?", blank)


def test_two_rows_of_the_same_name_are_declined() -> None:
    twice = Table(["", "2011", "2010"], [["dues", "1", "2"], ["dues", "3", "4"]])
    with pytest.raises(Declined, match="several figures"):
        program("what was the change in dues from 2010 to 2011?", twice)


MILLIONS = Table(
    ["( in millions )", "2011", "2010", "2009"],
    [
        ["revenue", "1,000", "900", "700"],
        ["cash", "400", "—", ""],
        ["total assets", "4,000", "3,000", "2,500"],
        ["net income", "(250)", "100", "90"],
        ["operating loss", "(50)", "(80)", "(75)"],
        ["sold in 2008 and kept", "", "12", ""],
    ],
)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("what percentage of total assets is cash in 2010?", "'cash' has no single figure of 2010"),
        ("what is the ratio of cash to total assets?", "not clear which figure"),
        ("what percentage of total assets is kept in 2011?", "no figures are called"),
        ("which year had the highest revenue?", "asks for a time"),
        ("in which year was the highest revenue?", "asks for a time"),
        ("what was the year with the lowest revenue?", "asks for a time"),
        ("when was the lowest revenue?", "asks for a time"),
        ("how many years had the highest revenue?", "asks for a count"),
        ("what line had the highest revenue?", "asks which one"),
        ("was the highest revenue above 1,100?", "asks for yes or no"),
        ("what was the average revenue excluding 2009?", "puts a condition"),
        ("what was the largest annual increase in revenue from 2009 to 2011?", "none of the forms"),
        ("what was the average annual growth of revenue from 2009 to 2011?", "none of the forms"),
        ("what was the average change in revenue from 2009 to 2011?", "none of the forms"),
        ("what was the change in revenue per year from 2009 to 2011?", "none of the forms"),
        ("what was the change in revenue from 2011 to 2009?", "none of the forms"),
        ("what was the decrease in revenue from 2010 to 2011?", "went the other way"),
        ("what was the percentage increase in net income from 2010 to 2011?", "went the other way"),
        ("what was the change in revenue from 2010 to 2011, in dollars?", "another unit"),
        ("what was the change in revenue from 2010 to 2011, in thousands?", "another unit"),
        ("what was the percentage change in operating loss from 2010 to 2011?", "not positive"),
        ("what was the largest operating loss?", "below zero"),
        ("what was the average cash?", "one figure of 'cash', and nothing to take the average of"),
        ("what was the lowest cash?", "one figure of 'cash', and nothing to compare it with"),
        ("what was the highest amount of cash?", "nothing to compare it with"),
    ],
)
def test_what_is_asked_for_must_be_what_the_program_gives(question: str, told: str) -> None:
    with pytest.raises(Declined) as caught:
        program(question, MILLIONS)
    assert told in caught.value.what


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("what was the annual increase in revenue from 2010 to 2011?", "subtract(1000, 900)"),
        ("what was the change in net income from 2010 to 2011?", "subtract(-250, 100)"),
        ("what was the decrease in net income from 2010 to 2011, in millions?", "subtract(-250, 100)"),
        ("what was the average operating loss?", "add(-75, -80), add(#0, -50), divide(#1, const_3)"),
        ("what percentage of total assets is cash in 2011?", "divide(400, 4000)"),
    ],
)
def test_what_fits_is_answered(question: str, expected: str) -> None:
    assert program(question, MILLIONS) == expected


def test_dollars_are_not_answered_where_the_text_says_thousands() -> None:
    table = Table(["", "2011", "2010"], [["dues", "5", "3"]])
    asked_for = "what was the change in dues from 2010 to 2011, in dollars?"
    assert program(asked_for, table) == "subtract(5, 3)"
    with pytest.raises(Declined, match="another unit"):
        rule_program(asked_for, tables_of(table, ()), ["amounts are in thousands ."])


def test_a_total_of_another_year_is_not_taken() -> None:
    table = Table(
        ["", "net 2011", "gross 2011", "net 2010"], [["dues", "1", "", ""], ["total", "5", "6", "7"]]
    )
    for year in ("2009", "2011"):
        with pytest.raises(Declined):
            program(f"what percentage of the total are dues in {year}?", table)


def test_a_figure_of_2014_is_a_figure() -> None:
    """FinQA writes — as 2014, which its benchmark reads; a table of one's own has numbers."""
    table = Table(["", "2011", "2010"], [["persons", "2014", "1990"], ["tolls", "—", "5"]])
    assert program("what was the change in persons from 2010 to 2011?", table) == "subtract(2014, 1990)"
    with pytest.raises(Declined):
        program("what was the change in tolls from 2010 to 2011?", table)


def test_sentences_that_compare_are_not_read() -> None:
    said = "dues rose in 2011 to $ 12.5 million from $ 2.5 million less than in 2010 ."
    assert list(of_sentences([said])) == []


class TestSeveralTables:
    INCOME: ClassVar = {
        "title": "A > Income",
        "text": "",
        "table": Table(["in thousands", "2011", "2010"], [["dues", "9", "6"]]),
    }
    COSTS: ClassVar = {
        "title": "A > Costs",
        "text": "",
        "table": Table(["in thousands", "2011", "2010"], [["pay", "3", "2"]]),
    }

    def written(self, question: str, *passages: Any) -> Any:
        tables = tables_of(None, passages)
        return rule_program(question, tables, ["" for _ in passages])

    def test_figures_of_any(self) -> None:
        found = self.written("what is the ratio of pay to dues in 2011?", self.INCOME, self.COSTS)
        assert found.program == "divide(3, 9)"
        assert found.evidence == [
            {"passage": 2, "row": 1, "column": 2},
            {"passage": 1, "row": 1, "column": 2},
        ]

    def test_the_same_name_in_two(self) -> None:
        other = {**self.COSTS, "table": Table(["", "2011", "2010"], [["dues", "1", "2"]])}
        with pytest.raises(Declined, match="several figures"):
            self.written("what was the change in dues from 2010 to 2011?", self.INCOME, other)

    @pytest.mark.parametrize("blank", ["", "-", "n/a"])
    @pytest.mark.parametrize("turned", [False, True])
    def test_the_same_name_in_two_where_one_is_blank(self, blank: str, turned: bool) -> None:
        prices = {**self.INCOME, "table": Table(["price", "2023", "2024"], [["Rye", "255", blank]])}
        loads = {**self.COSTS, "table": Table(["quantity", "2023", "2024"], [["Rye", "300", "350"]])}
        passages = (loads, prices) if turned else (prices, loads)
        for question in (
            "what was the change in rye from 2023 to 2024?",
            "what was the average rye in 2023 and 2024?",
        ):
            with pytest.raises(Declined, match="several rows are called 'rye', and one is blank"):
                self.written(question, *passages)

    @pytest.mark.parametrize("question", ["what was the lowest toll?", "what was the average toll?"])
    def test_the_same_column_in_two_where_one_is_partly_blank(self, question: str) -> None:
        part = {**self.INCOME, "table": Table(["port", "toll"], [["Arvik", "5"], ["Skerry", ""]])}
        whole = {**self.COSTS, "table": Table(["port", "toll"], [["Arvik", "7"], ["Skerry", "9"]])}
        for passages in ((part, whole), (whole, part)):
            with pytest.raises(Declined, match="several figures are called 'toll'"):
                self.written(question, *passages)
        assert "7" in self.written(question, whole).program
        with pytest.raises(Declined):
            self.written(question, part)

    def test_the_same_name_in_two_of_other_years(self) -> None:
        prices = {**self.INCOME, "table": Table(["price", "2022", "2023"], [["Rye", "", "255"]])}
        loads = {**self.COSTS, "table": Table(["quantity", "2023", "2024"], [["Rye", "300", "350"]])}
        found = self.written("what was the change in rye from 2023 to 2024?", prices, loads)
        assert found.program == "subtract(350, 300)"

    def test_different_units(self) -> None:
        other = {**self.COSTS, "table": Table(["in millions", "2011"], [["pay", "1"]])}
        with pytest.raises(Declined, match="different units"):
            self.written("what is the ratio of pay to dues in 2011?", self.INCOME, other)

    def test_a_caption_tells_the_unit(self) -> None:
        table = Table(["", "2011", "2010"], [["dues", "9", "6"]], "in thousands of crowns")
        with pytest.raises(Declined, match="another unit"):
            rule_program(
                "what was the change in dues from 2010 to 2011, in millions?", [PlacedTable(table)], []
            )


def test_sentences_with_a_figure_for_each_year() -> None:
    (found,) = of_sentences(
        [
            "expense was $ 1,200 , $ 900 and $ 7.5 at december 31 , 2011 , 2010 and 2009 .",
            "expense was $ 1,200 , $ 900 and 7.5% ( 7.5 % ) at december 31 , 2011 , 2010 and 2009 .",
            "5 of 2011 .",
        ]
    )
    told = {year: figure.text for year, figure in found.by_year.items()}
    assert told == {"2011": "1200", "2010": "900", "2009": "7.5"}
    assert found.by_year["2011"].source == {"passage": 1}


def test_words_that_tell_things_apart() -> None:
    assert content("the amount of harbour dues (in millions) in 2011") == content("Harbour dues")


@given(st.text("whatipercntgofd 2019?,()", max_size=90))
def test_any_question_is_read_or_not(question: str) -> None:
    asked(question)
    with contextlib.suppress(Declined):
        program(f"what is the {question}")


@pytest.mark.parametrize("part", ["from , , , , ", "2010 ", "percent of the total ", "the in and of "])
def test_long_questions_come_to_an_end(part: str) -> None:
    for question in (part * 40, part * 5000):
        found = asked(f"what percentage of {question} was the change in {question}")
        assert found is None or len(question) < 600


class TestTheInventory:
    def run(self, question: str) -> Any:
        return Executor(Inventory.load("finqa_offline")).run(page(question))

    def test_answers_with_its_sources(self) -> None:
        state = self.run("what was the percentage change in harbour dues from 2010 to 2011?")
        assert state.answer == "38.89%" and state.usage.calls == 0
        assert state.cache["sources"][0]["rows"] == (1,)
        assert list(state.cache["sources"][0]["columns"]) == ["2011", "2010"]

    def test_cites_the_row_that_was_read_and_not_another_with_the_same_number(self) -> None:
        table = Table(["", "2011", "2010"], [["rents", "900", "1250"], ["harbour dues", "1250", "900"]])
        asked_for = "what was the change in harbour dues from 2010 to 2011?"
        state = Executor(Inventory.load("finqa_offline")).run(page(asked_for, table=table))
        (source,) = state.cache["sources"]
        assert source["rows"] == (2,) and state.answer == 350

    def test_declines(self) -> None:
        state = self.run("who owns the port?")
        assert state.ended.reason == "declined" and "none of the forms" in state.ended.error.message


@needs_data
@pytest.mark.parametrize(
    ("name", "half", "answered", "right"),
    [
        ("dev_200", FIRST, 15, 14),
        ("dev_200", SECOND, 16, 12),
        ("dev_883", FIRST, 83, 70),
        ("dev_883", SECOND, 77, 69),
    ],
)
def test_how_much_is_answered(name: str, half: slice, answered: int, right: int) -> None:
    """The measured shares, as the documents have them."""
    benchmark, said, correct = Finqa(), 0, 0
    rule = benchmark.scorers["execution"]()
    for row in rows(f"finqa/{name}.jsonl.gz")[half]:
        problem = benchmark.problem(row, {})
        texts = [each["text"] for each in problem.input["passages"]]
        tables = tables_of(problem.input["table"], problem.input["passages"])
        try:
            found = rule_program(problem.input["question"], tables, texts).program
        except Declined:
            continue
        said += 1
        correct += rule.right(found, problem)
    assert (said, correct) == (answered, right)
