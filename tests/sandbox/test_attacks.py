"""Hostile programs, judged by what happens to the machine rather than by what they say.

A canary folder with a secret file, a secret in the environment and in memory, a listener on loopback;
after each attack nothing of it may have changed, leaked or been reached, and the next program is right.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from chameleon.sandbox import ExecResult, Sandbox
from tests.sandbox.conftest import each_program

SECRET = "canary-5f1c"
SECONDS = 0.3
IN_MEMORY = {"canary": SECRET}


@dataclass
class Canary:
    """What a program must not touch."""

    folder: Path
    listener: socket.socket

    @property
    def state(self) -> dict[str, tuple[int, bytes]]:
        files = (path for path in self.folder.rglob("*") if path.is_file())
        return {str(path): (path.stat().st_mode, path.read_bytes()) for path in files}

    def reached(self) -> bool:
        try:
            connection, _ = self.listener.accept()
        except BlockingIOError:
            return False
        connection.close()
        return True


@pytest.fixture
def canary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Canary]:
    monkeypatch.setenv("CANARY_KEY", SECRET)
    (tmp_path / "secret.txt").write_text(SECRET)
    (tmp_path / "secret_module.py").write_text(f"TOKEN = {SECRET!r}\n")
    (tmp_path / "keep").mkdir()
    (tmp_path / "keep" / "me").write_text("still here")
    for path in (tmp_path, *tmp_path.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.setblocking(False)
        yield Canary(tmp_path, listener)


BROKEN_BY_SIZE = ["ans = " + "(" * 3000 + ")" * 3000, "ans = " + "-" * 100_000 + "1"]


def attack(sandbox: Sandbox | Uncontained, canary: Canary, code: str, seconds: float = SECONDS) -> ExecResult:
    before = canary.state
    port = str(canary.listener.getsockname()[1])
    outcome = sandbox.run(code.replace("@port", port).replace("@", str(canary.folder)), timeout=seconds)
    assert outcome.wall_ms < 1000 * (seconds + 2)
    assert canary.state == before
    assert not canary.reached()
    told = f"{outcome.value} {outcome.message} {outcome.stdout}"
    assert SECRET not in told
    assert "PWNED" not in str(outcome.value)
    following = sandbox.run("import math\nans = [math.sqrt(16), len('abc'), 'ab'.upper(), str(2**70)]")
    assert following.value == [4.0, 3, "AB", str(2**70)]
    return outcome


class Uncontained:
    """Runs a program in this very process."""

    def run(self, code: str, timeout: float | None = None) -> ExecResult:
        namespace: dict[str, object] = {}
        exec(code, namespace)
        return ExecResult("ok", namespace["ans"], wall_ms=1)


@pytest.mark.parametrize(
    "code",
    [
        "with open('@/secret.txt') as file:\n    ans = file.read()",
        "import os\nans = os.remove('@/keep/me')",
        "import socket\nans = socket.create_connection(('127.0.0.1', @port)).close()",
    ],
)
def test_the_canaries_notice_an_escape(canary: Canary, code: str) -> None:
    with pytest.raises(AssertionError):
        attack(Uncontained(), canary, code)


@each_program("reads", "secrets", "network", "processes")
def test_nothing_is_read_reached_or_started(sealed: Sandbox, canary: Canary, code: str) -> None:
    outcome = attack(sealed, canary, code)
    assert outcome.status != "ok" or not outcome.value


@each_program("writes", "tampering")
def test_nothing_is_written_and_no_program_changes_the_next(
    sealed: Sandbox, canary: Canary, code: str
) -> None:
    attack(sealed, canary, code)


@each_program("exhaustion", "crashes")
def test_limits_hold_and_crashes_stay_inside(sealed: Sandbox, canary: Canary, code: str) -> None:
    assert attack(sealed, canary, code).status != "ok"


@pytest.mark.parametrize("code", BROKEN_BY_SIZE, ids=["parentheses", "minuses"])
def test_sources_that_break_a_parser(sealed: Sandbox, canary: Canary, code: str) -> None:
    assert attack(sealed, canary, code).status != "ok"


@each_program("channel")
def test_an_answer_cannot_be_forged(sealed: Sandbox, canary: Canary, code: str) -> None:
    assert attack(sealed, canary, code).status in ("error", "crashed", "timeout", "too_large")


@pytest.mark.slow
def test_nothing_of_a_program_goes_on_burning(sealed: Sandbox) -> None:
    sealed.run("while True:\n    pass", timeout=0.1)
    family = psutil.Process().children(recursive=True)
    before = sum(process.cpu_times().user for process in family)
    time.sleep(0.15)
    assert sum(process.cpu_times().user for process in family if process.is_running()) - before < 0.08


def test_no_trace_of_the_program_before_is_in_memory(sealed: Sandbox) -> None:
    """The zygote never holds a program, so a child that scans its own memory finds only itself."""
    marker = "trace-" + "9d2e"
    sealed.run(f"ans = '{marker}' * 100", {"hidden": marker})
    scan = (
        "import gc\nhalf = 'trace-'\n"
        "ans = [o for o in gc.get_objects() if isinstance(o, dict) and any("
        "type(v) is str and v.startswith(half) and len(v) > 6 for v in list(o.values()))]\nans = len(ans)"
    )
    assert sealed.run(scan).value == 0
