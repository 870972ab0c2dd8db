"""Inventories as tools of a Model Context Protocol server."""

import asyncio
import re
import socket
import sys
import threading
import uuid
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, redirect_stdout
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from mcp import types
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError

from chameleon.core.conversation import answer_in_text
from chameleon.core.events import Event, Nested, Plan, RunEnded, StepRecord
from chameleon.core.log import event_to_json, json_line
from chameleon.core.state import State
from chameleon.errors import ChameleonError, InputError, InventoryError
from chameleon.interop.inputs import MAX_BYTES, Inputs, outcome_of
from chameleon.run.approval import needs_approval
from chameleon.run.executor import Executor
from chameleon.text import harmless, harmless_lines, nearest, one_line, redact

TRACES, JSON_LINES = "chameleon://runs/", "application/jsonl"
MAX_TRACES, MAX_TRACE_BYTES = 100, 64 << 20
MAX_PARALLEL_RUNS, MAX_WAITING = 16, 64  # runs, and runs that wait for their turn
MAX_SESSIONS = 500
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_TEXTS = {"type": "array", "items": {"type": "string"}}
_OUTPUT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "answer": {"description": "The answer, or null."},
        "ended": {"enum": ["answered", "declined", "failed", "budget", "waiting"]},
        "plan": {**_TEXTS, "description": "The modules planned."},
        "reading": {"type": "string", "description": "How the question was understood, without a model."},
        "sources": {"description": "The sources of the answer."},
        "error": {"type": "string", "description": "Why there is no answer, and what to do."},
        "declined": {"type": "boolean", "description": "Whether no answer is known: do not ask again."},
        "why": {"type": "string", "description": "Why it was declined."},
        "without": {
            **_TEXTS,
            "description": "Steps that failed or were not allowed, which the run continued without.",
        },
        "usage": {"type": "object", "description": "Model calls, tokens and US dollars."},
        "trace": {"type": "string", "description": "The resource with every event of the run."},
    },
    "required": ["answer", "ended", "plan", "usage", "trace"],
}
Context = ServerRequestContext[Any, Any]


class RunTraces:
    """The events of the last runs as JSON lines, by address; the oldest go first."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[str, str]] = OrderedDict()

    def keep(self, uri: str, tool: str, events: Sequence[Event]) -> None:
        """Keep the events of a run, without secrets."""
        lines = b"".join(json_line(event_to_json(event)) for event in events)
        self._kept[uri] = tool, redact(lines.decode())
        while len(self._kept) > MAX_TRACES or (
            len(self._kept) > 1 and sum(len(text) for _, text in self._kept.values()) > MAX_TRACE_BYTES
        ):
            self._kept.popitem(last=False)

    def listed(self) -> list[types.Resource]:
        """Return the resources, latest first."""
        return [
            types.Resource(uri=uri, name=f"run of {tool}", mime_type=JSON_LINES, size=len(text.encode()))
            for uri, (tool, text) in reversed(self._kept.items())
        ]

    def text(self, uri: str) -> str:
        """Return the JSON lines at an address. Raises `MCPError` for an unknown address."""
        if uri not in self._kept:
            what = f"there is no run {one_line(harmless(uri), 80)}; the last {MAX_TRACES} are kept"
            raise MCPError(types.INVALID_PARAMS, what)
        return self._kept[uri][1]


class Served(NamedTuple):
    """An inventory as a tool."""

    executor: Executor
    inputs: Inputs
    tool: types.Tool


class InventoryServer:
    """Answers the requests of MCP clients with inventories; calls run in parallel in one event loop.

    Args:
        executors: what to serve, each as a tool.
        folders: where tables and other files may be read by path; by default only content is accepted.
        lists_runs: whether to list the traces of runs, as suits a single client; otherwise a trace needs its
            address, which is long and random.
    """

    def __init__(
        self, executors: Sequence[Executor], *, folders: Sequence[str | Path] = (), lists_runs: bool = True
    ) -> None:
        self.tools: dict[str, Served] = {}
        for executor in executors:
            inventory, inputs = executor.inventory, Inputs(executor.inventory, folders)
            name = re.sub(r"[^A-Za-z0-9_-]+", "_", inventory.name)[:64]
            if name in self.tools:
                raise InventoryError(f"two inventories are named {name}", hint="Serve only one of them.")
            about = one_line(harmless(inventory.about), 1000) or f"Answers by {', '.join(inventory.present)}."
            tool = types.Tool(name=name, description=about, input_schema=inputs.schema, output_schema=_OUTPUT)
            self.tools[name] = Served(executor, inputs, tool)
        self.traces, self.lists_runs = RunTraces(), lists_runs
        self._turns, self._calls = asyncio.Semaphore(MAX_PARALLEL_RUNS), 0

    def server(self) -> Server[Any]:
        """Return the SDK's server, which supports every protocol revision that the SDK knows."""
        return Server(
            "chameleon",
            version=version("chameleon-compose"),
            instructions="Each tool answers a question by a plan over modules. The resource that `trace` "
            "names holds every step of the run as JSON lines.",
            on_list_tools=self._list_tools,
            on_call_tool=self._call,
            on_list_resources=self._list_runs,
            on_read_resource=self._read_run,
        )

    async def _list_tools(self, context: Context, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[each.tool for each in self.tools.values()])

    async def _list_runs(self, context: Context, params: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=self.traces.listed() if self.lists_runs else [])

    async def _read_run(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        content = types.TextResourceContents(uri=uri, mime_type=JSON_LINES, text=self.traces.text(uri))
        return types.ReadResourceResult(contents=[content])

    async def _call(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        served = self.tools.get(params.name)
        if served is None:
            name = one_line(harmless(params.name), 60)
            what = f"there is no tool {name!r}. {nearest(name, self.tools)}"
            raise MCPError(types.INVALID_PARAMS, what.strip())
        async with self._turn():
            with TemporaryDirectory(prefix="chameleon-") as scratch:
                try:
                    data = await asyncio.to_thread(served.inputs.read, params.arguments or {}, Path(scratch))
                    return await self._run(served, data, context)
                except ChameleonError as problem:
                    return _result(_message(problem))

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Wait for a turn. Raises `MCPError` if too many wait."""
        if self._calls >= MAX_PARALLEL_RUNS + MAX_WAITING:
            raise MCPError(types.INTERNAL_ERROR, "too many questions are waiting; try again later")
        self._calls += 1
        try:
            async with self._turns:
                yield
        finally:
            self._calls -= 1

    async def _run(self, served: Served, inputs: Mapping[str, Any], context: Context) -> types.CallToolResult:
        """Run an inventory, report each event, and keep the trace whatever happens."""
        uri, stop = f"{TRACES}{uuid.uuid4().hex}", threading.Event()
        events: list[Event] = []
        state = State()
        try:
            async with aclosing(served.executor.astream(inputs, stop=stop)) as stream:  # type: ignore[type-var]
                async for event in stream:
                    events.append(event)
                    state = state.after(event)
                    if message := _progress(event):
                        await context.session.report_progress(len(events), message=message)
        except asyncio.CancelledError:
            # AnyIO recognizes its cancellation by the message, which `gather` may lose: let it cancel again.
            await asyncio.sleep(0.01)
            raise
        finally:
            stop.set()  # if the client disconnects, its run stops
            self.traces.keep(uri, served.tool.name, events)
        return _result_of(state, uri)


def _progress(event: Event) -> str:
    """Describe an event in one line; "" for events that are not reported."""
    match event:
        case Plan():
            text = f"plan refused: {event.refused}" if event.refused else f"plan: {event}"
        case StepRecord(error=None):
            text = f"{event.step.module} is done"
        case StepRecord(error=error):
            text = f"{event.step.module} failed: {error.advice if error else ''}"
        case Nested() if inner := _progress(event.event):
            text = f"{event.module}: {inner}"
        case RunEnded():
            text = event.reason
        case _:
            return ""
    return redact(one_line(harmless(text), 300))


def _result_of(state: State, uri: str) -> types.CallToolResult:
    """Return the outcome of a run: the answer, why it declined, or an error with what to do."""
    ended = state.ended
    outcome = outcome_of(state) | {"plan": list(state.plan), "trace": uri}
    if ended is not None and ended.reason == "answered":
        if state.skipped:
            outcome["without"] = [redact(harmless(str(each))) for each in state.skipped]
        return _result(answer_in_text(outcome["answer"], "\n"), outcome, is_error=False)
    error = ended.error.exception if ended and ended.error else needs_approval(state)
    if ended is not None and ended.reason == "declined":
        outcome |= {"declined": True, "why": _message(error)}
        return _result(f"declined: {outcome['why']}", outcome, is_error=False)
    outcome["error"] = redact(harmless_lines(str(error)))
    return _result(outcome["error"], outcome)


def _result(
    text: str, structured: Mapping[str, Any] | None = None, *, is_error: bool = True
) -> types.CallToolResult:
    content = types.TextContent(type="text", text=text)
    data = dict(structured) if structured else None
    return types.CallToolResult(content=[content], structured_content=data, is_error=is_error)


def _message(problem: ChameleonError) -> str:
    return redact(harmless_lines(f"{problem.what.rstrip('.')}. {problem.hint}".strip()))


async def serve_stdio(server: Server[Any]) -> None:
    """Serve the client at standard input and output; other printing goes to standard error."""
    with redirect_stdout(sys.__stdout__):  # which a command may have redirected
        async with stdio_server() as (reading, writing):
            with redirect_stdout(sys.stderr):
                await server.run(reading, writing, server.create_initialization_options())


async def serve_http(
    server: Server[Any], host: str, port: int, on_bound: Callable[[str], None] = lambda url: None
) -> None:
    """Serve clients over streamable HTTP at /mcp of this host and port.

    Requests that name another host or come from another origin's page are refused.

    Args:
        port: 0 picks a free one.
        on_bound: called with the address once it is bound.
    """
    import uvicorn

    further = () if host in LOOPBACK else (host, socket.gethostname())
    names = [f"[{each}]" if ":" in each else each for each in (*LOOPBACK, *further)]
    security = TransportSecuritySettings(
        allowed_hosts=[each for name in names for each in (name, f"{name}:*")],
        allowed_origins=[each for name in names for each in (f"http://{name}", f"http://{name}:*")],
    )
    app = server.streamable_http_app(
        host=host,
        transport_security=security,
        max_request_body_size=MAX_BYTES * 3 // 2,  # a file in base64 is a third larger
        max_sessions=MAX_SESSIONS,
    )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((host, port))
            bound.listen()  # a client may connect as soon as it knows the address
        except OSError as problem:
            what = f"cannot listen there: {problem.strerror or problem}"
            is_host = isinstance(problem, socket.gaierror)
            hint = "Use a host of this machine." if is_host else "Use another port, or 0."
            raise InputError(what, where=f"{host}:{port}", hint=hint) from problem
        url_host = f"[{host}]" if ":" in host else host
        on_bound(f"http://{url_host}:{bound.getsockname()[1]}/mcp")
        config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=2)
        await uvicorn.Server(config).serve(sockets=[bound])
