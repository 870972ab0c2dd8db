"""Inventories served over MCP: by the SDK's own client in memory, over stdio and over HTTP."""

import asyncio
import base64
import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

import jsonschema
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from chameleon import Budget, Executor, Inventory, State, Table, tool
from chameleon.core.log import event_from_json
from chameleon.errors import Declined, InventoryError
from chameleon.interop.inventory_server import MAX_PARALLEL_RUNS, MAX_TRACES, MAX_WAITING, InventoryServer
from chameleon.planners.fixed import Fixed
from tests.e2e.commands import ROOT, environment
from tests.interop.raw_server import PNG

LEAGUE = ROOT / "demos/data/league.csv"
CSV = "Team,Points\nKingsmere Town,47\nHarrow,12\n"
IN_JSON = ('[["Team", "Points"], ["Kingsmere Town", 47]]', '[{"Team": "Kingsmere Town", "Points": 47}]')
HOW_MANY = {"question": "How many points does Kingsmere Town have?"}
ASKED = {**HOW_MANY, "table": CSV}
BARE = {"question": "?"}


def served(*executors: Executor, **options: Any) -> InventoryServer:
    return InventoryServer(executors or [Executor("tables_offline")], **options)


def of(*tools: Any, name: str = "mine", **options: Any) -> Executor:
    for each in tools:
        each.__doc__ = "Does as it is called."
    made = {each.__name__: tool(each) for each in tools}
    settings = {key: options.pop(key) for key in ("about", "input_types") if key in options}
    return Executor(Inventory(name, Fixed([*made]), made, **settings), **options)


def results(server: InventoryServer, name: str, *given: dict[str, Any]) -> list[Any]:
    async def talk() -> list[Any]:
        async with Client(server.server()) as client:
            return [await client.call_tool(name, {**BARE, **each}) for each in given or ({},)]

    return asyncio.run(talk())


def text_of(result: Any) -> str:
    (content,) = result.content
    return str(content.text)


def hello() -> str:
    """Greets."""
    return "hello"


@pytest.mark.parametrize(("mode", "table"), [("auto", CSV), ("legacy", CSV), *(("auto", t) for t in IN_JSON)])
def test_an_inventory_is_a_tool_of_both_revisions(mode: str, table: str) -> None:
    said: list[str] = []

    async def hear(done: float, total: float | None, message: str | None) -> None:
        said.append(f"{done:g} {message}")

    async def talk() -> tuple[Any, Any, str]:
        async with Client(served().server(), mode=mode) as client:
            (tool,) = (await client.list_tools()).tools
            given = {**HOW_MANY, "table": table}
            result = await client.call_tool("tables_offline", given, progress_callback=hear)
            (trace,) = (await client.list_resources()).resources
            assert str(trace.uri) == result.structured_content["trace"]
            (content,) = (await client.read_resource(trace.uri)).contents
            return tool, result, content.text

    listed, result, trace = asyncio.run(talk())
    state = State.fold(event_from_json(json.loads(line)) for line in trace.splitlines())
    assert state.answer == "47" and isinstance(state.input["table"], Table)
    inventory = Inventory.load("tables_offline")
    assert listed.name == "tables_offline" and listed.description == inventory.about
    assert listed.input_schema["required"] == ["question", "table"]
    assert listed.input_schema["properties"].keys() == inventory.input_types.keys()
    assert not result.is_error and text_of(result) == "47"
    told = result.structured_content
    jsonschema.validate(told, listed.output_schema)
    assert (told["answer"], told["ended"], told["usage"]["calls"]) == ("47", "answered", 0)
    assert told["plan"] == ["table_reader", "final_answer"] and told["sources"][0]["rows"] == [1]
    steps = ["plan: table_reader → final_answer", "table_reader is done", "final_answer is done", "answered"]
    assert said == [f"{number} {step}" for number, step in enumerate(steps, 2)]


def test_the_last_traces_are_kept_and_of_a_shared_server_none_is_listed() -> None:
    async def talk() -> None:
        async with Client(served(of(hello), lists_runs=False).server()) as client:
            told = [await client.call_tool("mine", BARE) for _ in range(MAX_TRACES + 2)]
            traces = [each.structured_content["trace"] for each in told]
            assert not (await client.list_resources()).resources
            assert (await client.read_resource(traces[2])).contents
            with pytest.raises(MCPError, match="the last 100 are kept"):
                await client.read_resource(traces[1])

    asyncio.run(talk())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"tabel": CSV}, "Did you mean 'table'?"),
        ({}, "needs a table"),
        ({"question": 3, "table": CSV}, "question is an int"),
        ({"table": "league.csv"}, "table is a single line, not a table"),
    ],
)
def test_wrong_arguments_are_refused(given: dict[str, Any], said: str) -> None:
    (result,) = results(served(), "tables_offline", given)
    assert result.is_error and said in text_of(result)


def test_what_fails_is_an_error_and_what_declines_a_result() -> None:
    def decline() -> str:
        raise Declined("nobody knows", hint="Ask another.")

    def fail() -> str:
        raise RuntimeError("broken: OPENAI_API_KEY=sk-aaaaaaaaaaaaaaaaaaaaaaaa")

    why = "nobody knows. Ask another."
    for executor, ended, said, declined in (
        (of(decline), "declined", f"declined: {why}", (True, why)),
        (of(fail), "failed", "RuntimeError: broken: OPENAI_API_KEY=*** (test_inv", (None, None)),
        (of(fail, budget=Budget(steps=0)), "budget", "steps", (None, None)),
    ):
        (result,) = results(served(executor), "mine")
        told = result.structured_content
        assert result.is_error == (ended != "declined") and said in text_of(result)
        assert (told["ended"], told["answer"]) == (ended, None)
        assert (told.get("declined"), told.get("why")) == declined


def test_a_step_that_needs_approval_does_not_run_and_what_a_run_went_on_without_is_reported() -> None:
    ran = []

    def save() -> str:
        """Saves."""
        ran.append(1)
        return "saved"

    modules = {"save": tool(save, requires_approval=True), "hello": tool(hello)}
    inventory = Inventory("mine", Fixed(["save", "hello"]), modules, on_error={"save": "skip"})
    (waits,) = results(served(Executor(inventory)), "mine")
    assert waits.is_error and waits.structured_content["ended"] == "waiting" and "save" in text_of(waits)
    (skips,) = results(served(Executor(inventory, approve=lambda request: False)), "mine")
    assert text_of(skips) == "hello" and not ran
    assert skips.structured_content["without"] == ["module save: save was not approved"]


def test_tables_are_read_below_the_folders_alone(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out.csv"
    (inside / "deep/.git").mkdir(parents=True)
    for file in (outside, *(inside / name for name in ("deep/league.csv", ".hidden.csv", "deep/.git/x.csv"))):
        file.write_text(CSV)
    (inside / "link.csv").symlink_to(outside)
    (inside / "good.csv").symlink_to(inside / "deep/league.csv")
    server = served(folders=[inside])
    said = server.tools["tables_offline"].tool.input_schema["properties"]["table"]["description"]
    assert f"below {inside}" in said
    good = ["deep/league.csv", "good.csv", str(inside / "deep/league.csv"), "deep/../good.csv"]
    hostile = ["../out.csv", str(outside), "link.csv", ".hidden.csv", "deep", "none.csv", "\0", "a" * 9_999]
    hostile += ["~/x.csv", "/dev/zero", "postgresql://u:secret@host/x", "deep/%2e%2e/x", "deep/.git/x.csv"]
    asked = [{**HOW_MANY, "table": path} for path in (*good, *hostile)]
    found = results(server, "tables_offline", *asked)
    for result in found[: len(good)]:
        assert text_of(result) == "47" and result.structured_content["sources"][0]["table"] == "league"
    for result in found[len(good) :]:
        assert result.is_error and "no such file can be read" in text_of(result)


def test_a_picture_is_content_and_a_file_for_as_long_as_the_run() -> None:
    pytest.importorskip("PIL")
    seen: list[Path] = []

    def size(state: State) -> int:
        seen.append(state.input["image"])
        return int(state.input["image"].stat().st_size)

    server = served(of(size, input_types={"question": "str", "image": "path"}))
    schema = server.tools["mine"].tool.input_schema
    assert schema["properties"]["image"]["required"] == ["mimeType", "data"]
    pictures: dict[str, Any] = {
        str(len(base64.b64decode(PNG))): {"mimeType": "image/png", "data": PNG},
        "the data of image is not base64.": {"mimeType": "image/png", "data": "%%"},
        "image is missing data.": {"mimeType": "image/png"},
        "image ": {"mimeType": "image/png", "data": "QUJD"},
        "image is a path, but files are not read here.": "/etc/passwd",
    }
    found = results(server, "mine", *({"image": each} for each in pictures.values()))
    assert [result.is_error for result in found] == [False, *[True] * 4]
    assert all(text_of(result).startswith(said) for said, result in zip(pictures, found, strict=True))
    (path,) = seen
    assert path.suffix == ".png" and not path.exists()


def test_two_calls_run_side_by_side_and_one_that_is_cancelled_stops() -> None:
    met, ran = [0], threading.Event()

    async def talk() -> None:
        both, stopped = asyncio.Event(), asyncio.Event()

        async def meet_other() -> str:
            met[0] += 1
            if met[0] == 2:
                both.set()
            await asyncio.wait_for(both.wait(), 5)
            return "met"

        async def wait() -> str:
            both.set()
            try:
                await asyncio.sleep(60)
            finally:
                stopped.set()
            return "never"

        def after(state: State) -> str:
            ran.set()
            return "after"

        server = served(of(meet_other, name="pair"), of(wait, hello, after, name="slow"))
        async with Client(server.server(), mode="legacy") as own:
            results = await asyncio.gather(*(own.call_tool("pair", BARE) for _ in range(2)))
            assert [text_of(each) for each in results] == ["met", "met"]
            both.clear()
            task = asyncio.create_task(own.call_tool("slow", BARE))
            await asyncio.wait_for(both.wait(), 5)
            task.cancel()
            await asyncio.wait_for(stopped.wait(), 5)
            for _ in range(100):
                if len(listed := (await own.list_resources()).resources) == 3:
                    break
                await asyncio.sleep(0.02)
            assert listed[0].name == "run of slow"
            (content,) = (await own.read_resource(listed[0].uri)).contents
            events = [json.loads(line)["event"] for line in content.text.splitlines()]
            assert events == ["run_started", "plan"] and not ran.is_set()

    asyncio.run(talk())


def test_too_many_questions_are_refused() -> None:
    async def talk() -> None:
        end = asyncio.Event()

        async def answer() -> str:
            await asyncio.wait_for(end.wait(), 5)
            return "done"

        async with Client(served(of(answer)).server(), mode="legacy") as own:
            most = MAX_PARALLEL_RUNS + MAX_WAITING
            calls = [asyncio.create_task(own.call_tool("mine", BARE)) for _ in range(most + 1)]
            (refused,), _ = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
            assert "too many questions" in str(refused.exception())
            end.set()
            assert [text_of(await each) for each in calls if each is not refused] == ["done"] * most

    asyncio.run(talk())


def test_names_and_texts_of_strangers_are_made_harmless() -> None:
    named = {"name": "a" * 200, "about": "Ask\x1b[2J\nme\u202e"}
    server = served(of(hello, name="../mine\x1b[31m tool"), of(hello, **named))
    assert [*server.tools] == ["_mine_31m_tool", "a" * 64]
    about = server.tools["a" * 64].tool.description
    assert about and not re.search("[\x1b\n\u202e]", about)
    good, wrong = results(server, "_mine_31m_tool", {}, {"\x1b[2Jquestion": "?"})
    assert text_of(good) == "hello" and wrong.is_error and "\x1b" not in text_of(wrong)
    with pytest.raises(ExceptionGroup) as caught:
        results(server, "mine_31m_tool")
    assert caught.group_contains(MCPError, match="Did you mean '_mine_31m_tool'")
    with pytest.raises(InventoryError, match="two inventories are named mine"):
        served(of(hello), of(hello))


@pytest.mark.parametrize(
    ("value", "text", "data"),
    [
        (3.5, "3.5", 3.5),
        (["a", "b"], "a\nb", ["a", "b"]),
        ({"text": "hello", "box": [1, 2]}, "hello", {"text": "hello", "box": [1, 2]}),
        (Table(["a"], [["1"]]), "", {"columns": ["a"], "rows": [["1"]]}),
    ],
)
def test_an_answer_is_text_and_json(value: Any, text: str, data: Any) -> None:
    def give() -> Any:
        return value

    (result,) = results(served(of(give)), "mine")
    assert result.structured_content["answer"] == data and text in text_of(result)


NOISY = """
import os, sys
from chameleon import tool
print("printed on import"); os.write(1, b"written on import\\n")

@tool
def shout(question: str = "") -> str:
    "Shouts."
    print("printed in a run"); os.write(1, b"written in a run\\n"); os.system("echo of a child")
    return "HELLO"
"""
SAID = ("printed on import", "written on import", "printed in a run", "written in a run", "a child")


@pytest.mark.slow
def test_over_stdio_nothing_but_the_protocol_is_on_stdout(tmp_path: Path) -> None:
    inventory = 'name: noisy\nplanner: {use: fixed, plan: [shout]}\nmodules: {shout: "own:shout"}\n'
    for name, text in {"own.py": NOISY, "league.csv": CSV, "noisy.yaml": inventory}.items():
        (tmp_path / name).write_text(text)
    client = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    of_league = {"name": "tables_offline", "arguments": {**HOW_MANY, "table": "league.csv"}}
    asked: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", **client}},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "noisy", "arguments": BARE}},
        {"id": 3, "method": "tools/call", "params": of_league},
    ]
    command = [sys.executable, "-m", "chameleon", "serve", "--mcp", "noisy.yaml", "tables_offline"]
    pipes: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, cwd=tmp_path, env=environment(), text=True, **pipes) as process:
        assert process.stdin and process.stdout
        process.stdin.writelines(json.dumps({"jsonrpc": "2.0", **each}) + "\n" for each in asked)
        process.stdin.flush()
        replies = [json.loads(process.stdout.readline()) for _ in range(3)]
        out, err = process.communicate(timeout=20)  # closes its stdin
    assert process.returncode == 0 and not out
    results = {each["id"]: each["result"] for each in replies}
    assert results[1]["protocolVersion"] == "2025-06-18"
    assert [results[each]["content"][0]["text"] for each in (2, 3)] == ["HELLO", "47"]
    assert all(where in err for where in (*SAID, "Serves inventory noisy; it asks no model."))


@pytest.fixture
def url() -> Iterator[str]:
    command = [sys.executable, "-m", "chameleon", "serve", "--mcp", "tables_offline", "--http", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, env=environment(), text=True)
    try:
        assert process.stderr
        with closing(process.stderr):
            found = (re.match(r"At (http://127\.0\.0\.1:\d+/mcp)", line) for line in process.stderr)
            yield next(each[1] for each in found if each)
    finally:
        process.terminate()
        process.wait(10)


@pytest.mark.slow
def test_over_http_on_this_machine_and_for_no_page_of_another(url: str) -> None:
    async def talk() -> None:
        for mode in ("auto", "legacy"):
            async with Client(url, mode=mode) as client:
                (listed,) = (await client.list_tools()).tools
                assert "path" not in listed.input_schema["properties"]["table"]["description"]
                result = await client.call_tool("tables_offline", ASKED)
                assert text_of(result) == "47" and not (await client.list_resources()).resources
                assert (await client.read_resource(result.structured_content["trace"])).contents
                refused = {**HOW_MANY, "table": str(LEAGUE)}
                assert (await client.call_tool("tables_offline", refused)).is_error

    asyncio.run(talk())
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    kind = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    for headers, status in (({"Host": "evil.example"}, 421), ({"Origin": "http://evil.example"}, 403)):
        with closing(HTTPConnection(url.split("/")[2], timeout=10)) as connection:
            connection.request("POST", "/mcp", body, {**kind, **headers})
            assert connection.getresponse().status == status
