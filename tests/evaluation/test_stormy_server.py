"""An evaluation whose server dies, drips, floods and fails at random, and that is itself killed."""

from __future__ import annotations

import random
import signal
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.e2e.rule_model import RuleModel, read_item
from tests.evaluation.asking import model_rows
from tests.evaluation.rows import read_lines, write_rows
from tests.evaluation.test_killed import Evaluation, lines_of
from tests.loopback import Answer, Fault, LoopbackServer, Reply

INVENTORY = """
name: stormy
extends: tabmwp_cot
llm: {timeout: 1, retries: 6}
"""
WORKERS = 8


class Storm:
    """A reply function: rules of `RuleModel`, and faults of every kind in between.

    `replies` counts the replies that went out whole, by question.
    """

    def __init__(self, seed: int = 11) -> None:
        self._chance, self._lock = random.Random(seed), threading.Lock()
        self._model = RuleModel()
        self.replies: Counter[str] = Counter()

    def __call__(self, request: dict[str, Any]) -> Answer:
        with self._lock:
            roll = self._chance.random()
        if roll < 0.10:
            return Fault(500)
        if roll < 0.20:
            return Fault(429, headers={"Retry-After": "0"})
        if roll < 0.24:
            return Fault(drip=60)
        if roll < 0.28:
            return Fault(drop=True)
        if roll < 0.32:
            return Fault(broken_json=True)
        answer = self._model(request)
        text = answer.text if isinstance(answer, Reply) else str(answer)
        question = read_item(request).question
        with self._lock:
            self.replies[question] += 1
        if roll < 0.36:  # a flood before the answer
            return Reply("word " * 100_000 + (text or ""), usage=(11, 7))
        return Reply(text, usage=(11, 7))


def weathered(folder: Path, problems: int, kills: int) -> None:
    """Run the evaluation through the storm to its end."""
    chance, storm = random.Random(5), Storm()
    data = write_rows(folder / "problems.jsonl", model_rows(problems))
    inventory = folder / "stormy.yaml"
    inventory.write_text(INVENTORY)
    server = LoopbackServer(storm)
    server.__enter__()
    options = ("--workers", str(WORKERS), "--model", "openai:local", "--retry-failed")
    run = Evaluation(str(inventory), str(data), *options, OPENAI_BASE_URL=server.url, OPENAI_API_KEY="k")
    out, died, deaths, starts = folder / "run", 0, 0, 0
    try:
        while True:
            process = run.start(out)
            starts += 1
            enough = lines_of(out / "events.jsonl") + chance.randint(
                problems // 4, problems * 4 // (kills + 1)
            )
            while process.poll() is None and (died >= kills or lines_of(out / "events.jsonl") < enough):
                time.sleep(0.02)
                if deaths < 2 and died == deaths + 1:  # it dies, and comes back at the same address
                    server.stop()
                    deaths += 1
                    time.sleep(1.0)
                    server = LoopbackServer(storm, port=server.port)
                    server.__enter__()
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                process.wait()
                died += 1
            elif died >= kills and _all_good(out, problems):
                break
            assert starts < 40, "it comes to no end"
    finally:
        server.stop()
    results = read_lines(out / "results.jsonl")
    assert len({line["id"] for line in results}) == len(results) == problems
    assert not [line["id"] for line in results if line["error"] is not None]
    events = read_lines(out / "events.jsonl")
    calls = [call for line in events for call in line.get("calls", ()) if not call["error"]]
    logged, served = len(calls), sum(storm.replies.values())
    # A reply under way when one of both died is asked for again, and one that came after the time-out.
    assert logged <= served


def _all_good(out: Path, problems: int) -> bool:
    """Whether every problem has a result that is no failure."""
    results = read_lines(out / "results.jsonl")
    return len(results) == problems and all(line["error"] is None for line in results)


def test_nothing_is_lost_or_counted_twice(tmp_path: Path) -> None:
    weathered(tmp_path, problems=40, kills=2)
