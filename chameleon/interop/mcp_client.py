"""Connections to servers of the Model Context Protocol: by the official client, bounded, started anew.

What a server says is a stranger's: its messages are bounded in size and time, its errors are told as data in
one line, and of the environment it gets what the inventory names alone.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from chameleon.bridge import wire
from chameleon.errors import ChameleonError, require
from chameleon.interop.mcp_http import NOT_TAKEN, streams_over_http
from chameleon.interop.mcp_pipes import LARGEST_MESSAGE, ServerFailed, ServerProcess, from_environment
from chameleon.text import harmless, known_secrets, one_line, redact

if TYPE_CHECKING:
    from chameleon.inventory.schema import McpSpec

MOST_TOOLS = 1_000
_LONGEST_ERROR = 2_000  # characters that are looked at
_MOST_STARTS = 3  # of a server that dies, until it has answered a call
_TO_START, _TO_END = 30.0, 3.0  # seconds
_TALKATIVE = (  # loggers of the SDK; a filter holds for its own logger alone
    "client.client",
    "client.caching",
    "client.streamable_http",
    "shared.dispatcher",
    "shared.jsonrpc_dispatcher",
)
_T = TypeVar("_T")
_ASKING = ("elicitation/create", "sampling/createmessage", "roots/list", "elicitation not", "sampling not")
_ASK_THERE = "Is the server running there, and is it one of the Model Context Protocol?"
_NOT_ALLOWED = "Give it a key: `headers: {Authorization: $NAME}` in its `mcp:`."
_log = logging.getLogger("chameleon.mcp")
_made: list[Connection] = []


class Connection:
    """One server, shared by all runs of a process; every coroutine of it runs in the loop of requests."""

    def __init__(self, spec: McpSpec, folder: Path | None = None) -> None:
        require("mcp", "servers of tools are called with", "mcp")
        self.spec, self.folder = spec, folder
        self._client: Any = None
        self._task: asyncio.Task[None] | None = None
        self._closing: asyncio.Event | None = None
        self._starting: asyncio.Lock | None = None
        self._starts = 0
        self._process: ServerProcess | None = None

    @property
    def place(self) -> str:
        """Return what is started or asked, without its secrets."""
        return self.spec.place

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return what no log may hold: secrets of the environment, and what the server is given of it."""
        given = {**self.spec.env, **self.spec.headers}.values()
        there = (
            os.environ.get(each[1:], "") for each in given if each.startswith("$")
        )  # a replay needs none
        return known_secrets(each for each in there if each)

    def tools(self) -> list[dict[str, Any]]:
        """Return what the server says of its tools, as JSON. Raises `ServerFailed`."""
        return wire.submit(self._tools()).result()

    async def listed(self, name: str) -> dict[str, Any] | None:
        """Return what the server now says of a tool, from any loop; None where it has none of the name."""
        found = await asyncio.wrap_future(wire.submit(self._tools()))
        return next((each for each in found if each.get("name") == name), None)

    def close(self) -> None:
        """End the connection and the server's process; a later call starts it again."""
        wire.submit(self._close()).result()

    async def call(self, name: str, args: Mapping[str, Any]) -> dict[str, Any]:
        """Call a tool, and return its result as JSON, from any loop.

        Raises `ServerFailed` where the server did not answer: it may have done its work all the same, and
        is not asked again.
        """
        return await asyncio.wrap_future(wire.submit(self._call(name, args)))

    async def _tools(self) -> list[dict[str, Any]]:
        async def ask(client: Any) -> list[dict[str, Any]]:
            found: list[dict[str, Any]] = []
            cursor, size = None, 0
            while len(found) <= MOST_TOOLS and size <= 2 * LARGEST_MESSAGE:
                page = await client.list_tools(cursor=cursor)
                found += [_as_json(each) for each in page.tools]
                size += len(page.model_dump_json())
                if not (cursor := page.next_cursor):
                    return found
            raise ServerFailed(f"{self.place} lists more than {MOST_TOOLS:,} tools, or too much of them")

        return await self._asked(ask, "list its tools")

    async def _call(self, name: str, args: Mapping[str, Any]) -> dict[str, Any]:
        async def ask(client: Any) -> dict[str, Any]:
            return _as_json(await client.call_tool(name, dict(args)))

        result = await self._asked(ask, f"run {name}")
        self._starts = 1
        return result

    async def _asked(self, ask: Callable[[Any], Awaitable[_T]], done: str) -> _T:
        """Ask the server; once more, connected anew, where it is sure that it did not take the request."""
        is_again = False
        while True:
            client = await self._connected()
            if self._process is not None:
                self._process.said.clear()  # what it says from now on is of this call
            try:
                with _Told(self, done):
                    async with asyncio.timeout(self.spec.timeout):
                        return await ask(client)
            except ServerFailed as problem:
                is_taken = not isinstance(problem, _NotTaken)
                is_lost = not is_taken or str(problem.__cause__) == "Connection closed"
                if self.spec.url and is_lost and self._client is client:
                    self._client = None
                if is_taken or is_again:
                    raise
                is_again = True

    async def _connected(self) -> Any:
        """Return the client, connected: for the first time, or again after the server has ended."""
        self._starting = self._starting or asyncio.Lock()
        async with self._starting:
            if self._client is not None and not (self._process and self._process.has_ended):
                return self._client
            await self._close()
            if self._starts >= _MOST_STARTS and self.spec.command is not None:
                raise ServerFailed(f"{self.place} has ended {self._starts} times{self._last_words()}")
            self._starts += 1
            ready = asyncio.get_running_loop().create_future()
            self._closing = asyncio.Event()
            self._task = asyncio.create_task(self._serve(ready))
            try:
                with _Told(self, "start"):
                    async with asyncio.timeout(self._to_start):
                        self._client = await asyncio.shield(ready)
            except BaseException:
                self._task.cancel()
                await self._close()
                raise
            return self._client

    @property
    def _to_start(self) -> float:
        return max(self.spec.timeout, _TO_START)

    async def _serve(self, ready: asyncio.Future[Any]) -> None:
        """Hold the connection open, from its beginning to its end, in one task as the client wants it."""
        from mcp import Client

        try:
            async with Client(
                self._transport(), read_timeout_seconds=self.spec.timeout, cache=None
            ) as client:
                # It would check results by the server's own patterns, in the loop of all requests.
                client.session.validate_tool_result = _take_as_it_is  # type: ignore[method-assign]
                ready.set_result(client)
                assert self._closing is not None
                await self._closing.wait()
        except BaseException as problem:
            if not ready.done():
                ready.set_exception(_innermost(problem))
                ready.exception()  # whoever waited may have left
            else:
                _log.debug("the connection to %s ended: %r", self.place, problem)
        finally:
            self._client = None

    async def _close(self) -> None:
        self._client = None
        if self._task is not None and self._closing is not None:
            self._closing.set()
            _, unfinished = await asyncio.wait([self._task], timeout=_TO_END)
            for task in unfinished:
                task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    def _transport(self) -> Any:
        if self.spec.command is None:
            return streams_over_http(str(self.spec.url), from_environment(self.spec.headers))
        folder = (self.folder or Path()) / (self.spec.cwd or "")
        self._process = ServerProcess(self.spec.command, from_environment(self.spec.env), folder)
        return self._process.streams()

    def fail(self, problem: BaseException, done: str) -> NoReturn:
        """Raise `ServerFailed` that says what went wrong as it was to do something."""
        from mcp import MCPError

        problem = _innermost(problem)
        if isinstance(problem, ChameleonError):
            raise problem
        told = f"{self.place} could not {done}"
        is_call = done.startswith("run ")
        if isinstance(problem, TimeoutError):
            seconds = self._to_start if done == "start" else self.spec.timeout
            hint = "For more time raise `timeout` in its `mcp:`."
            hint = f"It may have done its work. {hint}" if is_call else hint
            raise ServerFailed(f"{told} within {seconds:g} s{self._last_words()}", hint=hint) from problem
        if isinstance(problem, FileNotFoundError | NotADirectoryError | PermissionError):
            raise ServerFailed(f"{told}: {problem.strerror}: {problem.filename}") from problem
        why = problem.message if isinstance(problem, MCPError) else f"{type(problem).__name__}: {problem}"
        why = one_line(redact(harmless(str(why)[:_LONGEST_ERROR]), also=self.secrets), 300)
        if self._process is not None and self._process.has_ended:
            why = self._process.fault
        if isinstance(problem, MCPError) and problem.code == NOT_TAKEN:
            raise _NotTaken(f"{told}: {why}", hint=_ASK_THERE if done == "start" else "") from problem
        hint = "It may have done its work, and is not asked again." if is_call else ""
        if any(each in why.lower() for each in _ASKING) and isinstance(problem, MCPError):
            hint = "It asks for input while it runs, which no run gives. `deny` leaves the tool out."
        if done == "start":
            hint = _ASK_THERE if self.spec.url else "Run it by itself to see what it lacks."
            hint = _NOT_ALLOWED if why.startswith(("HTTP 401", "HTTP 403")) else hint
        raise ServerFailed(f"{told}: {why}{self._last_words()}", hint=hint) from problem

    def _last_words(self) -> str:
        said = self._process.said if self._process else ()
        return f" ({' / '.join(said)})" if said else ""


class _NotTaken(ServerFailed):
    """A server that was not reached, or that refused a request for its session."""


class _Told:
    """Tells what a client raises in our words."""

    def __init__(self, connection: Connection, done: str) -> None:
        self.connection, self.done = connection, done

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, problem: BaseException | None, _: Any) -> None:
        if problem is not None and not isinstance(problem, asyncio.CancelledError):
            self.connection.fail(problem, self.done)


def connection(spec: McpSpec, folder: Path | None) -> Connection:
    """Return the connection to a server, the same for the same settings."""
    return _connection(spec.model_dump_json(), folder)


@cache
def _connection(spec: str, folder: Path | None) -> Connection:
    from chameleon.inventory.schema import McpSpec

    made = Connection(McpSpec.model_validate_json(spec), folder)
    _made.append(made)
    return made


def close_all() -> None:
    """End all connections and the servers behind them; a later call begins anew."""
    while _made:
        _made.pop().close()
    _connection.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_connection.cache_clear)  # they are the parent's
    os.register_at_fork(after_in_child=_made.clear)


def _is_ours(record: logging.LogRecord) -> bool:
    """Take what the SDK tells of our servers into the debug log: it quotes them, escape codes and all."""
    if not wire.is_here:
        return True
    _log.debug("%s", one_line(harmless(record.getMessage()[:_LONGEST_ERROR])))
    return False


for _name in ("client", *(f"mcp.{each}" for each in _TALKATIVE)):
    logging.getLogger(_name).addFilter(_is_ours)


async def _take_as_it_is(name: str, result: Any) -> None:
    """Check nothing."""


def _as_json(model: Any) -> dict[str, Any]:
    """Return what the SDK read as JSON. Raises `ServerFailed` for numbers that JSON does not have."""
    structured = getattr(model, "structured_content", None)
    try:
        json.dumps(structured, allow_nan=False)
    except ValueError as problem:
        raise ServerFailed("the server sent a number that is none: NaN or Infinity") from problem
    found: dict[str, Any] = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return found


def _innermost(problem: BaseException) -> BaseException:
    """Return what a group of exceptions is about."""
    while isinstance(problem, BaseExceptionGroup):
        problem = problem.exceptions[0]
    return problem
