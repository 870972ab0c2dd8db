"""`ask --index` and conversations, with a model that chooses the table and plans."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from chameleon import LLM, Executor, State, Table
from chameleon.core.conversation import MAX_TOKENS, MAX_TURNS
from chameleon.core.prompt import Messages
from chameleon.documents.indexing import index_files
from chameleon.llm import ScriptedModel
from chameleon.text import estimated_tokens
from tests.e2e.commands import Command
from tests.loopback import Start

pytest.importorskip("tantivy")
HUTS = "Hut,Beds,Warden\nGull Rock,24,Petra Voss\nPine Saddle,36,Omar Haddad\n"
LEAGUE = "Team,Points,Lost\nHollin Rovers,39,3\nMarsh End,33,{}\nQuarry Lane,30,6\n"


def index_of(folder: Path, **tables: str) -> str:
    for name, text in tables.items():
        (folder / f"{name}.csv").write_text(text)
    index_files([folder], folder / "index")
    return str(folder / "index")


@pytest.fixture
def ask(tmp_path: Path, command: Command) -> Command:
    tables = {"league_2023": LEAGUE.format(5), "league_2024": LEAGUE.format(9), "huts": HUTS}
    asked = ("--index", index_of(tmp_path, **tables), "--model", "openai:local", "--store", "off")
    return lambda question, *more: command("ask", question, *asked, *more)


LOST = "What are the lost games of Marsh End in 2024?"
PROGRAM = """```python
row = df[df["Team"] == "Marsh End"].iloc[0]
ans = int(row["Lost"])
```"""
BY_PROGRAM = ("program_generator", "program_verifier", "program_executor", "answer_generator")
BY_SOLUTION = ("solution_generator", "answer_generator")
NINE = "The row of Marsh End says so. The answer is 9."


def chosen(shown: str, caption: str) -> str:
    """Return how the table of this caption is called in a prompt, or the caption where none is."""
    lines = shown.rpartition("Table: none\n")[2].splitlines()
    line = next((line for line in lines if f": {caption} (" in line), "")
    return f"Table {line.split()[1].rstrip(':')}" if line else caption


def reader(
    choice: str, plan: Sequence[str] = BY_PROGRAM, program: str = PROGRAM, said: str = NINE
) -> Callable[[dict[str, Any]], str]:
    """A model that chooses the table of this caption, or replies so, plans, and writes a program or text."""

    def reply(request: dict[str, Any]) -> str:
        system = request["messages"][0]["content"]
        if system.startswith("You find what"):
            return chosen(request["messages"][-1]["content"], choice)
        if system.startswith("You plan how"):
            for hidden in ("table_retriever", "table_choice", "table_sources", "final_answer"):
                assert f"- {hidden}" not in system
            return json.dumps(plan)
        return program if "python" in system.lower() else said

    return reply


@pytest.mark.parametrize(
    ("choice", "replies", "told"),
    [
        ("league 2024", {}, "From: league_2024.csv"),
        ("league 2024", {"plan": BY_SOLUTION}, "From: league_2024.csv"),
        ("league 2024", {"program": "I cannot."}, "From: league_2024.csv"),
        ("I cannot say.", {}, "Did without: module table_choice: the reply names none of the tables"),
        ("league 2023", {}, "From: league_2023.csv"),
    ],
)
def test_the_answer_says_whence(ask: Command, loopback: Start, choice: str, replies: Any, told: str) -> None:
    loopback(reader(choice, **replies))
    done = ask(LOST)
    assert done.code == 0 and told in done.err, done
    (line,) = [line for line in done.err.splitlines() if line.startswith("From: ")]
    assert line.startswith(f"From: league_{'2023' if choice == 'league 2023' else '2024'}.csv")


def test_a_table_that_is_clearly_ahead_costs_no_call(ask: Command, loopback: Start) -> None:
    said = "The row of Gull Rock says so. The answer is Petra Voss."
    server = loopback(reader("none", BY_SOLUTION, said=said))
    done = ask("Who is the warden of the hut Gull Rock?")
    assert done.code == 0 and done.out == "Petra Voss\n", done.err
    assert "From: huts.csv, all 2 rows" in done.err and "the answer in row 1" in done.err
    assert len(server.requests) == 2
    declined = ask("How many points does the team have?")
    assert declined.code == 3 and "none of the 2 tables found answers the question" in declined.err


STEMS, ENDS = ("Os", "Ar", "Tol", "Var", "Mill", "Sel", "Bry"), ("lo", "vik", "by")
CITIES = [f"{stem}{end}" for stem in STEMS for end in ENDS]
ROWS = [[city, str(900 + n), str(950 + n)] for n, city in enumerate(CITIES)]
VISITS = Table(["City", "2020", "2021"], ROWS, "visits")
FERRIES = "Ferry,Harbour,Cars\nSea Otter,Port Annes,40\nGannet,Wick Bay,12\n"
BAKERIES = "Bakery,Street,Loaves\nThe Oven,High Street,450\n"
OF_INDEX = [
    ("What beds has Gull Rock?", "huts", "24"),
    ("Who is its warden?", "huts", "Petra Voss"),
    ("Which ferry takes 40 cars?", "ferries", "Sea Otter"),
    ("From which harbour?", "ferries", "Port Annes"),
    ("And the other one?", "ferries", "Wick Bay"),
]
TABLES = {question: name for question, name, _ in OF_INDEX}
OF_TABLE = [f"What were the visitors of {CITIES[n % 21]} in {2020 + n % 2}?" for n in range(42)]
CELLS = {question: cell for question, _, cell in OF_INDEX}
CELLS |= {question: VISITS.rows[n % 21][1 + n % 2] for n, question in enumerate(OF_TABLE)}
AT_LENGTH = "A sentence that says more than was asked. " * 20


def talker(messages: Messages) -> str:
    """Plan the shortest way, choose the table that a question is about, and answer at length."""
    system, said = messages[0][1], messages[-1][1]
    asked = said.rpartition("Question: ")[2].splitlines()[0]
    if system.startswith("You find what"):
        return chosen(said, TABLES[asked])
    if system.startswith("You plan how"):
        return json.dumps(BY_SOLUTION)
    return f"{AT_LENGTH} The answer is {CELLS[asked]}."


def of_answer(state: State) -> str:
    return f"Question: {state.input['question']}\nAnswer: {state.answer}"


@pytest.mark.parametrize("name", ["tables", "corpus"])
def test_each_turn_has_those_before_it_and_forty_send_no_more_than_ten(name: str, tmp_path: Path) -> None:
    client, of_corpus = ScriptedModel(talker), name == "corpus"
    executor = Executor(name, LLM.connect(client))
    tables = {"huts": HUTS, "ferries": FERRIES, "bakeries": BAKERIES}
    given: dict[str, Any] = {"index": index_of(tmp_path, **tables)} if of_corpus else {"table": VISITS}
    sent, largest, states = list[int](), list[int](), list[State]()
    for asked in [*TABLES] * 8 if of_corpus else OF_TABLE[:40]:
        before = len(client.requests)
        given = states[-1].follow_up(asked) if states else {**given, "question": asked}
        states.append(executor.run(given, raise_errors=True))
        texts = ("\n".join(text for _, text in each) for each in client.requests[before:])
        sizes = [*map(estimated_tokens, texts)]
        sent.append(sum(sizes))
        largest.append(max(sizes))
    for earlier, state in pairwise(states):
        assert all(of_answer(earlier) in call.messages[-1][1] for call in state.calls if call.messages)
    if of_corpus:
        assert [state.cache["sources"][0]["table"] for state in states] == [*TABLES.values()] * 8
    calls = [len(state.calls) for state in states]
    assert max(calls) <= calls[0] + 1, "a follow-up asks for no more than the choice of a table"
    assert max(largest) <= largest[0] + MAX_TOKENS + 300, "labels of turns, and the words around them"
    assert max(sent[MAX_TURNS + 1 :]) <= 1.1 * max(sent[: MAX_TURNS + 1]), "it grows no more"
    assert "its first turns are left out" in client.requests[-1][-1][1]
