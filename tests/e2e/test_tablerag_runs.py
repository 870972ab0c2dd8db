"""TableRAG end to end over real HTTP: all four inventories, how many calls they take, and hostile code."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from chameleon import LLM, Executor, Inventory, State, Table
from chameleon.modules.tablerag.llm_filter import without_pandas
from tests.loopback import LoopbackServer

Start = Callable[..., LoopbackServer]

pytestmark = pytest.mark.skipif(bool(without_pandas()), reason="no pandas in a sandbox here")

# The end of each prompt, by the module that sends it.
CUES = {"Program:": "table_filter", "Terms:": "term_clarifier", "Description:": "wiki_clarifier"}
ONCE = {"table_filter": 5, "term_clarifier": 1, "wiki_clarifier": 1, "table_answerer": 5}

TRAINS = Table(
    ["Train", "To", "Leaves", "Fare"],
    [
        ["Polar Star", "Ostrand", "21:40", "49"],
        ["Mill Owl", "Selmark", "23:05", "29"],
        ["Amber Arrow", "Ostrand", "22:15", "38"],
        ["Night Heron", "Varn", "20:30", "38"],
    ],
    "Night trains from Tarn City",
)
TO_OSTRAND = "```python\nfiltered_table = df[df['To'] == 'Ostrand'][['Train', 'To', 'Fare']]\n```"
TERMS = '```json\n{"Fare": "the price of a ticket, in crowns"}\n```'
ABOUT = "Each row is a night train. The statement or question is about the column Fare."


class Reader:
    """A model that knows what each module asks for; it replies by turns, and counts what it is asked."""

    def __init__(self, **replies: str | list[str]) -> None:
        given: Mapping[str, str | list[str]] = {
            "table_filter": TO_OSTRAND,
            "term_clarifier": TERMS,
            "wiki_clarifier": ABOUT,
        }
        self.replies = {
            name: [each] if isinstance(each, str) else each for name, each in {**given, **replies}.items()
        }
        self.asked: Counter[str] = Counter()
        self.prompts: dict[str, str] = {}
        self._lock = threading.Lock()

    def __call__(self, request: dict[str, Any]) -> str:
        longest = request.get("max_completion_tokens") or request["max_tokens"]
        assert (request["temperature"], longest, request["top_p"]) == (0.5, 500, 1)
        text = request["messages"][-1]["content"]
        name = CUES.get(text.rstrip().splitlines()[-1], "table_answerer")
        with self._lock:
            number = self.asked[name]
            self.asked[name] += 1
            self.prompts[name] = text.rpartition("\nHere is the ")[2]
        replies = self.replies[name]
        return replies[number % len(replies)]


@pytest.fixture
def articles(tmp_path: Path) -> Path:
    """A folder in the place of Wikipedia."""
    folder = tmp_path / "articles"
    folder.mkdir()
    (folder / "trains.md").write_text(
        "# Night trains\n\nA night train runs from Tarn City in the dark.", "utf-8"
    )
    return folder


def run(loopback: Start, reader: Reader, task: str, articles: Path, **given: Any) -> State:
    loopback(reader)
    data = {
        "name": "mine",
        "extends": f"tablerag_{task}",
        "modules": {"wiki_clarifier": {"provider": "folder", "folder": str(articles)}},
    }
    executor = Executor(Inventory.parse(data), LLM.connect("openai:local"))
    return executor.run({"table": TRAINS} | given)


def test_a_statement(loopback: Start, articles: Path) -> None:
    reader = Reader(table_answerer=["It is 49.\nThe answer is: NO", "The answer is: YES", "NO", "no.", "YES"])
    state = run(
        loopback, reader, "tabfact", articles, question="the polar star costs less than the amber arrow"
    )
    assert state.answer == "no" and reader.asked == ONCE and state.usage.calls == 12
    assert state.program == (
        "table_retriever",
        "table_filter",
        "term_clarifier",
        "wiki_clarifier",
        "table_formatter",
        "table_answerer",
        "consistency",
    )
    assert state.input["table"] == TRAINS.take_rows([0, 2]).take_columns([0, 1, 3])
    asked = reader.prompts["table_answerer"]
    assert "<terms>\nFare: the price of a ticket, in crowns\n</terms>" in asked
    assert f"<summary>\n{ABOUT}\n</summary>" in asked
    assert "| Amber Arrow | Ostrand | 38 |\n</data>" in asked and "Night Heron" not in asked
    described = reader.prompts["wiki_clarifier"]
    assert "A night train runs from Tarn City" in described and "Selmark" not in described


PASSAGES = [{"title": "Amber Arrow", "text": "The Amber Arrow was built by Anna Brede."}]
TURNS = [{"question": "Which trains go to Ostrand?", "answer": ["Polar Star", "Amber Arrow"]}]
EARLIER = "Earlier: Which trains go to Ostrand? - Polar Star | Amber Arrow"


@pytest.mark.parametrize(
    ("task", "reply", "answer", "given", "shown"),
    [
        (
            "feverous",
            "Nothing tells.\nThe answer is: NOT ENOUGH INFO",
            "NOT ENOUGH INFO",
            {"question": "Anna Brede built the Polar Star.", "passages": PASSAGES},
            "<passages>\nAmber Arrow: The Amber Arrow was built by Anna Brede.\n</passages>",
        ),
        (
            "sqa",
            "It is cheaper.\nThe answer is: Amber Arrow",
            ("Amber Arrow",),
            {"question": "Which of them is cheaper?", "history": TURNS},
            EARLIER,
        ),
        (
            "hybridqa",
            "It was built by her.\nThe answer is: Anna Brede.",
            "Anna Brede",
            {"question": "Who built the cheaper train to Ostrand?", "passages": PASSAGES},
            "Amber Arrow: The Amber Arrow was built by Anna Brede.",
        ),
    ],
)
def test_each_task_takes_twelve_calls(
    loopback: Start, articles: Path, task: str, reply: str, answer: Any, given: dict[str, Any], shown: str
) -> None:
    reader = Reader(table_answerer=reply)
    state = run(loopback, reader, task, articles, **given)
    assert state.answer == answer and reader.asked == ONCE and state.usage.calls == 12
    assert shown in reader.prompts["table_answerer"]
    if task == "sqa":
        assert state.cache["coordinates"] == ((2, 0),)
        assert EARLIER in reader.prompts["table_filter"] and EARLIER in reader.prompts["wiki_clarifier"]
