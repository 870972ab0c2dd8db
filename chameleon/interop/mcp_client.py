"""Connections to Model Context Protocol servers, using the official client.

Servers are not trusted: their messages are limited in size and time, their errors are reported in one line,
and from our environment they get only what the inventory names.
"""

import asyncio
import json
import logging
import os
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from chameleon.bridge import wire
from chameleon.errors import ChameleonError, InventoryError, ModuleError, require
from chameleon.interop.mcp_http import http_streams
from chameleon.interop.mcp_pipes import MAX_MESSAGE_BYTES, ServerProcess
from chameleon.inventory.schema import McpSpec
from chameleon.text import harmless, known_secrets, one_line, redact

MAX_TOOLS = 1_000
_MAX_ERROR_CHARS = 2_000
_START_SECONDS, _END_SECONDS = 30.0, 3.0
_NOISY_LOGGERS = (  # loggers of the SDK; a filter applies only to its own logger
    "client",
    "mcp.client.client",
    "mcp.client.caching",
    "mcp.client.streamable_http",
    "mcp.shared.dispatcher",
    "mcp.shared.jsonrpc_dispatcher",
)
_HTTP_ERROR = "Server returned an error response"  # the SDK's message for most statuses
_HTML_ERROR = "Unexpected content type: text/html"
_SESSION = "mcp-session-id"
_CALL_KEYS = ("content", "structuredContent", "isError")
_T = TypeVar("_T")
_log = logging.getLogger("chameleon.mcp")


class ServerFailed(ModuleError):
    """A server cannot be started or reached, broke the protocol, or ended."""


class ServerConnection:
    """One server, shared by all runs of a process; all its coroutines run in the loop of requests.

    A call during which the server dies fails and is not repeated; the next one restarts or reconnects it.
    """

    def __init__(self, spec: McpSpec, folder: Path | None = None) -> None:
        require("mcp", "servers of tools are called with", "mcp")
        self.spec, self.folder = spec, folder
        self.start_seconds = max(spec.timeout, _START_SECONDS)
        self._client: Any = None
        self._task: asyncio.Task[None] | None = None
        self._closing: asyncio.Event | None = None
        self._starting: asyncio.Lock | None = None
        self._process: ServerProcess | None = None
        self._problem: BaseException | None = None  # the error that ended the connection
        self._refused: deque[Any] = deque(maxlen=1)  # the last HTTP error response

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return the texts that no log may contain: secrets and variables that the server receives."""
        settings = (*self.spec.env.values(), *self.spec.headers.values())
        values = (os.environ.get(each[1:], "") for each in settings if each.startswith("$"))
        return known_secrets(filter(None, values))

    def tools(self) -> list[dict[str, Any]]:
        """Return the server's list of tools, as JSON. Raises `ServerFailed`."""
        return wire.submit(self._tools()).result()

    async def listed(self, name: str) -> dict[str, Any] | None:
        """Return the server's current listing of a tool, or None; callable from any loop."""
        tools = await asyncio.wrap_future(wire.submit(self._tools()))
        return next((each for each in tools if each.get("name") == name), None)

    async def call(self, name: str, args: Mapping[str, Any]) -> dict[str, Any]:
        """Call a tool and return its result as JSON. Raises `ServerFailed`, perhaps after its work."""

        async def call(client: Any) -> Any:
            return (await client.call_tool(name, dict(args))).structured_content  # see `_transport`

        return await asyncio.wrap_future(wire.submit(self._ask(call, f"run {name}")))

    def close(self) -> None:
        """End the connection and the server's process; a later call restarts it."""
        wire.submit(self._close()).result()

    async def _tools(self) -> list[dict[str, Any]]:
        async def ask(client: Any) -> list[dict[str, Any]]:
            tools: list[dict[str, Any]] = []
            cursor, size = None, 0
            while True:
                page = await client.list_tools(cursor=cursor)
                text = page.model_dump_json(by_alias=True, exclude_none=True)
                tools += json.loads(text)["tools"]
                size += len(text)
                if len(tools) > MAX_TOOLS or size > 2 * MAX_MESSAGE_BYTES:
                    what = f"{self.spec.place} lists more than {MAX_TOOLS:,} tools, or too much about them"
                    raise ServerFailed(what)
                if not (cursor := page.next_cursor):
                    return tools

        return await self._ask(ask, "list its tools")

    async def _ask(self, ask: Callable[[Any], Awaitable[_T]], purpose: str) -> _T:
        client = await self._connected()
        self._refused.clear()
        if self._process is not None:
            self._process.last_words.clear()  # from here on it writes about this call
        try:
            async with asyncio.timeout(self.spec.timeout):
                return await ask(client)
        except Exception as problem:
            raise await self._failure(problem, purpose) from problem

    async def _connected(self) -> Any:
        """Return the connected client, reconnecting if the server has ended."""
        self._starting = self._starting or asyncio.Lock()
        async with self._starting:
            if self._client is None or (self._process and self._process.fault):
                await self._close()
                ready = asyncio.get_running_loop().create_future()
                self._closing = asyncio.Event()
                self._task = asyncio.create_task(self._serve(ready))
                try:
                    async with asyncio.timeout(self.start_seconds):
                        self._client = await ready
                except Exception as problem:
                    failure = await self._failure(problem, "start")
                    await self._close()
                    raise failure from problem
            return self._client

    async def _serve(self, ready: asyncio.Future[Any]) -> None:
        """Keep the connection open from start to end, in one task as the client requires."""
        from mcp import Client

        assert self._closing is not None
        try:
            connecting = Client(self._transport(), read_timeout_seconds=self.spec.timeout, cache=None)
            async with connecting as client:
                # It would check results with the server's regular expressions, in the loop of all requests.
                client.session.validate_tool_result = _accept  # type: ignore[method-assign]
                ready.set_result(client)
                await self._closing.wait()
        except BaseException as problem:
            while isinstance(problem, BaseExceptionGroup):
                problem = problem.exceptions[0]
            self._problem = problem
            if not ready.done():
                ready.set_exception(problem)
                ready.exception()  # the caller may be gone
        finally:
            self._client = None

    async def _close(self) -> None:
        if self._task is not None and self._closing is not None:
            if self._client is None:
                self._task.cancel()
            self._closing.set()
            await asyncio.wait([self._task], timeout=_END_SECONDS)
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._client = self._task = self._problem = None

    @asynccontextmanager
    async def _transport(self) -> AsyncIterator[tuple[Any, Any]]:
        if self.spec.url is not None:
            streams = http_streams(self.spec.url, _from_environment(self.spec.headers), self._refused.append)
        else:
            folder = (self.folder or Path()) / (self.spec.cwd or "")
            self._process = ServerProcess(self.spec.command or (), _from_environment(self.spec.env), folder)
            streams = self._process.streams()
        import anyio

        async def pass_on(messages: Any, send: Any) -> None:
            async with send:
                async for message in messages:
                    result = getattr(getattr(message, "message", None), "result", None)
                    if isinstance(result, dict) and isinstance(tools := result.get("tools"), list):
                        result["tools"] = [each for each in tools if _fits(each, self.spec.place)]
                    elif isinstance(result, dict) and not result.keys().isdisjoint(_CALL_KEYS):
                        # The SDK would reject a whole result for one invalid part: `call` gets it unchanged.
                        result |= {"content": [], "structuredContent": dict(result)}
                    await send.send(message)

        async with streams as (incoming, outgoing):
            send, fitting = anyio.create_memory_object_stream[Any](0)
            async with send, fitting:
                task = asyncio.create_task(pass_on(incoming, send))
                try:
                    yield fitting, outgoing
                finally:
                    task.cancel()
                    await asyncio.gather(task, return_exceptions=True)

    async def _failure(self, problem: BaseException, purpose: str) -> ChameleonError:
        """Return an error that says what went wrong and what to do."""
        if self._task is not None and self.spec.url and str(problem) == "Connection closed":
            await asyncio.wait([self._task], timeout=_END_SECONDS)
            problem = self._problem or problem  # the error that ended the connection for all
        if isinstance(problem, ServerFailed | InventoryError):
            return problem
        why = one_line(redact(harmless(self._reason(problem, purpose)), also=self.secrets))
        if any(each.status_code in (400, 404) and _SESSION in each.request.headers for each in self._refused):
            self._client = None  # the session is lost: the next call starts a new one
        last = self._process.last_words if self._process else ()
        words = f" ({one_line(' / '.join(last), _MAX_ERROR_CHARS)})" if last else ""
        joint = " " if isinstance(problem, TimeoutError) else ": "
        hint = self._hint(problem, purpose, why)
        return ServerFailed(f"{self.spec.place} could not {purpose}{joint}{why}{words}", hint=hint)

    def _reason(self, problem: BaseException, purpose: str) -> str:
        from mcp import MCPError

        if isinstance(problem, TimeoutError):
            seconds = self.start_seconds if purpose == "start" else self.spec.timeout
            return f"within {seconds:g} s"
        if self._process is not None and self._process.fault:
            return self._process.fault
        if isinstance(problem, OSError) and problem.filename:
            return f"{problem.strerror}: {problem.filename}"
        if isinstance(problem, MCPError):
            if problem.message == _HTTP_ERROR and self._refused:
                return f"HTTP {self._refused[0].status_code} {self._refused[0].reason_phrase}"
            if problem.message.startswith(_HTML_ERROR):
                return "it returned an HTML page"
            return problem.message[:_MAX_ERROR_CHARS]
        why = str(problem)[:_MAX_ERROR_CHARS]
        return why if isinstance(problem, ModuleError) else f"{type(problem).__name__}: {why}"

    def _hint(self, problem: BaseException, purpose: str, why: str) -> str:
        is_call = purpose.startswith("run ")
        if isinstance(problem, TimeoutError):
            hint = "For more time, raise `timeout` in its `mcp:`."
            return f"It may have done its work. {hint}" if is_call else hint
        if purpose == "start" or why.startswith("Connect"):  # ConnectError, ConnectTimeout
            if why.startswith(("HTTP 401", "HTTP 403")):
                return "Set a key: `headers: {Authorization: $NAME}` in its `mcp:`."
            if "HTML" in why:
                return "Check its address, which usually ends in /mcp."
            there = "Check that the server runs there and is a Model Context Protocol server."
            return there if self.spec.url else "Run the command directly to see what is missing."
        if any(each in why.lower() for each in ("elicitation", "sampling/", "roots/")):
            return "It asks the user for input, which a run cannot provide. `deny` leaves the tool out."
        return "It may have done its work, so it is not called again." if is_call else ""


def _fits(tool: Any, place: str) -> bool:
    """Return whether a tool's listing is valid; the SDK would reject the whole list for one bad tool."""
    from mcp_types.methods import validate_server_result

    try:
        validate_server_result("tools/list", "2025-11-25", {"tools": [tool]})  # a revision of the protocol
    except ValueError:
        name = one_line(harmless(str(tool.get("name") if isinstance(tool, dict) else tool)), 60)
        _log.warning("%s: the tool %s is left out: its listing is invalid", place, name)
        return False
    return True


_connections: dict[tuple[str, Path | None], ServerConnection] = {}


def connection(spec: McpSpec, folder: Path | None) -> ServerConnection:
    """Return the connection to a server; the same settings share one."""
    return _connections.setdefault((spec.model_dump_json(), folder), ServerConnection(spec, folder))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_connections.clear)  # they belong to the parent


def _from_environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Replace "$NAME" in settings by the variable's value. Raises `InventoryError` if it is not set."""
    values = {}
    for key, value in settings.items():
        name = value[1:]
        if not value.startswith("$"):
            values[key] = value
        elif name.startswith("$"):  # "$$NAME" is the text "$NAME"
            values[key] = name
        elif name in os.environ:
            values[key] = os.environ[name]
        else:
            raise InventoryError(f"{key} refers to ${name}, which is not set", hint=f"export {name}=…")
    return values


def _is_not_ours(record: logging.LogRecord) -> bool:
    """Move the SDK's logs about our servers to the debug log: they quote them, escape codes included."""
    if wire.is_here:
        _log.debug("%s", one_line(harmless(record.getMessage()[:_MAX_ERROR_CHARS])))
    return not wire.is_here


for _name in _NOISY_LOGGERS:
    logging.getLogger(_name).addFilter(_is_not_ours)


async def _accept(name: str, result: Any) -> None:
    """Accept any result."""
