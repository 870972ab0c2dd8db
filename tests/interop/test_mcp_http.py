"""Servers over HTTP that die, end sessions and break replies: each told, and the next call answered."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chameleon import Executor, Inventory, State
from chameleon.interop.mcp_pipes import ServerFailed

pytest.importorskip("mcp")
RAW, SDK = Path(__file__).with_name("raw_server.py"), Path(__file__).with_name("sdk_server.py")
Start = Callable[[str], subprocess.Popen[bytes]]


@pytest.fixture
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture
def start(tmp_path: Path, port: int) -> Iterator[Start]:
    """Return what starts the server, always at the same port."""
    running: list[subprocess.Popen[bytes]] = []

    def started(way: str) -> subprocess.Popen[bytes]:
        command = [str(SDK)] if way == "sdk" else [str(RAW), way]
        running.append(
            subprocess.Popen([sys.executable, *command, str(port)], cwd=tmp_path, stderr=subprocess.DEVNULL)
        )
        for _ in range(200):
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
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
        ("500", "could not start: HTTP 500 Internal Server Error. Is the server running there"),
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
def test_a_server_that_began_anew_is_called_in_a_new_session(
    tmp_path: Path, start: Start, made: Callable[[], Inventory], way: str
) -> None:
    process = start(way)
    inventory = made()
    for _ in range(5):  # more often than a command is started
        assert run(inventory).answer == "a text"
        process.kill()
        process.wait()
        process = start(way)
    assert calls(tmp_path) == 5


def test_a_server_that_is_off_is_told_and_found_again(
    start: Start, made: Callable[[], Inventory], capfd: pytest.CaptureFixture[str]
) -> None:
    process = start("")
    inventory = made()
    process.kill()
    process.wait()
    for _ in range(5):
        told = error(inventory)
        assert "could not start: ConnectError" in told and "may have done" not in told
    start("")
    assert run(inventory).answer == "a text"
    assert "Traceback" not in capfd.readouterr().err


def test_a_session_that_ends_each_time_is_given_up(
    tmp_path: Path, start: Start, made: Callable[[], Inventory]
) -> None:
    start("forgets")
    assert "could not run text: it has ended the session" in error(made())
    assert calls(tmp_path) == 2


@pytest.mark.parametrize(
    ("way", "told"),
    [
        ("dies", "RemoteProtocolError"),
        ("cut", "RemoteProtocolError"),
        ("large", "a reply has more than 4,194,304 bytes"),
        ("packed", "its replies are packed"),
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
    assert run(inventory).answer == "a text"
    assert "mcp" not in capfd.readouterr().err  # no trace of the SDK's


def test_a_server_of_the_newest_revision_is_slow_killed_and_found_again(
    tmp_path: Path, start: Start, port: int
) -> None:
    def made(timeout: float) -> Inventory:
        entry = {"mcp": {"url": f"http://127.0.0.1:{port}/mcp", "timeout": timeout}, "allow": ["echo"]}
        plan = [{"module": "echo", "args": {"text": "hi"}}]
        data = {"name": "t", "planner": {"use": "fixed", "plan": plan}, "modules": {"sdk": entry}}
        return Inventory.parse(data, tmp_path)

    process = start("sdk")
    impatient, patient = made(2), made(20)
    assert run(impatient).answer == run(patient).answer == "hi"
    os.kill(process.pid, signal.SIGSTOP)
    assert "within 2 s" in error(impatient)
    threading.Timer(0.5, process.kill).start()
    assert "could not run echo" in (told := error(patient)) and "is not asked again" in told
    process.wait()
    assert "could not start: ConnectError" in error(patient)
    start("sdk")
    assert run(patient).answer == run(impatient).answer == "hi"
