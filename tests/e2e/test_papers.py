"""Questions about papers and about an index, with the place that the answer rests on."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from pytest import MonkeyPatch

from chameleon.documents.indexing import index_files
from tests.documents.pdfs import contract, filing
from tests.e2e.commands import Command
from tests.loopback import Start

pytest.importorskip("pypdfium2")
pytest.importorskip("lxml")
NOTICE = "Supply Agreement > 2 Term > 2.2, page 2"
MODEL = ("--model", "openai:local", "--store", "off")
LONG = "".join(f"{n} Berth {n}\n\nThe berth is dry at low tide.\n\n" for n in range(1, 900))


@pytest.fixture
def ask(tmp_path: Path, command: Command, monkeypatch: MonkeyPatch) -> Command:
    (tmp_path / "agreement.pdf").write_bytes(contract())
    (tmp_path / "report.html").write_bytes(filing())
    monkeypatch.chdir(tmp_path)
    return lambda file, question, *more: command("ask", question, "--text", file, *more)


def finding(words: str) -> Callable[[dict[str, Any]], str]:
    def reply(request: dict[str, Any]) -> str:
        shown = request["messages"][-1]["content"].partition("Now this one.")[2]
        passages = re.findall(r"^Passage (\d+):.*?\n<passage>\n(.*?)\n</passage>", shown, re.M | re.S)
        cited = [f'{n} "{" ".join(text.split()[:5])}"' for n, text in passages if words in text]
        if not cited:
            return "It is not told.\nPassages: none"
        return f"The passage says so.\nPassages: {', '.join(cited)}\nThe answer is {words}."

    return reply


@pytest.mark.parametrize(
    ("file", "question", "answer", "place"),
    [
        ("agreement.pdf", "How long is the notice to end the agreement?", "ninety days", NOTICE),
        ("report.html", "What did the north basin cost?", "north basin", "Item 7. Works and dredging"),
    ],
)
def test_few_passages_answer(
    ask: Command, loopback: Start, file: str, question: str, answer: str, place: str
) -> None:
    server = loopback(finding(answer))
    done = ask(file, question, *MODEL)
    assert done.code == 0 and done.out == f"{answer}\n" and f"From: {file}, " in done.err, done.err
    assert f"{place}\n" in done.err and "inventory papers;" in done.err
    (request,) = server.requests
    assert len(request["messages"][-1]["content"]) < 20_000


@pytest.mark.parametrize(
    ("name", "text", "code", "told"),
    [
        ("a.md", "# Lease\n\n## 3 Rent\n\nRent: 900 EUR\n\n## 4 Keys\n\nTwo.\n", 3, "a.md, Lease > 3 Rent\n"),
        ("long.txt", f"{LONG}900 Rent\n\nRent: 900 EUR\n", 3, "Nearest: long.txt, 900 Rent\n"),
        ("short.txt", "Rent: 900 EUR\n", 0, "900 EUR\n"),
    ],
)
def test_long_texts_are_papers(
    tmp_path: Path, ask: Command, name: str, text: str, code: int, told: str
) -> None:
    (tmp_path / name).write_text(text)
    done = ask(name, "What is the rent?")
    assert done.code == code and told in done.out + done.err and "From:" not in done.err


def test_arithmetic_is_done_by_a_program_in_the_sandbox(ask: Command, loopback: Start) -> None:
    program = '# Passages: 7\nfees = 8915\nhire = 1204\nans = f"{(fees + hire) * 1000} crowns"'
    server = loopback(["```python\n# Passages: 1\nans = fees\n```", f"```python\n{program}\n```"])
    question = "What were berth fees and crane hire in 2024?"
    done = ask("report.html", question, "--inventory", "papers_pot", *MODEL)
    assert done.code == 0, done.out + done.err
    assert done.out == "10119000 crowns\n" and "From: report.html, " in done.err
    assert len(server.requests) == 2


pytest.importorskip("tantivy")
HUTS = "Hut,Beds,Warden\nGull Rock,24,Petra Voss\nPine Saddle,36,Omar Haddad\n"
LEAGUE = "Team,Points,Lost\nHollin Rovers,39,3\nMarsh End,33,{}\nQuarry Lane,30,6\n"


def index_of(folder: Path, **tables: str) -> str:
    for name, text in tables.items():
        (folder / f"{name}.csv").write_text(text)
    index_files([folder], folder / "index")
    return str(folder / "index")


@pytest.fixture
def find(tmp_path: Path, command: Command) -> Command:
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
def test_the_answer_says_whence(find: Command, loopback: Start, choice: str, replies: Any, told: str) -> None:
    loopback(reader(choice, **replies))
    done = find(LOST)
    assert done.code == 0 and told in done.err, done
    (line,) = [line for line in done.err.splitlines() if line.startswith("From: ")]
    assert line.startswith(f"From: league_{'2023' if choice == 'league 2023' else '2024'}.csv")


def test_a_table_that_is_clearly_ahead_costs_no_call(find: Command, loopback: Start) -> None:
    said = "The row of Gull Rock says so. The answer is Petra Voss."
    server = loopback(reader("none", BY_SOLUTION, said=said))
    done = find("Who is the warden of the hut Gull Rock?")
    assert done.code == 0 and done.out == "Petra Voss\n", done.err
    assert "From: huts.csv, all 2 rows" in done.err and "the answer in row 1" in done.err
    assert len(server.requests) == 2
    declined = find("How many points does the team have?")
    assert declined.code == 3 and "none of the 2 tables found answers the question" in declined.err
