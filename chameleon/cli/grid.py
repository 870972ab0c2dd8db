"""`chameleon grid`: the arms of a grid evaluated, or measured without a model, and compared in one table."""

from __future__ import annotations

import json
import shlex
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from chameleon.cli import Interrupted
from chameleon.cli.counts import counted
from chameleon.cli.evaluating import check_given
from chameleon.cli.grid_arms import Arms
from chameleon.cli.out import echo, echo_json, say
from chameleon.cli.problems import Data
from chameleon.cli.setup import ModelOptions
from chameleon.errors import ChameleonError, InputError
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.evaluate import Stopped
from chameleon.evaluation.folder import write_whole
from chameleon.evaluation.grid.comparison import Comparison
from chameleon.evaluation.grid.line import Line
from chameleon.evaluation.grid.searching import Indexed, build_indexes, searching
from chameleon.evaluation.recall import read_corpus
from chameleon.evaluation.report.columns import TextColumn, in_blocks
from chameleon.inventory.grid import Arm, Grid, GridSpec
from chameleon.llm import ResponseStore, choose_model
from chameleon.text import harmless

if TYPE_CHECKING:
    from chameleon.retrieval.document import Document

_TABLE, _FIGURES = "grid.md", "grid.json"
_LONGEST = 400


@dataclass(frozen=True)
class Asked:
    """What the command line asks for; what it leaves out, the grid file may say."""

    grid: str
    data: Path | None
    benchmark: str | None
    tables: Path | None
    scorer: str | None
    limit: int | None
    inventory: str | None
    arms: Sequence[str]
    options: ModelOptions
    no_model: bool
    workers: int
    out: Path | None
    index: Path | None
    max_cost: float | None
    retry_failed: bool
    gold_history: bool


def compare(asked: Asked, *, as_json: bool) -> int:
    """Evaluate or measure the arms, show them in one table, and return the exit code: 1 where none could run.

    Without data the arms are told, and what each lacks here. Raises `Interrupted` after Ctrl-C, and `Stopped`
    where the evaluation stops before its end, once what is done is shown.
    """
    if asked.no_model and asked.options.model:
        raise typer.BadParameter("there is a --model as well", param_hint="--no-model")
    grid = Grid.load(asked.grid, inventory=asked.inventory)
    grid = grid.only(asked.arms) if asked.arms else grid
    _require_unvaried(grid, asked.options.params)
    path = asked.data or grid.paths.get("data")
    if path is None:
        return _tell(grid, asked.grid, as_json=as_json)
    spec, tables = grid.spec, asked.tables or grid.paths.get("tables")
    data = Data(path, asked.benchmark or spec.benchmark, tables, asked.limit, asked.scorer or spec.scorer)
    problems = list(data.problems())
    check_given(problems, data)
    model = None if asked.no_model else _model(asked, grid)
    with ExitStack() as close:
        folder = _index_folder(asked, grid, close)
        indexed = _indexed(folder, grid, data, own=not _is_given(asked, grid))
        given = [_with_index(problem, folder) for problem in problems]
        _announce(grid, data, problems, model)
        arms = Arms(asked, data, given, model, indexed, folder if _is_given(asked, grid) else None, close)
        lines, stopped = _lines(grid, arms)
    comparison = Comparison(lines, data.benchmark.name, _about(grid, data, len(problems), model))
    _show(comparison, grid, asked, as_json=as_json)
    if stopped is not None:
        goes_on = "the same command goes on" if asked.out else "--out DIR would keep what was done"
        say(f"Stopped: {goes_on}.")
        raise stopped
    return int(all(line.lacks for line in lines))


def _require_unvaried(grid: Grid, params: Mapping[str, Any]) -> None:
    """Raise `BadParameter` for a parameter in which the arms differ: it would make them equal."""
    for name in params:
        told = [
            json.dumps({part: each.llm_params.get(name) for part, each in arm.inventory.askers.items()})
            for arm in grid.arms.values()
        ]
        if len(set(told)) > 1:
            raise typer.BadParameter(
                f"the arms differ in {name}, which it would make equal", param_hint="--param"
            )


def print_schema() -> None:
    """The JSON Schema of grid files."""
    typer.echo(json.dumps(GridSpec.model_json_schema(), indent=2))


def _lines(grid: Grid, arms: Arms) -> tuple[list[Line], Interrupted | Stopped | None]:
    """A line for each arm, also for those that were not come to; what stopped it early, if anything."""
    lines: list[Line] = []
    stopped: Interrupted | Stopped | None = None
    for arm in grid.arms.values():
        if stopped is not None:
            lines.append(Line(arm, lacks="not come to"))
            continue
        line, stopped = arms.line(arm)
        lines.append(line)
    return lines, stopped


def _model(asked: Asked, grid: Grid) -> str | None:
    """The model that evaluates the arms; None where none of them asks one, or none is configured."""
    inventories = [arm.inventory for arm in grid.arms.values() if arm.inventory.needs_model]
    if not inventories:
        return None
    recorded = ResponseStore.default("replay") if asked.options.store == "replay" else None
    return choose_model(asked.options.model, inventories[0].llm.model, replay=recorded).model


def _announce(grid: Grid, data: Data, problems: Sequence[Problem], model: str | None) -> None:
    arms, asked = counted(len(grid.arms), "arm"), counted(len(problems), "problem")
    if model is not None:
        calls = [arm.calls for arm in grid.arms.values()]
        total = sum(each for each in calls if each is not None) * len(problems)
        told = "" if None in calls else f", some {counted(total, 'call')} less those in the response store"
        say(f"Evaluates {arms} of {grid.name} over {asked} of {data.benchmark.name} with {model}{told}.")
        return
    say(
        f"Measures {arms} of {grid.name} over {asked} of {data.benchmark.name}, as far as no model is needed."
    )
    if any(arm.inventory.needs_model for arm in grid.arms.values()):
        say("--model PROVIDER:NAME evaluates them.")


def _is_given(asked: Asked, grid: Grid) -> bool:
    return (asked.index or grid.paths.get("index")) is not None


def _index_folder(asked: Asked, grid: Grid, close: ExitStack) -> Path | None:
    """The folder of the indexes that arms search: one that is named, else one of ours; None without any."""
    if (given := asked.index or grid.paths.get("index")) is not None:
        return given
    within = [module.within for arm in grid.arms.values() for _, module in searching(arm.inventory)]
    if not set(within) & set(grid.spec.indexes):
        return None
    if asked.out is not None:
        return asked.out / "index"
    return Path(close.enter_context(tempfile.TemporaryDirectory(prefix="chameleon-")))


def _indexed(folder: Path | None, grid: Grid, data: Data, *, own: bool) -> Indexed:
    """Build what is not there of the indexes; every table of the data counts, whatever --limit says."""
    if folder is None or not grid.spec.indexes:
        return Indexed()
    whole = replace(data, limit=None)

    def documents(summaries: bool) -> Iterable[Document]:
        if whole.tables is not None and whole.tables.is_file():
            return read_corpus(whole.tables, summaries=summaries)
        return read_corpus(whole.path, summaries=True) if summaries else _tables_of(whole.problems())

    found = build_indexes(folder, grid, documents, own=own)
    for within in found.built:
        say(f"Built the index {folder / within}.")
    return found


def _tables_of(problems: Iterable[Problem]) -> Iterable[Document]:
    """The tables of problems as documents, each once."""
    from chameleon.retrieval.document import Document

    seen: set[str] = set()
    for problem in problems:
        table = problem.input.get("table")
        if table is not None and problem.table_id and problem.table_id not in seen:
            seen.add(problem.table_id)
            yield Document(problem.table_id, table)


def _with_index(problem: Problem, folder: Path | None) -> Problem:
    return problem if folder is None else replace(problem, input={**problem.input, "index": str(folder)})


def _about(grid: Grid, data: Data, n: int, model: str | None) -> Mapping[str, Any]:
    return {
        "grid": grid.name,
        "inventory": grid.inventory,
        "benchmark": data.benchmark.name,
        "scorer": data.scorer,
        "data": {"name": data.path.name, "sha256": data.file.sha256},
        "problems": n,
        "model": model,
    }


def _show(comparison: Comparison, grid: Grid, asked: Asked, *, as_json: bool) -> None:
    told = comparison.to_json()
    if asked.out is not None:
        _keep(asked.out, comparison, told)
    if as_json:
        echo_json(told)
        return
    about = comparison.about
    echo(f"{grid.name} over {counted(about['problems'], 'problem')} of {about['benchmark']}\n")
    echo(in_blocks(comparison.names, comparison.columns, _width()))
    for note in comparison.notes:
        echo(f"\n{harmless(note[:_LONGEST])}")
    if asked.out is not None:
        say(f"Kept in {asked.out}: {_TABLE}, {_FIGURES}, and a folder for each arm that was evaluated.")


def _keep(out: Path, comparison: Comparison, told: Mapping[str, Any]) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_whole(out / _FIGURES, json.dumps(told, indent=2, ensure_ascii=False) + "\n")
        write_whole(out / _TABLE, comparison.markdown)
    except OSError as problem:
        raise InputError(f"cannot be written: {problem.strerror}", where=str(out)) from problem


def _tell(grid: Grid, named: str, *, as_json: bool) -> int:
    """The arms, what each changes, and what it lacks here; 1 where none can run. `named` is it as typed."""
    lacks = {arm.name: _lacks(arm) for arm in grid.arms.values()}
    if as_json:
        arms = [
            {
                "arm": arm.name,
                "about": arm.about,
                "changes": list(arm.changes),
                "calls_per_question": arm.calls,
                "lacks": lacks[arm.name],
            }
            for arm in grid.arms.values()
        ]
        told = {"grid": grid.name, "about": grid.spec.about, "inventory": grid.inventory, "arms": arms}
        echo_json(told)
        return int(all(lacks.values()))
    echo(f"{grid.name}: {grid.spec.about}\nVariants of {grid.inventory}:\n")
    calls = [arm.calls for arm in grid.arms.values()]
    columns = [
        TextColumn("calls each", ["–" if each is None else f"{each:,}" for each in calls]),
        TextColumn("what it is", [_said(arm) for arm in grid.arms.values()], figures=False),
    ]
    names = TextColumn("arm", list(grid.arms))
    echo(in_blocks(names, columns, _width()))
    for name, found in lacks.items():
        for each in found:
            echo(f"{name} cannot run here: {harmless(each[:_LONGEST])}")
    command = f"chameleon grid {shlex.quote(named)} DATA"
    echo(f"\n`{command}` compares them, without a model as far as none is needed.")
    return int(all(lacks.values()))


def _said(arm: Arm) -> str:
    return arm.about or "; ".join(arm.changes) or "as the inventory is"


def _lacks(arm: Arm) -> list[str]:
    try:
        return [str(each.error) for each in arm.inventory.obstacles() if each.stops]
    except ChameleonError as problem:  # a prompt that is not there
        return [str(problem)]


def _width() -> int:
    return max(60, shutil.get_terminal_size((100, 24)).columns)
