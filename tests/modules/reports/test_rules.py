"""Questions about reports without a model: which forms are read, what is found, what is declined."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import Declined, Executor, Inventory, Table
from chameleon.benchmarks.finqa import Finqa
from chameleon.modules.reports.figures import content, of_sentences, of_table
from chameleon.modules.reports.rule_program_generator import rule_program
from chameleon.modules.reports.rules import asked
from tests.benchmarks.shared_data import needs_data, rows
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
    return rule_program(question, table, TEXTS)


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
        ("what was the percentage change in dredging from 2010 to 2011?", "subtract(45, 36), divide(#0, 36)"),
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
        ("what was the change in harbour dues from 2007 to 2008?", "no figures are called"),
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


def test_two_rows_of_the_same_name_are_declined() -> None:
    twice = Table(["", "2011", "2010"], [["dues", "1", "2"], ["dues", "3", "4"]])
    with pytest.raises(Declined, match="several figures"):
        program("what was the change in dues from 2010 to 2011?", twice)


def test_dashes_are_no_figures() -> None:
    """FinQA writes – and — as 2013 and 2014."""
    table = Table(["", "2011", "2010"], [["tolls", "2014", "5"]])
    assert [each.all for each in of_table(table) if each.source == "row"] == [("5",)]


def test_sentences_with_a_figure_for_each_year() -> None:
    (found,) = of_sentences(
        [
            "expense was $ 1,200 , $ 900 and 7.5% ( 7.5 % ) at december 31 , 2011 , 2010 and 2009 .",
            "5 of 2011 .",
        ]
    )
    assert found.by_year == {"2011": "1200", "2010": "900", "2009": "7.5"}


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

    def test_declines(self) -> None:
        state = self.run("who owns the port?")
        assert state.ended.reason == "declined" and "none of the forms" in state.ended.error.message


@needs_data
@pytest.mark.parametrize(("name", "answered", "right"), [("dev_200", 45, 32), ("dev_883", 232, 194)])
def test_how_much_is_answered(name: str, answered: int, right: int) -> None:
    """The measured shares; the rules were made with all of the training set's and half of these at hand."""
    benchmark, said, correct = Finqa(), 0, 0
    rule = benchmark.scorers["execution"]()
    for row in rows(f"finqa/{name}.jsonl.gz"):
        problem = benchmark.problem(row, {})
        texts = [each["text"] for each in problem.input["passages"]]
        try:
            found = rule_program(problem.input["question"], problem.input["table"], texts)
        except Declined:
            continue
        said += 1
        correct += rule.right(found, problem)
    assert (said, correct) == (answered, right)
