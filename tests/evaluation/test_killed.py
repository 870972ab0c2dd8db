"""An evaluation that is killed again and again comes to what an undisturbed one comes to."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.e2e.commands import environment
from tests.e2e.rule_model import RuleModel
from tests.evaluation.asking import model_rows
from tests.evaluation.rows import Row, make_rows, read_lines, write_rows
from tests.loopback import LoopbackServer

_MOST_EVENTS, _AFTERWARDS_S = 300, 0.02


class Evaluation:
    """`chameleon eval ARGUMENTS…` as a process; `settings` are variables of its environment."""

    def __init__(self, *arguments: str, **settings: str) -> None:
        self.arguments = arguments
        self.environment = environment(CHAMELEON_STORE="off", **settings)

    def start(self, out: Path) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "chameleon", "eval", *self.arguments, "--out", str(out)]
        nowhere = subprocess.DEVNULL
        return subprocess.Popen(command, env=self.environment, stdout=nowhere, stderr=nowhere)

    def whole(self, out: Path) -> dict[str, Row]:
        """The verdicts of a run to the end."""
        assert self.start(out).wait(120) == 0
        return verdicts(out)

    def killed(self, out: Path, kills: int, chance: random.Random) -> Iterator[dict[str, Row]]:
        """Kill with -9 in the midst of the work, `kills` times, and resume; the verdicts of every folder.

        Each kill comes a random number of events after the start, and a random moment after that. An
        evaluation that comes to its end before it is killed is followed by another in a new folder.
        """
        died = number = 0
        while died < kills:
            folder = out / str(number)
            process = self.start(folder)
            if _has_got_on(process, folder, chance.randint(1, _MOST_EVENTS), chance.random() * _AFTERWARDS_S):
                process.send_signal(signal.SIGKILL)
                process.wait()
                died += 1
            else:
                assert process.returncode == 0
                yield verdicts(folder)
                number += 1
        yield self.whole(out / str(number))


def _has_got_on(process: subprocess.Popen[bytes], folder: Path, events: int, then: float) -> bool:
    """Wait until so many events were added, and a moment longer; False where the process ended before."""
    log = folder / "events.jsonl"
    before = lines_of(log)
    while process.poll() is None:
        if lines_of(log) >= before + events:
            time.sleep(then)
            return process.poll() is None
        time.sleep(0.002)
    return False


def lines_of(file: Path) -> int:
    return file.read_bytes().count(b"\n") if file.exists() else 0


def verdicts(folder: Path) -> dict[str, Row]:
    """The results by problem without their times; each problem must be there once."""
    lines = read_lines(folder / "results.jsonl")
    found = {line["id"]: {key: line[key] for key in line if key != "seconds"} for line in lines}
    assert len(found) == len(lines)
    read_lines(folder / "events.jsonl")
    return found


def test_without_a_model(tmp_path: Path) -> None:
    data = write_rows(tmp_path / "problems.jsonl.gz", make_rows(160))
    evaluation = Evaluation("tables_offline", str(data), "--workers", "4")
    expected = evaluation.whole(tmp_path / "whole")
    for found in evaluation.killed(tmp_path, 4, random.Random(3)):
        assert found == expected


def test_with_a_model_nothing_is_paid_twice(tmp_path: Path) -> None:
    kills, workers, rounds = 3, 4, 0
    data = write_rows(tmp_path / "problems.jsonl", model_rows(48))
    with LoopbackServer(RuleModel(delay=0.02)) as server:
        options = ("--workers", str(workers), "--model", "openai:local")
        evaluation = Evaluation("tabmwp", str(data), *options, OPENAI_BASE_URL=server.url)
        expected = evaluation.whole(tmp_path / "whole")
        calls = len(server.requests)
        for found in evaluation.killed(tmp_path, kills, random.Random(5)):
            assert found == expected
            rounds += 1
        served, needed = len(server.requests) - calls, calls * rounds
    # A call that was under way when the process died is asked again; nothing else is.
    assert needed <= served <= needed + kills * workers
