"""Evaluations that ask the rule-based model, over the problems that it understands as rows of TabMWP."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.e2e.commands import Command, Outcome
from tests.e2e.problems import make_problems
from tests.e2e.rule_model import RuleModel
from tests.engine.files import write
from tests.evaluation.rows import Row, read_events, read_results, write_rows
from tests.loopback import LoopbackServer

Start = Callable[..., LoopbackServer]
# TabMWP's inventory for a server that is asked once, and that costs a dollar for a million tokens.
PRICED = "name: priced\nextends: tabmwp\nllm: {retries: 0, prices: {input: 1.0, output: 1.0}}\n"
UNPRICED = "name: unpriced\nextends: tabmwp\nllm: {retries: 0}\n"
# An inventory of one's own: the tool is in tools.py beside it.
MINE = """
name: mine
input: {question: str, table: Table, choices: "list?", unit: "str?"}
planner: {use: fixed, plan: [tool]}
modules: {tool: {use: "tools:Tool"}}
"""


def model_rows(count: int) -> list[Row]:
    """`count` rows with ids from "0" on; the answers are made up: the first choice where there are any."""
    rows: list[Row] = []
    for number, asked in enumerate(make_problems(count)):
        table, lines = asked["table"], [asked["table"].header, *asked["table"].rows]
        row = {"pid": str(number), "question": asked["question"], "table_title": table.caption}
        row |= {"table": "\n".join(map(" | ".join, lines)), "answer": asked.get("choices", ["12"])[0]}
        rows.append({**row, "choices": asked.get("choices"), "unit": asked.get("unit")})
    return rows


class Asking:
    """Evaluations of TabMWP's inventory with the rule-based model; `first` scripts its first replies."""

    def __init__(self, start: Start, command: Command, place: Path, first: Any = None, **more: Any) -> None:
        rows, inventory = model_rows(more.pop("count", 12)), more.pop("inventory", UNPRICED)
        self.model = RuleModel(first)
        self.server = start(self.model, **more)
        self.command = command
        self.inventory = str(write(place, inventory, "asking.yaml"))
        self.data = str(write_rows(place / "asking.jsonl", rows))
        self.out = place / "out"

    def arguments(self, *options: str) -> list[str]:
        asked = ["eval", self.inventory, self.data, "--out", str(self.out), "--model", "openai:local"]
        return [*asked, "--workers", "1", "--store", "off", "--json", *options]

    def run(self, *options: str) -> Outcome:
        return self.command(*self.arguments(*options))

    @property
    def results(self) -> dict[str, Row]:
        lines = read_results(self.out)
        assert len({line["id"] for line in lines}) == len(lines)
        return {line["id"]: line for line in lines}

    @property
    def failed(self) -> list[str]:
        return [id for id, result in self.results.items() if result["error"]]

    def events(self, kind: str) -> list[Row]:
        return [line for line in read_events(self.out) if line["event"] == kind]
