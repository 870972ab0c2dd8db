"""Measure how close many concurrent calls get to the ideal wall time, with real clients.

    python -m venv /tmp/perf && /tmp/perf/bin/pip install -e '.[openai]' -r perf/requirements.txt
    /tmp/perf/bin/python perf/calls.py [--problems 200] [--seconds 0.2] [--workers 32 64 256] [--repeats 3]

Every problem makes four sequential model calls to an OpenAI-compatible server on this machine, in a separate
process on its own core (`model_server.py`). Ideal is the time of just the calls: the problems of the busiest
worker × 4 × the time of a call. The clients take turns in each repeat.

- Chameleon: plans of four prompt modules that call `LLM`: `batch`, `abatch`, and `Evaluation` with its log
  and results in a folder.
- ChatOpenAI: only LangChain's client: `invoke` in threads, `ainvoke`, and `ainvoke` with openai's aiohttp
  transport.
- AsyncOpenAI: only openai's client, over httpx and over aiohttp.
- aiohttp, raw: just a POST and a JSON reply.
"""

import argparse
import asyncio
import contextlib
import math
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

import aiohttp
from langchain_openai import ChatOpenAI
from model_server import ModelServer
from openai import AsyncOpenAI, DefaultAioHttpClient
from timings import Figure, surroundings, table
from workload import QUESTIONS, Same

from chameleon import LLM, Executor, Inventory, LLMModule
from chameleon.core.module import copy_with
from chameleon.core.prompt import Prompt
from chameleon.evaluation.evaluate import Evaluation
from chameleon.evaluation.run_dir import RunDir
from chameleon.planners.fixed import Fixed

CALLS = [f"call_{number}" for number in range(1, 5)]
BATCH, EVAL = "**Chameleon `batch`**", "**Chameleon `Evaluation`: log, results**"
AIMS = {(0.2, 32): 1.08, (0.2, 64): 1.08, (0.2, 256): 1.6, (1.0, 256): 1.15}
"""The limit on wall time as a multiple of ideal, by seconds per call and number of workers."""
ANSWER = "The answer is 42."
LOOP = asyncio.Runner()  # shared, because LangChain's chat models share a client that is bound to its loop
Client = Callable[[str, int, int], None]  # (address, problems, workers)


class Answers(LLMModule):
    """Answers the question."""

    _template = Prompt.parse("---\nslots: [question]\n---\n# user\n{{ question }}\n", "answers")


def questions(problems: int) -> list[str]:
    return [f"How much is {number} and {number}?" for number in range(problems)]


@cache
def executor(address: str) -> Executor:
    llm = LLM.connect("openai:local", base_url=address, api_key="none", temperature=0)
    return Executor(
        Inventory("four", Fixed(CALLS), {name: copy_with(Answers(), name=name) for name in CALLS}), llm
    )


def batch(address: str, problems: int, workers: int) -> None:
    inputs = [{"question": question} for question in questions(problems)]
    assert all(state.answer == ANSWER for state in executor(address).batch(inputs, workers))


def abatch(address: str, problems: int, workers: int) -> None:
    async def run() -> None:
        inputs = [{"question": question} for question in questions(problems)]
        async for state in executor(address).amap(inputs, workers=workers):
            assert state.answer == ANSWER

    LOOP.run(run())


def evaluation(address: str, problems: int, workers: int) -> None:
    rows = ({"id": str(id), "question": each, "gold": ANSWER} for id, each in enumerate(questions(problems)))
    right: list[bool | None] = []
    with tempfile.TemporaryDirectory() as folder, RunDir(Path(folder) / "run", {}) as kept:
        Evaluation(
            executor(address),
            Same(),
            QUESTIONS,
            run_dir=kept,
            workers=workers,
            on_result=lambda result: right.append(result.correct),
        ).run(QUESTIONS.problem(row, {}) for row in rows)
    assert right == [True] * problems


def chat_settings(address: str) -> dict[str, Any]:
    return {"model": "local", "base_url": address, "api_key": "none", "temperature": 0, "max_retries": 0}


def invoke(address: str, problems: int, workers: int) -> None:
    chat = ChatOpenAI(**chat_settings(address))

    def solve(question: str) -> None:
        for _ in CALLS:
            assert chat.invoke(question).content == ANSWER

    with ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(solve, questions(problems)):
            pass


Ask = Callable[[str], Awaitable[Any]]


def in_tasks(opened: Callable[[str], contextlib.AbstractAsyncContextManager[Ask]]) -> Client:
    """Make a client from a function that asks one question: each of the tasks takes the next problem."""

    async def run(address: str, problems: int, workers: int) -> None:
        async with opened(address) as ask:

            async def work(waiting: Iterator[str]) -> None:
                for question in waiting:
                    for _ in CALLS:
                        assert await ask(question) == ANSWER

            waiting = iter(questions(problems))
            await asyncio.gather(*(work(waiting) for _ in range(workers)))

    return lambda address, problems, workers: LOOP.run(run(address, problems, workers))


def ainvoke(*, on_aiohttp: bool) -> Client:
    @asynccontextmanager
    async def opened(address: str) -> AsyncIterator[Ask]:
        async with AsyncExitStack() as stack:
            http = await stack.enter_async_context(DefaultAioHttpClient()) if on_aiohttp else None
            chat = ChatOpenAI(**chat_settings(address), http_async_client=http)

            async def ask(question: str) -> Any:
                return (await chat.ainvoke(question)).content

            yield ask

    return in_tasks(opened)


def async_openai(*, on_aiohttp: bool) -> Client:
    @asynccontextmanager
    async def opened(address: str) -> AsyncIterator[Ask]:
        http = DefaultAioHttpClient() if on_aiohttp else None
        async with AsyncOpenAI(base_url=address, api_key="none", max_retries=0, http_client=http) as client:

            async def ask(question: str) -> Any:
                made = await client.chat.completions.create(
                    model="local", messages=[{"role": "user", "content": question}], temperature=0
                )
                return made.choices[0].message.content

            yield ask

    return in_tasks(opened)


@asynccontextmanager
async def raw(address: str) -> AsyncIterator[Ask]:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def ask(question: str) -> Any:
            body = {"model": "local", "messages": [{"role": "user", "content": question}], "temperature": 0}
            async with session.post(f"{address}/chat/completions", json=body) as response:
                return (await response.json())["choices"][0]["message"]["content"]

        yield ask


CLIENTS: dict[str, Client] = {
    BATCH: batch,
    "**Chameleon `abatch`**": abatch,
    EVAL: evaluation,
    "ChatOpenAI.invoke, threads": invoke,
    "ChatOpenAI.ainvoke": ainvoke(on_aiohttp=False),
    "ChatOpenAI.ainvoke, aiohttp transport": ainvoke(on_aiohttp=True),
    "AsyncOpenAI": async_openai(on_aiohttp=False),
    "AsyncOpenAI, aiohttp transport": async_openai(on_aiohttp=True),
    "aiohttp, raw": in_tasks(raw),
}


def spent(client: Client, address: str, problems: int, workers: int) -> tuple[float, float]:
    """Return the wall seconds for all problems, and the CPU milliseconds of this process per call."""
    begun, cpu = time.perf_counter(), time.process_time()
    client(address, problems, workers)
    return time.perf_counter() - begun, (time.process_time() - cpu) / problems / len(CALLS) * 1000


def rows(address: str, problems: int, seconds: float, workers: int, repeats: int) -> Iterator[list[str]]:
    """Yield a row for each client with this number of workers."""
    ideal = math.ceil(problems / workers) * len(CALLS) * seconds
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in CLIENTS}
    for _ in range(repeats):
        for name, client in CLIENTS.items():
            found[name].append(spent(client, address, problems, workers))
    walls = {name: Figure([wall / ideal for wall, _ in measured]) for name, measured in found.items()}
    aim = AIMS.get((seconds, workers))
    for name, measured in found.items():
        cpu, ours = Figure([used for _, used in measured]), "Chameleon" in name
        beside = f"{walls[name].over(walls[BATCH]).median:.2f}" + (" (≤ 1.05)" if name == EVAL else "")
        aimed = f"≤ {aim:g}" if ours and aim else ""
        yield [f"{workers}: {name}", walls[name].shown(2), aimed, beside if ours else "", cpu.shown(2)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--problems", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=0.2, help="time of one model call")
    parser.add_argument("--workers", type=int, nargs="+", default=[32, 64, 256])
    parser.add_argument("--repeats", type=int, default=3, help="measurements of each client")
    options = parser.parse_args()
    with ModelServer(options.seconds) as server:
        for client in CLIENTS.values():  # leave imports and first connections out of the comparison
            client(server.url, 1, 1)
        found = [
            row
            for workers in options.workers
            for row in rows(server.url, options.problems, options.seconds, workers, options.repeats)
        ]
    header = ["in flight: client", "wall ÷ ideal: median (least–most)", "aim", "÷ batch", "CPU ms a call"]
    table(f"{options.problems} problems of four calls at {options.seconds:g} s", header, found)
    if not hasattr(Executor, "abatch"):
        print("\nThis version of Chameleon has no `abatch`: its row is left out.")
    print(surroundings("openai", "langchain-openai", "aiohttp"))


if __name__ == "__main__":
    main()
