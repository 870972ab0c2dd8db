"""Whether a long batch keeps its pace and its memory: problems done, seconds and memory at several points.

    python -m venv /tmp/perf && /tmp/perf/bin/pip install -e '.[openai]' -r perf/requirements.txt
    /tmp/perf/bin/python perf/batch.py [--problems 7686] [--workers 1 32] [--stall 2]

`Executor.batch` over a generator of tiny problems (as many as TabMWP's test set has), each a plan of four
prompt modules that ask a model which replies in no time. Then the same again while one of the first problems
waits `--stall` seconds for its model: the others go on, as far as their states may wait for their turn.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any

import psutil
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatResult
from measuring import surroundings, table

from chameleon import LLM, Executor, Inventory, LLMModule
from chameleon.planners.fixed import Fixed
from chameleon.prompt import Prompt

PLAN = [f"call_{number}" for number in range(1, 5)]
POINTS = 6
STALLED = "How much is 10 and 10?"


class Instant(BaseChatModel):
    """A chat model that replies in no time, but for one question."""

    stall: float = 0.0

    @property
    def _llm_type(self) -> str:
        return "instant"

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        raise AssertionError("invoke replies")

    def invoke(self, messages: Any, *_: Any, **__: Any) -> AIMessage:
        if self.stall and messages[0].content == STALLED:
            time.sleep(self.stall / len(PLAN))
        return AIMessage(content="It is twice as much.", response_metadata={"finish_reason": "stop"})


class Answers(LLMModule):
    """Answers the question."""

    template = Prompt.parse("---\nslots: [question]\n---\n# user\n{{ question }}\n", "answers")


def inputs(count: int) -> Iterator[dict[str, str]]:
    for number in range(count):
        yield {"question": f"How much is {number} and {number}?"}


def rows(problems: int, workers: int, stall: float) -> Iterator[list[str]]:
    """Problems delivered, seconds since the beginning, pace since the last row, and resident memory."""
    modules = {name: Answers() for name in PLAN}
    executor = Executor(Inventory("four", Fixed(PLAN), modules), LLM.connect(Instant(stall=stall)))
    process = psutil.Process()
    begun = before = time.perf_counter()
    reported, every = 0, max(1, problems // POINTS)
    for done, state in enumerate(executor.map(inputs(problems), workers), 1):
        if state.answer is None:
            raise SystemExit(f"a problem of this file failed: {state.ended}")
        if done % every == 0 or done == problems:
            now = time.perf_counter()
            pace = (done - reported) / (now - before)
            memory = process.memory_info().rss / 2**20
            yield [f"{done:,}", f"{now - begun:.2f}", f"{pace:,.0f}", f"{memory:.1f}"]
            reported, before = done, now


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--problems", type=int, default=7686)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 32])
    parser.add_argument("--stall", type=float, default=2.0, help="seconds that one problem waits")
    options = parser.parse_args()
    header = ["problems", "seconds", "a second since", "memory MiB"]
    for workers in options.workers:
        said = f"{workers} worker{'s' if workers > 1 else ''}"
        table(said, header, list(rows(options.problems, workers, 0.0)))
        if workers > 1:
            table(
                f"{said}, one problem waits {options.stall:g} s",
                header,
                list(rows(options.problems, workers, options.stall)),
            )
    print(surroundings())


if __name__ == "__main__":
    main()
