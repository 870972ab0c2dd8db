"""Evaluate one inventory over problems: check it before the first call, show progress, keep and resume it."""

import shlex
from dataclasses import dataclass
from itertools import islice
from typing import Any

from chameleon.cli.options import EvalOptions
from chameleon.cli.scoring import Data
from chameleon.cli.terminal import Interrupted, Progress, output, say
from chameleon.cli.wording import plain
from chameleon.core.conversation import HISTORY
from chameleon.core.events import Event
from chameleon.errors import InputError, InventoryError, ParameterRefused, Stopped
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.data import DataFile
from chameleon.evaluation.evaluate import Evaluation
from chameleon.evaluation.problems import Problems
from chameleon.evaluation.results import Result, Spending, Tally
from chameleon.evaluation.run import DASH
from chameleon.evaluation.run_dir import RunDir
from chameleon.evaluation.run_settings import settings_of
from chameleon.figures import in_digits, in_dollars, in_time
from chameleon.interop.otlp import Traces, scores_of
from chameleon.inventory.obstacles import all_of
from chameleon.run.executor import Executor
from chameleon.text import counted, harmless, one_line
from chameleon.usage import Usage
from chameleon.values import freeze


@dataclass
class EvalRun:
    """One inventory over problems, as run by `chameleon eval` and for each arm of `chameleon compare`."""

    executor: Executor
    problems: Problems
    data: Data
    options: EvalOptions
    traces: Traces | None = None

    def __post_init__(self) -> None:
        self.tally = self._new_tally()
        self.spending = Spending(self.options.max_cost)

    def _new_tally(self) -> Tally:
        return Tally(self.data.benchmark.columns, self.data.new_scorer())

    def check(self) -> None:
        """Raise an error before the first call if something is missing, and warn about deviations.

        Raises `InputError` for the data, `InventoryError` for a module, `MissingPackage` for the scorer's
        package, and `ParameterRefused` for parameters that a model does not accept, unless allowed.
        """
        check_data(self.problems, self.data)
        inventory = self.executor.inventory
        if obstacles := inventory.obstacles():  # figures must not depend on the installation
            spare = " ".join(f"--without {each.module}" for each in obstacles if not each.stops)
            hint = f"To evaluate without the optional parts: {spare}" if spare else ""
            raise InventoryError(str(all_of(obstacles, inventory.name)).rstrip("."), hint=hint)
        may_run = {name: each for name, each in inventory.modules.items() if name not in inventory.left_out}
        self.data.benchmark.check(self.problems, may_run)
        scorer = self.data.new_scorer()
        scorer.check()
        for problem in islice(self.problems, 1):
            scorer.judged(scorer.from_answer("", problem), problem)  # raises if the data lacks what it needs
        # A replay asks no model: its replies record the dropped parameters.
        dropped_by = {} if self.options.store == "replay" else inventory.dropped
        for name, dropped in dropped_by.items():
            params = harmless(", ".join(f"{parameter} ({why})" for parameter, why in dropped.items()))
            if not self.options.allow_dropped:
                what = f"{name} does not accept a parameter that {inventory.name} sets: {params}"
                raise ParameterRefused(what, code="dropped-parameter")
            say(f"{harmless(name)} is asked without {params}, so this is not the published method.")
        is_conversation = self.problems.has_conversations
        if self.options.gold_history and not is_conversation:
            raise InputError("--gold-history is for conversations, and the data has none of them")
        if is_conversation and inventory.input_types and HISTORY not in inventory.input_types:
            say(f"{inventory.name} takes no {HISTORY}: each question is asked without the earlier ones.")
        if blind := self.problems.blind:
            example = f", such as {blind[0]}" if len(blind) > 1 else f" ({blind[0]})"
            names = self.data.benchmark.picture_folders or [""]
            folders = [str(self.data.path.parent / each) for each in names]
            problems = f"{counted(len(blind), 'problem')}{example}, with a picture that was not found"
            say(f"{problems}: run without it. Looked in {', '.join(folders)}.")

    def run(self, **further: Any) -> Interrupted | Stopped | None:
        """Run the remaining problems into `--out`, if given, and return why it stopped early, if it did."""
        options, data = self.options, self.data
        if options.out is None:
            return self._run(None)
        resolved = getattr(self.executor, "resolved", None)  # only an executor on a cluster has it
        extra: dict[str, Any] = {"gold_history": options.gold_history, "resolved": resolved}
        settings = settings_of(self.executor, data.benchmark, data.scorer, data.file, data.tables, **extra)

        def count(result: Result) -> None:
            self.tally.add(result)  # retrying failures replaces the tally

        if data.scorer_file is not None:
            settings["scorer_file"] = DataFile(data.scorer_file).sha256
        with RunDir(options.out, {**settings, **further}, count) as run_dir:
            self._count_kept(run_dir)
            run_dir.expect(len(self.problems), options.limit)
            stopped = self._run(run_dir)
            run_dir.require_kept()
            return stopped

    def _run(self, run_dir: RunDir | None) -> Interrupted | Stopped | None:
        benchmark, tally, spending, traces = self.data.benchmark, self.tally, self.spending, self.traces
        self.problems.ids = set()  # no longer needed
        with Progress("problem", len(self.problems), tally.all.n) as progress:

            def on_event(problem: Problem, event: Event) -> None:
                if traces is not None:
                    traces.event(event, problem.id, problem.sequence)

            def on_result(result: Result) -> None:
                tally.add(result)
                if output.verbose:
                    say(_outcome(result))
                if traces is not None:
                    traces.end(result.id, scores_of(result, benchmark.name))
                progress.show(tally.all.n, lambda: running(tally, spending.usage))

            is_scripted = str(self.options.model or "").startswith("scripted:")  # its replies have an order
            evaluation = Evaluation(
                self.executor,
                self.data.new_scorer(),
                benchmark,
                run_dir=run_dir,
                workers=1 if is_scripted else max(1, min(self.options.workers, len(self.problems))),
                spending=spending,
                on_event=on_event,
                on_result=on_result,
                gold_history=self.options.gold_history,
            )
            try:
                if not spending.is_over:
                    evaluation.run(self.problems)
            except (Interrupted, Stopped) as stopped:
                return stopped
        if tally.all.n >= len(self.problems):
            return None
        limit = in_digits(spending.limit or 0, 6)
        return Stopped(f"the cost has reached --max-cost {limit}", code="max-cost")

    def _count_kept(self, run_dir: RunDir) -> None:
        """Count the results that the directory already has."""
        out, ids = self.options.out, self.problems.ids
        if left_out := sum(id not in ids for id in run_dir.done) if ids else 0:
            what = f"the folder has results for {counted(left_out, 'problem')} outside --limit"
            raise InputError(what, where=str(out), hint="Raise --limit, or give another folder with --out.")
        if self.options.retry_failed and self.tally.failed:
            self.tally = self._new_tally()
            say(f"Retries {counted(run_dir.forget_failures(), 'failed problem')}.")
        self.spending.usage = self.tally.usage + run_dir.usage
        if n := self.tally.all.n:
            say(f"Resumes in {out}: {n:,} of {len(self.problems):,} done.")

    def say_how_to_resume(self, stopped: Interrupted | Stopped | None) -> None:
        """Say where the results are, and how to resume failed or remaining problems."""
        out, tally = self.options.out, self.tally
        if out is not None and tally.all.n:
            say(f"Kept in {out}; `chameleon report {shlex.quote(str(out))}` shows it.")
        if tally.failed and stopped is None:
            where = "" if out else "with --out, "
            say(f"{counted(tally.failed, 'problem')} failed: {where}--retry-failed retries them.")
        if stopped is not None:
            resumes = ": the same command resumes" if out else ": --out DIR would keep what was done"
            is_said = out and getattr(stopped, "code", "") in ("max-cost", "retry-failed")
            say(f"Stopped after {tally.all.n:,} of {len(self.problems):,}{'' if is_said else resumes}.")


def check_data(problems: Problems, data: Data) -> None:
    """Raise `InputError` for data without problems, and for problems without a question or table."""
    if not len(problems) and problems.part is None:
        raise InputError("there are no problems to run")
    if missing := problems.without_question:
        tables = " Name tables in another place with --tables." if data.benchmark.takes_tables else ""
        lacks = "question or no table" if tables else "question"
        what = f"the data has no {lacks} for {len(missing):,} problems, such as {missing[0]}"
        hint = f"This file holds recorded answers: `chameleon score` scores them.{tables}"
        raise InputError(what, hint=hint)


def _outcome(result: Result) -> str:
    """Write the outcome of a problem: "7: wrong, said 12, gold 13, 0.4 s"."""
    error = result.error.message if result.error else ""
    answer = one_line(error if error else f"said {plain(freeze(result.answer, 'answer'))}", 120)
    gold = "" if result.gold is None else f", gold {one_line(plain(freeze(result.gold, 'gold')), 120)}"
    return f"{one_line(result.id, 60)}: {result.verdict}, {answer}{gold}, {in_time(result.seconds)}"


def running(tally: Tally, usage: Usage) -> str:
    """Write the counts so far: "accuracy 0.912, failed 2, 1,904 calls, $0.0132"."""
    name, share = next(iter(tally.figures(tally.all).items()))
    parts = [f"{name} {DASH if share is None else f'{share:.3f}'}"]
    if tally.failed:
        parts.append(f"failed {tally.failed:,}")
    if usage.calls:
        cost = "cost unknown" if usage.cost is None else in_dollars(usage.cost)
        parts.append(f"{usage.calls:,} calls, {cost}")
    return ", ".join(parts)
