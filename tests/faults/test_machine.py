"""What the machine lacks ends a run, whatever was made of the error; a forked process answers."""

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
from pytest import MonkeyPatch

from chameleon import Executor, Table
from chameleon.errors import InputError, MachineError, lack_of
from tests.e2e.commands import Command
from tests.engine.doubles import failing, run, why


def os_error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def made_of(cause: BaseException) -> InputError:
    """Return what a reader makes of an error."""
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
        (os_error(errno.EMFILE), "too many files open. Use fewer workers"),
        (made_of(os_error(errno.EMFILE)), "too many files open"),
        (os_error(errno.ENOSPC), "no space left on the disk. Make room"),
        (full_database(), "no space left on the disk"),
        (os_error(errno.ENOMEM), "out of memory"),
        (RuntimeError("can't start new thread"), "more threads. Use fewer workers"),
    ],
)
def test_no_other_step_makes_good_what_the_machine_lacks(problem: Exception, told: str) -> None:
    modules = {"needs": failing(problem), "other": lambda state: "7"}
    for policy in ("stop", "skip", "fallback", ["other"]):
        state = run(modules, on_error={"needs": policy}, fallback=("other",))
        assert state.ended is not None and state.ended.error is not None
        assert state.ended.error.kind == "MachineError" and told in why(state) and state.answer is None


def test_other_failures_are_taken_for_no_lack() -> None:
    innocent = [OSError(), os_error(errno.ENOENT), os_error(errno.EACCES), sqlite3.OperationalError("locked")]
    missing = FileNotFoundError(errno.ENOENT, "No such file", f"{tempfile.gettempdir()}/no-such-file.json")
    assert [lack_of(each) for each in (*innocent, missing, made_of(os_error(errno.EIO)), None)] == [None] * 7
    problem = MachineError("there is no space left on the disk")
    assert lack_of(made_of(problem)) is problem
    modules = {"a": failing(os_error(errno.ENOENT)), "b": lambda state: 7}
    assert run(modules, on_error={"a": "skip"}).answer == 7


def test_an_index_stops_without_handles(tmp_path: Path, monkeypatch: MonkeyPatch, command: Command) -> None:
    (tmp_path / "one.csv").write_text("a,b\n1,2\n3,4\n")
    fails = failing(os_error(errno.EMFILE))
    monkeypatch.setattr("chameleon.documents.indexing.file_documents", lambda *given: fails(given[0]))
    outcome = command("index", str(tmp_path), "--out", str(tmp_path / "index"))
    assert outcome.code == 1 and "too many files open" in outcome.complaint


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
