"""Programs and answers in replies, and the vote: Binder's vectors, but for stated departures."""

from __future__ import annotations

from typing import Any

import pytest

from chameleon import State, StepRejected
from chameleon.errors import ModuleError
from chameleon.llm import Reply
from chameleon.modules.sql.binder import BinderGenerator, BinderVote
from chameleon.modules.sql.binder_calls import all_calls
from chameleon.modules.sql.binder_programs import AnswerQuestion, MapQuestion
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


@pytest.mark.parametrize("program", ['QA("what?"; a)', 'SELECT QA("map@a?"; b FROM w', "QA()"])
def test_calls_that_cannot_be_read_are_told(program: str) -> None:
    assert all_calls('QA("map@a?")')[0].params == ()
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
