"""Evaluations that ask the rule-based model, over the problems that it understands as rows of TabMWP."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.e2e.commands import Command, Outcome
from tests.e2e.problems import make_problems
from tests.engine.files import write
from tests.evaluation.rows import Row, read_lines, write_rows
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
    return [
        {
            "pid": str(number),
            "question": problem["question"],
            "table": "\n".join(" | ".join(row) for row in [problem["table"].header, *problem["table"].rows]),
            "table_title": problem["table"].caption,
            "choices": problem.get("choices"),
            "unit": problem.get("unit"),
            "answer": problem.get("choices", ["12"])[0],
        }
        for number, problem in enumerate(make_problems(count))
    ]


class Asking:
    """Evaluations of TabMWP's inventory with the rule-based model."""

    def __init__(self, command: Command, place: Path, count: int = 12, inventory: str = UNPRICED) -> None:
        self.command, self.place = command, place
        self.inventory = str(write(place, inventory, "asking.yaml"))
        self.data = str(write_rows(place / "asking.jsonl", model_rows(count)))
        self.out = place / "out"

    def arguments(self, *options: str) -> list[str]:
        """Evaluate into the folder, one problem after the other unless told otherwise."""
        asked = ["eval", self.inventory, self.data, "--out", str(self.out), "--model", "openai:local"]
        return [*asked, "--workers", "1", "--store", "off", "--json", *options]

    def run(self, *options: str) -> Outcome:
        return self.command(*self.arguments(*options))

    @property
    def results(self) -> dict[str, Row]:
        lines = read_lines(self.out / "results.jsonl")
        assert len({line["id"] for line in lines}) == len(lines)
        return {line["id"]: line for line in lines}
