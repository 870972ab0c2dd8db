"""Servers over HTTP that die, lose sessions and break replies: one call fails, and the next is answered."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from chameleon import Executor, Inventory, State
from chameleon.interop.mcp_client import ServerFailed
from tests.local_server import free_port, listening

pytest.importorskip("mcp")
RAW, SDK = Path(__file__).with_name("raw_server.py"), Path(__file__).with_name("sdk_server.py")


class Servers:
    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.running: subprocess.Popen[bytes] | None = None

    def start(self, way: str) -> None:
        self.kill()
        command = [str(SDK)] if way == "sdk" else [str(RAW), way]
        self.running = listening([sys.executable, *command, str(self.port)], self.port, cwd=self.folder)

    def kill(self) -> None:
        if self.running is not None:
            self.running.kill()
            self.running.wait()

    def inventory(self, step: Any = "text", name: str = "text") -> Inventory:
        entry = {"mcp": {"url": f"http://127.0.0.1:{self.port}/mcp", "timeout": 20}, "allow": [name]}
        data = {"name": "t", "planner": {"use": "fixed", "plan": [step]}, "modules": {"raw": entry}}
        return Inventory.parse(data, self.folder)

    @property
    def calls(self) -> int:
        return len((self.folder / "calls").read_text().split())


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Servers]:
    made = Servers(tmp_path)
    yield made
    with suppress(ProcessLookupError):
        made.kill()


def run(inventory: Inventory) -> State:
    return Executor(inventory).run({"question": "q"})


def error(inventory: Inventory) -> str:
    state = run(inventory)
    assert state.ended is not None
    return str(state.ended.error)


@pytest.mark.parametrize(
    ("way", "told"),
    [
        ("401", "could not start: HTTP 401 Unauthorized. Set a key: `headers:"),
        ("html", "could not start: it returned an HTML page"),
        ("500", "could not start: HTTP 500 Internal Server Error"),
        ("307", "could not start: Redirect to http://127.0.0.1:9/elsewhere not followed"),
    ],
)
def test_a_server_that_refuses_says_how(servers: Servers, way: str, told: str) -> None:
    servers.start(way)
    with pytest.raises(ServerFailed) as caught:
        servers.inventory()
    assert told in str(caught.value)


@pytest.mark.parametrize("way", ["400", "404"])
def test_a_lost_session_fails_one_call_and_the_next_begins_another(servers: Servers, way: str) -> None:
    servers.start(way)
    inventory = servers.inventory()
    for _ in range(2):
        assert run(inventory).answer == "a text"
        servers.start(way)
        assert "No valid session ID" in error(inventory)
    assert servers.calls == 2


def test_a_server_that_is_off_is_found_again(servers: Servers, capfd: pytest.CaptureFixture[str]) -> None:
    servers.start("")
    inventory = servers.inventory()
    servers.kill()
    for purpose in ("run text", "start"):
        told = error(inventory)
        assert f"could not {purpose}: ConnectError" in told and "may have done" not in told
    servers.start("")
    assert run(inventory).answer == "a text"
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize(
    ("way", "told"),
    [
        ("dies", "RemoteProtocolError"),
        ("cut", "RemoteProtocolError"),
        ("large", "it has more than 4,194,304 bytes"),
        ("packed", "it compresses its replies"),
    ],
)
def test_no_call_is_repeated(
    servers: Servers, capfd: pytest.CaptureFixture[str], way: str, told: str
) -> None:
    servers.start(way)
    inventory = servers.inventory()
    found = error(inventory)
    assert told in found and "It may have done its work, so it is not called again" in found
    assert servers.calls == 1
    servers.start("")
    assert "a text" in (run(inventory).answer, run(inventory).answer)  # at the latest in a new session
    assert "mcp" not in capfd.readouterr().err  # no trace of the SDK's
