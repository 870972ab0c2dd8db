"""Measure accuracy and cost of methods × problems with a real small model, served on this machine.

    python -m venv /tmp/perf
    /tmp/perf/bin/pip install -e '.[openai,programs,retrieval]' -r perf/requirements.txt
    /tmp/perf/bin/python perf/small_models.py MODEL.gguf --data ../shared/data [--quick] [--report DIR]

Each cell (a method on a set of problems) is one line of `perf/models.jsonl`, and a later run resumes from it:
all methods get the same problems in the same order. `--again METHOD` repeats a method. `--quick` runs three
methods on ten TabMWP problems, into a separate file; `--report` writes the page and its picture.
"""

import argparse
import gzip
import hashlib
import importlib.util
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from models_page import write_page
from rivals import RIVALS, Came, plain

from chameleon import LLM, Executor
from chameleon.core.log import EventLog
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.data import find_benchmark
from chameleon.evaluation.evaluate import taken_by
from chameleon.evaluation.run_dir import write_whole
from chameleon.table import read_table

HERE = Path(__file__).parent
SEED, SIDE_BY_SIDE, LONGEST_TABLE = 7, 2, 4_500  # characters of a table as JSON
TABLES = ("tabmwp", "wikitq", "everyday")
OURS: Mapping[str, tuple[int, Sequence[str]]] = {
    "code_interpreter": (60, TABLES),
    "tables": (60, TABLES),
    "tables_first": (60, TABLES),
    "tables_agent": (60, TABLES),
    "tables_offline": (60, TABLES),
    "tabmwp_pot": (60, ("tabmwp",)),
    "wikitq_text_to_sql": (60, ("wikitq", "everyday")),
    "wikitq_end_to_end": (60, ("wikitq", "everyday")),
    "tabmwp": (20, ("tabmwp",)),
    "tabmwp_cot": (20, ("tabmwp",)),
    "tabfact_cot": (20, ("tabfact",)),
    "finqa_zero_shot": (20, ("finqa",)),
    "wikitq": (10, ("wikitq",)),
    "chain_of_table": (10, ("wikitq",)),
}
OTHERS = {"plain question": (60, TABLES)} | dict.fromkeys(RIVALS, (60, ("tabmwp", "everyday")))
MODEL = Path.home() / ".cache/small-models/qwen-coder-1.5b.gguf"
QUICK = ("plain question", "tables", "tabmwp_pot")


@dataclass
class Cell:
    """The results of a method on a set of problems; `verdicts` has a letter for each, in order."""

    method: str
    data: str
    digest: str
    commit: str
    day: str
    verdicts: str = ""
    calls: list[int] = field(default_factory=list)
    read: list[int] = field(default_factory=list)
    written: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Asked:
    """A problem, and a judge of whether an answer is right, wrong or a refusal in words."""

    problem: Problem
    judged: Callable[[Any], str]


def problems(data: Path, name: str, n: int) -> list[Asked]:
    """Return n problems of a set, drawn at random with a fixed seed."""
    if name == "everyday":
        return _everyday(data / "everyday", n)
    benchmark = find_benchmark(name)
    scorer = next(iter(benchmark.scorers.values()))()
    file, tables = {
        "tabmwp": ("dev1k.jsonl.gz", ""),
        "wikitq": ("dev.jsonl", "tables.jsonl.gz"),
        "tabfact": ("dev.jsonl", "tables.jsonl.gz"),
        "finqa": ("dev_200.jsonl.gz", ""),
    }[name]
    found = {row["table_id"]: row for row in _rows(data / name / tables)} if tables else {}
    rows = [*_rows(data / name / file)]
    rows = [row for row in rows if len(json.dumps(found.get(row.get("table_id"), ""))) <= LONGEST_TABLE]
    random.Random(SEED).shuffle(rows)

    def asked(problem: Problem) -> Asked:
        def judged(answer: Any) -> str:
            return "r" if scorer.judged(scorer.from_answer(answer, problem), problem).correct else "w"

        return Asked(problem, judged)

    return [asked(benchmark.problem(row, found)) for row in benchmark.rows(rows[:n], data / name / file)]


def _everyday(folder: Path, n: int) -> list[Asked]:
    spec = importlib.util.spec_from_file_location("score", folder / "score.py")
    assert spec is not None and spec.loader is not None
    score = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(score)
    rows = [row for row in _rows(folder / "questions.jsonl") if row["part"] == "dev"]
    random.Random(SEED).shuffle(rows)

    def asked(row: Mapping[str, Any]) -> Asked:
        table = read_table(folder / "tables" / f"{row['table']}.csv")
        table = table if table.caption.strip() else table.with_caption(row["table"])
        given = {"question": row["question"], "table": table}

        def judged(answer: Any) -> str:
            return str(score.verdict(row, {"rc": 0, "answer": answer}))[0]

        return Asked(Problem(row["id"], given, row["accept"]), judged)

    return [asked(row) for row in rows[:n]]


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def ours(name: str, url: str, model: str, logs: Path | None) -> Callable[[Problem], Came]:
    """Return a function that asks an inventory; its event logs go to `logs`."""
    executor = Executor(
        name, LLM.connect(f"openai:{model}", base_url=url, api_key="none", timeout=600, store=None)
    )

    def ask(problem: Problem) -> Came:
        path = logs and logs / name / f"{problem.id.replace('/', '_')}.jsonl"
        given = taken_by(executor.inventory, problem)
        if path is None:
            state = executor.run(given)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            with EventLog(path) as log:
                state = executor.run(given, log)
        reason = state.ended.reason if state.ended else "failed"
        ended = "" if reason == "answered" else "d" if reason == "declined" else "f"
        usage = state.usage
        return Came(state.answer, ended, len(state.calls), usage.input_tokens or 0, usage.output_tokens or 0)

    return ask


def measure(cell: Cell, asked: Sequence[Asked], ask: Callable[[Problem], Came]) -> Iterator[Cell]:
    """Ask the remaining problems, and yield the cell after each."""

    def one(each: Asked) -> tuple[str, Came, float]:
        begun = time.perf_counter()
        try:
            came = ask(each.problem)
        except Exception as problem:  # any error of a rival
            came = Came(None, "f")
            told = f"{cell.method}, {each.problem.id}: {type(problem).__name__}: {problem}"
            print(told[:300], file=sys.stderr)
        spent = time.perf_counter() - begun
        return came.ended or each.judged(came.answer), came, spent

    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        for verdict, came, spent in pool.map(one, asked[len(cell.verdicts) :]):
            cell.verdicts += verdict
            cell.calls.append(came.calls)
            cell.read.append(came.read)
            cell.written.append(came.written)
            cell.seconds.append(round(spent, 1))
            yield cell


@contextmanager
def served(model: Path, url: str | None) -> Iterator[str]:
    """Yield the address of a server with the model: the given one, or a llama.cpp process."""
    if url:
        yield url
        return
    # More slots than requests, so that each kind of prompt finds its prefix cached in one.
    command = [sys.executable, HERE.parent / "scripts" / "serve_gguf.py", model, "--slots", "6"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path, nargs="?", default=MODEL, help=f"a GGUF file, by default {MODEL}")
    parser.add_argument("--url", help="of a server that is already there; else one is started")
    parser.add_argument("--data", type=Path, default=HERE.parent.parent / "shared/data")
    parser.add_argument("--results", type=Path, default=HERE / "models.jsonl")
    parser.add_argument("--only", nargs="*", help="methods, or METHOD@SET")
    parser.add_argument("--again", nargs="*", default=[], help="methods to measure anew")
    parser.add_argument("--most", type=int, default=60, help="problems of a cell")
    parser.add_argument("--logs", type=Path, help="a folder for the event logs")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--report", type=Path, help="the folder of the page")
    given = parser.parse_args()
    wanted = {**OTHERS, **OURS}
    if given.quick:
        given.results = Path(tempfile.mkdtemp(), "models.jsonl")
        wanted = dict.fromkeys(QUICK, (10, ("tabmwp",)))
    kept = [Cell(**row) for row in _rows(given.results)] if given.results.is_file() else []
    cells = {(cell.method, cell.data): cell for cell in kept if cell.method not in given.again}
    if not given.report:
        with served(given.model, given.url) as url:
            try:
                run(wanted, cells, given, url)
            except URLError as problem:
                raise SystemExit(
                    f"the server does not answer ({problem.reason}): run again to go on"
                ) from None
    if folder := given.report or (given.results.parent if given.quick else None):
        write_page(folder, [*cells.values()])
        print(folder / "models.md")


def run(
    wanted: Mapping[str, tuple[int, Sequence[str]]], cells: dict[Any, Cell], given: Any, url: str
) -> None:
    """Measure the missing cells; rewrite the results file after each problem."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True, check=True
    )
    with given.model.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    for method, (most, sets) in wanted.items():
        for name in sets:
            if given.only and method not in given.only and f"{method}@{name}" not in given.only:
                continue
            asked = problems(given.data, name, min(most, given.most))
            fresh = Cell(method, name, digest, commit.stdout.strip(), date.today().isoformat())
            cell = cells.setdefault((method, name), fresh)
            if cell.digest != digest:
                raise SystemExit(f"{given.results} is of another model: name another --results")
            if len(cell.verdicts) >= len(asked):
                continue
            make = {"plain question": plain, **RIVALS}.get(method)
            ask = make(url, given.model.stem) if make else ours(method, url, given.model.stem, given.logs)
            for _ in measure(cell, asked, ask):
                if cell.verdicts[-1] == "f":
                    urlopen(f"{url}/models", timeout=60).close()  # do not record a dead server as a verdict
                lines = (json.dumps(asdict(each)) + "\n" for each in cells.values())
                write_whole(given.results, "".join(lines))
            counts = {letter: cell.verdicts.count(letter) for letter in "rwdfe"}
            print(method, name, counts, f"{sum(cell.seconds):.0f} s", flush=True)


if __name__ == "__main__":
    main()
