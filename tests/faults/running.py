"""Evaluations that tell whose answer each result has, and the processes that run them.

Problem `n` asks for number `n`; right is `1000 + n`, in words or by a program. A result that was lost,
counted twice, or given another problem's answer shows.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.commands import Command, Outcome, environment
from tests.evaluation.rows import Row, read_results, write_rows

MODEL = ("--model", "openai:local")
TABLE = "Name | Value\nfirst | 1\nsecond | 2"
WORDS = "name: words\nextends: tabmwp_cot\nllm: {retries: 0}\n"
PROGRAMS = "name: programs\nextends: tabmwp_pot\nllm: {retries: 0}\n"
_ROW = {"table": TABLE, "table_title": None, "choices": None, "unit": None}
_ASKED = re.compile(r"What is number (\d+)\?")


def asked_for(request: Row) -> int:
    """Return the number that the prompt's last problem asks for."""
    return int(_ASKED.findall(request["messages"][-1]["content"])[-1])


def reply(request: Row) -> str:
    """Answer in words, or by a program, as the prompt wants it."""
    number = asked_for(request)
    if request["messages"][-1]["content"].rstrip().endswith("Program:"):
        return f"```python\nans = 1000 + {number}\n```"
    return f"The answer is {1000 + number}."


class Case:
    """An evaluation of `count` such problems, kept in `out`."""

    def __init__(self, place: Path, count: int, inventory: str = WORDS) -> None:
        place.mkdir(parents=True, exist_ok=True)
        self.count, self.out = count, place / "out"
        self.inventory = place / "inventory.yaml"
        self.inventory.write_text(inventory)
        asked = ({"pid": str(n), "question": f"What is number {n}?"} for n in range(count))
        rows = ({**_ROW, **row, "answer": str(1000 + int(row["pid"]))} for row in asked)
        self.data = write_rows(place / "data.jsonl", rows)

    def arguments(self, *options: str, store: str = "off") -> list[str]:
        """Evaluate into the folder with two workers, unless told otherwise."""
        asked = ["eval", str(self.inventory), str(self.data), "--benchmark", "tabmwp", "--out", str(self.out)]
        return [*asked, *MODEL, "--workers", "2", "--store", store, "--json", *options]

    @property
    def results(self) -> list[Row]:
        return read_results(self.out)

    def check(self, *, whole: bool = True) -> None:
        """Require that each result is there once, right and with its own answer; with `whole` all of them."""
        ids = [int(each["id"]) for each in self.results]
        assert len(ids) == len(set(ids)), "a result is counted twice"
        assert [str(each["answer"]) for each in self.results] == [str(1000 + id) for id in ids]
        assert all(each["correct"] and not each["error"] for each in self.results)
        assert not whole or len(ids) == self.count

    def finish(self, command: Command, *options: str, store: str = "off") -> None:
        """Go on, and require that all is there."""
        outcome = command(*self.arguments(*options, store=store))
        assert outcome.code == 0, outcome.err
        self.check()


def question(place: Path, *options: str, inventory: str = WORDS) -> list[str]:
    """Return the arguments that ask for number 7, whose answer is 1007."""
    (place / "inventory.yaml").write_text(inventory)
    (place / "table.csv").write_text(TABLE.replace(" | ", ","))
    files = ["--table", str(place / "table.csv"), "--inventory", str(place / "inventory.yaml")]
    return ["ask", "What is number 7?", *files, *MODEL, *options]


@contextmanager
def started(*arguments: str, env: dict[str, str] | None = None) -> Iterator[subprocess.Popen[str]]:
    """Run `python -m chameleon ARGUMENTS…` beside the test, and end it with the test."""
    command, none, pipe = [sys.executable, "-m", "chameleon", *arguments], subprocess.DEVNULL, subprocess.PIPE
    env = env or environment()
    process = subprocess.Popen(command, stdin=none, stdout=pipe, stderr=pipe, text=True, env=env)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def ended(process: subprocess.Popen[str], seconds: float = 60) -> Outcome:
    """Wait for a process, and return what it left."""
    out, err = process.communicate(timeout=seconds)
    return Outcome(process.returncode, out, err)


def run_code(code: str, *arguments: str, env: dict[str, str] | None = None) -> Outcome:
    """Run Python code as a process of its own, with these arguments after `chameleon`."""
    command = [sys.executable, "-c", f"import sys\nsys.argv[0] = 'chameleon'\n{code}", *arguments]
    options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": 60}
    done = subprocess.run(command, env=env or environment(), check=False, **options)
    return Outcome(done.returncode, done.stdout, done.stderr)


def wait_until(is_so: Callable[[], bool], process: subprocess.Popen[str] | None = None) -> None:
    """Wait until something is so, or the process has ended."""
    until = time.monotonic() + 60
    while not is_so() and (process is None or process.poll() is None):
        assert time.monotonic() < until
        time.sleep(0.005)


def told_or_right(outcome: Outcome) -> str:
    """Return the last line on stderr of a command that failed, which is ours; "" where it went well."""
    assert "Traceback" not in outcome.err and "a fault of ours" not in outcome.err, outcome.err
    if not outcome.code:
        return ""
    lines = outcome.err.splitlines()
    assert outcome.code == 1 and lines and lines[-1].startswith("chameleon: "), outcome
    return lines[-1].removeprefix("chameleon: ")


def told(outcome: Outcome) -> str:
    """Return the line of a command that failed."""
    line = told_or_right(outcome)
    assert line, outcome
    return line
