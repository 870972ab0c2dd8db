"""TableRAG end to end over real HTTP: all four inventories, how many calls they take, and hostile code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chameleon import LLM, Executor, Inventory, State
from chameleon.modules.tablerag.llm_filter import without_pandas
from tests.e2e.by_cue import ByCue
from tests.e2e.problems import table
from tests.loopback import Start

pytestmark = pytest.mark.skipif(bool(without_pandas()), reason="no pandas in a sandbox here")

# The end of the prompts of filter, both clarifiers and the answerer, and how often each is sent.
ONCE = {"Program:": 5, "Terms:": 1, "Description:": 1, "": 5}

TRAINS = table(
    """
Train | To | Leaves | Fare
Polar Star | Ostrand | 21:40 | 49
Mill Owl | Selmark | 23:05 | 29
Amber Arrow | Ostrand | 22:15 | 38
Night Heron | Varn | 20:30 | 38
""",
    "Night trains from Tarn City",
)
TO_OSTRAND = "```python\nfiltered_table = df[df['To'] == 'Ostrand'][['Train', 'To', 'Fare']]\n```"
TERMS = '```json\n{"Fare": "the price of a ticket, in crowns"}\n```'
ABOUT = "Each row is a night train. The statement or question is about the column Fare."


def reader(answers: str | list[str]) -> ByCue:
    return ByCue({"Program:": TO_OSTRAND, "Terms:": TERMS, "Description:": ABOUT, "": answers})


@pytest.fixture
def articles(tmp_path: Path) -> Path:
    folder = tmp_path / "articles"
    folder.mkdir()
    (folder / "trains.md").write_text("# Night trains\n\nA night train runs from Tarn City in the dark.")
    return folder


def run(loopback: Start, model: ByCue, task: str, articles: Path, **given: Any) -> State:
    server = loopback(model)
    modules = {"wiki_clarifier": {"provider": "folder", "folder": str(articles)}}
    data = {"name": "mine", "extends": f"tablerag_{task}", "modules": modules}
    executor = Executor(Inventory.parse(data), LLM.connect("openai:local"))
    state = executor.run({"table": TRAINS} | given)
    for sent in server.requests:
        longest = sent.get("max_completion_tokens") or sent["max_tokens"]
        assert (sent["temperature"], longest, sent["top_p"]) == (0.5, 500, 1)
    model.last = {cue: text.rpartition("\nHere is the ")[2] for cue, text in model.last.items()}
    return state


def test_a_statement(loopback: Start, articles: Path) -> None:
    model = reader(["It is 49.\nThe answer is: NO", "The answer is: YES", "NO", "no.", "YES"])
    statement = "the polar star costs less than the amber arrow"
    state = run(loopback, model, "tabfact", articles, question=statement)
    assert state.answer == "no" and model.asked == ONCE and state.usage.calls == 12
    assert state.executed_names == (
        *("table_retriever", "table_filter", "term_clarifier", "wiki_clarifier"),
        *("table_formatter", "table_answerer", "consistency"),
    )
    assert state.input["table"] == TRAINS.take_rows([0, 2]).take_columns([0, 1, 3])
    asked = model.last[""]
    assert "<terms>\nFare: the price of a ticket, in crowns\n</terms>" in asked
    assert f"<summary>\n{ABOUT}\n</summary>" in asked
    assert "| Amber Arrow | Ostrand | 38 |\n</data>" in asked and "Night Heron" not in asked
    described = model.last["Description:"]
    assert "A night train runs from Tarn City" in described and "Selmark" not in described
