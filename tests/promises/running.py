"""Entry points that ask a model, evaluations that tell whose answer each result has, and their processes."""

import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.e2e.commands import Command, Outcome, environment
from tests.evaluation.rows import Row, read_results, write_rows

MODEL = ("--model", "openai:local")
TABLE = "Name | Value\nfirst | 1\nsecond | 2"
WORDS = "name: words\nextends: tabmwp_cot\nllm: {retries: 0}\n"
PROGRAMS = "name: programs\nextends: tabmwp_pot\nllm: {retries: 0}\n"
PLANNED = "name: mine\nextends: tabmwp\nllm: {retries: 0, timeout: 3}\n"  # a plan and a solution: two calls
_ROW = {"table": TABLE, "table_title": None, "choices": None, "unit": None}
_ASKED = re.compile(r"What is number (\d+)\?")

ENTRIES = {  # Python's arguments, in a folder with the files below
    "ask": "-m chameleon ask 'What is number 7?' -t table.csv -i mine.yaml --log log.jsonl --store off",
    "chat": "-m chameleon chat mine.yaml -t table.csv --log log.jsonl --store off",
    "eval": "-m chameleon eval mine.yaml q.csv --out out -w 1 --store off --json",
    "compare": "-m chameleon compare q.csv -i mine.yaml --out out -w 1 --store off --json",
    "index": "-m chameleon index data --out index --summaries -p retries=0 -p timeout=3",
    "serve": "serve.py",
    "Executor.run": "run.py",
}
_GIVEN = f"""
from chameleon import LLM, EventLog, Executor
from chameleon.interop.inventory_server import InventoryServer
executor = Executor("mine.yaml", LLM.connect("openai:local", retries=0, timeout=3))
given = {{"question": "What is number 7?", "table": {TABLE.replace(" | ", ",")!r}}}
"""
_FILES = {
    "mine.yaml": PLANNED,
    "stdin": "What is number 7?\n",
    "table.csv": TABLE.replace(" | ", ","),
    "q.csv": "question,answer,table\n"
    + "".join(f"What is number {n}?,{1000 + n},table.csv\n" for n in (7, 8)),
    **{f"data/{name}.csv": f"{name},Value\nfirst,1\n" for name in ("Name", "Place", "Animal")},
    "run.py": f"""{_GIVEN}
from chameleon.table import read_table
with EventLog("log.jsonl") as log:
    log.forget_failure()
    state = executor.run({{**given, "table": read_table("table.csv")}}, log)
print(state.answer or state.ended)
""",
    "serve.py": f"""{_GIVEN}
import asyncio
from mcp.client import Client
async def talk():
    async with Client(InventoryServer([executor]).server()) as client:
        print((await client.call_tool("mine", given)).content[0].text)
asyncio.run(talk())
""",
}


def entry(name: str, place: Path) -> list[str]:
    for file, text in _FILES.items():
        (place / file).parent.mkdir(parents=True, exist_ok=True)
        (place / file).write_text(text)
    line = shlex.split(ENTRIES[name])
    return [*line, *MODEL] if line[0] == "-m" else line


def asked_for(request: Row) -> int:
    return int(_ASKED.findall(str(request["messages"][-1]["content"]))[-1])


def reply(request: Row) -> str:
    """Plan, describe a table, or answer in words or by a program, as the prompt wants it."""
    prompt = request["messages"][-1]["content"].rstrip()
    if prompt.endswith("Modules:"):
        return '["solution_generator", "answer_generator"]'
    if not _ASKED.search(prompt):
        return "Content: Of numbers."
    if prompt.endswith("Program:"):
        return f"```python\nans = 1000 + {asked_for(request)}\n```"
    return f"The answer is {1000 + asked_for(request)}."


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
        outcome = command(*self.arguments(*options, store=store))
        assert outcome.code == 0, outcome.err
        self.check()


def question(place: Path, *options: str, inventory: str = WORDS) -> list[str]:
    (place / "inventory.yaml").write_text(inventory)
    (place / "table.csv").write_text(TABLE.replace(" | ", ","))
    files = ["--table", str(place / "table.csv"), "--inventory", str(place / "inventory.yaml")]
    return ["ask", "What is number 7?", *files, *MODEL, *options]


@contextmanager
def started(
    *arguments: str, program: tuple[str, ...] = ("-m", "chameleon"), **options: Any
) -> Iterator[subprocess.Popen[str]]:
    """Run Python beside the test, in an environment for it, and end it with the test."""
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    options = {"env": environment(), **streams, **options}
    process = subprocess.Popen([sys.executable, *program, *arguments], text=True, **options)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@contextmanager
def entered(name: str, place: Path, *more: str, **changes: str) -> Iterator[subprocess.Popen[str]]:
    """Run an entry point in its folder beside the test; a chat hears its question the first time."""
    is_new, env = not (place / "stdin").exists(), environment(**changes)
    arguments = [*entry(name, place), *more]
    said = (place / "stdin" if is_new else Path("/dev/null")).open()
    with said, started(*arguments, program=(), cwd=place, stdin=said, env=env) as process:
        yield process


def ended(process: subprocess.Popen[str], seconds: float = 60) -> Outcome:
    out, err = process.communicate(timeout=seconds)
    return Outcome(process.returncode, out, err)


def run_code(code: str, *arguments: str, env: dict[str, str] | None = None) -> Outcome:
    """Run Python code as a process of its own, with these arguments after `chameleon`."""
    code = f"import sys\nsys.argv[0] = 'chameleon'\n{code}"
    with started(*arguments, program=("-c", code), env=env or environment()) as process:
        return ended(process)


def wait_until(is_so: Callable[[], bool], process: subprocess.Popen[str] | None = None) -> None:
    until = time.monotonic() + 60
    while not is_so() and (process is None or process.poll() is None):
        assert time.monotonic() < until
        time.sleep(0.005)


def told_or_right(outcome: Outcome) -> str:
    assert "Traceback" not in outcome.err and "a fault of ours" not in outcome.err, outcome.err
    if not outcome.code:
        return ""
    lines = [line for line in outcome.err.splitlines() if line.startswith("chameleon: ")]
    assert outcome.code == 1 and lines, outcome
    return lines[-1].removeprefix("chameleon: ")


def told(outcome: Outcome) -> str:
    line = told_or_right(outcome)
    assert line, outcome
    return line
