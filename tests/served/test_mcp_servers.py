"""Servers of the Model Context Protocol that others wrote: listed, called, failing, slow, killed, replayed.

They are looked for in the folder that CHAMELEON_MCP_SERVERS names, where these lines have put them:

    npm install @modelcontextprotocol/server-everything @modelcontextprotocol/server-filesystem
    python -m venv v && v/bin/pip install mcp-server-time
    python -m venv v1 && v1/bin/pip install mcp-server-sqlite "mcp<2"
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from chameleon import Executor, Inventory, State
from chameleon.log import EventLog

HOME = Path(os.environ.get("CHAMELEON_MCP_SERVERS", "no such folder")).absolute()
pytestmark = pytest.mark.skipif(not HOME.is_dir(), reason="CHAMELEON_MCP_SERVERS names no folder of servers")
pytest.importorskip("mcp")
NODE = HOME / "node_modules/.bin"


@dataclass(frozen=True)
class Server:
    """A server: how it is started, the revision that it speaks, a call that works and one that fails."""

    command: tuple[str, ...]
    revision: str
    tools: int
    works: tuple[str, Mapping[str, Any], str]
    fails: tuple[str, Mapping[str, Any], str]


SERVERS = {
    "everything": Server(
        (str(NODE / "mcp-server-everything"),),
        "2025-11-25",
        13,
        ("echo", {"message": "hi"}, "Echo: hi"),
        ("get_structured_content", {"location": "Oslo"}, "'Oslo' is not one of"),
    ),
    "filesystem": Server(
        (str(NODE / "mcp-server-filesystem"), "."),
        "2025-11-25",
        14,
        ("read_text_file", {"path": "a.txt"}, "hello"),
        ("read_text_file", {"path": "none.txt"}, "ENOENT"),
    ),
    "time": Server(
        (str(HOME / "v/bin/mcp-server-time"),),
        "2026-07-28",
        2,
        (
            "convert_time",
            {"source_timezone": "Etc/UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"},
            "+9.0h",
        ),
        ("get_current_time", {"timezone": "Nowhere/City"}, "Nowhere/City"),
    ),
    "sqlite": Server(
        (str(HOME / "v1/bin/mcp-server-sqlite"), "--db-path", "t.db"),
        "2025-11-25",
        6,
        ("read_query", {"query": "select 6 * 7 as n"}, "42"),
        ("read_query", {"query": "drop table x"}, "Only SELECT queries are allowed"),
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
    (tmp_path / "a.txt").write_text("hello")
    return SERVERS[request.param]


def test_it_is_listed_and_called(server: Server, tmp_path: Path) -> None:
    name, args, said = server.works
    made = inventory(tmp_path, {"command": list(server.command)}, (name, args))
    assert len(made.cards) == server.tools
    assert said in str(run(made).answer)


def test_it_speaks_its_revision(server: Server, tmp_path: Path) -> None:
    from chameleon.interop.mcp_client import connection
    from chameleon.inventory.schema import McpSpec

    spec = McpSpec.model_validate({"command": list(server.command)})
    found = connection(spec, tmp_path)
    assert len(found.tools()) == server.tools
    assert found._client.protocol_version == server.revision


def test_a_call_that_fails_is_told(server: Server, tmp_path: Path) -> None:
    name, args, said = server.fails
    state = run(inventory(tmp_path, {"command": list(server.command)}, (name, args)))
    assert (
        state.ended is not None and said in f"{state.ended.error} {state.answer}"
    )  # sqlite says it as a text


def test_it_is_killed_and_started_again(server: Server, tmp_path: Path) -> None:
    name, args, said = server.works
    script = tmp_path / "kept.sh"
    script.write_text(f"#!/bin/sh\necho $$ >> pids\nexec {' '.join(server.command)}\n")
    made = inventory(tmp_path, {"command": ["sh", str(script)]}, (name, args))
    assert said in str(run(made).answer)
    os.kill(int((tmp_path / "pids").read_text().split()[-1]), signal.SIGKILL)
    time.sleep(0.3)
    assert said in str(run(made).answer)
    assert len((tmp_path / "pids").read_text().split()) == 2


def test_it_is_replayed_to_the_byte_when_it_is_off(server: Server, tmp_path: Path) -> None:
    name, args, said = server.works
    script = tmp_path / "kept.sh"
    script.write_text(f"#!/bin/sh\nexec {' '.join(server.command)}\n")
    with EventLog(tmp_path / "run.jsonl") as log:
        first = run(inventory(tmp_path, {"command": ["sh", str(script)]}, (name, args), (name, args)), log)
    script.unlink()
    whole = (tmp_path / "run.jsonl").read_bytes()
    assert said in str(first.answer) and first.begun is not None
    made = Inventory.load(tmp_path / "t.yaml", recorded=first.begun.settings)
    for lines in (whole.splitlines(keepends=True), whole.splitlines(keepends=True)[:-1]):
        (tmp_path / "again.jsonl").write_bytes(b"".join(lines))
        with EventLog(tmp_path / "again.jsonl") as log:
            assert str(run(made, log)) == str(first)
        assert (tmp_path / "again.jsonl").read_bytes() == whole


LONG = ("trigger_long_running_operation", {"duration": 20, "steps": 2})


def test_a_slow_call_is_given_up(tmp_path: Path) -> None:
    mcp = {"command": list(SERVERS["everything"].command), "timeout": 2}
    begun = time.monotonic()
    state = run(inventory(tmp_path, mcp, LONG))
    assert state.ended is not None and "within 2 s" in str(state.ended.error)
    assert time.monotonic() - begun < 15


def test_a_call_that_a_server_dies_in_is_told_and_not_repeated(
    tmp_path: Path,
) -> None:
    script = tmp_path / "kept.sh"
    script.write_text(f"#!/bin/sh\necho $$ >> pids\nexec {SERVERS['everything'].command[0]}\n")
    made = inventory(tmp_path, {"command": ["sh", str(script)]}, LONG)

    def kill() -> None:
        os.kill(int((tmp_path / "pids").read_text().split()[-1]), signal.SIGKILL)

    timer = threading.Timer(1.0, kill)
    timer.start()
    state = run(made)
    assert state.ended is not None and "it ended with code -9" in str(state.ended.error)
    assert "is not asked again" in str(state.ended.error)
    assert len((tmp_path / "pids").read_text().split()) == 1


def test_pictures_links_and_structured_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAMELEON_RECEIVED", str(tmp_path / "received"))
    mcp = {"command": list(SERVERS["everything"].command)}
    picture = run(inventory(tmp_path, mcp, ("get_tiny_image", {}))).answer
    assert any(isinstance(each, Path) and each.suffix == ".png" for each in picture)
    weather = run(inventory(tmp_path, mcp, ("get_structured_content", {"location": "Chicago"}))).answer
    assert {"temperature", "conditions", "humidity"} <= weather.keys()
    links = run(inventory(tmp_path, mcp, ("get_resource_links", {"count": 2}))).answer
    assert sum("uri" in each for each in links if isinstance(each, Mapping)) == 2
    names = run(inventory(tmp_path, mcp, ("get_env", {}))).answer
    assert "CHAMELEON_MCP_SERVERS" not in str(names) and "PATH" in str(names)


@pytest.fixture
def address(tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [SERVERS["everything"].command[0], "streamableHttp"]
    environment = {**os.environ, "PORT": str(port)}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        for _ in range(200):
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp", process
        process.kill()


def test_streamable_http_is_called_slow_killed_and_replayed(
    tmp_path: Path, address: tuple[str, subprocess.Popen[bytes]]
) -> None:
    url, process = address
    echo = ("echo", {"message": "hi"})
    with EventLog(tmp_path / "run.jsonl") as log:
        first = run(inventory(tmp_path, {"url": url}, echo), log)
    assert first.answer == "Echo: hi" and first.begun is not None
    slow = run(inventory(tmp_path, {"url": url, "timeout": 2}, LONG))
    assert slow.ended is not None and "within 2 s" in str(slow.ended.error)
    made = inventory(tmp_path, {"url": url}, LONG)
    timer = threading.Timer(1.0, process.kill)
    timer.start()
    dead = run(made)
    assert dead.ended is not None and "could not run trigger" in str(dead.ended.error), dead.ended
    again = inventory_of(tmp_path, url, echo, first)
    with EventLog(tmp_path / "run.jsonl") as log:
        assert run(again, log).answer == "Echo: hi"


def inventory_of(folder: Path, url: str, step: Any, state: State) -> Inventory:
    """Return the inventory of a run whose server is off."""
    steps = [{"module": step[0], "args": dict(step[1])}]
    modules = {"server": {"mcp": {"url": url}, "allow": [step[0]]}}
    data = {"name": "t", "planner": {"use": "fixed", "plan": steps}, "modules": modules}
    (folder / "t.yaml").write_text(json.dumps(data))
    assert state.begun is not None
    return Inventory.load(folder / "t.yaml", recorded=state.begun.settings)
