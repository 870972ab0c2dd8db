"""A run that is cut short resumes: the same command comes to the right answer, and nothing is paid twice."""

import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import ExitStack, closing, suppress
from itertools import count
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.conftest import thorough
from tests.e2e.commands import Command, Outcome, environment
from tests.loopback import Reply, Start
from tests.promises.running import (
    PROGRAMS,
    Case,
    asked_for,
    ended,
    entered,
    question,
    reply,
    started,
    told,
    told_or_right,
    wait_until,
)

WORKERS = 2
RESUMES = {  # by entry point: the requests of a whole run, and what is printed at its end
    "ask": (2, "1007"),
    "chat": (2, "1007"),
    "eval": (4, '"correct": 2'),
    "compare": (4, '"correct": 2'),
    "index": (3, "holds 3 tables"),
    "Executor.run": (2, "1007"),
}
CASES = [
    *((name, "killed") for name in RESUMES),
    *((name, how) for name in ("ask", "eval") for how in ("Ctrl-C", "its server dies")),
]


@pytest.mark.parametrize(("name", "how"), CASES)
def test_stopped_at_its_last_request_it_asks_that_again_alone(
    loopback: Start, tmp_path: Path, name: str, how: str
) -> None:
    (needed, right), dies, numbers = RESUMES[name], how == "its server dies", count(1)

    def model(request: dict[str, Any]) -> Reply:
        return Reply(reply(request), delay=30 if next(numbers) == needed else 0)

    server = loopback(model, dies_after=needed - 1 if dies else None)
    store = {"CHAMELEON_STORE": str(tmp_path / "store.sqlite")}
    with entered(name, tmp_path, **store) as process:
        wait_until(lambda: len(server.requests) >= needed, process)
        time.sleep(2 if name == "index" else 0.2)  # until what was answered is kept
        for signaled in {"killed": [signal.SIGKILL], "Ctrl-C": [signal.SIGINT] * 2}.get(how, ()):
            process.send_signal(signaled)
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.5)  # the first lets it wait for what runs
        stopped = ended(process, 5)
    assert stopped.code == {"killed": -signal.SIGKILL, "Ctrl-C": 130}.get(how, 1), stopped.err
    assert right not in stopped.out and "Traceback" not in stopped.err, stopped.err
    server.stop()
    later = loopback(reply, port=server.port)
    more = ["--retry-failed"] if dies and name == "eval" else []
    with entered(name, tmp_path, *more, **store) as process:
        last = ended(process)
    assert last.code == 0 and right in last.out and len(later.requests) == 1, last


def test_a_second_process_is_told_of_the_first(loopback: Start, command: Command, tmp_path: Path) -> None:
    case, hangs = Case(tmp_path, 12, PROGRAMS), [True]

    def model(request: dict[str, Any]) -> Reply:
        return Reply(reply(request), delay=30 if hangs and asked_for(request) >= 6 else 0)

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
    hangs.clear()
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


# Mounts a disk of its own, leaves FREE kilobytes of it, runs the command, makes room, and runs it again.
ON_A_SMALL_DISK = """
mount -t tmpfs -o size=600k,nr_inodes=200,mode=700 tmpfs "$DISK" || exit 77
head -c $(( (600 - FREE) * 1024 )) /dev/zero > "$DISK/ballast" 2>"$KEPT/ballast"
"$@" >"$KEPT/out1" 2>"$KEPT/err1"; echo $? >"$KEPT/code1"
rm "$DISK/ballast"
"$@" >"$KEPT/out2" 2>"$KEPT/err2"; echo $? >"$KEPT/code2"
cp -r "$DISK" "$KEPT/disk"
"""


def on_a_small_disk(place: Path, free: int, *arguments: str, **changes: str) -> tuple[Outcome, Outcome]:
    """Run a command twice, with a disk at `place`/disk: when that is full, and when it has room."""
    if not shutil.which("unshare") or not shutil.which("mount"):
        pytest.skip("no disk can be mounted here")
    disk, kept = place / "disk", place / "kept"
    disk.mkdir()
    kept.mkdir()
    chameleon = [sys.executable, "-m", "chameleon", *arguments]
    command = ["unshare", "-rm", "sh", "-c", ON_A_SMALL_DISK, "sh", *chameleon]
    env = environment(DISK=str(disk), KEPT=str(kept), FREE=str(free), **changes)
    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    if not (kept / "code1").exists():
        pytest.skip(f"no disk can be mounted here: {done.stderr.decode()}")
    said = [[(kept / f"{name}{n}").read_text() for name in ("code", "out", "err")] for n in (1, 2)]
    full, after = (Outcome(int(code), out, err) for code, out, err in said)
    assert after.code == 0, after.err
    return full, after


@pytest.mark.parametrize(
    ("name", "free"),
    [
        *(("eval", 24), ("store", 40), ("ask", 0), ("index", 0), ("index", 30)),
        *(pytest.param(*each, marks=thorough) for each in (("eval", 0), ("eval", 4), ("store", 0))),
    ],
)
def test_a_full_disk_is_told_and_loses_nothing(loopback: Start, tmp_path: Path, name: str, free: int) -> None:
    server, case, disk = loopback(reply), Case(tmp_path, 40), tmp_path / "disk"
    if name == "eval":
        case.out = disk / "out"
    for number in range(9):
        (tmp_path / f"data/{number}.csv").parent.mkdir(exist_ok=True)
        (tmp_path / f"data/{number}.csv").write_text("Name,Value\n" + f"first,{number}\n" * 500)
    arguments = {
        "ask": question(tmp_path, "--store", "off", "--log", str(disk / "log.jsonl")),
        "index": ["index", str(tmp_path / "data"), "--out", str(disk / "index")],
    }.get(name, case.arguments(store="auto" if name == "store" else "off"))
    store = str((disk if name == "store" else tmp_path) / "deep" / "store.sqlite")
    full, after = on_a_small_disk(tmp_path, free, *arguments, CHAMELEON_STORE=store)
    if line := told_or_right(full):
        assert re.search("o space left|full|cannot be written", line) and str(disk) in line, line
    else:
        assert "are not recorded" in full.err, "replies that are paid count, recorded or not"
    if name in ("eval", "store"):
        case.out = tmp_path / ("kept/disk/out" if name == "eval" else "out")
        case.check()
        assert len(server.requests) <= case.count + 2 + 2, "what was kept is not asked again"
    else:
        assert after.out == "1007\n" or "holds 9 tables" in after.out
