"""Users whose home is missing or closed, and who may not write where they point: told, and no answer lost."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.conftest import thorough
from tests.e2e.commands import Outcome, environment
from tests.loopback import Start
from tests.promises.running import Case, question, reply

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs users and file modes")
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


@pytest.mark.parametrize(
    "kind", ["closed", "none", *(pytest.param(n, marks=thorough) for n in ("missing", "a file"))]
)
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
