"""Evaluations by batches against the stand-in for the hosted APIs, and the same asked at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chameleon.evaluation.prompt_texts import PROMPTS, read_prompts, with_prompts
from tests.e2e.commands import Command, Outcome, environment
from tests.e2e.rule_model import RuleModel, read_item
from tests.engine.files import write
from tests.evaluation.asking import model_rows
from tests.evaluation.rows import Row, read_lines, read_results, write_rows
from tests.hosted import Asked, HostedServer
from tests.loopback import Reply

OPENAI, ANTHROPIC = "openai:gpt-4.1-mini", "anthropic:claude-haiku-4-5"
PLANNED = "name: planned\nextends: tabmwp\nllm: {retries: 3, prices: {input: 1.0, output: 2.0}}\n"
VOTED = """
name: voted
extends: tabmwp_cot
llm: {retries: 3, prices: {input: 1.0, output: 2.0}}
modules: {solution_generator: {samples: 5, llm: {temperature: 0.7}}}
"""
# What `python -m chameleon` does, with short pauses.
_MAIN = """
import sys
from chameleon.evaluation import batches
batches.PAUSES_S = (0.02, 0.05)
from chameleon.__main__ import main
sys.argv[0] = "chameleon"
main()
"""


def by_rules(asked: Asked) -> str:
    """Reply as the rule-based model does."""
    messages = [{"role": role, "content": text} for role, text in asked.messages]
    reply = RuleModel()({"messages": messages, "temperature": asked.body.get("temperature", 0)})
    assert isinstance(reply, Reply) and reply.text is not None
    return reply.text


def solved(asked: Asked) -> str:
    """Reply to each sample of a question with another number, some of them alike."""
    item = read_item({"messages": [{"role": role, "content": text} for role, text in asked.messages]})
    return f"Let us see.\u2028It is so. The answer is {item.roll('number', 9) + asked.sample % 2}."


class Batched:
    """An inventory over problems of TabMWP, evaluated into a directory of its own each time."""

    def __init__(
        self,
        server: HostedServer,
        command: Command,
        place: Path,
        *,
        model: str = OPENAI,
        inventory: str = PLANNED,
        count: int = 30,
    ) -> None:
        self.server, self.command, self.place, self.model = server, command, place, model
        self.inventory = str(write(place, inventory, "batched.yaml"))
        self.data = str(write_rows(place / "batched.jsonl", model_rows(count)))

    def arguments(self, out: str, *options: str) -> list[str]:
        asked = ["eval", self.inventory, self.data, "--out", str(self.place / out), "--model", self.model]
        return [*asked, "--json", *([] if "--store" in options else ["--store", "off"]), *options]

    def run(self, out: str, *options: str) -> Outcome:
        return self.command(*self.arguments(out, *options))

    def start(self, out: str, *options: str, code: str = _MAIN) -> subprocess.Popen[bytes]:
        """Run the command as a process."""
        asked = [sys.executable, "-c", code, *self.arguments(out, *options)]
        return subprocess.Popen(
            asked, env=environment(**os.environ), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def results(self, out: str, without: Sequence[str] = ()) -> dict[str, Row]:
        """Return what came of each problem, but for times and these columns."""
        gone = {"seconds", *without}
        return {
            line["id"]: {name: value for name, value in line.items() if name not in gone}
            for line in read_results(self.place / out)
        }

    def calls(self, out: str) -> dict[str, list[Row]]:
        """Return the calls of each problem's log in their order, but for times and costs."""
        found: dict[str, list[Row]] = {}
        prompts = read_prompts(self.place / out / PROMPTS)
        for line in read_lines(self.place / out / "events.jsonl"):
            for call in with_prompts(line, prompts).get("calls", ()):
                counts = ["calls", "output_tokens"]
                # What is marked for Claude's cache, in a block of its own, depends on the prompts before.
                counts += ["input_tokens"] if self.model == OPENAI else []
                usage = {name: call["usage"][name] for name in counts}
                kept = {name: value for name, value in call.items() if name != "seconds"}
                found.setdefault(line["id"], []).append({**kept, "usage": usage})
        return found

    def cost(self, out: str) -> float:
        lines = read_lines(self.place / out / "events.jsonl")
        return sum(call["usage"]["cost"] for line in lines for call in line.get("calls", ()))

    @property
    def times_sent(self) -> Counter[str]:
        """Count how often each request went to the server in a batch."""
        return Counter(json.dumps(body, sort_keys=True) for body in self.server.batches.requests)


def counts(outcome: Outcome) -> dict[str, Any]:
    """Return the counts that a command printed."""
    found: dict[str, Any] = json.loads(outcome.out)
    return found
