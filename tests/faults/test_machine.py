"""What the machine lacks ends a run, whatever was made of the error, and with it an evaluation."""

from __future__ import annotations

import errno
import os
import sqlite3
import tempfile
from pathlib import Path

import pytest

from chameleon.errors import InputError, MachineError, lack_of
from tests.e2e.commands import Command
from tests.engine.doubles import failing, run, why


def os_error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def made_of(cause: BaseException) -> InputError:
    """Return what a reader makes of an error."""
    try:
        raise InputError("the table cannot be read") from cause
    except InputError as problem:
        return problem


def full_database() -> sqlite3.Error:
    with pytest.raises(sqlite3.OperationalError) as caught, sqlite3.connect(":memory:") as connection:
        connection.execute("PRAGMA max_page_count = 1")
        connection.execute("CREATE TABLE filled (text)")
    connection.close()
    return caught.value


LACKS = {
    "handles": (os_error(errno.EMFILE), "as many files open as it may. Use fewer workers, or raise"),
    "handles, of a reader": (made_of(os_error(errno.EMFILE)), "as many files open as it may"),
    "room": (os_error(errno.ENOSPC), "there is no room left on the disk. Make room"),
    "room in a database": (full_database(), "there is no room left on the disk"),
    "memory": (os_error(errno.ENOMEM), "the machine has no memory left"),
    "threads": (RuntimeError("can't start new thread"), "can start no more threads. Use fewer workers."),
}


@pytest.mark.parametrize(("problem", "told"), LACKS.values(), ids=LACKS)
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
    problem = MachineError("there is no room left on the disk")
    assert lack_of(made_of(problem)) is problem
    modules = {"a": failing(os_error(errno.ENOENT)), "b": lambda state: 7}
    assert run(modules, on_error={"a": "skip"}).answer == 7


def test_an_index_stops_where_no_file_can_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    """Files that were left out would be missed in every answer."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "one.csv").write_text("a,b\n1,2\n3,4\n")

    def lacking(*_: object) -> None:
        raise os_error(errno.EMFILE)

    monkeypatch.setattr("chameleon.documents.indexing.file_documents", lacking)
    outcome = command("index", str(tmp_path / "data"), "--out", str(tmp_path / "index"))
    assert outcome.code == 1 and "as many files open as it may" in outcome.complaint
