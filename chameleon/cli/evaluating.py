"""`chameleon eval`: run, show how far it is, keep and take up again, and print the counts."""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from chameleon.cli import Interrupted
from chameleon.cli.counts import counted, show_counts
from chameleon.cli.out import say
from chameleon.cli.problems import Data
from chameleon.cli.progress import Progress
from chameleon.cli.setup import ModelOptions, dropped_by_model, set_up
from chameleon.errors import InputError, InventoryError, ParameterRefused
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.data import picture_places
from chameleon.evaluation.evaluate import HISTORY, Evaluation, Spending, Stopped
from chameleon.evaluation.results import Result, Tally
from chameleon.evaluation.run_dir import RunDir
from chameleon.evaluation.settings import settings_of
from chameleon.executor import Executor
from chameleon.inventory import Inventory
from chameleon.llm.connection import DROPPED
from chameleon.text import harmless

NO_SETTINGS: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Evaluated:
    """What `chameleon eval` is asked to do besides the data."""

    inventory: str
    options: ModelOptions
    without: Sequence[str]
    workers: int
    out: Path | None
    max_cost: float | None
    retry_failed: bool
    gold_history: bool = False


@dataclass(frozen=True)
class Counts:
    """What an evaluation counts while it runs."""

    tally: Tally
    spending: Spending


def evaluate(data: Data, asked: Evaluated, *, as_json: bool) -> int:
    """Run, show, and return the exit code: 0 done, 1 nothing but failures.

    Raises `Interrupted` after Ctrl-C, and `Stopped` where the evaluation stops before its end, once what is
    done is shown.
    """
    if asked.retry_failed and asked.out is None:
        raise InputError("--retry-failed has nothing to try again", hint="Name the folder with --out.")
    setup = set_up(asked.inventory, asked.options, asked.without)
    problems = list(data.problems())  # a fault in the data shows before anything is paid
    check_runnable(problems, data, setup.executor)
    check_parameters(setup.executor, asked.options)
    say(f"Runs {counted(len(problems), 'problem')} of {data.benchmark.name} with {setup.why}.")
    check_history(problems, asked, setup.executor.inventory)
    _tell_blind([each.id for each in problems if each.detail.get("has_picture") and not each.picture], data)
    tally = Tally(data.benchmark.columns, data.new_scorer())
    counts = Counts(tally, Spending(asked.max_cost))
    begun = time.monotonic()
    stopped = run_all(setup.executor, problems, data, asked, counts)
    seconds = time.monotonic() - begun
    show_counts(counts.tally, data.benchmark, data.scorer, seconds, counts.spending, as_json=as_json)
    return _tell_end(stopped, counts.tally, len(problems), asked)


def run_all(
    executor: Executor,
    problems: Sequence[Problem],
    data: Data,
    asked: Evaluated,
    counts: Counts,
    further: Mapping[str, Any] = NO_SETTINGS,
) -> Interrupted | Stopped | None:
    """Run what is still to be run, into the folder that is asked for; why it stopped early, if it did.

    `further` settings are kept with the others.
    """
    if asked.out is None:
        return _run(executor, problems, data, asked, counts, None)
    settings = settings_of(
        executor, data.benchmark, data.scorer, data.file, data.tables, gold_history=asked.gold_history
    )
    with RunDir(asked.out, {**settings, **further}) as run_dir:
        _take_up(run_dir, problems, counts, asked)
        run_dir.expect(len(problems))
        return _run(executor, problems, data, asked, counts, run_dir)


def _run(
    executor: Executor,
    problems: Sequence[Problem],
    data: Data,
    asked: Evaluated,
    counts: Counts,
    run_dir: RunDir | None,
) -> Interrupted | Stopped | None:
    with Progress(len(problems), counts.tally, counts.spending) as progress:

        def on_result(result: Result) -> None:
            counts.tally.add(result)
            progress.advance()

        evaluation = Evaluation(
            executor,
            data.new_scorer(),
            run_dir=run_dir,
            workers=min(asked.workers, len(problems)),
            spending=counts.spending,
            on_result=on_result,
            run_columns=data.benchmark.run_columns,
            found=data.benchmark.found,
            gold_history=asked.gold_history,
        )
        try:
            if not counts.spending.is_over:
                evaluation.run(problems)
        except (Interrupted, Stopped) as stopped:
            if run_dir is not None:
                run_dir.require_kept()
            return stopped
    if run_dir is not None:
        run_dir.require_kept()
    if counts.tally.all.n == len(problems):
        return None
    return Stopped(f"the cost has reached --max-cost {counts.spending.limit:g}", hint="A larger one goes on.")


def _tell_end(stopped: Interrupted | Stopped | None, tally: Tally, total: int, asked: Evaluated) -> int:
    """Say where the results are and how it goes on; the exit code. Raises what stopped the evaluation."""
    if asked.out is not None and tally.all.n:
        say(f"Kept in {asked.out}; `chameleon report {shlex.quote(str(asked.out))}` shows it.")
    if tally.failed and stopped is None:
        where = "" if asked.out else "with --out, "
        say(f"{counted(tally.failed, 'problem')} failed: {where}--retry-failed tries them again.")
    if stopped is not None:
        goes_on = ": the same command goes on" if asked.out else ": --out DIR would keep what was done"
        is_told = asked.out and "goes on" in getattr(stopped, "hint", "")  # with --retry-failed, or a limit
        say(f"Stopped after {tally.all.n:,} of {total:,}{'' if is_told else goes_on}.")
        raise stopped
    return int(tally.failed == total)


def _take_up(run_dir: RunDir, problems: Sequence[Problem], counts: Counts, asked: Evaluated) -> None:
    """Count what the folder already has."""
    left_out = len(run_dir.done.keys() - {problem.id for problem in problems})
    if left_out:
        raise InputError(
            f"the folder has results of {counted(left_out, 'problem')} that --limit leaves out",
            where=str(asked.out),
            hint="Raise --limit, or give another folder with --out.",
        )
    if asked.retry_failed and (again := run_dir.forget_failures()):
        say(f"Tries {again:,} failed problems again.")
    counts.spending.usage = run_dir.usage
    for result in run_dir.done.values():
        counts.tally.add(result)
    if done := counts.tally.all.n:
        say(f"Goes on in {asked.out}: {done:,} of {len(problems):,} {'is' if done == 1 else 'are'} done.")


def check_runnable(problems: Sequence[Problem], data: Data, executor: Executor) -> None:
    """Raise `InputError` before the first call when the data lacks what the inventory or the scorer needs.

    Raises `MissingPackage` when it is the scorer's package that is missing.
    """
    check_given(problems, data)
    inventory = executor.inventory
    _require_all(inventory)
    may_run = {name: each for name, each in inventory.modules.items() if name not in inventory.left_out}
    data.benchmark.check(problems, may_run)
    scorer = data.new_scorer()
    scorer.check()
    scorer.judged(scorer.from_answer("", problems[0]), problems[0])


def check_given(problems: Sequence[Problem], data: Data) -> None:
    """Raise `InputError` where there is no problem, or problems have no question or table."""
    if not problems:
        raise InputError("there is no problem to run")
    missing = [problem.id for problem in problems if not problem.input]
    if missing:
        tables = " Tables that lie apart are named with --tables." if data.benchmark.takes_tables else ""
        lacks = "question or no table" if tables else "question"
        raise InputError(
            f"the data has no {lacks} for {len(missing):,} problems, such as {missing[0]}",
            hint=f"This file holds recorded answers: `chameleon score` scores them.{tables}",
        )


def check_parameters(executor: Executor, options: ModelOptions) -> None:
    """Raise `ParameterRefused` for parameters that a model is known not to take, unless that is allowed.

    What is allowed is said. A replay asks no model: what its replies were asked without, they tell.
    """
    if options.store == "replay":
        return
    for name, dropped in dropped_by_model(executor.inventory).items():
        listed = harmless(", ".join(f"{parameter} ({why})" for parameter, why in dropped.items()))
        if not options.allow_dropped:
            raise ParameterRefused(
                f"{name} does not take what {executor.inventory.name} sets: {listed}", hint=DROPPED
            )
        say(f"{harmless(name)} is asked without {listed}: not the method as published.")


def _require_all(inventory: Inventory) -> None:
    """Raise `InventoryError` where a module cannot run here: figures must not depend on what is installed.

    What a run could do without is named, so that leaving it out is a decision that the settings keep.
    """
    found = inventory.obstacles()
    if not found:
        return
    spare = " ".join(f"--without {each.module}" for each in found if not each.stops)
    hint = f"To evaluate without what a run can do without: {spare}" if spare else ""
    if len(found) == 1:
        error = found[0].error
        both = f"{error.hint.rstrip('.')}. {hint}" if error.hint and hint else error.hint or hint
        raise InventoryError(error.what, where=error.where, hint=both)
    for each in found:
        say(f"Missing: {harmless(str(each.error))}")
    raise InventoryError(f"{len(found)} things keep {inventory.name} from running here", hint=hint)


def check_history(problems: Sequence[Problem], asked: Evaluated, inventory: Inventory) -> None:
    """Say where questions of a conversation are asked alone. Raises `InputError` for a history of none."""
    if not any(problem.sequence for problem in problems):
        if asked.gold_history:
            told = "--gold-history is for conversations, and the data has none"
            raise InputError(told, hint="Leave it out.")
        return
    if inventory.input_types and HISTORY not in inventory.input_types:
        say(f"{inventory.name} takes no {HISTORY}: each question of a conversation is asked alone.")


def _tell_blind(ids: Sequence[str], data: Data) -> None:
    """Say of problems whose picture was not found where it was looked for."""
    if not ids:
        return
    named = f", such as {ids[0]}" if len(ids) > 1 else f" ({ids[0]})"
    looked = picture_places(data.benchmark, data.path)
    say(f"{counted(len(ids), 'problem')}{named}, with a picture that was not found: run without it. {looked}")
