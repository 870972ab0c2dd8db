"""`chameleon compare`: compare ways to answer one question or many, or the arms of an experiment."""

import json
import shlex
import tempfile
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

import typer

from chameleon.cli.evaluating import EvalRun, check_data
from chameleon.cli.hints import in_options
from chameleon.cli.measuring import further_settings, index_digests, placed
from chameleon.cli.options import CompareOptions, FileOptions, QuestionOptions, names
from chameleon.cli.scoring import Data, in_blocks
from chameleon.cli.setup import checked, model_for, prepare, read_files, receiver, set_up
from chameleon.cli.terminal import Activity, Interrupted, Progress, echo, echo_json, say, terminal_width
from chameleon.core.llm_module import asking_of
from chameleon.errors import ChameleonError, InputError, MissingPackage, NoModel, ParameterRefused, Stopped
from chameleon.evaluation.arms import arm_figures, measure_arm, most_spent
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.compare import NEEDS, ArmTable, evaluation_figures
from chameleon.evaluation.data import OWN
from chameleon.evaluation.grid import Arm, Grid
from chameleon.evaluation.own import answer_row, columns_of, is_file_name
from chameleon.evaluation.problems import Problems
from chameleon.evaluation.run import Run, read_run
from chameleon.evaluation.run_dir import FIGURES, SETTINGS, spent_in, write_whole
from chameleon.figures import in_dollars
from chameleon.inventory.source import shipped_grids
from chameleon.text import counted, nearest, one_line
from chameleon.usage import Usage


def compare(options: CompareOptions, *, as_json: bool) -> int:
    """Compare ways to answer, and return the exit code: 1 if none could run.

    The target is a file that exists, else a shipped experiment, else a question. Without data, the arms of an
    experiment are listed. Raises `Interrupted` after Ctrl-C and `Stopped` on an early end, both after showing
    the results so far.
    """
    options = replace(options, target=options.target.removeprefix("experiments/"))
    target, models = options.target, options.model or []
    kind = _kind_of(target)
    is_grid = kind == "grid"
    if options.no_model and models:
        raise typer.BadParameter("--model is given as well", param_hint="--no-model")
    if not is_grid and not options.inventory:
        what = "name what to compare, such as -i tables_first -i tables_offline"
        raise typer.BadParameter(what, param_hint="--inventory")
    if is_grid:
        grid = _grid(options)
    else:
        has_model = bool(models) or model_for(replace(options, model=None)).model is not None
        grid = Grid.of(options.inventory or (), models, has_model=has_model)
    if kind == "question":
        if options.out is not None:
            what = "the answers to one question are printed, not saved"
            raise typer.BadParameter(what, param_hint="--out")
        return _compare_answers(grid, options, as_json=as_json)
    data = {
        name: (arm.data or (options.data if is_grid else Path(target)), arm.benchmark or options.benchmark)
        for name, arm in grid.arms.items()
    }
    options = replace(options, model=models[0] if models else None)  # type: ignore[arg-type]
    if not any(path for path, _ in data.values()):
        return _list_arms(grid, target, as_json=as_json)
    if without_data := [name for name, (path, _) in data.items() if path is None]:
        what = f"the arm {without_data[0]} has no data: give DATA after the name of the experiment"
        raise typer.BadParameter(what, param_hint="DATA")
    with ExitStack() as close:
        shared = _given_to(options, close, is_grid=is_grid)
        read = {each: _asked(*each, options, shared) for each in dict.fromkeys(data.values())}
        run = GridRun(grid, {name: read[each] for name, each in data.items()}, options, close)
        figures = [run.figures_of(arm) for arm in grid.arms.values()]
    run.show(figures, as_json=as_json)
    if run.stopped is not None:
        resumes = "the same command resumes" if options.out else "--out DIR would keep what was done"
        say(f"Stopped: {resumes}.")
        raise run.stopped
    return int(all(each["lacks"] for each in figures))


def _kind_of(target: str) -> Literal["grid", "questions", "question"]:
    """Return the kind of target. Raises `InputError` for a path or an experiment that does not exist."""
    is_yaml = target.endswith((".yaml", ".yml"))
    if is_file_name(target):
        return "grid" if is_yaml else "questions"
    if target in shipped_grids():
        return "grid"
    is_one_word = not set(target) & set(" ?？")
    if is_one_word and (target.isascii() or is_yaml or "/" in target):  # a question in Chinese has no spaces
        hint = f"A question goes in quotes, with a question mark. {nearest(target, shipped_grids())}"
        raise InputError("there is no such file or experiment", where=target, hint=hint)
    return "question"


def _grid(options: CompareOptions) -> Grid:
    """Load the named experiment with the arms, inventory and parameters of the options."""
    for name, given in (("inventory", options.inventory), ("model", options.model)):
        if len(given or ()) > 1:
            what = "an experiment takes only one: it compares its arms"
            raise typer.BadParameter(what, param_hint=f"--{name}")
    grid = Grid.load(options.target, inventory=next(iter(options.inventory or ()), None))
    grid = grid.only(names(options.arm)) if options.arm else grid
    for parameter in options.params:
        askers = [each for arm in grid.arms.values() for each in arm.inventory.askers.items()]
        values = {(part, str(asking_of(asker).params.get(parameter))) for part, asker in askers}
        if len(values) > len(dict(values)):  # arms differ in a part that they share
            what = f"the arms differ in {parameter}, and it would set one value for all"
            raise typer.BadParameter(what, param_hint="--param")
    return grid


def _given_to(options: CompareOptions, close: ExitStack, *, is_grid: bool) -> dict[str, Any]:
    """Return the input that all problems share; an experiment's index may be a folder of several."""
    if is_grid and options.index is not None and not index_digests(options.index):
        hint = "`chameleon index` makes one; an experiment over several needs one in each DIR/NAME."
        raise InputError("there is no index in it", where=str(options.index), hint=hint)
    inputs = read_files(replace(options, index=None) if is_grid else options, close)
    return {**inputs, "index": str(options.index)} if is_grid and options.index is not None else inputs


def _asked(
    path: Any, benchmark: str | None, options: CompareOptions, inputs: Mapping[str, Any]
) -> tuple[Data, list[Problem]]:
    """Read and check the problems of a file."""
    data = Data(path, benchmark, options, inputs)
    problems = list(data.problems())
    check_data(Problems(lambda: problems), data)
    return data, problems


def _compare_answers(grid: Grid, options: CompareOptions, *, as_json: bool) -> int:
    """Answer one question in each way, show the answers side by side, and return 1 if none answered."""
    file_options = {each.name: getattr(options, each.name) for each in fields(FileOptions)}
    rows = []
    for arm in grid.arms.values():
        file_options |= {"model": arm.model or None, "param": options.param, "store": options.store}
        question = QuestionOptions(question=options.target, **file_options)
        with ExitStack() as close, Activity(arm.name):
            try:
                setup = prepare(checked(question), "none", close, arm=arm.inventory)
                row = answer_row(setup.executor.run(setup.given))
            except (NoModel, MissingPackage) as problem:  # the other ways may not need it
                row = {"answer": None, "why not": str(in_options(problem))}
        rows.append({"way": arm.name, **row})
    if as_json:
        echo_json({"question": options.target, "ways": rows})
    else:
        columns = columns_of([{**row, "why not": None} for row in rows])  # reasons are too long for cells
        echo(in_blocks(columns.items(), list(columns)))
        for row in rows:
            if reason := row.get("why not"):
                text = one_line(f"{row['way']} does not answer: {reason}", 1_000)
                echo("\n" + textwrap.fill(text, terminal_width(), break_on_hyphens=False))
    return int(all(row["answer"] is None for row in rows))


@dataclass
class GridRun:
    """Evaluate each arm if possible, else measure what needs no model.

    Attributes:
        asked: the problems of each arm, by its name.
        close: temporary folders exist until this is closed.
        stopped: explains an early end.
        first: the first evaluation, to which the others are compared.
    """

    grid: Grid
    asked: Mapping[str, tuple[Data, Sequence[Problem]]]
    options: CompareOptions
    close: ExitStack
    stopped: Interrupted | Stopped | None = None
    first: Run | None = None

    def __post_init__(self) -> None:
        options, variants = self.options, self.grid.arms.values()
        self.out = options.out or Path(self.close.enter_context(tempfile.TemporaryDirectory()))
        if (self.out / SETTINGS).is_file():
            hint = "Name another folder for the comparison."
            raise InputError("the folder holds a single evaluation", where=str(self.out), hint=hint)
        asking = [arm.inventory for arm in variants if arm.inventory.needs_model and not options.no_model]
        model = model_for(options, asking[0].llm.model).model if asking else None
        self.options = replace(options, model=model)  # type: ignore[arg-type]
        models = list(dict.fromkeys(arm.model for arm in variants if arm.model))
        with_model = " and ".join(models or filter(None, [model]))
        arms, sources = counted(len(variants), "arm"), dict[tuple[Path, str], str]()
        for data, problems in self.asked.values():
            name = data.benchmark.name
            what, source = ("question", f"in {data.path.name}") if name == OWN else ("problem", f"of {name}")
            sources[data.path, name] = f"{counted(len(problems), what)} {source}"
        self.over = over = " and ".join(sources.values())
        if with_model:
            spent = (most_spent(arm, self.asked[arm.name][1], arm.model or model or "") for arm in variants)
            usage, is_bound = sum(spent, Usage()), any(arm.calls is None for arm in variants)
            cost = "cost unknown" if usage.cost is None else f"some {in_dollars(usage.cost)}"
            total = f"{'up to' if is_bound else 'some'} {counted(usage.calls, 'call')}, {cost}"
            if any(arm.calls is None and arm.inventory.budget.calls is None for arm in variants):
                total = "calls and cost unknown, as no budget limits them"
            say(f"Evaluates {arms} over {over} with {with_model}: {total}, less those in the response store.")
        elif all(data.benchmark.name == OWN for data, _ in self.asked.values()):
            say(f"Evaluates {arms} over {over}.")
        else:
            say(f"Measures {arms} over {over}, where no model is needed.")
            say("--model PROVIDER:NAME evaluates them.")

    def figures_of(self, arm: Arm) -> dict[str, Any]:
        """Return the arm's figures, or the reason for not having any."""
        if self.stopped:
            return arm_figures(arm, lacks="not reached")
        data, problems = self.asked[arm.name]
        return self.measured(arm, data, problems) | arm.printed(data.benchmark)

    def measured(self, arm: Arm, data: Data, problems: Sequence[Problem]) -> dict[str, Any]:
        """Evaluate an arm, or measure the part that needs no model."""
        if arm.inventory.needs_model and not (arm.model or self.options.model):
            if data.benchmark.name == OWN:  # only answers count for your questions
                return arm_figures(arm, lacks="it asks a model, and none is named: --model PROVIDER:NAME")
            with Progress("problem", len(problems)) as progress:
                return measure_arm(
                    arm,
                    data.benchmark,
                    problems,
                    gold_history=self.options.gold_history,
                    advance=lambda done: progress.show(done, lambda: arm.name),
                )
        try:
            return self._evaluate(arm, data, problems)
        except (InputError, ParameterRefused, Stopped):
            raise
        except ChameleonError as problem:  # the other arms may still run
            return arm_figures(arm, lacks=str(in_options(problem)))

    def _evaluate(self, arm: Arm, data: Data, problems: Sequence[Problem]) -> dict[str, Any]:
        model: Any = arm.model or self.options.model
        options = replace(self.options, out=self._folder(arm), max_cost=self._left(arm), model=model)
        source = Problems(lambda: problems)
        with (
            placed(set_up(arm.inventory, options).executor, options) as executor,
            receiver(options) as traces,
        ):
            run = EvalRun(executor, source, data, options, traces)
            run.check()
            say(f"{arm.name}: {'; '.join(arm.changes) or 'unchanged'}")
            self.stopped = run.run(**further_settings(options))
        stored = read_run(self._folder(arm))
        self.first = self.first or stored
        are_pairs = self.first is not stored and self.first.settings["data"] == stored.settings["data"]
        evaluation = evaluation_figures(stored, self.first if are_pairs else None)
        reasons = [f"stopped after {stored.n:,} of {counted(len(problems), 'problem')}"] * bool(self.stopped)
        if stored.n and evaluation["failed"] == stored.n:
            reasons.append(f"all problems failed, the first with: {next(stored.results).error}")
        return arm_figures(arm, lacks="; ".join(reasons), problems=stored.n, evaluation=evaluation)

    def show(self, figures: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
        """Print the arms' figures in one table, and keep them in the folder of --out, if given."""
        out = self.options.out
        data, problems = next(iter(self.asked.values()))
        about: dict[str, Any] = {"grid": self.grid.name, "inventory": self.grid.inventory}
        about |= {"benchmark": data.benchmark.name, "scorer": data.scorer}
        about |= {"data": {"name": data.path.name, "sha256": data.file.sha256}, "problems": len(problems)}
        table = ArmTable(figures, {**about, "model": self.options.model})
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
            text = json.dumps(table.to_json(), indent=2, ensure_ascii=False)
            write_whole(out / FIGURES, text + "\n")
        if as_json:
            echo_json(table.to_json())
            return
        echo(f"{self.grid.name} over {self.over}\n")
        echo(in_blocks([("arm", table.names), *table.columns.items()], [NEEDS]))
        for note in table.notes:
            echo(f"\n{one_line(note, 400)}")
        if out is not None:
            say(f"Kept in {out}: {FIGURES}, and a folder for each arm that was evaluated.")

    def _folder(self, arm: Arm) -> Path:
        return self.out / arm.name.replace("/", "_")  # model names have slashes

    def _left(self, arm: Arm) -> float | None:
        """Return how much of the experiment's maximum cost is left for an arm."""
        budget = self.options.max_cost
        if budget is None:
            return None
        folders = [path.parent for path in self.out.glob(f"*/{SETTINGS}") if path.parent != self._folder(arm)]
        cost = sum(map(spent_in, folders), Usage()).cost
        return budget if cost is None else max(budget - cost, 0.0)


def _list_arms(grid: Grid, target: str, *, as_json: bool) -> int:
    """List the arms, what each changes, and what it lacks here; return 1 if none can run."""
    figures = []
    for arm in grid.arms.values():
        try:
            errors = [each.error for each in arm.inventory.obstacles() if each.stops]
        except ChameleonError as problem:  # such as a missing prompt
            errors = [problem]
        figures.append(arm_figures(arm, lacks="; ".join(str(in_options(error)) for error in errors)))
    table = ArmTable(figures, {"grid": grid.name, "about": grid.about, "inventory": grid.inventory})
    if as_json:
        echo_json(table.to_json())
        return int(all(each["lacks"] for each in figures))
    about = [arm.about or "; ".join(arm.changes) or "unchanged" for arm in grid.arms.values()]
    columns = [("arm", table.names), *table.columns.items(), ("what it is", about)]
    echo(f"{grid.name}: {grid.about}\nVariants of {grid.inventory}:\n")
    echo(in_blocks(columns, ["what it is"]))
    for note in table.notes:
        echo(one_line(note, 400))
    command = f"chameleon compare {shlex.quote(target)} DATA"
    echo(f"\n`{command}` compares them, without a model where none is needed.")
    return int(all(each["lacks"] for each in figures))
