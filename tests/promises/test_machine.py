"""What the machine lacks ends a run in a line, whatever was made of the error; a forked process answers."""

from __future__ import annotations

import errno
import os
import signal
import sqlite3
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from chameleon import Executor, Table
from chameleon.errors import InputError, MachineError, lack_of
from tests.conftest import thorough
from tests.e2e.commands import Command, environment
from tests.engine.doubles import failing, run, why
from tests.loopback import Reply, Start
from tests.promises.running import PROGRAMS, WORDS, Case, reply, run_code, told_or_right


def os_error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def made_of(cause: BaseException) -> InputError:
    problem = InputError("the table cannot be read")
    problem.__cause__ = cause
    return problem


def full_database() -> sqlite3.Error:
    with closing(sqlite3.connect(":memory:")) as made, pytest.raises(sqlite3.OperationalError) as caught:
        made.execute("PRAGMA max_page_count = 1")
        made.execute("CREATE TABLE filled (text)")
    return caught.value


@pytest.mark.parametrize(
    ("problem", "told"),
    [
        (os_error(errno.EMFILE), "as many files open as it may. Use fewer workers"),
        (made_of(os_error(errno.EMFILE)), "as many files open"),
        (os_error(errno.ENOSPC), "no room left on the disk. Make room"),
        (full_database(), "no room left on the disk"),
        (os_error(errno.ENOMEM), "no memory left"),
        (RuntimeError("can't start new thread"), "no more threads. Use fewer workers"),
    ],
)
def test_no_other_step_makes_good_what_the_machine_lacks(problem: Exception, told: str) -> None:
    modules = {"needs": failing(problem), "other": lambda state: "7"}
    for policy in ("stop", "skip", "fallback", ["other"]):
        state = run(modules, on_error={"needs": policy}, fallback=("other",))
        assert state.ended is not None and state.ended.error is not None
        assert state.ended.error.kind == "MachineError" and told in why(state) and state.answer is None


def test_other_failures_are_taken_for_no_lack() -> None:
    innocent = [OSError(), os_error(errno.EACCES), made_of(os_error(errno.EIO)), None]
    missing = FileNotFoundError(errno.ENOENT, "No such file", f"{tempfile.gettempdir()}/no-such-file.json")
    assert not [each for each in (*innocent, missing, sqlite3.OperationalError("locked")) if lack_of(each)]
    problem = MachineError("there is no room left on the disk")
    assert lack_of(made_of(problem)) is problem
    modules = {"a": failing(os_error(errno.ENOENT)), "b": lambda state: 7}
    assert run(modules, on_error={"a": "skip"}).answer == 7


MAIN = "from chameleon.cli import main\nmain()\n"
HANDLES = "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\n"
NO_TEMPORARY = "import tempfile\ntempfile._candidate_tempdir_list = lambda: ['/nonexistent']\n"
LOST_TEMPORARY = "import os, tempfile\ntempfile.tempdir = tempfile.mkdtemp()\nos.rmdir(tempfile.tempdir)\n"


@pytest.mark.parametrize(
    ("lack", "inventory", "workers", "words"),
    [
        (HANDLES, PROGRAMS, 16, "fewer workers"),
        pytest.param(HANDLES, WORDS, 16, "fewer workers", marks=thorough),
        (LOST_TEMPORARY, PROGRAMS, 2, "TMPDIR"),
        pytest.param(NO_TEMPORARY, PROGRAMS, 2, "TMPDIR", marks=thorough),
    ],
)
def test_with_few_handles_or_no_temporary_folder_it_stops_or_is_right(
    loopback: Start, command: Command, tmp_path: Path, lack: str, inventory: str, workers: int, words: str
) -> None:
    pytest.importorskip("resource")
    case, asked = Case(tmp_path, 2 * workers, inventory), ("--workers", str(workers))
    server = loopback(lambda request: Reply(reply(request), delay=0.05))
    env = environment(TMPDIR=str(tmp_path / "nowhere"))
    outcome = run_code(lack + MAIN, *case.arguments(*asked), env=env if words == "TMPDIR" else None)
    if line := told_or_right(outcome):
        assert words in line
    if case.out.exists():
        case.check(whole=not outcome.code)
    case.finish(command, *asked)
    assert len(server.requests) <= case.count + 2 * workers


GIVEN = {"question": "What is the total Price?", "table": Table(["Item", "Price"], [["a", "1"], ["b", "2"]])}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("is_new", [True, False])
def test_a_child_of_busy_threads_answers(is_new: bool) -> None:
    """As under `gunicorn --preload`."""
    executor, is_over = Executor("tables_offline"), threading.Event()

    def ask() -> None:
        while not is_over.is_set():
            executor.run(GIVEN)

    threads = [threading.Thread(target=ask, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    codes = []
    for _ in range(15):
        time.sleep(0.013)
        if not (child := os.fork()):
            signal.alarm(10)
            own = Executor("tables_offline") if is_new else executor
            os._exit(0 if own.run(GIVEN).answer == "3" else 3)
        codes.append(os.waitpid(child, 0)[1])
    is_over.set()
    for thread in threads:
        thread.join(10)
    assert codes == [0] * 15
