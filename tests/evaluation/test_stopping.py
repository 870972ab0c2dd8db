"""How an evaluation stops: one deadline for all its workers, and nothing that has run is lost."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chameleon import Executor, Inventory, State
from chameleon.evaluation import evaluate
from chameleon.evaluation.data import find_benchmark
from chameleon.evaluation.evaluate import Evaluation
from chameleon.evaluation.run_dir import RunDir
from chameleon.planners.fixed import Fixed
from tests.engine.doubles import Does
from tests.evaluation.rows import make_rows, read_lines

BENCHMARK = find_benchmark("tabmwp")
SETTINGS = {"benchmark": "tabmwp", "inventory": "mine"}
WORKERS = 8
PROBLEMS = [BENCHMARK.problem(row, {}) for row in make_rows(2 * WORKERS)]


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt, whatever a command line in this process has made of it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def evaluation(modules: dict[str, Does], folder: RunDir, workers: int = 1) -> Evaluation:
    inventory = Inventory("mine", Fixed(list(modules)), modules)
    scorer = BENCHMARK.scorers["chameleon"]()
    return Evaluation(Executor(inventory), scorer, run_dir=folder, workers=workers)


@pytest.mark.usefixtures("ctrl_c")
def test_all_workers_have_one_deadline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(evaluate, "_GRACE_S", 0.6)
    all_at_work, released, ended = threading.Barrier(WORKERS), threading.Event(), threading.Event()

    def work(state: State) -> Any:
        if all_at_work.wait() == 0:
            time.sleep(0.1)  # until the thread that started them waits for them
            os.kill(os.getpid(), signal.SIGINT)
        if state.input["question"] == PROBLEMS[0].input["question"]:
            ended.wait(0.2)  # one that ends in time
            return "7"
        released.wait(20)
        return "7"

    with RunDir(tmp_path, SETTINGS) as folder:
        begun = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            evaluation({"work": Does(work)}, folder, WORKERS).run(PROBLEMS)
        took = time.monotonic() - begun
        kept = [line["id"] for line in read_lines(tmp_path / "events.jsonl") if line["event"] == "step"]
        released.set()
    assert 0.6 < took < 0.6 * WORKERS / 2, "one wait for all, not one for each"
    assert kept == [PROBLEMS[0].id], "what ended in time is kept, whichever thread it was"


def test_steps_side_by_side_are_all_kept(tmp_path: Path) -> None:
    """They have run by the time that the first of them is told, and may have been paid for."""
    running: list[Evaluation] = []

    def stop(state: State) -> str:
        running[0].stop()
        return "left"

    modules = {
        "left": Does(stop, reads=["input.question"], writes=["cache.left"]),
        "right": Does(lambda state: "right", reads=["input.question"], writes=["cache.right"]),
        "answer": Does(lambda state: "7"),
    }
    with RunDir(tmp_path, SETTINGS) as folder:
        running.append(evaluation(modules, folder))
        running[0].run(PROBLEMS)
        steps = [line["module"] for line in read_lines(tmp_path / "events.jsonl") if line["event"] == "step"]
        assert steps == ["left", "right"] and not read_lines(tmp_path / "results.jsonl")
    with RunDir(tmp_path, SETTINGS) as folder:
        evaluation({**modules, "left": Does(lambda state: "left", reads=["input.question"])}, folder).run(
            PROBLEMS[:1]
        )
        steps = [line["module"] for line in read_lines(tmp_path / "events.jsonl") if line["event"] == "step"]
        assert steps == ["left", "right", "answer"]
