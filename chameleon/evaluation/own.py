"""Your own questions from Python: `evaluate` one way to answer them, `compare` several."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chameleon.core.state import State
from chameleon.errors import InputError, MissingPackage, NoModel, require
from chameleon.evaluation.arms import arm_figures
from chameleon.evaluation.benchmark import Benchmark, Problem, Row
from chameleon.evaluation.compare import ArmTable, evaluation_figures
from chameleon.evaluation.data import OWN, DataFile, find_benchmark, read_problems, warn_of_columns
from chameleon.evaluation.evaluate import Evaluation
from chameleon.evaluation.grid import Grid
from chameleon.evaluation.results import Result, Tally
from chameleon.inventories import DEFAULTS, first_rung
from chameleon.inventory import Inventory
from chameleon.run.ask import as_table, ask
from chameleon.run.executor import Executor, Tools, counter
from chameleon.table import Table, to_terminal

if TYPE_CHECKING:
    from chameleon.run.executor import ChatModel

Questions = str | os.PathLike[str] | Iterable[Row | Problem]
Judge = str | Callable[[Any, Any], bool] | None
_DATA_ENDINGS = {".csv", ".tsv", ".xlsx", ".xls", ".ods", ".json", ".jsonl", ".gz"}
_MAX_CELL_CHARS = 200  # characters of a cell
_FULL_WIDTH = 10_000  # characters of a line: enough to show every column


class ShownRows:
    """Rows that a terminal, a notebook and pandas can show."""

    rows: list[dict[str, Any]]

    def to_pandas(self) -> Any:
        """Return the rows as a DataFrame. Raises `MissingPackage` without pandas."""
        require("pandas", "a DataFrame needs", "programs")
        import pandas

        return pandas.DataFrame(self.rows)

    @property
    def table(self) -> Table:
        """The rows as a table of texts; unknown values are blank."""
        columns = columns_of(self.rows)
        return Table(list(columns), list(zip(*columns.values(), strict=True)))

    def __repr__(self) -> str:
        return (
            to_terminal(self.table, _FULL_WIDTH, None) if self.rows else f"<{type(self).__name__}: no rows>"
        )

    def _repr_html_(self) -> str:
        return self.table._repr_html_()


@dataclass(frozen=True, repr=False)
class Evaluated(ShownRows):
    """The outcome of questions.

    Attributes:
        results: one for each question, in their order.
        tally: the counts over the results.
    """

    name: str
    benchmark: Benchmark
    results: Sequence[Result]
    tally: Tally

    @property
    def n(self) -> int:
        return self.tally.all.n

    @property
    def accuracy(self) -> float | None:
        """The share of all questions that are right; None without questions, or with graded answers."""
        return None if self.tally.graded else self.tally.all.accuracy

    @property
    def rows(self) -> list[dict[str, Any]]:  # type: ignore[override]
        """A row for each question."""
        return [
            {
                "id": each.id,
                "verdict": each.verdict,
                "answer": each.answer,
                "gold": each.gold,
                "why": each.error.message if each.error else None,
                "calls": each.usage.calls,
                "cost": each.usage.cost,
                "seconds": each.seconds,
            }
            for each in self.results
        ]


@dataclass(frozen=True, repr=False)
class Compared(ShownRows):
    """Ways to answer side by side, a row each; `runs` has each by its name: `Evaluated`, or a `State`."""

    rows: list[dict[str, Any]]
    runs: Mapping[str, Evaluated | State]


def evaluate(
    questions: Questions,
    inventory: Tools | Executor | None = None,
    llm: ChatModel | None = None,
    *,
    scorer: Judge = None,
    workers: int = 8,
    progress: bool = False,
    **inputs: Any,
) -> Evaluated:
    """Answer your own questions, and report which answers are right.

        print(evaluate("questions.csv", "tables_offline").accuracy)

    Args:
        questions: a file (CSV, Excel, JSON lines), or rows: mappings with `question`, `answer` and usually
            `table` (a path, a DataFrame, a `Table`), as in `docs/evaluation.md`, or `Problem` objects.
        inventory: what answers; by default one that fits the first question. Without a model `tables_first`
            and similar inventories use only the reader that they begin with.
        llm: the model to ask: a name such as "openai:gpt-6-luna", an `LLM` or a LangChain chat model.
        scorer: "value" (the default) or "text overlap", or a function of answer and gold answer.
        workers: how many questions run at once.
        progress: whether to show a progress bar on stderr.
        inputs: input shared by all questions, such as `table`, `text` or `index`.

    Raises:
        InputError: for a file that cannot be read, and for a mapping without a question or answer. Such a row
            of a file is skipped with a warning.
    """
    benchmark, problems = _problems(questions, inputs)
    if inventory is None:
        keys = problems[0].input if problems else ()
        names = next((names for key, names in DEFAULTS.items() if key in keys), DEFAULTS["table"])
        inventory = names[llm is None]  # `DEFAULTS`: with a model, without one
    if llm is None and isinstance(inventory, str):
        inventory = first_rung(inventory) or inventory
    executor = inventory if isinstance(inventory, Executor) else Executor(inventory, llm)
    return _run_all(executor, benchmark, problems, scorer, workers, progress=progress)


def compare(
    questions: Questions,
    inventories: Sequence[str | Inventory],
    models: Sequence[str] = (),
    *,
    scorer: Judge = None,
    workers: int = 8,
    progress: bool = False,
    **inputs: Any,
) -> Compared:
    """Answer one question, or the rows of a file, in several ways: each inventory with each model.

        print(compare("questions.csv", ["tables_first", "tables"], ["openai:gpt-6-luna"]))
        print(compare("Which team leads?", ["tables_offline", "tables"], [model], table="league.csv"))

    A text that does not name a file is one question, and the rows are its answers. Otherwise they are the
    counts, with half of the 90% interval and the paired difference to the first. Other arguments and errors:
    see `evaluate`.

    Args:
        inventories: names, files or `Inventory` objects.
        models: the models to ask; without any, each inventory runs once.
    """
    grid = Grid.of(inventories, models)
    if isinstance(questions, str) and not is_file_name(questions):
        table = inputs.pop("table", None)
        rows, states = [], {}
        for name, arm in grid.arms.items():
            try:
                state = ask(questions, table, llm=arm.model or None, inventory=arm.inventory, **inputs)
                rows.append({"way": name, **answer_row(state)})
                states[name] = state
            except (NoModel, MissingPackage) as problem:  # the other ways may not need it
                rows.append({"way": name, "answer": None, "why not": str(problem)})
        return Compared(rows, states)
    benchmark, problems = _problems(questions, inputs)
    runs: dict[str, Evaluated] = {}
    figures = []
    for arm in grid.arms.values():
        try:
            executor = Executor(arm.inventory, arm.model or None)
            run = _run_all(executor, benchmark, problems, scorer, workers, progress=progress, name=arm.name)
        except (NoModel, MissingPackage) as problem:
            figures.append(arm_figures(arm, lacks=str(problem)))
            continue
        first = next(iter(runs.values()), None)
        figures.append(arm_figures(arm, problems=run.n, evaluation=evaluation_figures(run, first)))
        runs[arm.name] = run
    arm_table = ArmTable(figures, {})
    columns = {"way": arm_table.names, **arm_table.columns}
    cells = zip(*columns.values(), strict=True)
    return Compared([dict(zip(columns, each, strict=True)) for each in cells], runs)


def is_file_name(text: str) -> bool:
    """Distinguish a file name, even of a missing file, from a question."""
    looks_so = Path(text).suffix.lower() in _DATA_ENDINGS and " " not in text
    with suppress(OSError, ValueError):  # a long question is not a name
        return looks_so or Path(text).is_file()
    return False


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the columns that are not empty, as texts; unknown values are blank."""
    header = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [_cell_text(row.get(name)) for row in rows] for name in header}
    return {name: cells for name, cells in columns.items() if any(cells)}


def answer_row(state: State) -> dict[str, Any]:
    """Return the outcome of a run: its answer or the reason for none, its reading, its plan, its cost."""
    error = state.ended.error if state.ended else None
    return {
        "answer": state.answer if error is None else None,
        "why not": error.advice if error else None,
        "read as": state.reading or None,
        "plan": " → ".join(state.plan),
        "calls": state.usage.calls,
        "cost": state.usage.cost,
        "seconds": round(state.seconds, 3),
    }


def _problems(questions: Questions, inputs: Mapping[str, Any]) -> tuple[Benchmark, list[Problem]]:
    benchmark = find_benchmark(OWN)
    inputs = {key: as_table(value) if key == "table" else value for key, value in inputs.items()}
    if isinstance(questions, str | os.PathLike):
        data = DataFile(Path(questions), keeps_bad=True)
        warn_of_columns(benchmark, data, data.path)
        problems = list(read_problems(benchmark, data))
    else:
        rows = list(questions)
        warn_of_columns(benchmark, (row for row in rows if not isinstance(row, Problem)), Path())
        problems = []
        for number, row in enumerate(rows, 1):
            try:
                own = [row] if isinstance(row, Problem) else benchmark.rows([{"line": number, **row}], Path())
                problems += [one if isinstance(one, Problem) else benchmark.problem(one, {}) for one in own]
            except InputError as problem:
                place = f"row {number}, {problem.where}" if problem.where else f"row {number}"
                raise problem.at(place) from None
    ids = set[str]()
    for number, each in enumerate(problems, 1):
        if each.id in ids:
            raise InputError(f"the id {each.id} occurs twice", where=f"row {number}")
        ids.add(each.id)
    return benchmark, [replace(each, input={**inputs, **each.input}) for each in problems]


def _run_all(
    executor: Executor,
    benchmark: Benchmark,
    problems: Sequence[Problem],
    judge: Judge,
    workers: int,
    *,
    progress: bool,
    name: str = "",
) -> Evaluated:
    """Run the problems; results and counts are in their order."""
    scorer = benchmark.scorer(judge)()
    by_id: dict[str, Result] = {}
    with counter(len(problems)) if progress else nullcontext(lambda: None) as advance:

        def note(result: Result) -> None:
            by_id[result.id] = result
            advance()

        Evaluation(executor, scorer, benchmark, workers=workers, on_result=note).run(problems)
    tally, results = Tally(benchmark.columns, scorer), [by_id[each.id] for each in problems]
    for result in results:
        tally.add(result)
    return Evaluated(name or executor.inventory.name, benchmark, results, tally)


def _cell_text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "; ".join(map(_cell_text, value))
    return "" if value is None else str(value)[:_MAX_CELL_CHARS]
