"""A Model Context Protocol server as a process: unlike the SDK's, limited and ended with this one."""

import asyncio
import atexit
import os
import re
import signal
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from chameleon.text import harmless, one_line, redact

MAX_MESSAGE_BYTES = 4 * 1024 * 1024
_END_SECONDS = 1.0
_TRACE_LINE = re.compile(r'at |File "|Node\.js v|\W*$')  # of a stack trace


class ServerProcess:
    """A command that reads and writes messages on its pipes.

    From our environment it gets what the SDK considers safe (PATH, HOME, …), plus `env`. `last_words` are its
    last lines on stderr without stack frames, and `fault` is why it can no longer be used.
    """

    def __init__(self, command: Sequence[str], env: Mapping[str, str], folder: Path) -> None:
        self.command, self.env, self.folder = command, env, folder
        self.last_words: deque[str] = deque(maxlen=4)
        self.fault = ""
        self.pid = 0

    def below(self, pid: int = 0) -> list[int]:
        """Return the child processes of the server (or `pid`), at any depth; none without /proc."""
        pids: list[int] = []
        with suppress(OSError):
            for file in Path(f"/proc/{pid or self.pid}/task").glob("*/children"):
                children = map(int, file.read_text().split())
                pids += [each for child in children for each in (child, *self.below(child))]
        return pids

    def end(self, below: Sequence[int]) -> None:
        """Kill the rest of its process group, and its children, some of which may have left the group."""
        _running.discard(self)
        with suppress(OSError):  # it is gone, or (macOS) a zombie, or another user's
            os.killpg(self.pid, signal.SIGKILL)
        for pid in below:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[tuple[Any, Any]]:
        """Start it, and yield the message streams that the client reads and writes."""
        import anyio
        from mcp.client.stdio import get_default_environment

        process = await asyncio.create_subprocess_exec(
            *self.command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=get_default_environment() | dict(self.env),
            cwd=self.folder,
            start_new_session=True,
            limit=MAX_MESSAGE_BYTES,
        )
        self.pid = process.pid
        _running.add(self)
        received, incoming = anyio.create_memory_object_stream[Any](0)
        outgoing, sent = anyio.create_memory_object_stream[Any](0)
        works = (self._read(process, received), self._write(process, sent, received), self._listen(process))
        tasks = [asyncio.create_task(work) for work in works]
        try:
            yield incoming, outgoing
        finally:
            tasks[0].cancel()  # ending the server ourselves is not a fault
            below = self.below()
            for stream in (received, incoming, outgoing, sent):
                stream.close()
            process.stdin.close()  # type: ignore[union-attr]
            with suppress(TimeoutError):
                async with asyncio.timeout(_END_SECONDS):
                    await process.wait()
            self.end(below)
            await process.wait()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self, process: Any, received: Any) -> None:
        async with received:
            try:
                while line := await process.stdout.readline():
                    await received.send(_message(line))
                await self._note_end(process)
            except ValueError:  # raised by the reader
                self.fault = f"it sent a message of more than {MAX_MESSAGE_BYTES:,} bytes"
            except TimeoutError:
                self.fault = "it closed its output"

    async def _write(self, process: Any, sent: Any, received: Any) -> None:
        try:
            async for each in sent:
                text = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                process.stdin.write(text.encode() + b"\n")
                await process.stdin.drain()
        except OSError:
            with suppress(TimeoutError):
                await self._note_end(process)
            received.close()  # the client sees the end of the connection

    async def _note_end(self, process: Any) -> None:
        async with asyncio.timeout(_END_SECONDS):
            self.fault = f"it ended with code {await process.wait()}"

    async def _listen(self, process: Any) -> None:
        while piece := await process.stderr.read(65_536):
            for line in piece.decode(errors="replace").split("\n")[-50:]:  # only four are kept
                text = one_line(redact(harmless(line[:1_000]), also=self.env.values()))
                if not _TRACE_LINE.match(text):
                    self.last_words.append(text)


_running = set[ServerProcess]()


def _message(line: bytes) -> Any:
    """Return the message in a line, or the error if it is not a message."""
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as problem:
        return problem


@atexit.register
def end_servers() -> None:
    """End the servers with this process; if it is killed, they see the end of their input."""
    for server in tuple(_running):
        server.end(server.below())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_running.clear)  # they belong to the parent
