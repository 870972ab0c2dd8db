"""`chameleon eval` and `chameleon compare`: one inventory over problems, or the arms of a grid."""

from __future__ import annotations

import hashlib
import json
import shlex
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import typer

from chameleon.cli.evaluating import EvalRun, check_data
from chameleon.cli.hints import in_options
from chameleon.cli.options import EvalOptions, GridOptions, names
from chameleon.cli.scoring import Data, in_blocks, show_counts
from chameleon.cli.setup import model_for, receiver, set_up
from chameleon.cli.terminal import Activity, Interrupted, Progress, echo, echo_json, say
from chameleon.core.llm_module import asking_of
from chameleon.errors import ChameleonError, InputError, ParameterRefused, Stopped
from chameleon.evaluation.arms import arm_figures, measure_arm
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.compare import NEEDS, ArmTable, evaluation_figures
from chameleon.evaluation.grid import Arm, Grid
from chameleon.evaluation.problems import PART, Part, Problems
from chameleon.evaluation.run import Run, read_run
from chameleon.evaluation.run_dir import SETTINGS, checked_count, spent_in, write_whole
from chameleon.run.executor import Executor
from chameleon.text import counted, one_line
from chameleon.usage import Usage

_FIGURES = "grid.json"


def evaluate(
    options: EvalOptions,
    inventory: str,
    data: Path,
    without: list[str] | None,
    part: str | None,
    *,
    as_json: bool,
) -> int:
    """Run, show, and return the exit code: 0 done, 1 nothing but failures.

    Raises `Interrupted` after Ctrl-C, and `Stopped` before the end, once what is done is shown.
    """
    if options.retry_failed and options.out is None:
        raise InputError("--retry-failed has nothing to try again", hint="Name the folder with --out.")
    if part is not None and options.out is None:
        raise InputError("--part makes a folder for `chameleon merge`", hint="Name it with --out.")
    mine = Part.read(part) if part is not None else None
    if mine is not None and options.max_cost is not None:
        options = replace(options, max_cost=options.max_cost / mine.of)
    source = Data(data, options.benchmark, options)
    setup = set_up(inventory, options, names(without))
    counted_before = checked_count(options.out, options.limit) if options.out else None
    with Activity(f"reading {data}"):
        problems = Problems(source.read, options.limit, counted_before, mine)  # a fault shows before a bill
    with placed(setup.executor, options) as executor, receiver(options) as traces:
        run = EvalRun(executor, problems, source, options, traces)
        run.check()
        of = f", {mine}" if mine else ""
        say(f"Runs {counted(len(problems), 'problem')} of {source.benchmark.name}{of} with {setup.why}.")
        started = time.monotonic()
        stopped = run.run(**({PART: asdict(mine)} if mine else {}))
        seconds = time.monotonic() - started
    show_counts(run.tally, source.benchmark, source.scorer, seconds, run.spending, as_json=as_json)
    run.say_how_to_resume(stopped)
    if stopped is not None:
        raise stopped
    return int(0 < len(problems) == run.tally.failed)


@contextmanager
def placed(executor: Executor, options: EvalOptions) -> Iterator[Executor]:
    """Yield the executor where --on says: as it is, or on the machines of a Ray cluster."""
    if options.on is None:
        yield executor
        return
    kind, _, address = options.on.partition(":")
    if kind != "ray":
        what = f"{options.on!r} is no place to run; say ray or ray:ADDRESS"
        raise typer.BadParameter(what, param_hint="--on")
    from chameleon.interop.ray import OnRay

    with OnRay(executor, address or None, runs=options.workers) as remote:
        say(f"On Ray: {remote.workers.count} x {remote.workers.room} problems at once.")
        yield remote


def compare(options: GridOptions, *, as_json: bool) -> int:
    """Evaluate, measure or, without data, list the arms, and return the exit code: 1 where none could run.

    Raises `Interrupted` after Ctrl-C, and `Stopped` before the end, once what is done is shown.
    """
    if options.no_model and options.model:
        raise typer.BadParameter("there is a --model as well", param_hint="--no-model")
    grid = Grid.load(options.grid, inventory=options.inventory)
    grid = grid.only(names(options.arm)) if options.arm else grid
    for parameter in options.params:
        askers = [arm.inventory.askers.items() for arm in grid.arms.values()]
        values = ({part: asking_of(each).params.get(parameter) for part, each in own} for own in askers)
        if len(set(map(str, values))) > 1:
            what = f"the arms differ in {parameter}, which it would make equal"
            raise typer.BadParameter(what, param_hint="--param")
    if options.data is None:
        return _list_arms(grid, options.grid, as_json=as_json)
    data = Data(options.data, options.benchmark, options)
    problems = list(data.problems())
    check_data(Problems(lambda **_: problems), data)
    with ExitStack() as close:
        run = GridRun(grid, data, problems, options, close)
        figures = [run.figures_of(arm) for arm in grid.arms.values()]
    run.show(figures, as_json=as_json)
    if run.stopped is not None:
        resumes = "the same command resumes" if options.out else "--out DIR would keep what was done"
        say(f"Stopped: {resumes}.")
        raise run.stopped
    return int(all(each["lacks"] for each in figures))


@dataclass
class GridRun:
    """Evaluate each arm where it can be, and else measure what needs no model; `stopped` is what ended it.

    What is kept in a temporary folder is there until `close` is closed.
    """

    grid: Grid
    data: Data
    problems: Sequence[Problem]
    options: GridOptions
    close: ExitStack
    stopped: Interrupted | Stopped | None = None
    first: Run | None = None

    def __post_init__(self) -> None:
        options, variants = self.options, self.grid.arms.values()
        self.out = options.out or Path(self.close.enter_context(tempfile.TemporaryDirectory()))
        asking = [arm.inventory for arm in variants if arm.inventory.needs_model and not options.no_model]
        model = model_for(options, asking[0].llm.model).model if asking else None
        self.options = replace(options, model=model)
        self.further: dict[str, Any] = {}
        if options.index is not None:
            self.further["index"] = _index_digests(options.index)
            given = {"index": str(options.index)}
            self.problems = [replace(each, input={**each.input, **given}) for each in self.problems]
        arms = f"{counted(len(variants), 'arm')} of {self.grid.name}"
        over = f"{counted(len(self.problems), 'problem')} of {self.data.benchmark.name}"
        if model is not None:
            calls = [arm.calls for arm in variants]
            total = counted(sum(filter(None, calls)) * len(self.problems), "call")
            some = "" if None in calls else f", some {total} less those in the response store"
            say(f"Evaluates {arms} over {over} with {model}{some}.")
        else:
            say(f"Measures {arms} over {over}, where no model is needed.")
            say("--model PROVIDER:NAME evaluates them.")

    def figures_of(self, arm: Arm) -> dict[str, Any]:
        """Return the arm's figures, or what keeps it from having any."""
        if self.stopped:
            return arm_figures(arm, lacks="not reached")
        if arm.inventory.needs_model and self.options.model is None:
            benchmark, gold = self.data.benchmark, self.options.gold_history
            with Progress("problem", len(self.problems)) as progress:
                show = partial(progress.show, said=lambda: arm.name)
                return measure_arm(arm, benchmark, self.problems, gold_history=gold, advance=show)
        try:
            return self._evaluate(arm)
        except (InputError, ParameterRefused, Stopped):
            raise
        except ChameleonError as problem:  # what this arm lacks here is no reason to do without the others
            return arm_figures(arm, lacks=str(in_options(problem)))

    def _evaluate(self, arm: Arm) -> dict[str, Any]:
        options = replace(self.options, out=self.out / arm.name, max_cost=self._left(arm))
        problems = Problems(lambda **_: self.problems)
        setup = set_up(arm.inventory, options)
        with placed(setup.executor, options) as executor, receiver(options) as traces:
            run = EvalRun(executor, problems, self.data, options, traces)
            run.check()
            say(f"{arm.name}: {'; '.join(arm.changes) or 'the inventory as it is'}")
            self.stopped = run.run(**self.further)
        kept = read_run(self.out / arm.name)
        evaluation = evaluation_figures(kept, self.first)
        self.first = self.first or kept
        return arm_figures(arm, problems=run.tally.all.n, evaluation=evaluation)

    def show(self, figures: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
        """Print the arms' figures in one table, and keep them in the folder that is asked for, if any."""
        out, data, over = self.options.out, self.data, len(self.problems)
        about: dict[str, Any] = {
            "grid": self.grid.name,
            "inventory": self.grid.inventory,
            "benchmark": data.benchmark.name,
        }
        about |= {"scorer": data.scorer, "data": {"name": data.path.name, "sha256": data.file.sha256}}
        table = ArmTable(figures, {**about, "problems": over, "model": self.options.model})
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
            text = json.dumps(table.to_json(), indent=2, ensure_ascii=False)
            write_whole(out / _FIGURES, text + "\n")
        if as_json:
            echo_json(table.to_json())
            return
        echo(f"{self.grid.name} over {counted(over, 'problem')} of {data.benchmark.name}\n")
        echo(in_blocks([("arm", table.names), *table.columns.items()], [NEEDS]))
        for note in table.notes:
            echo(f"\n{one_line(note, 400)}")
        if out is not None:
            say(f"Kept in {out}: {_FIGURES}, and a folder for each arm that was evaluated.")

    def _left(self, arm: Arm) -> float | None:
        """Return what is left for an arm of what the whole grid may cost."""
        most = self.options.max_cost
        if most is None:
            return None
        others = [path.parent for path in self.out.glob(f"*/{SETTINGS}") if path.parent.name != arm.name]
        cost = sum(map(spent_in, others), Usage()).cost
        return most if cost is None else max(most - cost, 0.0)


def _index_digests(folder: Path) -> dict[str, str]:
    """Digest the indexes in a folder: the settings of an evaluation keep which ones were searched."""
    manifests = sorted([*folder.glob("manifest.json"), *folder.glob("*/manifest.json")])
    names = {path.parent.relative_to(folder).as_posix(): path for path in manifests}
    return {name: hashlib.sha256(path.read_bytes()).hexdigest()[:12] for name, path in names.items()}


def _list_arms(grid: Grid, typed: str, *, as_json: bool) -> int:
    """List the arms, what each changes, and what it lacks here; 1 where none can run."""
    found = []
    for arm in grid.arms.values():
        try:
            errors = [each.error for each in arm.inventory.obstacles() if each.stops]
        except ChameleonError as problem:  # a prompt that is not there
            errors = [problem]
        found.append(arm_figures(arm, lacks="; ".join(str(in_options(error)) for error in errors)))
    table = ArmTable(found, {"grid": grid.name, "about": grid.spec.about, "inventory": grid.inventory})
    if as_json:
        echo_json(table.to_json())
        return int(all(each["lacks"] for each in found))
    about = [arm.about or "; ".join(arm.changes) or "as the inventory is" for arm in grid.arms.values()]
    columns = [("arm", table.names), *table.columns.items(), ("what it is", about)]
    echo(f"{grid.name}: {grid.spec.about}\nVariants of {grid.inventory}:\n")
    echo(in_blocks(columns, ["what it is"]))
    for note in table.notes:
        echo(one_line(note, 400))
    command = f"chameleon compare {shlex.quote(typed)} DATA"
    echo(f"\n`{command}` compares them, without a model where none is needed.")
    return int(all(each["lacks"] for each in found))
