"""Servers of the Model Context Protocol that others wrote.

They are looked for in the folder that CHAMELEON_MCP_SERVERS names, where these lines have put them:

    npm install @modelcontextprotocol/server-everything @modelcontextprotocol/server-filesystem
    python -m venv v && v/bin/pip install mcp-server-time

A server that is not there is skipped.
"""

import json
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from chameleon import Executor, Inventory, State
from chameleon.core.log import EventLog

HOME = Path(os.environ.get("CHAMELEON_MCP_SERVERS", "no such folder")).absolute()
pytestmark = pytest.mark.skipif(not HOME.is_dir(), reason="CHAMELEON_MCP_SERVERS names no folder of servers")
pytest.importorskip("mcp")
NODE = HOME / "node_modules/.bin"


Call = tuple[str, dict[str, Any], str]
TOKYO = {"source_timezone": "Etc/UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}
# How a server is started, how many tools it has, a call that works and one that fails, with what is told.
SERVERS: dict[str, tuple[list[str], int, Call, Call]] = {
    "everything": (
        [str(NODE / "mcp-server-everything")],
        *(13, ("echo", {"message": "hi"}, "Echo: hi")),
        ("get_structured_content", {"location": "Oslo"}, "Input validation error"),
    ),
    "filesystem": (
        [str(NODE / "mcp-server-filesystem"), "."],
        *(14, ("read_text_file", {"path": "a.txt"}, "hello")),
        ("read_text_file", {"path": "none.txt"}, "ENOENT"),
    ),
    "time": (
        [str(HOME / "v/bin/mcp-server-time")],
        *(2, ("convert_time", TOKYO, "+9.0h")),
        ("get_current_time", {"timezone": "Nowhere/City"}, "Nowhere/City"),
    ),
}


def run(made: Inventory, log: Any = ()) -> State:
    return Executor(made).run({"question": "q"}, log)


@pytest.mark.parametrize("name", SERVERS)
def test_it_is_listed_called_slow_killed_started_again_and_replayed(name: str, tmp_path: Path) -> None:
    def inventory(command: list[str], call: str, args: Any) -> Inventory:
        server = {"mcp": {"command": command, "timeout": 3}, "allow": [call]}
        data = {"name": "t", "planner": {"use": "fixed", "plan": [{"module": call, "args": args}]}}
        (tmp_path / "t.yaml").write_text(json.dumps({**data, "modules": {"server": server}}))
        return Inventory.load(tmp_path / "t.yaml")

    (command, tools, works, fails), pids = SERVERS[name], tmp_path / "pids"
    (tmp_path / "a.txt").write_text("hello")
    if not Path(command[0]).exists():
        pytest.skip(f"{name} is not installed")
    for call, args, told in (works, fails):
        made = inventory(command, call, args)
        state = run(made)
        assert len(made.cards) == tools and told in (state.why or str(state.answer))

    kept, (call, args, said) = tmp_path / "kept.sh", works
    kept.write_text(f"#!/bin/sh\necho $$ >> pids\nexec {' '.join(command)}\n")
    made = inventory(["sh", str(kept)], call, args)
    assert said in str(run(made).answer)
    pid = int(pids.read_text())
    os.kill(pid, signal.SIGSTOP)
    assert "within 3 s" in run(made).why
    os.kill(pid, signal.SIGCONT)
    with EventLog(tmp_path / "run.jsonl") as log:
        first = run(made, log)
    assert said in str(first.answer) and first.started is not None
    os.kill(pid, signal.SIGSTOP)
    threading.Timer(0.5, os.kill, (pid, signal.SIGKILL)).start()
    dying = run(made)
    assert "it ended with code -9" in dying.why and "is not called again" in dying.why
    assert said in str(run(made).answer) and len(pids.read_text().split()) == 2

    os.kill(int(pids.read_text().split()[1]), signal.SIGKILL)
    kept.unlink()
    made = Inventory.load(tmp_path / "t.yaml", recorded=first.started.settings)
    whole = (tmp_path / "run.jsonl").read_bytes()
    for given in (whole, whole[: whole[:-1].rindex(b"\n") + 1]):  # also cut after the last step
        (tmp_path / "again.jsonl").write_bytes(given)
        with EventLog(tmp_path / "again.jsonl") as log:
            assert str(run(made, log)) == str(first)
        assert (tmp_path / "again.jsonl").read_bytes() == whole
