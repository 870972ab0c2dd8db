"""`chameleon eval` as a process: Ctrl-C, progress on a terminal and elsewhere, and a clean stdout."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chameleon.cli.evaluating import running
from chameleon.cli.out import Progress
from chameleon.evaluation.evaluate import Spending
from chameleon.evaluation.results import Result, Tally
from chameleon.state import Failure
from chameleon.usage import Call, Usage
from tests.e2e.commands import environment
from tests.e2e.rule_model import RuleModel
from tests.evaluation.asking import Start, model_rows
from tests.evaluation.rows import make_rows, read_lines, write_rows
from tests.loopback import LoopbackServer

Process = subprocess.Popen[str]
_COUNT, _WORKERS = 24, 4


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Start `chameleon eval tabmwp` over the same problems and folder, as a process of its own."""
    data = str(write_rows(tmp_path / "problems.jsonl", model_rows(_COUNT)))
    started: list[Process] = []

    def begin(workers: int = _WORKERS) -> Process:
        arguments = ["eval", "tabmwp", data, "--out", str(tmp_path / "out"), "--model", "openai:local"]
        options = ["--workers", str(workers), "--store", "off", "--json"]
        process = subprocess.Popen(
            [sys.executable, "-m", "chameleon", *arguments, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(CHAMELEON_STORE=str(tmp_path / "store.sqlite")),
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def wait_for(server: LoopbackServer, requests: int) -> None:
    until = time.monotonic() + 30
    while len(server.requests) < requests:
        assert time.monotonic() < until
        time.sleep(0.01)


def test_ctrl_c_ends_cleanly_and_the_same_command_goes_on(
    loopback: Start, start: Callable[..., Process], tmp_path: Path
) -> None:
    model = RuleModel(delay=0.05)
    server = loopback(model)
    process = start()
    wait_for(server, 30)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=8)
    assert process.returncode == 130
    done = json.loads(out)
    assert 0 < done["n"] < _COUNT
    assert "Traceback" not in err and "Exception" not in err
    said = err.splitlines()
    assert said[-2:] == [
        f"Stopped after {done['n']} of {_COUNT}: the same command goes on.",
        "chameleon: interrupted",
    ]
    assert done["usage"]["calls"] == len(server.requests), "calls of runs that were cut short count"
    assert len(read_lines(tmp_path / "out/results.jsonl")) == done["n"]

    process = start()
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert json.loads(out)["n"] == _COUNT
    assert f"{done['n']} of {_COUNT} are done." in err
    assert json.loads(out)["usage"]["calls"] == len(server.requests)
    lines = read_lines(tmp_path / "out/results.jsonl")
    assert {line["id"] for line in lines} == {str(number) for number in range(_COUNT)}
    assert len(lines) == _COUNT


def test_a_second_ctrl_c_does_not_wait(loopback: Start, start: Callable[..., Process]) -> None:
    server = loopback(RuleModel(delay=9))
    process = start()
    wait_for(server, 4)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert process.poll() is None, "it waits for the steps that run"
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=8)
    assert process.returncode == 130 and time.monotonic() - begun < 3
    assert "Traceback" not in err and "Exception" not in err


def test_a_terminal_gets_a_bar_and_a_pipe_the_table(tmp_path: Path) -> None:
    data = write_rows(tmp_path / "problems.jsonl", make_rows(60))
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "chameleon", "eval", "tables_offline", str(data)],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=environment(TERM="xterm", COLUMNS="120"),
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            block = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not block:
            break
        shown += block
    os.close(ours)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    assert out.decode().startswith("tabmwp, scored by the rule of chameleon\n") and b"\x1b" not in out
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    assert "60/60" in text and "accuracy 0.667, answered 40 (1.000)" in text and "━" in text


CALL = Call("openai:local", (), {}, usage=Usage(calls=1, cost=0.005))


def result(number: int, correct: bool = False, error: Failure | None = None) -> Result:
    return Result(str(number), "7", False, correct, error=error)


def test_elsewhere_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("chameleon.cli.out.time.monotonic", lambda: now[0])
    stderr = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stderr)
    tally, spending = Tally(()), Spending()
    with Progress("problem", 2000) as progress:
        for number in range(220):
            now[0] += 0.25
            tally.add(result(number, correct=number % 2 == 0))
            spending.add([CALL, CALL])
            progress.show(tally.all.n, lambda: running(tally, spending.usage))
    lines = stderr.getvalue().splitlines()
    assert len(lines) == 5
    assert lines[0] == "40 of 2,000 problems: accuracy 0.500, 80 calls, $0.4000"
    assert lines[-1] == "200 of 2,000 problems: accuracy 0.500, 400 calls, $2.0000"


def test_the_running_figures_say_what_is_not_known() -> None:
    tally = Tally(())
    assert running(tally, Usage()) == "accuracy –"
    tally.add(result(1, correct=True))
    assert running(tally, Usage(calls=2, cost=0.01)) == "accuracy 1.000, 2 calls, $0.0100"
    tally.add(result(2, error=Failure("ModelError", "it broke")))
    told = running(tally, Usage(calls=4, cost=None))
    assert told == "accuracy 0.500, answered 1 (1.000), failed 1, 4 calls, cost unknown"
