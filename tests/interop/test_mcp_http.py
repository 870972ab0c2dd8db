"""Servers over HTTP that die, lose sessions and break replies: one call fails, and the next is answered."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chameleon import Executor, Inventory, State
from chameleon.interop.mcp_client import ServerFailed
from tests.local_server import free_port, listening

pytest.importorskip("mcp")
RAW, SDK = Path(__file__).with_name("raw_server.py"), Path(__file__).with_name("sdk_server.py")
Start = Callable[[str], subprocess.Popen[bytes]]


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def start(tmp_path: Path, port: int) -> Iterator[Start]:
    """Return what starts the server, always at the same port."""
    running: list[subprocess.Popen[bytes]] = []

    def started(way: str) -> subprocess.Popen[bytes]:
        command = [str(SDK)] if way == "sdk" else [str(RAW), way]
        running.append(listening([sys.executable, *command, str(port)], port, cwd=tmp_path))
        return running[-1]

    yield started
    for process in running:
        process.kill()
        process.wait()


@pytest.fixture
def made(tmp_path: Path, port: int) -> Callable[[], Inventory]:
    entry = {"mcp": {"url": f"http://127.0.0.1:{port}/mcp", "timeout": 10}, "allow": ["text"]}
    data = {"name": "t", "planner": {"use": "fixed", "plan": ["text"]}, "modules": {"raw": entry}}
    return lambda: Inventory.parse(data, tmp_path)


def run(inventory: Inventory) -> State:
    return Executor(inventory).run({"question": "q"})


def error(inventory: Inventory) -> str:
    state = run(inventory)
    assert state.ended is not None
    return str(state.ended.error)


def calls(folder: Path) -> int:
    return len((folder / "calls").read_text().split())


@pytest.mark.parametrize(
    ("way", "told"),
    [
        ("401", "could not start: HTTP 401 Unauthorized. Give it a key: `headers:"),
        ("html", "could not start: it answers with an HTML page. Check its address"),
        ("500", "could not start: HTTP 500 Internal Server Error. Is the server running there"),
        ("307", "could not start: Redirect to http://127.0.0.1:9/elsewhere not followed"),
    ],
)
def test_a_server_that_refuses_says_how(
    start: Start, made: Callable[[], Inventory], way: str, told: str
) -> None:
    start(way)
    with pytest.raises(ServerFailed) as caught:
        made()
    assert told in str(caught.value)


@pytest.mark.parametrize("way", ["400", "404"])
def test_a_lost_session_fails_one_call_and_the_next_begins_another(
    tmp_path: Path, start: Start, made: Callable[[], Inventory], way: str
) -> None:
    process = start(way)
    inventory = made()
    for _ in range(3):
        assert run(inventory).answer == "a text"
        process.kill()
        process.wait()
        process = start(way)
        assert "No valid session ID" in error(inventory)
    assert calls(tmp_path) == 3


def test_a_server_that_is_off_is_found_again(
    start: Start, made: Callable[[], Inventory], capfd: pytest.CaptureFixture[str]
) -> None:
    process = start("")
    inventory = made()
    process.kill()
    process.wait()
    for purpose in ("run text", "start"):
        told = error(inventory)
        assert f"could not {purpose}: ConnectError" in told and "may have done" not in told
    start("")
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
def test_a_call_that_breaks_is_told_and_never_asked_twice(
    tmp_path: Path,
    start: Start,
    made: Callable[[], Inventory],
    capfd: pytest.CaptureFixture[str],
    way: str,
    told: str,
) -> None:
    process = start(way)
    inventory = made()
    found = error(inventory)
    assert told in found and "It may have done its work, and is not asked again" in found
    assert calls(tmp_path) == 1
    process.kill()
    process.wait()
    start("")
    assert "a text" in (run(inventory).answer, run(inventory).answer)  # at the latest in a new session
    assert "mcp" not in capfd.readouterr().err  # no trace of the SDK's


def test_a_server_of_the_newest_revision_is_killed_and_found_again(
    tmp_path: Path, start: Start, port: int
) -> None:
    entry = {"mcp": {"url": f"http://127.0.0.1:{port}/mcp", "timeout": 20}, "allow": ["echo"]}
    plan = [{"module": "echo", "args": {"text": "hi"}}]
    data = {"name": "t", "planner": {"use": "fixed", "plan": plan}, "modules": {"sdk": entry}}
    process = start("sdk")
    inventory = Inventory.parse(data, tmp_path)
    assert run(inventory).answer == "hi"
    os.kill(process.pid, signal.SIGSTOP)
    threading.Timer(0.5, process.kill).start()
    assert "could not run echo" in (told := error(inventory)) and "is not asked again" in told
    process.wait()
    assert "could not start: ConnectError" in error(inventory)
    start("sdk")
    assert run(inventory).answer == "hi"
