"""How an evaluation stops: nothing that has run is lost or paid twice."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chameleon import Executor, Inventory, State
from chameleon.evaluation import evaluate
from chameleon.evaluation.evaluate import Evaluation
from chameleon.evaluation.run_dir import RunDir
from chameleon.planners.fixed import Fixed
from tests.e2e.commands import environment
from tests.engine.doubles import Does
from tests.evaluation.asking import Asking
from tests.evaluation.folders import BENCHMARK, SETTINGS
from tests.evaluation.rows import Row, make_rows, read_events, read_lines
from tests.promises.running import wait_until

WORKERS = 8
PROBLEMS = [BENCHMARK.problem(row, {}) for row in make_rows(2 * WORKERS)]


def evaluation(modules: dict[str, Does], folder: RunDir, workers: int = 1) -> Evaluation:
    inventory = Inventory("mine", Fixed(list(modules)), modules)
    scorer = BENCHMARK.scorers["chameleon"]()
    return Evaluation(Executor(inventory), scorer, BENCHMARK, run_dir=folder, workers=workers)


def steps(folder: Path, key: str) -> list[str]:
    return [line[key] for line in read_events(folder) if line["event"] == "step"]


def test_all_workers_have_one_deadline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(evaluate, "_GRACE_S", 0.3)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever a command has made of it
    all_at_work, released, ended = threading.Barrier(WORKERS), threading.Event(), threading.Event()

    def work(state: State) -> Any:
        if all_at_work.wait() == 0:
            time.sleep(0.1)  # until the thread that started them waits for them
            os.kill(os.getpid(), signal.SIGINT)
        if state.input["question"] == PROBLEMS[0].input["question"]:
            ended.wait(0.1)  # one that ends in time
            return "7"
        released.wait(20)
        return "7"

    with RunDir(tmp_path, SETTINGS) as folder:
        begun = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            evaluation({"work": Does(work)}, folder, WORKERS).run(PROBLEMS)
        took = time.monotonic() - begun
        kept = steps(tmp_path, "id")
        released.set()
    signal.signal(signal.SIGINT, before)
    assert 0.3 < took < 0.3 * WORKERS, "one wait for all, not one for each"
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
        assert steps(tmp_path, "module") == ["left", "right"] and not read_lines(tmp_path / "results.jsonl")
    modules["left"] = Does(lambda state: "left", reads=["input.question"])
    with RunDir(tmp_path, SETTINGS) as folder:
        evaluation(modules, folder).run(PROBLEMS[:1])
        assert steps(tmp_path, "module") == ["left", "right", "answer"]


def test_stopped_twice_it_pays_nothing_twice(asking: Callable[..., Asking], tmp_path: Path) -> None:
    count, workers = 24, ("--workers", "4")
    made = asking(count=count)
    server, model = made.server, made.model

    def steady() -> dict[str, Row]:
        return {id: {**line, "seconds": 0} for id, line in made.results.items()}

    assert made.run(*workers).code == 0
    expected, needed = steady(), len(server.requests)
    made.out = tmp_path / "stopped"

    def interrupted(requests: int, delay: float) -> subprocess.Popen[str]:
        """Evaluate as a process of its own, and stop it once the server has had so many more requests."""
        model._delay, before = delay, len(server.requests)
        command, pipe = [sys.executable, "-m", "chameleon", *made.arguments(*workers)], subprocess.PIPE
        process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment())
        wait_until(lambda: len(server.requests) >= before + requests)
        process.send_signal(signal.SIGINT)
        return process

    once = interrupted(20, delay=0.05)
    out, err = once.communicate(timeout=20)
    done = json.loads(out)
    assert once.returncode == 130 and 0 < done["n"] < count and done["n"] == len(made.results)
    stop = f"Stopped after {done['n']} of {count}: the same command resumes."
    assert err.splitlines()[-2:] == [stop, "chameleon: interrupted"] and "Traceback" not in err
    assert needed + done["usage"]["calls"] == len(server.requests), "calls of runs cut short count"

    twice = interrupted(1, delay=20)
    time.sleep(0.3)
    assert twice.poll() is None, "it waits for the steps that run"
    begun = time.monotonic()
    twice.send_signal(signal.SIGINT)
    _, err = twice.communicate(timeout=8)
    assert twice.returncode == 130 and time.monotonic() - begun < 3 and "Traceback" not in err

    model._delay = 0
    last = made.run(*workers)
    assert last.code == 0 and f" of {count} done." in last.err
    assert steady() == expected
    # A call that was under way when the process ended is asked again; nothing else is.
    assert needed <= len(server.requests) - needed <= needed + 8
