"""A server of the Model Context Protocol as a process: bounded lines, ended with all that it started."""

from __future__ import annotations

import asyncio
import atexit
import ctypes
import json
import logging
import os
import signal
import sys
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from chameleon.errors import InventoryError, ModuleError
from chameleon.text import harmless, one_line, redact

LARGEST_MESSAGE = 4 * 1024 * 1024  # bytes
_TO_END = 1.0  # seconds
_LAST_LINES = 2  # of what it writes on stderr
_PIECE, _MOST_LINES, _LONGEST_LINE = 65_536, 100, 1_000  # of that, what is looked at
_log = logging.getLogger("chameleon.mcp")
_running: set[int] = set()
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


class ServerFailed(ModuleError):
    """A server that cannot be started or reached, that broke the protocol, or that ended."""


class ServerProcess:
    """A command that is spoken to over its pipes; `said` are the last lines that it wrote on stderr.

    Of the environment it gets what the SDK holds safe (PATH, HOME, …) and `env`.
    """

    def __init__(self, command: Sequence[str], env: Mapping[str, str], folder: Path) -> None:
        self.command, self.env, self.folder = command, env, folder
        self.said: deque[str] = deque(maxlen=_LAST_LINES)
        self._fault = ""
        self._process: asyncio.subprocess.Process | None = None

    @property
    def has_ended(self) -> bool:
        """Return whether it can be spoken to no more."""
        return bool(self._fault) or (self._process is not None and self._process.returncode is not None)

    @property
    def fault(self) -> str:
        """Return why it has ended."""
        code = self._process.returncode if self._process else None
        return self._fault or ("it has closed its output" if code is None else f"it ended with code {code}")

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[tuple[Any, Any]]:
        """Start it, and yield the streams of messages that the client reads and writes."""
        import anyio
        from mcp.client.stdio import get_default_environment

        pipe = asyncio.subprocess.PIPE
        self._process = process = await asyncio.create_subprocess_exec(
            *self.command,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            env=get_default_environment() | dict(self.env),
            cwd=self.folder,
            start_new_session=True,
            preexec_fn=_end_with_parent,
            limit=LARGEST_MESSAGE,
        )
        _running.add(process.pid)
        reads, incoming = anyio.create_memory_object_stream[Any](0)
        outgoing, writes = anyio.create_memory_object_stream[Any](0)
        works = (self._read(process.stdout, reads), self._write(process.stdin, writes, reads))
        tasks = [asyncio.create_task(each) for each in (*works, self._listen(process.stderr))]
        try:
            yield incoming, outgoing
        finally:
            for stream in (reads, incoming, outgoing, writes):
                stream.close()
            await self._end(process)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self, stdout: Any, reads: Any) -> None:
        """Hand over each line as a message; a line that is none is the client's to tell."""
        import anyio

        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async with reads:
                while line := await self._line(stdout):
                    await reads.send(_message(line))
                if self._process is not None:  # so that the client is told with its code
                    with suppress(TimeoutError):
                        async with asyncio.timeout(_TO_END):
                            await self._process.wait()
                self._fault = self._fault or self.fault

    async def _line(self, stdout: Any) -> bytes:
        try:
            line: bytes = await stdout.readline()
        except ValueError:
            self._fault = f"it sent a message of more than {LARGEST_MESSAGE:,} bytes"
            return b""
        return line

    async def _write(self, stdin: Any, writes: Any, reads: Any) -> None:
        async with writes:
            async for each in writes:
                text = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                try:
                    stdin.write(text.encode() + b"\n")
                    await stdin.drain()
                except OSError:
                    reads.close()  # the client sees the end, and waits for nothing
                    return

    async def _listen(self, stderr: Any) -> None:
        while piece := await stderr.read(_PIECE):
            for line in piece.decode(errors="replace").splitlines()[-_MOST_LINES:]:
                if told := one_line(redact(harmless(line[:_LONGEST_LINE]), also=self.env.values()), 300):
                    self.said.append(told)
                    _log.debug("%s: %s", self.command[0], told)

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        """Close its input, give it a moment, and kill it with all that it has started."""
        if process.stdin is not None:
            process.stdin.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(_TO_END):
                await process.wait()
        _kill(process.pid)
        await process.wait()
        _running.discard(process.pid)


def _message(line: bytes) -> Any:
    """Return what the client is to see of a line: a message, or the exception of one that is none.

    Halves of surrogate pairs, as names of files have them, become U+FFFD. A reply that is none is an error of
    its request, which would else wait for it until its time is over.
    """
    from mcp.shared.message import SessionMessage
    from mcp_types import PARSE_ERROR, jsonrpc_message_adapter

    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as problem:
        failure = problem
    try:
        text = json.dumps(json.loads(line), ensure_ascii=False)
        whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        said = json.loads(whole)
    except (ValueError, RecursionError):
        return failure
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_python(said, by_name=False))
    except ValueError:
        if not isinstance(said, dict) or "method" in said or not isinstance(said.get("id"), str | int):
            return failure
        error = {"code": PARSE_ERROR, "message": "it sent a reply that is no JSON-RPC"}
        told = {"jsonrpc": "2.0", "id": said["id"], "error": error}
        return SessionMessage(jsonrpc_message_adapter.validate_python(told, by_name=False))


def from_environment(given: Mapping[str, str]) -> dict[str, str]:
    """Return values, "$NAME" as the environment has it. Raises `InventoryError` where it has none."""
    found = {}
    for key, value in given.items():
        name = value[1:]
        if not value.startswith("$"):
            found[key] = value
        elif name.startswith("$"):
            found[key] = name
        elif name in os.environ:
            found[key] = os.environ[name]
        else:
            raise InventoryError(f"{key} is ${name}, which is not set", hint=f"export {name}=…")
    return found


def end_all() -> None:
    """End every server of this process, with all that it has started."""
    for pid in list(_running):
        _kill(pid)


def _end_with_parent() -> None:
    """Have the system end the server where this process is killed (Linux, prctl(2))."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            os.kill(pid, signal.SIGTERM)
        else:
            os.killpg(pid, signal.SIGKILL)


atexit.register(end_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_running.clear)  # they are the parent's
