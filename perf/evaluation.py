"""Check that the memory of an evaluation stays flat, and that resuming and reporting start at once.

    python perf/evaluation.py [--problems 1000 100000] [--workers 4] [--keep DIR]

Each number of synthetic problems is evaluated in a separate process, as in `chameleon eval`: the inventory
tabmwp, an in-process model that replies at once, and results and events in a folder. The output shows peak
memory (Linux), the pace, and the bytes per problem in each file. Then the last problem is removed and a new
process resumes: the output shows the time for imports, and the time until the model gets the first request.
Finally `chameleon report`, `report --html` and `stats` read the folder.
"""

import argparse
import gzip
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from timings import surroundings, table

from chameleon import LLM, Executor, Inventory
from chameleon.cli.evaluating import EvalRun
from chameleon.cli.options import EvalOptions
from chameleon.cli.scoring import Data
from chameleon.evaluation.kept_events import EVENTS
from chameleon.evaluation.problems import Problems
from chameleon.evaluation.run_dir import RESULTS

_PLAN = '["knowledge_retrieval", "solution_generator", "answer_generator"]'
_WORDS = ("lamp", "kettle", "rug", "stool", "vase", "mirror", "shelf", "clock")


class AtOnce(BaseChatModel):
    """Replies without delay, to a planner with a plan; records the time of the first call."""

    first: float = 0.0

    @property
    def _llm_type(self) -> str:
        return "at-once"

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, *args: Any, **kwargs: Any
    ) -> ChatResult:
        self.first = self.first or time.time()
        asks_for_plan = str(messages[-1].content).rstrip().endswith("Modules:")
        text = _PLAN if asks_for_plan else "They sum up to 7. The answer is 7."
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])


def write_problems(path: Path, count: int) -> None:
    """Write `count` problems in TabMWP's format, one JSON line each."""
    chance = random.Random(4)
    with path.open("w") as file:
        for number in range(count):
            rows = [f"{word} | ${chance.randint(1, 99)}" for word in chance.sample(_WORDS, 5)]
            question = f"Shop {number}: how many articles does it sell?"
            row = {"pid": str(number), "question": question, "choices": None, "unit": None, "answer": "7"}
            file.write(json.dumps(row | {"table": "\n".join(["Article | Price", *rows])}) + "\n")


def evaluate(data: Path, out: Path, workers: int) -> None:
    """Run or resume; print a JSON object with the peak memory and the time of the first model call."""
    begun = time.time()
    options = EvalOptions(out=out, workers=workers)
    model = AtOnce()
    executor = Executor(Inventory.load("tabmwp"), LLM.connect(model))
    found = Data(data, "tabmwp", options)
    run = EvalRun(executor, Problems(found.read), found, options)
    run.check()
    stopped = run.run()
    assert stopped is None, stopped
    told = {
        "right": run.tally.all.correct,
        "seconds": time.time() - model.first,
        "peak": int(re.findall(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[0]) / 2**10,
        "first": model.first - begun,
        "imported": begun - psutil.Process().create_time(),
    }
    print(json.dumps(told))


def in_a_process(*arguments: str) -> dict[str, Any]:
    command = [sys.executable, __file__, *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def timed(command: Sequence[str]) -> str:
    """Return the seconds that `chameleon` takes with these arguments."""
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-m", "chameleon", *command], check=True, stdout=subprocess.DEVNULL)
    return f"{time.perf_counter() - begun:.2f} s"


def measure(place: Path, count: int, workers: int) -> list[str]:
    """Return the figures for this number of problems, as the cells of a column."""
    data, out = place / f"{count}.jsonl", place / f"run-{count}"
    write_problems(data, count)
    arguments = ("--folder", str(out), "--data", str(data), "--workers", str(workers))
    whole = in_a_process(*arguments)
    assert whole["right"] == count
    sizes = {file.name: file.stat().st_size for file in out.iterdir()}
    results = (out / RESULTS).read_bytes().splitlines(keepends=True)
    (out / RESULTS).write_bytes(b"".join(results[:-1]))
    last = json.loads(results[-1])
    packed = (out / EVENTS).read_bytes()
    lines = gzip.decompress(packed[last["member"] :]).splitlines(keepends=True)
    others = b"".join(line for line in lines if json.loads(line)["id"] != last["id"])
    (out / EVENTS).write_bytes(packed[: last["member"]] + gzip.compress(others))
    again = in_a_process(*arguments)
    assert again["right"] == count
    page = str(place / "page.html")
    return [
        f"{whole['peak']:.1f} MiB",
        f"{count / whole['seconds']:,.0f}",
        f"{sizes[EVENTS] / count:,.0f} B",
        f"{sizes[RESULTS] / count:,.0f} B",
        f"{(sum(sizes.values()) - sizes[EVENTS] - sizes[RESULTS]) / 2**10:,.1f} KiB",
        f"{again['imported']:.2f} + {again['first']:.2f} s",
        f"{again['peak']:.1f} MiB",
        *map(timed, (["report", str(out)], ["report", str(out), "--html", page], ["stats", str(out)])),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--problems", type=int, nargs="+", default=[1_000, 100_000])
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--keep", type=Path, default=None)
    for own in ("--folder", "--data"):
        parser.add_argument(own, type=Path, help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.folder:
        evaluate(wanted.data, wanted.folder, wanted.workers)
        return
    with tempfile.TemporaryDirectory() as name:
        place = wanted.keep or Path(name)
        columns = [measure(place, count, wanted.workers) for count in wanted.problems]
    names = ["peak of memory", "problems/s", "events a problem", "results a problem", "settings"]
    names += [
        "going on: imports, then to the first call",
        "going on: peak",
        "report",
        "report --html",
        "stats",
    ]
    header = ["", *(f"{count:,}" for count in wanted.problems)]
    table("Evaluations of so many problems", header, [list(row) for row in zip(names, *columns, strict=True)])
    print(surroundings("langchain-core", "orjson"))


if __name__ == "__main__":
    main()
