"""One sealed sandbox for all files; the tests that need it skip where it cannot run."""

import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import localcontext
from pathlib import Path
from typing import Any

import psutil
import pytest

from chameleon.sandbox import Limits, Sandbox, make_sandbox
from chameleon.sandbox.inside.encode import Encoder
from chameleon.sandbox.sealed_process import why_unusable
from tests.engine.files import pieces

SECRET = "canary-5f1c"
LIMITS = Limits(wall_s=5, cpu_s=5, memory_mb=256)
_strangers: set[int] = set()


@pytest.fixture(scope="session")
def sealed() -> Iterator[Sandbox]:
    if reason := why_unusable():
        pytest.skip(reason)
    with make_sandbox("sealed", limits=LIMITS) as sandbox:
        yield sandbox


@pytest.fixture(scope="module", autouse=True)
def _know_strangers() -> None:
    _strangers.update(process.pid for process in psutil.Process().children())


def own_children() -> list[psutil.Process]:
    """Return the processes that this test file started: zygotes, each a child that waits for the real one."""
    return [process for process in psutil.Process().children() if process.pid not in _strangers]


def programs(name: str) -> list[str]:
    """Return the texts of `programs/<name>.txt`."""
    return pieces(__file__, f"programs/{name}.txt")


def each_program(*kinds: str) -> pytest.MarkDecorator:
    """Run a test with every program of some kinds; "@" is the canary folder, "@port" its port."""
    cases = [(code, kind, f"{kind}-{n}") for kind in kinds for n, code in enumerate(programs(kind), start=1)]
    return pytest.mark.parametrize(("code", "kind"), [pytest.param(c, kind, id=id) for c, kind, id in cases])


def each_end(names: str, kind: str, *more: tuple[Any, ...]) -> pytest.MarkDecorator:
    """Run a test with every program of a kind below what it comes to as JSON, the values of these names."""
    found = [piece.partition("\n") for piece in programs(kind)]
    cases = [(code, *json.loads(end)) for end, _, code in found]
    return pytest.mark.parametrize(["code", *names.split()], [*cases, *more])


def in_plain_python(code: str) -> Any:
    """Return as JSON what a program leaves in `ans` in this process, whose decimal context it may change."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    with localcontext():
        exec(code, namespace)
    return Encoder(1 << 20, depth=12, digits=4000).encode(namespace["ans"])


@dataclass
class Canary:
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
