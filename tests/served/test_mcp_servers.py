"""Servers of the Model Context Protocol that others wrote: listed, called, failing, slow, killed, replayed.

They are looked for in the folder that CHAMELEON_MCP_SERVERS names, where these lines have put them:

    npm install @modelcontextprotocol/server-everything @modelcontextprotocol/server-filesystem
    python -m venv v && v/bin/pip install mcp-server-time

A server that is not there is skipped.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from chameleon import Executor, Inventory, State
from chameleon.core.log import EventLog

HOME = Path(os.environ.get("CHAMELEON_MCP_SERVERS", "no such folder")).absolute()
pytestmark = pytest.mark.skipif(not HOME.is_dir(), reason="CHAMELEON_MCP_SERVERS names no folder of servers")
pytest.importorskip("mcp")
NODE = HOME / "node_modules/.bin"


@dataclass(frozen=True)
class Server:
    """A server: how it is started, how many tools it has, a call that works and one that fails."""

    command: tuple[str, ...]
    tools: int
    works: tuple[str, Mapping[str, Any], str]
    fails: tuple[str, Mapping[str, Any], str]


TOKYO = {"source_timezone": "Etc/UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}
SERVERS = {
    "everything": Server(
        (str(NODE / "mcp-server-everything"),),
        *(13, ("echo", {"message": "hi"}, "Echo: hi")),
        ("get_structured_content", {"location": "Oslo"}, "Input validation error"),
    ),
    "filesystem": Server(
        (str(NODE / "mcp-server-filesystem"), "."),
        *(14, ("read_text_file", {"path": "a.txt"}, "hello")),
        ("read_text_file", {"path": "none.txt"}, "ENOENT"),
    ),
    "time": Server(
        (str(HOME / "v/bin/mcp-server-time"),),
        *(2, ("convert_time", TOKYO, "+9.0h")),
        ("get_current_time", {"timezone": "Nowhere/City"}, "Nowhere/City"),
    ),
}


def inventory(folder: Path, mcp: Mapping[str, Any], *plan: tuple[str, Mapping[str, Any]]) -> Inventory:
    steps = [{"module": name, "args": dict(args)} for name, args in plan]
    modules = {"server": {"mcp": dict(mcp), "allow": sorted({name for name, _ in plan})}}
    data = {"name": "t", "planner": {"use": "fixed", "plan": steps}, "modules": modules}
    (folder / "t.yaml").write_text(json.dumps(data))
    return Inventory.load(folder / "t.yaml")


def run(made: Inventory, log: Any = ()) -> State:
    return Executor(made).run({"question": "q"}, log)


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Server:
    """Return a server, or skip the test where it is not installed."""
    (tmp_path / "a.txt").write_text("hello")
    server = SERVERS[request.param]
    if not Path(server.command[0]).exists():
        pytest.skip(f"{request.param} is not installed")
    return server


def noted(server: Server, folder: Path) -> tuple[str, ...]:
    """Return a command that starts a server and notes its process in the file `pids`."""
    (folder / "kept.sh").write_text(f"#!/bin/sh\necho $$ >> pids\nexec {' '.join(server.command)}\n")
    return ("sh", str(folder / "kept.sh"))


def pids(folder: Path) -> list[int]:
    return [int(each) for each in (folder / "pids").read_text().split()]


def test_it_is_listed_and_called_and_a_call_that_fails_is_told(server: Server, tmp_path: Path) -> None:
    for name, args, said in (server.works, server.fails):
        made = inventory(tmp_path, {"command": list(server.command)}, (name, args))
        state = run(made)
        assert len(made.cards) == server.tools and said in (state.why or str(state.answer))


def test_it_is_slow_killed_in_the_middle_and_started_again(server: Server, tmp_path: Path) -> None:
    name, args, said = server.works
    mcp = {"command": list(noted(server, tmp_path)), "timeout": 3}
    made = inventory(tmp_path, mcp, (name, args))
    assert said in str(run(made).answer)
    (pid,) = pids(tmp_path)
    os.kill(pid, signal.SIGSTOP)
    assert "within 3 s" in run(made).why
    os.kill(pid, signal.SIGCONT)
    assert said in str(run(made).answer)

    os.kill(pid, signal.SIGSTOP)
    threading.Timer(0.5, os.kill, (pid, signal.SIGKILL)).start()
    dying = run(made)
    assert "it ended with code -9" in dying.why and "is not called again" in dying.why
    assert pids(tmp_path) == [pid] and said in str(run(made).answer) and len(pids(tmp_path)) == 2


def replayed(folder: Path, first: State) -> None:
    """Run t.yaml anew on its log, whole and cut after the last step: the same bytes, the same output."""
    whole = (folder / "run.jsonl").read_bytes()
    assert first.started is not None
    made = Inventory.load(folder / "t.yaml", recorded=first.started.settings)
    for lines in (whole.splitlines(keepends=True), whole.splitlines(keepends=True)[:-1]):
        (folder / "again.jsonl").write_bytes(b"".join(lines))
        with EventLog(folder / "again.jsonl") as log:
            assert str(run(made, log)) == str(first)
        assert (folder / "again.jsonl").read_bytes() == whole


def test_it_is_replayed_to_the_byte_when_it_is_off(server: Server, tmp_path: Path) -> None:
    name, args, said = server.works
    mcp = {"command": list(noted(server, tmp_path))}
    with EventLog(tmp_path / "run.jsonl") as log:
        first = run(inventory(tmp_path, mcp, (name, args), (name, args)), log)
    assert said in str(first.answer)
    (pid,) = pids(tmp_path)
    os.kill(pid, signal.SIGKILL)
    (tmp_path / "kept.sh").unlink()
    replayed(tmp_path, first)
