"""`chameleon eval` and `chameleon score`: from options to counts, and the counts as text or JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import typer

from chameleon.cli import Interrupted
from chameleon.cli.progress import Progress
from chameleon.cli.setup import StoreMode, set_up
from chameleon.cli.show import in_words
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Benchmark, Problem
from chameleon.evaluation.data import DataFile, find_benchmark, read_problems, recognised
from chameleon.evaluation.evaluate import Evaluation
from chameleon.evaluation.folder import RunFolder
from chameleon.evaluation.results import Result, Tally
from chameleon.evaluation.score import Field, Outcomes, score
from chameleon.evaluation.settings import settings_of
from chameleon.executor import Executor
from chameleon.planner import nearest

_CTRL_C = "Ctrl-C"


@dataclass(frozen=True)
class Data:
    """The problems that the command line names."""

    path: Path
    benchmark_name: str | None
    tables: Path | None
    limit: int | None
    scorer_name: str | None
    file: DataFile = field(init=False)
    benchmark: Benchmark = field(init=False)
    scorer: str = field(init=False)

    def __post_init__(self) -> None:
        if self.benchmark_name is None:
            benchmark = recognised(self.path)
        else:
            benchmark = find_benchmark(self.benchmark_name)
        scorer = self.scorer_name or next(iter(benchmark.scorers))
        if scorer not in benchmark.scorers:
            hint = nearest(scorer, benchmark.scorers)
            raise InputError(f"{benchmark.name} has no scorer {scorer!r}", hint=hint)
        object.__setattr__(self, "benchmark", benchmark)
        object.__setattr__(self, "scorer", scorer)
        object.__setattr__(self, "file", DataFile(self.path, benchmark.id_key))

    def problems(self) -> Iterator[Problem]:
        return islice(read_problems(self.benchmark, self.file, self.tables), self.limit)


@dataclass(frozen=True)
class Evaluated:
    """What `chameleon eval` is asked to do besides the data."""

    inventory: str
    model: str | None
    store: StoreMode
    without: Sequence[str]
    workers: int
    out: Path | None
    max_cost: float | None
    retry_failed: bool


def evaluate(data: Data, asked: Evaluated, *, as_json: bool) -> int:
    """Run, show, and return the exit code: 0 done, 1 stopped before the end.

    Raises `Interrupted` after Ctrl-C, once what is done is shown.
    """
    if asked.retry_failed and asked.out is None:
        raise InputError("--retry-failed has nothing to try again", hint="Name the folder with --out.")
    setup = set_up(asked.inventory, asked.model, asked.store, asked.without)
    problems = list(data.problems())  # a fault in the data shows before anything is paid
    _check_runnable(problems, setup.executor)
    _say(f"Runs {setup.why}, over {len(problems):,} problems of {data.benchmark.name}.")
    tally = Tally(data.benchmark.columns)
    begun = time.monotonic()
    with ExitStack() as stack:
        folder = None
        if asked.out is not None:
            settings = settings_of(setup.executor, data.benchmark, data.scorer, data.file, data.tables)
            folder = stack.enter_context(RunFolder(asked.out, settings))
            _take_up(folder, problems, tally, asked)
        progress = stack.enter_context(Progress(len(problems), tally))

        def on_result(result: Result) -> None:
            tally.add(result)
            progress.advance()
            if asked.max_cost is not None and _spent(tally) >= asked.max_cost:
                evaluation.stop()

        scorer = data.benchmark.scorers[data.scorer]()
        workers = min(asked.workers, max(len(problems), 1))
        evaluation = Evaluation(setup.executor, scorer, folder=folder, workers=workers, on_result=on_result)
        stopped = ""
        try:
            if asked.max_cost is None or _spent(tally) < asked.max_cost:
                evaluation.run(problems)
        except Interrupted:
            stopped = _CTRL_C
    if not stopped and tally.all.n < len(problems):
        stopped = f"the cost has reached --max-cost {asked.max_cost:g}"
    _show(tally, data, time.monotonic() - begun, as_json=as_json)
    if asked.out is not None:
        _say(f"Kept in {asked.out}; `chameleon report {asked.out}` shows it.")
    if stopped:
        goes_on = "the same command goes on" if asked.out else "--out DIR would keep what was done"
        _say(f"Stopped ({stopped}) after {tally.all.n:,} of {len(problems):,}: {goes_on}.")
        if stopped == _CTRL_C:
            raise Interrupted
        return 1
    return 0


def _take_up(folder: RunFolder, problems: Sequence[Problem], tally: Tally, asked: Evaluated) -> None:
    """Count what the folder already has."""
    left_out = len(folder.done.keys() - {problem.id for problem in problems})
    if left_out:
        raise InputError(
            f"the folder has results of {left_out:,} problems that --limit leaves out",
            where=str(asked.out),
            hint="Raise --limit, or give another folder with --out.",
        )
    if asked.retry_failed and (again := folder.forget_failures()):
        _say(f"Tries {again:,} failed problems again.")
    for result in folder.results():
        tally.add(result)
    if tally.all.n:
        _say(f"Goes on in {asked.out}: {tally.all.n:,} of {len(problems):,} are done.")


def _check_runnable(problems: Sequence[Problem], executor: Executor) -> None:
    """Raise `InputError` before the first call when the data lacks what the inventory needs."""
    if not problems:
        raise InputError("there is no problem to run")
    missing = [problem.id for problem in problems if not problem.input]
    if missing:
        raise InputError(
            f"the data has no question for {len(missing):,} problems, such as {missing[0]}",
            hint="This file holds recorded answers: `chameleon score` scores them.",
        )
    executor.inventory.check()


def _spent(tally: Tally) -> float:
    if tally.usage.cost is None:
        raise InputError(
            "the provider reports no cost, so --max-cost cannot be kept",
            hint="Give prices in the inventory (llm: {prices: {input: …, output: …}}), or leave it out.",
        )
    return tally.usage.cost


def score_predictions(data: Data, predictions: Path, wanted: str, *, as_json: bool) -> int:
    """Score recorded predictions, show the counts, and return the exit code."""
    rows = DataFile(predictions, data.benchmark.id_key)
    scorer = data.benchmark.scorers[data.scorer]()
    tally, outcomes = Tally(data.benchmark.columns), Outcomes()
    begun = time.monotonic()
    id_key = data.benchmark.id_key
    for result, seen in score(data.problems(), rows, id_key, Field(wanted), scorer):
        tally.add(result)
        outcomes = seen
    if outcomes.missing:
        _say(f"{outcomes.missing:,} problems have no row in {predictions}; they count as wrong.")
    if outcomes.unknown:
        _say(f"{outcomes.unknown:,} rows of {predictions} belong to no problem of the data.")
    if outcomes.programs:
        _say("Programs: " + ", ".join(f"{n:,} {name}" for name, n in outcomes.programs.most_common()) + ".")
    _show(tally, data, time.monotonic() - begun, as_json=as_json)
    return 0


def _show(tally: Tally, data: Data, seconds: float, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(tally.to_json(data.benchmark.name, seconds), ensure_ascii=False))
        return
    everything, answered = tally.all, tally.answered
    cell = data.benchmark.percent
    columns = {"ALL": everything, **tally.columns}
    widths = [max(len(name), 6, len(f"{count.n:,}")) for name, count in columns.items()]
    rows = {
        "": list(columns),
        "right, %": [cell(name, count.correct, count.n) for name, count in columns.items()],
        "right": [f"{count.correct:,}" for count in columns.values()],
        "of": [f"{count.n:,}" for count in columns.values()],
    }
    typer.echo(f"{data.benchmark.name}, scored by the rule of {data.scorer}")
    for name, cells in rows.items():
        padded = (f"{text:>{width}}" for text, width in zip(cells, widths, strict=True))
        typer.echo(f"{name:8}  {'  '.join(padded)}")
    right = cell("answered", answered.correct, answered.n)
    declined = everything.n - answered.n - tally.failed
    typer.echo(
        f"Answered {answered.n:,}, right {right} % of them; declined {declined:,}, failed {tally.failed:,}."
    )
    if tally.usage.calls:
        typer.echo(f"Model: {in_words(tally.usage)}.")
    typer.echo(f"{seconds:.1f} s")


def _say(text: str) -> None:
    """Tell what is no result: on stderr, so that stdout is the table or the JSON object alone."""
    print(text, file=sys.stderr, flush=True)
