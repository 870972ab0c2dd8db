"""How near many workers come to the ideal wall time through a real client.

    python -m venv /tmp/perf && /tmp/perf/bin/pip install -e '.[openai]' -r perf/requirements.txt
    /tmp/perf/bin/python perf/calls.py [--problems 200] [--workers 32 64 256] [--repeats 3]

Every problem makes four model calls, one after another, at 200 ms each, to an OpenAI-compatible server on
this machine, in a process of its own (`model_server.py`). Ideal is the time that the calls alone would take:
the problems of the busiest worker × 4 × 0.2 s.

- Chameleon: plans of four prompt modules, asked through `LLM`, in that many threads, with the log in a file.
- ChatOpenAI: LangChain's client alone, asked the same in as many threads, and nothing else.

The rest of the wall time is the processor time of the client (LangChain, the openai package, httpx). It
bounds what one process can ask in a second, and is shown for each call.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from langchain_openai import ChatOpenAI
from measuring import Figure, surroundings, table
from model_server import ModelServer

from chameleon import LLM, Executor, Inventory, LLMModule
from chameleon.evaluation.run_dir import RunDir
from chameleon.planners.fixed import Fixed
from chameleon.prompt import Prompt

CALLS = [f"call_{number}" for number in range(1, 5)]
Solve = Callable[[int], None]


class Answers(LLMModule):
    """Answers the question."""

    template = Prompt.parse("---\nslots: [question]\n---\n# user\n{{ question }}\n", "answers")


def chameleon(address: str, log: RunDir) -> Solve:
    llm = LLM.connect("openai:local", base_url=address, api_key="none", temperature=0)
    executor = Executor(Inventory("four", Fixed(CALLS), {name: Answers() for name in CALLS}), llm)

    def solve(problem: int) -> None:
        for event in executor.stream({"question": f"How much is {problem} and {problem}?"}):
            log.append(str(problem), event)

    return solve


def chat_openai(address: str) -> Solve:
    chat = ChatOpenAI(model="local", base_url=address, api_key="none", temperature=0, max_retries=0)

    def solve(problem: int) -> None:
        for _ in CALLS:
            chat.invoke(f"How much is {problem} and {problem}?")

    return solve


def spent(solve: Solve, problems: int, workers: int) -> tuple[float, float]:
    """Wall seconds for all problems, and processor milliseconds of this process for each call."""
    begun, processor = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(solve, range(problems)):
            pass
    used = time.process_time() - processor
    return time.perf_counter() - begun, used / problems / len(CALLS) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--problems", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=0.2, help="time of one model call")
    parser.add_argument("--workers", type=int, nargs="+", default=[32, 64, 256])
    parser.add_argument("--repeats", type=int, default=3, help="measurements of each variant")
    options = parser.parse_args()
    rows = []
    with (
        ModelServer(options.seconds) as server,
        tempfile.TemporaryDirectory() as name,
        contextlib.closing(RunDir(Path(name) / "runs", {})) as log,
    ):
        for workers in options.workers:
            ideal = math.ceil(options.problems / workers) * len(CALLS) * options.seconds
            found: dict[str, list[tuple[float, float]]] = {"Chameleon": [], "ChatOpenAI": []}
            for _ in range(options.repeats):
                for who, solve in (
                    ("Chameleon", chameleon(server.url, log)),
                    ("ChatOpenAI", chat_openai(server.url)),
                ):
                    solve(-1)
                    found[who].append(spent(solve, options.problems, workers))
            for who, measured in found.items():
                walls = Figure([wall / ideal for wall, _ in measured])
                processor = Figure([used for _, used in measured])
                rows.append([f"{workers} workers, {who}", f"{ideal:.2f}", walls.shown(3), processor.shown(2)])
    header = ["", "ideal s", "wall / ideal: median (least–most)", "processor ms a call"]
    table(f"{options.problems} problems of four calls at {options.seconds:g} s", header, rows)
    print(surroundings("langchain-openai", "openai"))


if __name__ == "__main__":
    main()
