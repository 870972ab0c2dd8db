"""`chameleon eval`: run, show how far it is, keep and take up again, and print the counts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from chameleon.cli import Interrupted
from chameleon.cli.counts import counted, say, show_counts
from chameleon.cli.problems import Data
from chameleon.cli.progress import Progress
from chameleon.cli.setup import StoreMode, set_up
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.evaluate import Evaluation
from chameleon.evaluation.folder import RunFolder
from chameleon.evaluation.results import Result, Tally
from chameleon.evaluation.settings import settings_of
from chameleon.executor import Executor

_CTRL_C = "Ctrl-C"


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
    """Run, show, and return the exit code: 0 done, 1 stopped before the end or nothing but failures.

    Raises `Interrupted` after Ctrl-C, once what is done is shown.
    """
    if asked.retry_failed and asked.out is None:
        raise InputError("--retry-failed has nothing to try again", hint="Name the folder with --out.")
    setup = set_up(asked.inventory, asked.model, asked.store, asked.without)
    problems = list(data.problems())  # a fault in the data shows before anything is paid
    _check_runnable(problems, setup.executor)
    say(f"Runs {counted(len(problems), 'problem')} of {data.benchmark.name} with {setup.why}.")
    tally = Tally(data.benchmark.columns)
    begun = time.monotonic()
    if asked.out is None:
        stopped = _run(setup.executor, problems, data, asked, tally, None)
    else:
        settings = settings_of(setup.executor, data.benchmark, data.scorer, data.file, data.tables)
        with RunFolder(asked.out, settings) as folder:
            _take_up(folder, problems, tally, asked)
            stopped = _run(setup.executor, problems, data, asked, tally, folder)
    show_counts(tally, data.benchmark, data.scorer, time.monotonic() - begun, as_json=as_json)
    return _tell_end(stopped, tally, len(problems), asked)


def _run(
    executor: Executor,
    problems: Sequence[Problem],
    data: Data,
    asked: Evaluated,
    tally: Tally,
    folder: RunFolder | None,
) -> str:
    """Run what is still to be run, and say why it stopped before the end, if it did."""
    with Progress(len(problems), tally) as progress:

        def on_result(result: Result) -> None:
            tally.add(result)
            progress.advance()
            if _is_spent(tally, asked.max_cost):
                evaluation.stop()

        workers = min(asked.workers, len(problems))
        scorer = data.new_scorer()
        evaluation = Evaluation(executor, scorer, folder=folder, workers=workers, on_result=on_result)
        try:
            if not _is_spent(tally, asked.max_cost):
                evaluation.run(problems)
        except Interrupted:
            return _CTRL_C
    done = tally.all.n == len(problems)
    return "" if done or asked.max_cost is None else f"the cost has reached --max-cost {asked.max_cost:g}"


def _tell_end(stopped: str, tally: Tally, total: int, asked: Evaluated) -> int:
    """Say where the results are and how it goes on; the exit code."""
    if asked.out is not None and tally.all.n:
        say(f"Kept in {asked.out}; `chameleon report {asked.out}` shows it.")
    if tally.failed and not stopped:
        again = (
            "--retry-failed tries them again" if asked.out else "with --out, --retry-failed tries them again"
        )
        say(f"{counted(tally.failed, 'problem')} failed: {again}.")
    if stopped:
        larger = "" if stopped == _CTRL_C else " with a larger --max-cost"
        goes_on = f"the same command{larger} goes on" if asked.out else "--out DIR would keep what was done"
        say(f"Stopped ({stopped}) after {tally.all.n:,} of {total:,}: {goes_on}.")
    if stopped == _CTRL_C:
        raise Interrupted
    return int(bool(stopped) or tally.failed == total)


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
        say(f"Tries {again:,} failed problems again.")
    for result in folder.results():
        tally.add(result)
    if tally.all.n:
        say(f"Goes on in {asked.out}: {tally.all.n:,} of {len(problems):,} are done.")


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


def _is_spent(tally: Tally, max_cost: float | None) -> bool:
    if max_cost is None:
        return False
    if tally.usage.cost is None:
        raise InputError(
            "the provider reports no cost, so --max-cost cannot be kept",
            hint="Give prices in the inventory (llm: {prices: {input: …, output: …}}, US dollars per million "
            "tokens), or leave it out.",
        )
    return tally.usage.cost >= max_cost
