"""Users whose home is missing or closed, and who may not write where they point: told, and no answer lost."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.commands import ROOT, Outcome, environment
from tests.faults.running import Case, question, reply, told
from tests.loopback import Start

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs users and file modes")
NOBODY = 65534
As = Callable[..., Outcome]


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that other users can reach, of theirs."""
    path = Path(tempfile.mkdtemp(prefix="faults-"))
    path.chmod(0o755)
    yield path
    for each in path.rglob("*"):
        if each.is_dir() and not each.is_symlink():
            each.chmod(0o700)
    shutil.rmtree(path)


@dataclass(frozen=True)
class Identity:
    """How a process becomes somebody whom file modes bind, and who its files are of."""

    prefix: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    user: int | None = None

    def run(self, *arguments: str, env: dict[str, str]) -> Outcome:
        command = [*self.prefix, sys.executable, "-B", *arguments]
        options = {"capture_output": True, "text": True, "timeout": 60, "cwd": "/", **self.options}
        done = subprocess.run(command, stdin=subprocess.DEVNULL, env=env, check=False, **options)
        return Outcome(done.returncode, done.stdout, done.stderr)

    def give(self, path: Path) -> None:
        """Make the user the owner of all that lies there."""
        if self.user is not None:
            for each in (path, *path.rglob("*")):
                os.chown(each, self.user, self.user)


OTHER_USER = Identity(options={"user": NOBODY, "group": NOBODY, "extra_groups": []}, user=NOBODY)
# Root without what lets it pass over file modes, where no other user can read Python or this checkout.
BOUND_ROOT = Identity(prefix=("setpriv", "--bounding-set=-dac_override,-dac_read_search"))


@pytest.fixture(scope="module")
def identity() -> Identity:
    """Somebody else than root."""
    for each in (OTHER_USER, BOUND_ROOT) if os.geteuid() == 0 else (Identity(),):
        with suppress(OSError):
            if each.run("-c", "import chameleon", env=environment(HOME="/")).code == 0:
                return each
    pytest.skip("no process can be started whom file modes bind")


@pytest.fixture
def as_user(identity: Identity) -> As:
    """Run the command line as a user who is not root, with a home that is given; None is no home."""

    def run(*arguments: str, home: Path | None) -> Outcome:
        env = environment(**({} if home is None else {"HOME": str(home)}))
        for name in ("CHAMELEON_STORE", "XDG_CACHE_HOME", *(["HOME"] if home is None else [])):
            env.pop(name, None)
        return identity.run("-m", "chameleon", *arguments, env=env)

    return run


HOMES = ["closed", "missing", "none", "a file"]


@pytest.fixture(params=HOMES)
def home(request: pytest.FixtureRequest, place: Path) -> Path | None:
    """A home that nothing can be written to."""
    path = place / "shut" / "home"
    path.parent.mkdir()
    if request.param == "closed":
        path.mkdir(mode=0o555)
    elif request.param == "a file":
        path.write_text("no folder")
    path.parent.chmod(0o555)
    return None if request.param == "none" else path


def test_without_a_home_everything_is_done(
    loopback: Start, as_user: As, identity: Identity, place: Path, home: Path | None
) -> None:
    server, case = loopback(reply), Case(place / "case", 4)
    arguments = question(place)
    identity.give(place)
    asked = as_user(*arguments, home=home)
    assert asked.code == 0 and asked.out == "1007\n", asked.err
    ran = as_user(*case.arguments(store="auto"), home=home)
    assert ran.code == 0, ran.err
    case.check()
    assert len(server.requests) == 5
    for outcome in (asked, ran):
        assert "Traceback" not in outcome.err
        lines = [line for line in outcome.err.splitlines() if line.startswith("chameleon: ")]
        assert len(lines) <= 1 and all("are not recorded" in line for line in lines), outcome.err
    if home is not None and home.is_dir():
        assert not list(home.iterdir())


def test_doctor_and_index_need_no_home(as_user: As, identity: Identity, place: Path) -> None:
    home = place / "home"
    home.mkdir(mode=0o555)
    (place / "sources").mkdir()
    (place / "sources" / "cities.csv").write_text("name,place\nLyon,France\nPorto,Portugal\n")
    identity.give(place)
    looked = as_user("doctor", home=home)
    assert looked.code == 0 and "Traceback" not in looked.out + looked.err, looked.err
    index = str(place / "index")
    made = as_user("index", str(place / "sources"), "--out", index, "--retriever", "bm25", home=home)
    assert made.code == 0, made.err
    asked = as_user("ask", "What is the place of Porto?", "--index", index, home=home)
    assert asked.code == 0 and "Portugal" in asked.out, asked.err


def test_what_may_not_be_written_is_told(
    loopback: Start, as_user: As, identity: Identity, place: Path
) -> None:
    server, case = loopback(reply), Case(place / "case", 2)
    data, log = ROOT / "demos/data/league.csv", place / "closed" / "log.jsonl"
    case.out = place / "closed" / "out"
    case.out.parent.mkdir()
    identity.give(place)
    assert as_user(*case.arguments(), home=place).code == 0
    case.check()
    log.write_text("")
    identity.give(place)
    for path in (*case.out.iterdir(), log):
        path.chmod(0o444)
    for path in (case.out, case.out.parent):
        path.chmod(0o555)
    before, requests = (case.out / "results.jsonl").read_bytes(), len(server.requests)
    question = ["ask", "How many teams are there?", "--table", str(data), "--inventory", "tables_offline"]
    for named, arguments in {
        case.out: case.arguments(),
        log: [*question, "--log", str(log)],
        log.with_name("new.jsonl"): [*question, "--log", str(log.with_name("new.jsonl"))],
        log.with_name("index"): ["index", str(data), "--out", str(log.with_name("index"))],
    }.items():
        line = told(as_user(*arguments, home=place))
        assert str(named) in line and "ermission denied" in line, line
    assert (case.out / "results.jsonl").read_bytes() == before and len(server.requests) == requests
    assert as_user("report", str(case.out), home=place).code == 0, "reading is enough for a report"
