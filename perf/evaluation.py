"""Does the memory of an evaluation stay flat, and its time linear?

    python perf/evaluation.py [--problems 7686] [--workers 4] [--keep DIR]

Runs the inventory tabmwp over that many made-up problems (7,686 is the size of TabMWP's test set) with a
model in this process that replies at once, keeps results and the whole event log in a folder, and prints
memory and speed on the way. Prompts, demonstrations and replies are logged as in any evaluation. At the end
the same folder is opened again, as a resumed evaluation does, and read, as a report does.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from chameleon import LLM, Executor, Inventory
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.data import DataFile, find_benchmark, read_problems
from chameleon.evaluation.evaluate import Evaluation
from chameleon.evaluation.results import Result
from chameleon.evaluation.run import read_run
from chameleon.evaluation.run_dir import RunDir
from chameleon.evaluation.settings import settings_of

_PLAN = '["knowledge_retrieval", "solution_generator", "answer_generator"]'
_WORDS = ("lamp", "kettle", "rug", "stool", "vase", "mirror", "shelf", "clock")


class AtOnce(BaseChatModel):
    """Replies without delay: a plan to a planner, an answer to everyone else."""

    @property
    def _llm_type(self) -> str:
        return "at-once"

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, *args: Any, **kwargs: Any
    ) -> ChatResult:
        asks_for_plan = str(messages[-1].content).rstrip().endswith("Modules:")
        text = _PLAN if asks_for_plan else "They sum up to 7. The answer is 7."
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])


def write_problems(path: Path, count: int) -> None:
    """`count` problems in TabMWP's form, one JSON line each."""
    chance = random.Random(4)
    with path.open("w") as file:
        for number in range(count):
            rows = [f"{word} | ${chance.randint(1, 99)}" for word in chance.sample(_WORDS, 5)]
            question = f"Shop {number}: how many articles does it sell?"
            row = {"pid": str(number), "question": question, "choices": None, "unit": None, "answer": "7"}
            file.write(json.dumps(row | {"table": "\n".join(["Article | Price", *rows])}) + "\n")


class Watch:
    """Prints memory and speed at every eighth of the way."""

    def __init__(self, total: int) -> None:
        self.total, self.done = total, 0
        self.begun = self.before = time.perf_counter()
        self.process = psutil.Process()

    def __call__(self, result: Result) -> None:
        self.done += 1
        every = max(self.total // 8, 1)
        if self.done % every == 0:
            now = time.perf_counter()
            print(
                f"{self.done:7,}  {now - self.begun:7.1f} s  {every / (now - self.before):7.0f} problems/s  "
                f"{self.process.memory_info().rss / 2**20:7.1f} MiB",
                flush=True,
            )
            self.before = now


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--problems", type=int, default=7686)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--keep", type=Path, default=None)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = wanted.keep or Path(place) / "run"
        data = DataFile(Path(place) / "problems.jsonl", "pid")
        write_problems(data.path, wanted.problems)
        benchmark = find_benchmark("tabmwp")
        problems = list(read_problems(benchmark, data))
        executor = Executor(Inventory.load("tabmwp"), LLM.connect(AtOnce()))
        settings = settings_of(executor, benchmark, "chameleon", data)
        print(f"{'problems':>7}  {'time':>9}  {'speed':>18}  {'memory':>11}")
        _run(executor, folder, settings, problems, wanted.workers)
        _reopen(folder, settings)


def _run(
    executor: Executor, folder: Path, settings: dict[str, Any], problems: list[Problem], workers: int
) -> None:
    benchmark = find_benchmark("tabmwp")
    scorer, watch = benchmark.scorers["chameleon"](), Watch(len(problems))
    with RunDir(folder, settings) as kept:
        evaluation = Evaluation(executor, scorer, benchmark, run_dir=kept, workers=workers, on_result=watch)
        evaluation.run(iter(problems))
    sizes = ", ".join(f"{name} {size / 2**20:.1f} MiB" for name, size in _sizes(folder))
    print(f"the folder holds {sizes}")


def _reopen(folder: Path, settings: dict[str, Any]) -> None:
    begun = time.perf_counter()
    with RunDir(folder, settings) as kept:
        done = len(kept.done)
    print(f"opened again in {time.perf_counter() - begun:.2f} s: {done:,} are done")
    begun = time.perf_counter()
    tally = read_run(folder).tally
    print(f"read in {time.perf_counter() - begun:.2f} s: {tally.all.correct:,} of {tally.all.n:,} right")


def _sizes(folder: Path) -> Iterator[tuple[str, int]]:
    for file in sorted(folder.iterdir()):
        yield file.name, file.stat().st_size


if __name__ == "__main__":
    main()
