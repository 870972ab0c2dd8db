"""Processes that are killed, ended or crowd one another: nothing that has run is lost or asked twice."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import threading
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.conftest import PROFILE, thorough
from tests.e2e.commands import Command, environment
from tests.faults.running import PROGRAMS, Case, asked_for, ended, reply, started, told, wait_until
from tests.loopback import Reply, Start

WORKERS = 2
# How many requests the server has had, or results are kept, since the process began.
BY_REQUESTS = (1, 2, 3, 4, 5, 6, 8, 9) if PROFILE == "thorough" else (1, 4)
BY_RESULTS = (1, 2, 3, 4, 5, 6, 7) if PROFILE == "thorough" else (2,)


def kept(case: Case, least: int = 0) -> int:
    """Return how many results the folder has, beyond those."""
    path = case.out / "results.jsonl"
    return (path.read_bytes().count(b"\n") if path.exists() else 0) - least


def test_killed_many_times_every_result_is_counted_once(loopback: Start, tmp_path: Path) -> None:
    case = Case(tmp_path, 7 * (len(BY_REQUESTS) + 2))
    server = loopback(lambda request: Reply(reply(request), delay=0.02))
    by_requests = [(lambda: len(server.requests), more) for more in BY_REQUESTS]
    kills: list[tuple[Callable[[], int], int]] = [
        *by_requests,
        *((partial(kept, case), n) for n in BY_RESULTS),
    ]
    for number, more in kills:
        before = number()
        with started(*case.arguments()) as process:
            wait_until(lambda: number() >= before + more, process)  # noqa: B023
            assert process.poll() is None, "it was to be killed on its way"
            process.kill()
    assert 0 < kept(case) < case.count
    with started(*case.arguments()) as process:
        assert (last := ended(process)).code == 0, last.err
    case.check()
    assert case.count <= len(server.requests) <= case.count + WORKERS * len(kills)


def test_a_second_process_is_told_of_the_first(loopback: Start, command: Command, tmp_path: Path) -> None:
    case, hangs = Case(tmp_path, 12, PROGRAMS), threading.Event()

    def model(request: dict[str, Any]) -> Reply:
        return Reply(reply(request), delay=30 if asked_for(request) >= 6 and not hangs.is_set() else 0)

    server = loopback(model)
    with started(*case.arguments()) as first:
        wait_until(lambda: len(server.requests) >= 6 + WORKERS, first)
        family = psutil.Process(first.pid).children(recursive=True)
        second = told(command(*case.arguments()))
        assert "another run is writing to it" in second and str(case.out) in second
        assert first.poll() is None and family, "the first goes on, and has a sandbox"
        first.terminate()
        outcome = ended(first)
    assert outcome.code in (-signal.SIGTERM, 128 + signal.SIGTERM) and "Traceback" not in outcome.err
    _, alive = psutil.wait_procs(family, timeout=10)
    assert all(each.status() == psutil.STATUS_ZOMBIE for each in alive), "it leaves processes behind"
    case.check(whole=False)
    hangs.set()
    before = len(server.requests)
    case.finish(command)
    assert before == 6 + WORKERS and len(server.requests) <= before + 6


def test_many_processes_begin_one_response_store(loopback: Start, tmp_path: Path) -> None:
    cases = [Case(tmp_path / str(number), 9) for number in range(3)]
    server, store = loopback(reply), tmp_path / "deep" / "new.sqlite"
    with ExitStack() as stack:
        env = environment(CHAMELEON_STORE=str(store))
        asked = [case.arguments(store="auto") for case in cases]
        processes = [stack.enter_context(started(*arguments, env=env)) for arguments in asked]
        outcomes = [ended(process) for process in processes]
    for case, outcome in zip(cases, outcomes, strict=True):
        assert outcome.code == 0 and "chameleon:" not in outcome.err, outcome.err
        case.check()
    with closing(sqlite3.connect(store)) as connection:
        assert connection.execute("SELECT count(*) FROM replies").fetchone() == (9,)
    assert 9 <= len(server.requests) <= 27


@pytest.mark.parametrize("kills", [1, pytest.param(4, marks=thorough)])
def test_killed_interpreters_cost_no_problem_or_call(loopback: Start, tmp_path: Path, kills: int) -> None:
    """As the system does for want of memory; each while a program runs in it."""
    case = Case(tmp_path, 2 * kills + 2, PROGRAMS)
    sleeps = "python\nimport time\ntime.sleep(0.25)\n"
    server, victims = loopback(lambda request: reply(request).replace("python\n", sleeps)), 0
    with started(*case.arguments("--workers", "1")) as process:
        for number in range(kills):
            wait_until(lambda: kept(case, 2 * number) > 0, process)  # noqa: B023
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.1)  # the next program has begun
            for victim in psutil.Process(process.pid).children(recursive=True):
                with suppress(psutil.NoSuchProcess):
                    victim.kill()
                    victims += 1
        outcome = ended(process)
    assert outcome.code == 0 and victims >= kills, outcome.err
    case.check()
    assert len(server.requests) == case.count, "what was killed is run again, not asked for again"
