"""Chain-of-Table's rivals end to end over real HTTP, Text-to-SQL and Binder among them.

Worked examples, and how many calls they take.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from chameleon import LLM, Executor, Inventory, State, Table
from chameleon.sandbox.sealed_process import why_unusable
from tests.e2e.by_cue import ByCue, Given
from tests.e2e.tables import RACE
from tests.loopback import Answer, Start

sealed = pytest.mark.skipif(bool(why_unusable()), reason="the sealed sandbox cannot run here")

QUESTION = "Which country had more cyclists in the race, Italy or Spain?"
STATEMENT = "italy had more cyclists in the race than spain"
CLOZE = (
    "{how many cyclists are from Italy?} cyclists are from Italy.\n"
    "{how many cyclists are from Spain?} cyclists are from Spain."
)
QUERIES = (
    "1: SELECT COUNT(*) FROM w WHERE Cyclist LIKE '%(ITA)%'\n"
    "2: SELECT COUNT(*) FROM w WHERE Cyclist LIKE '%(ESP)%'"
)


def run(
    loopback: Start, rival: ByCue, inventory: str, question: str = QUESTION, table: Table = RACE
) -> State:
    server = loopback(rival)
    executor = Executor(Inventory.load(inventory), LLM.connect("openai:local", retries=0))
    state = executor.run({"question": question, "table": table})
    assert state.usage.calls == len(server.requests)
    return state


def dater(answer: str) -> ByCue:
    """Rows by vote: of 20 samples 12 name the Italians, 6 the Spaniards and 2 the Russian."""
    rows = ["f_row([row 1, row 4, row 6])"] * 6 + ["f_row([row 2, row 5])"] * 3 + ["f_row([row 3])"]
    replies: dict[str, Answer | Sequence[Answer]] = {
        "Sub-questions:": CLOZE,
        "SQL:": QUERIES,
        "similar words link to columns :": "The answer is : f_col([Rank, Cyclist])",
        "explain :": [f"The answer is : {row}" for row in rows],
        "The answer is:": answer,
    }
    return ByCue(replies)


@sealed
@pytest.mark.parametrize(
    ("inventory", "question", "reply", "answer", "calls"),
    [
        ("wikitq_dater", QUESTION, "Italy", ("Italy",), 100),
        ("tabfact_dater", STATEMENT, "YES", "yes", 100),
        ("fetaqa_dater", QUESTION, "Italy had more.", "Italy had more.", 81),
    ],
)
def test_dater_counts_by_sql_and_answers_from_a_part_of_the_table(
    loopback: Start, inventory: str, question: str, reply: str, answer: Any, calls: int
) -> None:
    rival = dater(reply)
    state = run(loopback, rival, inventory, question)
    assert state.answer == answer and state.usage.calls == calls
    names = "cloze_generator cloze_filler column_choice row_choice table_part table_query"
    assert list(state.executed_names) == names.split()
    assert state.cache["evidence"] == "3 cyclists are from Italy. 2 cyclists are from Spain."
    assert state.table == RACE.take_columns([0, 1]).take_rows([0, 1, 3, 4, 5]), "the two best of three"
    case = rival.last["The answer is:"].rpartition("/*")[2]
    assert f"{question}\nIn the table: 3 cyclists are from Italy. 2 cyclists are from Spain." in case
    for cue in ("similar words link to columns :", "explain :"):
        assert "Team" in rival.last[cue].rpartition("/*")[2], "both choices are made on the whole table"
    assert "Orlov" not in case and "Orlov" in rival.last["SQL:"].rpartition("CREATE TABLE")[2]


COUNTRIES = {"ugo ferri (ita)": "italy", "iker sola (esp)": "spain", "dario bo (ita)": "italy"}
MOST_AMONG_FOUR = (
    'SELECT QA("map@what is the country?"; cyclist) FROM w WHERE rank <= 4 '
    'GROUP BY QA("map@what is the country?"; cyclist) ORDER BY COUNT(*) DESC LIMIT 1'
)


def asked_about(prompt: str) -> list[str]:
    """The values that a prompt of Binder's asks about."""
    return [line.partition(" | ")[2] for line in prompt[prompt.rindex("<values>") :].splitlines()[2:-2]]


def clerk(programs: Sequence[str], cells: Mapping[str, str] = COUNTRIES) -> ByCue:
    """A model that writes these programs in turn, and answers about cells."""

    def answers(text: str) -> str:
        return "\n".join(f"{n} | {cells.get(each, 'russia')}" for n, each in enumerate(asked_about(text), 1))

    cues: dict[str, Given] = {"SQL:": programs, "Program:": programs, "Answers:": answers}
    return ByCue(cues | {"Answer:": "Italy."})


BEST = "```sql\nSELECT Cyclist FROM w WHERE team = 'tandem' ORDER BY Points DESC LIMIT 1;\n```"
COUNT = "SELECT COUNT(*) {} FROM w WHERE Team = 'Tandem'"


@sealed
@pytest.mark.parametrize(
    ("inventory", "query", "answer"),
    [
        ("wikitq_text_to_sql", BEST, ("Iker Sola (ESP)",)),
        ("tabfact_text_to_sql", COUNT.format("= 2"), "yes"),
    ],
)
def test_a_question_or_a_statement_becomes_one_query(
    loopback: Start, inventory: str, query: str, answer: Any
) -> None:
    model = clerk([query])
    state = run(loopback, model, inventory, "Who is the best cyclist of Tandem?")
    assert state.answer == answer and model.asked == {"SQL:": 1}


@sealed
def test_binder_asks_for_countries_and_votes(loopback: Start) -> None:
    """The cyclists of Chain-of-Table's first figure: here a column of countries comes from the model."""
    programs = [
        MOST_AMONG_FOUR,
        MOST_AMONG_FOUR,
        "SELECT country FROM w WHERE rank <= 4",  # there is no such column
        'QA("ans@which country has most cyclists?"; SELECT cyclist FROM w WHERE rank <= 4)',
        "SELECT cyclist FROM w WHERE rank = 1",
    ]
    model = clerk(programs)
    state = run(loopback, model, "wikitq_binder", "Which country had the most cyclists in the top 4?")
    assert state.answer == ("italy",)
    assert model.asked == {"Program:": 5, "Answers:": 1, "Answer:": 1}
    assert len(state.calls) == 7, "of the 50 samples that the paper counts for Binder"
    failed = {ballot["program"]: ballot["failed"] for ballot in state.cache["ballots"] if "failed" in ballot}
    assert list(failed) == [programs[2]] and "no such column: country" in failed[programs[2]]
