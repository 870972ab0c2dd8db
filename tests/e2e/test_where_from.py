"""The answer to a question to an index says from which table it is, whatever way the run takes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from chameleon.documents.indexing import index_files
from tests.e2e.commands import Command

pytest.importorskip("bm25s")

QUESTION = "How many games did Marsh End lose in 2024?"
PROGRAM = '```python\nans = int(df[df["Team"] == "Marsh End"].iloc[0]["Lost"])\n```'
BY_PROGRAM = ["program_generator", "program_verifier", "program_executor", "answer_generator"]
BY_SOLUTION = ["solution_generator", "answer_generator"]
SAID = "The row of Marsh End says so. The answer is 9."


@pytest.fixture
def index(tmp_path: Path) -> str:
    for year, lost in (("2023", 5), ("2024", 9)):
        rows = f"Hollin Rovers,39,3\nMarsh End,33,{lost}\nQuarry Lane,30,6\n"
        (tmp_path / f"league_{year}.csv").write_text(f"Team,Points,Lost\n{rows}")
    index_files([tmp_path], tmp_path / "index")
    return str(tmp_path / "index")


@pytest.mark.parametrize(
    "answer", [("tabfact", "YES"), ("feverous", "SUPPORTS"), ("sqa", "9"), ("hybridqa", "9")]
)
def test_tablerag_says_whence(
    index: str,
    loopback: Any,
    command: Command,
    answer: tuple[str, str],
    tmp_path: Path,
) -> None:
    task, said = answer
    file = tmp_path / "mine.yaml"
    file.write_text(
        f"name: mine\nextends: tablerag_{task}\nmodules: {{wiki_clarifier: {{provider: none}}}}\n"
    )
    loopback(lambda request: f"It says so.\nThe answer is: {said}")
    asked = ["ask", QUESTION, "--index", index, "--inventory", str(file), "--model", "openai:local"]
    done = command(*asked, "--store", "off")
    assert done.code == 0, done
    assert done.out.splitlines()[-1] == "From: league_2024.csv"
    (source,) = json.loads(command(*asked, "--store", "off", "--json").out)["sources"]
    assert source["file"] == "league_2024.csv" and source["table"] == "league 2024"


PATHS: Mapping[str, tuple[list[str], str, str]] = {
    "by program": (BY_PROGRAM, PROGRAM, SAID),
    "by solution": (BY_SOLUTION, PROGRAM, SAID),
    "after a program that failed": (BY_PROGRAM, "I cannot.", SAID),
    "by the fallback": (["nothing"], PROGRAM, SAID),
}


@pytest.mark.parametrize("choice", ["the right one", "I cannot say.", "the other"])
@pytest.mark.parametrize("path", PATHS)
def test_the_corpus_says_whence(index: str, loopback: Any, command: Command, path: str, choice: str) -> None:
    plan, program, solution = PATHS[path]

    def reply(request: dict[str, Any]) -> str:
        system = request["messages"][0]["content"]
        if system.startswith("You find the table"):
            shown = request["messages"][-1]["content"].rpartition("Table: none\n")[2]
            named = "league 2024" if choice == "the right one" else "league 2023"
            line = next(line for line in shown.splitlines() if f": {named} (" in line)
            return choice if choice == "I cannot say." else f"Table {line.split()[1].rstrip(':')}"
        if system.startswith("You plan how"):
            return json.dumps(plan)
        return program if "python" in system.lower() else solution

    loopback(reply)
    asked = ["ask", QUESTION, "--index", index, "--model", "openai:local", "--store", "off"]
    done = command(*asked)
    assert done.code == 0, done
    file = "league_2023.csv" if choice == "the other" else "league_2024.csv"
    (told,) = [line for line in done.out.splitlines() if line.startswith("From: ")]
    assert told.startswith(f"From: {file}")


def test_without_a_model_the_corpus_says_whence(index: str, command: Command) -> None:
    asked = ["ask", QUESTION, "--index", index, "--inventory", "corpus_offline"]
    done = command(*asked)
    assert done.code == 0 and "From: league_2024.csv" in done.out


def test_a_question_that_is_declined_has_no_source(index: str, command: Command) -> None:
    asked = [
        "ask",
        "Which team has the nicest shirts?",
        "--index",
        index,
        "--inventory",
        "corpus_offline",
        "--json",
    ]
    done = command(*asked)
    assert done.code == 3 and "sources" not in json.loads(done.out)
