"""Binder: calls within programs, repairs, the table that programs see, and the vote; with its vectors."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import State, StepRejected, Table
from chameleon.errors import ModuleError
from chameleon.llm import Reply
from chameleon.modules.sql.binder import BinderGenerator, BinderVote
from chameleon.modules.sql.binder_calls import all_calls, column_in, value_of
from chameleon.modules.sql.binder_programs import AnswerQuestion, MapQuestion
from chameleon.modules.sql.binder_repair import nearest_cell, repaired
from chameleon.modules.sql.binder_table import binder_table
from tests.modules.sql.given import TABLE, vectors

# Where no program gave an answer, the original answers its placeholder 0: here it is a failure.
DEPARTURE = "nsql-026"


@pytest.mark.parametrize("vector", vectors("vote"))
def test_votes_are_counted(vector: dict[str, Any]) -> None:
    options = vector["options"]
    # Where a program that finds nothing may win, it says 0.
    nothing = (0,) if options.get("allow_none_and_empty_answer") else None
    ballots = []
    for answer, logprob in zip(vector["answers"], vector["logprobs"], strict=True):
        said = None if answer == "<error>" else nothing if answer in ([], [None]) else tuple(answer)
        ballots.append((said, logprob))
    vote = BinderVote("items", options["vote_method"], options.get("answer_biased_weight") or 1)
    if vector["id"] == DEPARTURE:
        with pytest.raises(ModuleError, match="no program gave an answer"):
            vote.winning_answer(ballots)
        return
    won = vote.winning_answer(ballots)
    assert list(won) == vector["winner"]
    voters = [[f"p{n}", logprob] for n, (answer, logprob) in enumerate(ballots) if answer == won]
    assert voters == vector["winner_programs"]


def test_calls_that_cannot_be_read_are_told() -> None:
    assert all_calls('QA("map@a?")')[0].params == ()
    deep = 'QA("ans@a"; ' * 500 + "1" + ")" * 500
    for program in ('QA("what?"; a)', 'SELECT QA("map@a?"; b FROM w', "QA()", deep):
        with pytest.raises(StepRejected):
            BinderGenerator().interpret(program, State(input={"table": TABLE}))


def test_answers_are_read_by_number_and_a_single_one_is_the_first_line_that_says_something() -> None:
    reply = "Sure:\n1 | Yes.\n| 2 | port crocs | NO |\nrow 3: 1,5\n3 | again\n7 | out\n\n4 |"
    question = MapQuestion("?", ("a",), (("v",), ("w",), ("x",), ("y",)))
    assert question.read(Reply(reply)) == {("v",): "yes", ("w",): "no", ("x",): "1,5"}
    assert question.read(Reply("1 | yes\n2 | n", finish="length")) == {("v",): "yes"}
    single = AnswerQuestion("?", ())
    assert single.read(Reply("\nThe answer is: **Port Crocs**.\nFor it is so.")) == "port crocs"
    for bad in (Reply(" \n "), Reply("port", finish="length")):
        with pytest.raises(StepRejected):
            single.read(bad)


@pytest.mark.parametrize("vector", vectors("parse"))
def test_calls_are_found_inside_out_and_once(vector: dict[str, Any]) -> None:
    if vector["raises"]:
        with pytest.raises(StepRejected):
            all_calls(vector["program"])
        return
    calls = {call.text: call for call in all_calls(vector["program"])}
    assert list(dict.fromkeys([*calls, vector["program"].strip()])) == vector["steps"]
    told = [{"question": f"{call.kind}@{call.asked}", "params": list(call.params)} for call in calls.values()]
    assert told == vector["qa"]


@pytest.mark.parametrize("vector", vectors("role"))
def test_parameters_have_their_roles(vector: dict[str, Any]) -> None:
    is_column = column_in(vector["text"], vector["headers"]) is not None
    is_value = value_of(vector["text"]) is not NotImplemented
    assert vector["role"] == ("col" if is_column else "val" if is_value else "complete_sql")


@given(st.text(alphabet="QA(\"map@ans;)'`w x", max_size=40))
def test_any_text_is_read_or_rejected(text: str) -> None:
    try:
        calls = all_calls(text)
    except StepRejected:
        return
    for call in calls:
        assert call.text in text and all_calls(call.text)[-1].text == call.text


NORMAL = binder_table(TABLE)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("```sql\nSELECT year FROM w\n```", "SELECT year FROM w"),
        ("SELECT year\nFROM w;", "SELECT year FROM w"),
        ("SELECT year FROM Tarn (League) Cup", "SELECT year FROM w"),
        ("SELECT year FROM tarn_league_cup WHERE year = 1", "SELECT year FROM w WHERE year = 1"),
        ("SELECT Runners Up, year FROM w", "SELECT `Runners Up`, year FROM w"),
        ('SELECT "runners up" FROM w', 'SELECT "runners up" FROM w'),
        ("SELECT group FROM w GROUP BY group", "SELECT `group` FROM w GROUP BY `group`"),
        ("FROM w WHERE runners up = 'port crocs'", "FROM w WHERE `runners up` = 'port crocs (qld)'"),
        ("`runners up` IN ('South cutter', \"nobody\")", "`runners up` IN ('south cutters', 'nobody')"),
        ("SELECT 'South Cutters' FROM w", "SELECT 'South Cutters' FROM w"),
        ("FROM w WHERE `runners up` LIKE '%CROC%'", "FROM w WHERE `runners up` LIKE '%CROC%'"),
        ("SELECT year FROM w WHERE day = 'June 1, 2023'", "SELECT year FROM w WHERE day = '2023-06-01'"),
        ("day < '2023-06-01 00:00:00' AND year < 'June 1'", "day < '2023-06-01' AND year < 'June 1'"),
        ("SELECT a FROM w WHERE `group` = 'runners up'", "SELECT a FROM w WHERE `group` = `runners up`"),
        ("QA(\"map@is 'no'?\"; runners up) = 'no'", "QA(\"map@is 'no'?\"; `runners up`) = 'no'"),
        ("SELECT 'unclosed FROM w", "SELECT 'unclosed FROM w"),
    ],
)
def test_programs_are_repaired(written: str, meant: str) -> None:
    assert repaired(written, NORMAL, TABLE.caption) == meant
    assert repaired(meant, NORMAL, TABLE.caption) == meant, "what is right stays"


def test_the_nearest_cell_is_near_and_contradicts_no_figure() -> None:
    for value, cell in (("port crocs 7", "port crocs (qld)"), ("zebra", None)):
        assert nearest_cell(value, "runners up", NORMAL) == cell
    other = binder_table(Table(["a"], [["score of 12"], ["score of 13 (late)"]]))
    assert nearest_cell("score of 14", "a", other) is None
    assert nearest_cell("score of 13", "a", other) == "score of 13 (late)"


def test_a_table_is_normalised_as_published() -> None:
    kinds = "INTEGER INTEGER TEXT INTEGER REAL TEXT DATE TEXT"
    names = ["row_id", "year", "runners up", "score", "score_2", "filledcolumnname", "day", "group"]
    assert NORMAL.columns == dict(zip(names, kinds.split(), strict=True))
    assert list(NORMAL.rows) == [
        (0, 1998, "port crocs (qld)", 3, 10.4, "none", "2024-05-04", "a"),
        (1, 1999, "south cutters", None, 8.0, "x", None, "b"),
        (2, 2000, "port crocs (qld)", 12, 9.5, "930251", "2023-06-01", "a"),
    ]
