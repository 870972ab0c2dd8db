"""Conversations over a table and over an index: what each turn sends to the model, and how they go on."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from chameleon import LLM, Executor, State, Table
from chameleon.core.conversation import MAX_TOKENS, MAX_TURNS
from chameleon.core.prompt import Messages
from chameleon.llm import ScriptedModel
from chameleon.text import estimated_tokens

pytest.importorskip("tantivy")

CITIES = [
    f"{name}{end}" for name in ("Os", "Ar", "Tol", "Var", "Mill", "Sel", "Bry") for end in ("lo", "vik", "by")
]
TABLE = Table(
    ["City", "2020", "2021"], [[city, str(900 + n), str(950 + n)] for n, city in enumerate(CITIES)], "visits"
)
HUTS = "Hut,Beds,Warden\nGull Rock,24,Petra Voss\nPine Saddle,36,Omar Haddad\n"
FERRIES = "Ferry,Harbour,Cars\nSea Otter,Port Annes,40\nGannet,Wick Bay,12\n"
OF_INDEX = [
    ("What beds has Gull Rock?", "huts", "24"),
    ("Who is its warden?", "huts", "Petra Voss"),
    ("Which ferry takes 40 cars?", "ferries", "Sea Otter"),
    ("From which harbour?", "ferries", "Port Annes"),
    ("And the other one?", "ferries", "Wick Bay"),
]
LONG = "A sentence that says more than was asked. " * 20
"""What the model says besides each answer."""


def of_table(number: int) -> str:
    return f"What were the visitors of {CITIES[number % len(CITIES)]} in {2020 + number % 2}?"


def of_index(number: int) -> str:
    return OF_INDEX[number % len(OF_INDEX)][0]


CELLS = {question: cell for question, _, cell in OF_INDEX}
CELLS |= {of_table(n): TABLE.rows[n % len(CITIES)][1 + n % 2] for n in range(2 * len(CITIES))}


def model(messages: Messages) -> str:
    """Plan the shortest way, choose the table that a question is about, and answer at length."""
    system, said = messages[0][1], messages[-1][1]
    asked = said.rpartition("Question: ")[2].splitlines()[0]
    if system.startswith("You find what"):
        (wanted,) = [table for question, table, _ in OF_INDEX if question == asked]
        shown = said.rpartition("Table: none\n")[2]
        line = next(line for line in shown.splitlines() if f": {wanted} (" in line)
        return f"Table {line.split()[1].rstrip(':')}"
    if system.startswith("You plan how"):
        return json.dumps(["solution_generator", "answer_generator"])
    return f"{LONG} The answer is {CELLS[asked]}."


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> str:
    from chameleon.documents.indexing import index_files

    folder = tmp_path_factory.mktemp("data")
    (folder / "huts.csv").write_text(HUTS)
    (folder / "ferries.csv").write_text(FERRIES)
    (folder / "bakeries.csv").write_text("Bakery,Street,Loaves\nThe Oven,High Street,450\n")
    index_files([folder], folder / "index")
    return str(folder / "index")


class Talk:
    """A conversation with a scripted model: the tokens of each turn, in all and in its largest request."""

    def __init__(self, inventory: str, first: dict[str, Any], question: Callable[[int], str]) -> None:
        self.client = ScriptedModel(model)
        self.executor = Executor(inventory, LLM.connect(self.client))
        self.first, self.question = first, question
        self.sent: list[int] = []
        self.largest: list[int] = []
        self.states: list[State] = []

    def run(self, turns: int) -> Talk:
        for number in range(turns):
            before = len(self.client.requests)
            asked = self.question(number)
            given = self.states[-1].follow_up(asked) if self.states else {**self.first, "question": asked}
            state = self.executor.run(given, raise_errors=True)
            sent = ("\n".join(text for _, text in each) for each in self.client.requests[before:])
            sizes = [*map(estimated_tokens, sent)]
            self.sent.append(sum(sizes))
            self.largest.append(max(sizes))
            self.states.append(state)
        return self


@pytest.fixture(params=["tables", "corpus"])
def talk(request: pytest.FixtureRequest) -> Talk:
    if request.param == "tables":
        return Talk("tables", {"table": TABLE}, of_table)
    return Talk("corpus", {"index": request.getfixturevalue("index")}, of_index)


def of_answer(state: State) -> str:
    return f"Question: {state.input['question']}\nAnswer: {state.answer}"


def test_each_turn_has_those_before_it_and_sends_no_more_after_forty_than_after_ten(talk: Talk) -> None:
    talk.run(40)
    for before, state in zip(talk.states, talk.states[1:], strict=False):
        assert all(of_answer(before) in call.messages[-1][1] for call in state.calls if call.messages)
    if talk.executor.inventory.name == "corpus":
        found = [state.cache["sources"][0]["table"] for state in talk.states]
        assert found == [table for _, table, _ in OF_INDEX] * 8
    calls = [len(state.calls) for state in talk.states]
    assert max(calls) <= calls[0] + 1, "a follow-up asks for no more than the choice of a table"
    most = talk.largest[0] + MAX_TOKENS + 300  # labels of turns, and the words around them
    assert max(talk.largest) <= most
    assert max(talk.sent[MAX_TURNS + 1 :]) <= 1.1 * max(talk.sent[: MAX_TURNS + 1]), "it grows no more"
    assert "its first turns are left out" in talk.client.requests[-1][-1][1]
