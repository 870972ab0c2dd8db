"""What the machine or a user lacks ends a run in a line, or costs no answer; a forked process answers."""

import errno
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from chameleon import Executor, Table
from chameleon.errors import InputError, MachineError, lack_of
from tests.conftest import thorough
from tests.e2e.commands import Command, Outcome, environment
from tests.engine.doubles import failing, run, why
from tests.loopback import Reply, Start
from tests.promises.running import PROGRAMS, WORDS, Case, question, reply, run_code, told_or_right


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
        (os_error(errno.EMFILE), "too many files open. Use fewer workers"),
        (made_of(os_error(errno.EMFILE)), "too many files open"),
        (os_error(errno.ENOSPC), "no space left on the disk. Free some space"),
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
    innocent = [OSError(), os_error(errno.EACCES), made_of(os_error(errno.EIO)), None]
    missing = FileNotFoundError(errno.ENOENT, "No such file", f"{tempfile.gettempdir()}/no-such-file.json")
    assert not [each for each in (*innocent, missing, sqlite3.OperationalError("locked")) if lack_of(each)]
    problem = MachineError("there is no space left on the disk")
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


NOBODY = 65534


@pytest.fixture
def place() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="faults-"))
    path.chmod(0o755)
    yield path
    for each in path.rglob("*"):
        if each.is_dir() and not each.is_symlink():
            each.chmod(0o700)
    shutil.rmtree(path)


class Identity(NamedTuple):
    """How a process becomes somebody whom file modes bind, and who its files are of."""

    prefix: tuple[str, ...] = ()
    options: Mapping[str, Any] = {}

    def run(self, *arguments: str, home: Path | None, give: Path | None = None) -> Outcome:
        """Run `python ARGUMENTS…`, once what lies in a folder is theirs; None is no home."""
        for each in (give, *give.rglob("*")) if give and "user" in self.options else ():
            os.chown(each, NOBODY, NOBODY)
        env = environment(**({"HOME": str(home)} if home else {}))
        for name in ("CHAMELEON_STORE", "XDG_CACHE_HOME", *([] if home else ["HOME"])):
            env.pop(name, None)
        command = [*self.prefix, sys.executable, "-B", *arguments]
        options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": 60}
        done = subprocess.run(command, env=env, check=False, cwd="/", **options, **self.options)
        return Outcome(done.returncode, done.stdout, done.stderr)

    def chameleon(self, *arguments: str, home: Path | None, give: Path) -> Outcome:
        return self.run("-m", "chameleon", *arguments, home=home, give=give)


OTHER_USER = Identity(options={"user": NOBODY, "group": NOBODY, "extra_groups": []})
# Root without what lets it pass over file modes, where no other user can read Python or this checkout.
BOUND_ROOT = Identity(("setpriv", "--bounding-set=-dac_override,-dac_read_search"))


@pytest.fixture(scope="module")
def user() -> Identity:
    for each in (OTHER_USER, BOUND_ROOT) if os.geteuid() == 0 else (Identity(),):
        with suppress(OSError):
            if each.run("-c", "import chameleon", home=Path("/")).code == 0:
                return each
    pytest.skip("no process can be started whom file modes bind")


RARE = [pytest.param(each, marks=thorough) for each in ("missing", "a file")]


@pytest.mark.skipif(os.name != "posix", reason="needs users and file modes")
@pytest.mark.parametrize("kind", ["closed", "none", *RARE])
def test_without_a_home_everything_is_done(loopback: Start, user: Identity, place: Path, kind: str) -> None:
    path = place / "shut" / "home"
    path.parent.mkdir()
    if kind == "closed":
        path.mkdir(mode=0o555)
    elif kind == "a file":
        path.write_text("no folder")
    path.parent.chmod(0o555)
    home = None if kind == "none" else path
    server, case = loopback(reply), Case(place / "case", 4)
    asked = user.chameleon(*question(place), home=home, give=place)
    ran = user.chameleon(*case.arguments(store="auto"), home=home, give=place)
    assert (asked.code, asked.out, ran.code) == (0, "1007\n", 0), asked.err + ran.err
    case.check()
    assert len(server.requests) == 5 and (kind != "closed" or not list(path.iterdir()))
    for outcome in (asked, ran):
        assert "Traceback" not in outcome.err
        lines = [line for line in outcome.err.splitlines() if line.startswith("chameleon: ")]
        assert len(lines) <= 1 and all("are not recorded" in line for line in lines), outcome.err
