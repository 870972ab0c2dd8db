"""`ask --index` with a model that chooses the table and plans."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from chameleon.documents.indexing import index_files
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
