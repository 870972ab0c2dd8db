"""`chameleon grid`: the arms of a grid evaluated, or measured without a model, and compared in one table."""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from chameleon.cli import Interrupted
from chameleon.cli.columns import TextColumn, in_blocks
from chameleon.cli.counts import counted
from chameleon.cli.evaluating import (
    Counts,
    Evaluated,
    check_given,
    check_history,
    check_parameters,
    check_runnable,
    run_all,
)
from chameleon.cli.out import echo, echo_json, say
from chameleon.cli.problems import Data
from chameleon.cli.setup import set_up
from chameleon.errors import ChameleonError, InputError, ParameterRefused
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.compare import NEEDS, ArmEvaluation, ArmTable
from chameleon.evaluation.evaluate import Spending, Stopped
from chameleon.evaluation.grid import arm_figures, build_indexes, look_back, measure_arm
from chameleon.evaluation.recall import read_corpus, recall_of, searching
from chameleon.evaluation.report import DASH
from chameleon.evaluation.results import Tally
from chameleon.evaluation.run_dir import SETTINGS, read_run, spent_in, write_whole
from chameleon.inventory.grid import Arm, Grid, GridSpec
from chameleon.llm import ResponseStore, choose_model
from chameleon.text import harmless
from chameleon.usage import Usage

if TYPE_CHECKING:
    from chameleon.retrieval.document import Document

_TABLE, _FIGURES, _MANIFEST = "grid.md", "grid.json", "manifest.json"
_LONGEST = 400
_SECONDS_BETWEEN_LINES = 10.0


@dataclass(frozen=True)
class Asked:
    """What the command line asks for; what it leaves out, the grid file may say.

    `eval` is what each arm is asked to do as `chameleon eval` is; its directory is the one of all arms.
    """

    grid: str
    data: Path | None
    benchmark: str | None
    tables: Path | None
    scorer: str | None
    limit: int | None
    inventory: str | None
    arms: Sequence[str]
    no_model: bool
    index: Path | None
    eval: Evaluated


def compare(asked: Asked, *, as_json: bool) -> int:
    """Evaluate or measure the arms, show them in one table, and return the exit code: 1 where none could run.

    Without data the arms are listed, and what each lacks here. Raises `Interrupted` after Ctrl-C, and
    `Stopped` where the evaluation stops before its end, once what is done is shown.
    """
    if asked.no_model and asked.eval.options.model:
        raise typer.BadParameter("there is a --model as well", param_hint="--no-model")
    grid = Grid.load(asked.grid, inventory=asked.inventory)
    grid = grid.only(asked.arms) if asked.arms else grid
    _require_unvaried(grid, asked.eval.options.params)
    path = asked.data or grid.paths.get("data")
    if path is None:
        return _list_arms(grid, asked.grid, as_json=as_json)
    spec, tables = grid.spec, asked.tables or grid.paths.get("tables")
    data = Data(path, asked.benchmark or spec.benchmark, tables, asked.limit, asked.scorer or spec.scorer)
    problems = list(data.problems())
    check_given(problems, data)
    model = None if asked.no_model else _model(asked, grid)
    with ExitStack() as close:
        index, given = _index_folder(asked, grid, close), asked.index or grid.paths.get("index")
        cannot_search = _build(index, grid, data, own=given is None)
        _announce(grid, data, problems, model)
        out = asked.eval.out or Path(close.enter_context(tempfile.TemporaryDirectory(prefix="chameleon-")))
        if index is not None:
            problems = [replace(each, input={**each.input, "index": str(index)}) for each in problems]
        further = {"index": _digests(given)} if given is not None else {}
        arms = _Arms(replace(asked.eval, out=out), data, problems, model, further)
        figures: list[dict[str, Any]] = []
        for arm in grid.arms.values():
            reason = "not come to" if arms.stopped else cannot_search.get(arm.name)
            figures.append(arm_figures(arm, lacks=reason) if reason else arms.run(arm))
    about = {
        "grid": grid.name,
        "inventory": grid.inventory,
        "benchmark": data.benchmark.name,
        "scorer": data.scorer,
        "data": {"name": data.path.name, "sha256": data.file.sha256},
        "problems": len(problems),
        "model": model,
    }
    _show(ArmTable(figures, about), asked.eval.out, as_json=as_json)
    if arms.stopped is not None:
        goes_on = "the same command goes on" if asked.eval.out else "--out DIR would keep what was done"
        say(f"Stopped: {goes_on}.")
        raise arms.stopped
    return int(all(each["lacks"] for each in figures))


def print_schema() -> None:
    """Print the JSON Schema of grid files."""
    typer.echo(json.dumps(GridSpec.model_json_schema(), indent=2))


@dataclass
class _Arms:
    """Evaluate each arm where it can be, and else measure what needs no model; `stopped` is what ended it.

    `model` is the one that is asked, None for none. `further` settings are kept with those of evaluations.
    """

    asked: Evaluated
    data: Data
    problems: Sequence[Problem]
    model: str | None
    further: Mapping[str, Any]
    stopped: Interrupted | Stopped | None = None
    first: ArmEvaluation | None = None
    spent: dict[str, Usage] = field(default_factory=dict)

    def run(self, arm: Arm) -> dict[str, Any]:
        """Return the arm's figures."""
        if arm.inventory.needs_model and self.model is None:
            return self._measure(arm)
        try:
            return self._evaluate(arm)
        except (InputError, ParameterRefused, Stopped, Interrupted):
            raise
        except ChameleonError as problem:  # what this arm lacks here is no reason to do without the others
            return arm_figures(arm, lacks=str(problem))

    def _measure(self, arm: Arm) -> dict[str, Any]:
        shown = time.monotonic()

        def advance(done: int) -> None:
            nonlocal shown
            if time.monotonic() - shown >= _SECONDS_BETWEEN_LINES:
                shown = time.monotonic()
                say(f"{arm.name}: {done:,} of {counted(len(self.problems), 'problem')}")

        gold_history = self.asked.gold_history
        benchmark = self.data.benchmark
        return measure_arm(arm, benchmark, self.problems, gold_history=gold_history, advance=advance)

    def _evaluate(self, arm: Arm) -> dict[str, Any]:
        data, problems = self.data, self.problems
        assert self.asked.out is not None
        out, options = self.asked.out / arm.name, replace(self.asked.options, model=self.model)
        asked = replace(self.asked, inventory=arm.inventory.name, options=options, out=out)
        executor = set_up(arm.inventory, options).executor
        check_runnable(problems, data, executor)
        check_parameters(executor, options)
        check_history(problems, asked, arm.inventory)
        say(f"{arm.name}: {'; '.join(arm.changes) or 'the inventory as it is'}")
        counts = Counts(Tally(data.benchmark.columns, data.new_scorer()), Spending(self._left(arm)))
        self.stopped = run_all(executor, problems, data, asked, counts, self.further)
        self.spent[arm.name] = counts.spending.usage
        run = read_run(out)
        coverage, begun = look_back(arm, run, problems, data.benchmark)
        try:
            recall = recall_of(arm.inventory, begun)
        except ChameleonError as problem:  # the index has not all tables: no reason to lose what was paid for
            say(f"{arm.name}: how well it searches is not measured: {harmless(str(problem))}")
            recall = None
        found = ArmEvaluation(counts.tally, run.results)
        evaluation = found.to_json(data.benchmark.name, self.first)
        self.first = self.first or found
        return arm_figures(
            arm,
            problems=counts.tally.all.n,
            seconds_per_question=0.0 if counts.tally.all.n else None,
            evaluation=evaluation,
            retrieval=recall and recall.to_json(),
            table=coverage.to_json(),
        )

    def _left(self, arm: Arm) -> float | None:
        """Return what is left for an arm of what the whole grid may cost."""
        most, home = self.asked.max_cost, self.asked.out
        if most is None or home is None:
            return None
        for path in home.glob(f"*/{SETTINGS}"):
            if path.parent.name not in self.spent:
                self.spent[path.parent.name] = spent_in(path.parent)
        cost = sum((spent for name, spent in self.spent.items() if name != arm.name), Usage()).cost
        return most if cost is None else max(most - cost, 0.0)


def _require_unvaried(grid: Grid, params: Mapping[str, Any]) -> None:
    """Raise `BadParameter` for a parameter in which the arms differ: it would make them equal."""
    for name in params:
        found = [
            json.dumps({part: each.llm_params.get(name) for part, each in arm.inventory.askers.items()})
            for arm in grid.arms.values()
        ]
        if len(set(found)) > 1:
            what = f"the arms differ in {name}, which it would make equal"
            raise typer.BadParameter(what, param_hint="--param")


def _model(asked: Asked, grid: Grid) -> str | None:
    """Return the model that evaluates the arms; None where none of them asks one, or none is configured."""
    inventories = [arm.inventory for arm in grid.arms.values() if arm.inventory.needs_model]
    if not inventories:
        return None
    options = asked.eval.options
    recorded = ResponseStore.default("replay") if options.store == "replay" else None
    return choose_model(options.model, inventories[0].llm.model, replay=recorded).model


def _announce(grid: Grid, data: Data, problems: Sequence[Problem], model: str | None) -> None:
    arms = f"{counted(len(grid.arms), 'arm')} of {grid.name}"
    over = f"{counted(len(problems), 'problem')} of {data.benchmark.name}"
    if model is not None:
        calls = [arm.calls for arm in grid.arms.values()]
        total = sum(each for each in calls if each is not None) * len(problems)
        some = "" if None in calls else f", some {counted(total, 'call')} less those in the response store"
        say(f"Evaluates {arms} over {over} with {model}{some}.")
        return
    say(f"Measures {arms} over {over}, as far as no model is needed.")
    if any(arm.inventory.needs_model for arm in grid.arms.values()):
        say("--model PROVIDER:NAME evaluates them.")


def _index_folder(asked: Asked, grid: Grid, close: ExitStack) -> Path | None:
    """Return the folder of the indexes that arms search: one that is named, else one of ours, if any do."""
    if (given := asked.index or grid.paths.get("index")) is not None:
        return given
    within = {module.within for arm in grid.arms.values() for _, module in searching(arm.inventory)}
    if not within & set(grid.spec.indexes):
        return None
    if asked.eval.out is not None:
        return asked.eval.out / "index"
    return Path(close.enter_context(tempfile.TemporaryDirectory(prefix="chameleon-")))


def _build(folder: Path | None, grid: Grid, data: Data, *, own: bool) -> Mapping[str, str]:
    """Build what is not there of the indexes, and return why arms cannot search.

    Every table of the data counts, whatever --limit says.
    """
    if folder is None or not grid.spec.indexes:
        return {}
    whole = replace(data, limit=None)

    def documents(summaries: bool) -> Iterable[Document]:
        if whole.tables is not None and whole.tables.is_file():
            return read_corpus(whole.tables, summaries=summaries)
        return read_corpus(whole.path, summaries=True) if summaries else _tables_of(whole.problems())

    built, reasons = build_indexes(folder, grid, documents, own=own)
    for within in built:
        say(f"Built the index {folder / within}.")
    return reasons


def _tables_of(problems: Iterable[Problem]) -> Iterable[Document]:
    """Yield the tables of problems as documents, each once."""
    from chameleon.retrieval.document import Document

    seen: set[str] = set()
    for problem in problems:
        table = problem.input.get("table")
        if table is not None and problem.table_id and problem.table_id not in seen:
            seen.add(problem.table_id)
            yield Document(problem.table_id, table)


def _digests(index: Path) -> Mapping[str, str]:
    """Digest what the indexes in a folder hold: the manifest of each."""
    found = sorted([*index.glob(_MANIFEST), *index.glob(f"*/{_MANIFEST}")])
    return {
        path.parent.relative_to(index).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()[:12]
        for path in found
    }


def _show(comparison: ArmTable, out: Path | None, *, as_json: bool) -> None:
    if out is not None:
        try:
            out.mkdir(parents=True, exist_ok=True)
            figures = json.dumps(comparison.to_json(), indent=2, ensure_ascii=False)
            write_whole(out / _FIGURES, figures + "\n")
            write_whole(out / _TABLE, comparison.markdown)
        except OSError as problem:
            raise InputError(f"cannot be written: {problem.strerror}", where=str(out)) from problem
    if as_json:
        echo_json(comparison.to_json())
        return
    about = comparison.about
    echo(f"{about['grid']} over {counted(about['problems'], 'problem')} of {about['benchmark']}\n")
    columns = [TextColumn(name, cells, name != NEEDS) for name, cells in comparison.columns.items()]
    echo(in_blocks(TextColumn("arm", comparison.names), columns, _width()))
    for note in comparison.notes:
        echo(f"\n{harmless(note[:_LONGEST])}")
    if out is not None:
        say(f"Kept in {out}: {_TABLE}, {_FIGURES}, and a folder for each arm that was evaluated.")


def _list_arms(grid: Grid, typed: str, *, as_json: bool) -> int:
    """List the arms, what each changes, and what it lacks here; 1 where none can run."""
    lacks = {arm.name: _lacks(arm) for arm in grid.arms.values()}
    if as_json:
        keys = ("arm", "about", "changes", "calls_per_question")
        arms = [
            {**{key: arm_figures(arm)[key] for key in keys}, "lacks": lacks[arm.name]}
            for arm in grid.arms.values()
        ]
        found = {"grid": grid.name, "about": grid.spec.about, "inventory": grid.inventory, "arms": arms}
        echo_json(found)
        return int(all(lacks.values()))
    echo(f"{grid.name}: {grid.spec.about}\nVariants of {grid.inventory}:\n")
    calls = [DASH if arm.calls is None else f"{arm.calls:,}" for arm in grid.arms.values()]
    about = [arm.about or "; ".join(arm.changes) or "as the inventory is" for arm in grid.arms.values()]
    columns = [TextColumn("calls each", calls), TextColumn("what it is", about, figures=False)]
    echo(in_blocks(TextColumn("arm", list(grid.arms)), columns, _width()))
    for name, found_lacking in lacks.items():
        for each in found_lacking:
            echo(f"{name} cannot run here: {harmless(each[:_LONGEST])}")
    command = f"chameleon grid {shlex.quote(typed)} DATA"
    echo(f"\n`{command}` compares them, without a model as far as none is needed.")
    return int(all(lacks.values()))


def _lacks(arm: Arm) -> list[str]:
    try:
        return [str(each.error) for each in arm.inventory.obstacles() if each.stops]
    except ChameleonError as problem:  # a prompt that is not there
        return [str(problem)]


def _width() -> int:
    return max(60, shutil.get_terminal_size((100, 24)).columns)
