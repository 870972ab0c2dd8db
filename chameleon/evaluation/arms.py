"""The arms of a grid in figures: what runs without a model, what is found, and what is left of tables."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from chameleon.conversation import Turn
from chameleon.errors import ChameleonError, InputError
from chameleon.evaluation.benchmark import Benchmark, Cell, Problem
from chameleon.evaluation.evaluate import taken_by, turn, with_history
from chameleon.evaluation.grid import Arm, Grid, fixed_plan
from chameleon.evaluation.problems import in_turn
from chameleon.evaluation.recall import recall_of, searching
from chameleon.evaluation.run import Run
from chameleon.executor import Executor
from chameleon.inventory import Inventory
from chameleon.inventory.obstacles import all_of
from chameleon.inventory.schema import RulesSpec
from chameleon.llm_module import LLMModule
from chameleon.planner import Planner, planned
from chameleon.state import Failure, RunEnded, RunStarted, State, Step
from chameleon.table import Table
from chameleon.text import estimated_tokens

if TYPE_CHECKING:
    from chameleon.retrieval.document import Document
    from chameleon.retrieval.manifest import Manifest

_TABLE = "input.table"
# What would fail every problem after this one in the same way.
_MISSING = ("AuthFailed", "MissingPackage", "ModelError", "NoModel", "RateLimited", "SandboxUnavailable")
Groups = Sequence[Collection[Cell]] | None


def arm_figures(arm: Arm, asks: Sequence[str] = (), lacks: str = "", **measured: Any) -> dict[str, Any]:
    """Return all that there is to say of one arm, as JSON; what was not `measured` is null.

    `asks` are the modules that ask a model and did not run, the one that answers last. `lacks` says why the
    arm could not run at all, or not to its end.
    """
    return {
        "arm": arm.name,
        "about": arm.about,
        "changes": list(arm.changes),
        "calls_per_question": arm.calls,
        "needs_a_model": list(asks),
        "lacks": lacks or None,
        "problems": 0,
        "failed": 0,
        "failed_first_for": None,
        "seconds_per_question": None,
        "evaluation": None,
        "retrieval": None,
        "table": None,
        **measured,
    }


class GoldCoverage:
    """What is left of the tables that come to a model, and whether the gold answers' cells are among it.

    `means` are made of the `rows` and `columns` of the tables that runs came to, which part these are of the
    `cells` before a table was cut, the `tokens` of the tables as prompts show them, as estimated, and, where
    that is known, whether the gold answer's cells are left.
    """

    def __init__(self) -> None:
        self.means: dict[str, list[float]] = {
            name: [] for name in ("rows", "columns", "cells", "tokens", "gold_kept")
        }

    def add(self, state: State, problem: Problem, groups: Groups, text: str | None) -> None:
        """Count a run: `groups` are the gold cells of its problem, `text` the table as its prompt shows it.

        A run that failed came to no table, and has lost them.
        """
        failed = _failure_of(state) is not None
        has = (False if groups else None) if failed else has_gold(state, problem, groups)
        if has is not None:
            self.means["gold_kept"].append(has)
        if failed:
            return
        if text is not None:
            self.means["tokens"].append(estimated_tokens(text))
        table, source = state.table, _source_table(state)
        if table is not None and source is not None:
            self.means["rows"].append(len(table.rows))
            self.means["columns"].append(len(table.header))
            cells = len(source.rows) * len(source.header)
            self.means["cells"].append(len(table.rows) * len(table.header) / cells if cells else 1.0)

    def to_json(self) -> dict[str, Any] | None:
        """Return the means, null where nothing was counted; None without any."""
        n, known = len(self.means["rows"]), len(self.means["gold_kept"])
        if not n and not known:
            return None
        found = {name: round(fmean(each), 4) if each else None for name, each in self.means.items()}
        return {"n": n, **found, "gold_known": known}


def has_gold(state: State, problem: Problem, groups: Groups) -> bool | None:
    """Return whether of each group a cell is left; None where that is not known.

    A table that was found in an index must be the problem's own, and whoever cuts a table tells in
    `cache.kept` which of its rows and columns are left.
    """
    source, own = _source_table(state), problem.input.get("table")
    if not groups or own is None:
        return None
    if source is None or not _same(source, own):
        return False
    kept = state.cache.get("kept")
    if kept is None:
        return True if state.table is not None and _same(state.table, source) else None
    rows, columns = frozenset(kept["rows"]), frozenset(kept["columns"])
    return all(any(row in rows and column in columns for row, column in cells) for cells in groups)


def _source_table(state: State) -> Table | None:
    """Return the table that was found in an index, else the one that was given, if there is either."""
    table: Table | None = state.begun.input.get("table") if state.begun else None
    for record in state.history:
        if "retrieved" in record.cache_changes:
            table = record.input_changes.get("table", table)
    return table


def _same(table: Table, other: Table) -> bool:
    """Return whether two tables have the same cells; what they are called does not matter."""
    return (table.header, table.rows) == (other.header, other.rows)


def _failure_of(state: State) -> Failure | None:
    """Return what kept a run from its end, if it was a step or its input."""
    failed = next((record.error for record in state.history if record.error), None)
    return failed or (state.ended.error if state.ended and state.begun is None else None)


@dataclass(frozen=True)
class Prepared:
    """What of a fixed plan runs without a model.

    Of the modules up to the last one that asks a model, `runs` are those that ask none and depend on nothing
    that others would have written, `asks` those that ask one, and `waiting` the rest. `knows_table`: the
    table that comes to the model is that of the state.
    """

    inventory: Inventory
    runs: tuple[str, ...]
    asks: tuple[str, ...]
    waiting: tuple[str, ...]
    knows_table: bool

    @classmethod
    def of(cls, inventory: Inventory) -> Prepared | None:
        """Divide the plan; None where the inventory has no fixed one: then a model decides what runs."""
        plan = fixed_plan(inventory)
        if plan is None:
            return None
        asking = [place for place, name in enumerate(plan) if inventory.modules[name].needs_model]
        runs, asks, waiting = list[str](), list[str](), list[str]()
        unknown = set[str]()
        for name in plan[: asking[-1] + 1] if asking else plan:
            access = inventory.access[name]
            if inventory.modules[name].needs_model:
                asks.append(name)
            elif unknown and access.depends_on(unknown):
                waiting.append(name)
            else:
                runs.append(name)
                continue
            unknown |= access.writes
        return cls(inventory, tuple(runs), tuple(asks), tuple(waiting), not unknown & {_TABLE, "input.*"})

    def begun(self, problem: Problem) -> State:
        """Return the state before anything runs. Raises `InputError` for an input that is none."""
        given = self.inventory.check_input(taken_by(self.inventory, problem))
        return State().after(RunStarted(self.inventory.name, given))

    def state(self, problem: Problem) -> State:
        """Return the state after what runs; one that failed for an input that is none."""
        try:
            if not self.runs:
                return self.begun(problem)
            return self._executor.run(taken_by(self.inventory, problem))
        except InputError as error:
            return State(ended=RunEnded("failed", Failure.of(error)))

    def prompted(self, state: State) -> str | None:
        """Return the table as the prompt shows it; None where that is not known."""
        known = self.knows_table and not self.waiting
        return _prompted_table(self.inventory, self.asks, state) if known else None

    @cached_property
    def part(self) -> Inventory:
        """The inventory with what runs alone: nothing is repaired, and a failure ends the run."""
        return replace(
            self.inventory,
            planner=_Once(self.runs),
            rules=RulesSpec(),
            fallback=(),
            repair={},
            on_error={},
            left_out=frozenset(self.inventory.modules) - set(self.runs),
        )

    @cached_property
    def _executor(self) -> Executor:
        return Executor(self.part)


class _Once(Planner):
    """Proposes a plan once; one without modules ends at once."""

    name = "prepared"

    def __init__(self, plan: Sequence[str]) -> None:
        self.plan = tuple(plan)

    def propose(self, state: State, inventory: Inventory) -> Sequence[Step]:
        return () if planned(state) else tuple(map(Step, self.plan))


def _prompted_table(inventory: Inventory, asks: Collection[str], state: State) -> str | None:
    """Return the table as the last of these modules shows it in its prompt; None where it shows none."""
    for name in reversed(list(asks)):
        module, access = inventory.modules[name], inventory.access[name]
        if isinstance(module, LLMModule) and access.depends_on({_TABLE}) and state.table is not None:
            text = module.slots(access.view(state)).get("table")
            return text if isinstance(text, str) else None
    return None


def measure_arm(
    arm: Arm,
    benchmark: Benchmark,
    problems: Sequence[Problem],
    *,
    gold_history: bool = False,
    advance: Callable[[int], object] = lambda done: None,
) -> dict[str, Any]:
    """Run what of an arm needs no model, over all problems; an arm that cannot run here says why.

    Questions of a conversation are told those before them, with `gold_history` their gold answers, else none:
    there is no model to give any.
    """
    prepared = Prepared.of(arm.inventory)
    if prepared is None:
        return arm_figures(arm, ("the planner",))
    asks = prepared.asks
    if prepared.runs and (found := [each for each in prepared.part.obstacles() if each.stops]):
        return arm_figures(arm, asks, str(all_of(found, arm.name)))
    asked = list(_with_turns(problems, gold_history))
    begun = list[tuple[Problem, State]]()
    for problem in asked:
        with suppress(InputError):  # reported where it is run
            begun.append((problem, prepared.begun(problem)))
    try:  # all queries at once cost less than one by one, and what is missing shows before any run
        recall = recall_of(prepared.part, begun)
    except ChameleonError as error:
        return arm_figures(arm, asks, str(error))
    coverage, failed, seconds = GoldCoverage(), list[str](), 0.0
    for number, problem in enumerate(asked, 1):
        state = prepared.state(problem)
        seconds += state.seconds
        failure = _failure_of(state)
        if prepared.knows_table:
            text = None if failure else prepared.prompted(state)
            coverage.add(state, problem, benchmark.gold_cells(problem), text)
        advance(number)
        if failure is not None:
            failed.append(str(failure))
            if failure.kind in _MISSING or len(failed) == len(asked):
                return arm_figures(arm, asks, failed[0] if len(failed) == len(asked) else failed[-1])
    return arm_figures(
        arm,
        asks,
        problems=len(asked),
        failed=len(failed),
        failed_first_for=failed[0] if failed else None,
        seconds_per_question=round(seconds / len(asked), 6),
        retrieval=recall and recall.to_json(),
        table=coverage.to_json(),
    )


def _with_turns(problems: Sequence[Problem], gold_history: bool) -> Iterator[Problem]:
    for questions in in_turn(problems):
        turns: list[Turn] = []
        for problem in questions:
            yield with_history(problem, turns)
            turns.append(turn(problem, problem.gold if gold_history else None))


def look_back(
    arm: Arm, run: Run, problems: Sequence[Problem], benchmark: Benchmark
) -> tuple[GoldCoverage, list[tuple[Problem, State]]]:
    """Return what was left of the tables in the runs of an evaluation, and each problem as its run began."""
    coverage, begun, inventory = GoldCoverage(), list[tuple[Problem, State]](), arm.inventory
    by_id = {problem.id: problem for problem in problems}
    for result, events in run.with_events([each for each in run.results if each.id in by_id]):
        if not events:  # the input was none, so nothing ran
            continue
        state, problem = State.fold(events), by_id[result.id]
        asked = [name for name in state.plan if inventory.modules[name].needs_model]
        text = None if _failure_of(state) else _prompted_table(inventory, asked, state)
        coverage.add(state, problem, benchmark.gold_cells(problem), text)
        if state.begun is not None:
            begun.append((problem, State().after(state.begun)))
    return coverage, begun


def build_indexes(
    folder: Path, grid: Grid, documents: Callable[[bool], Iterable[Document]], *, own: bool = False
) -> tuple[list[str], dict[str, str]]:
    """Make the indexes of the grid that its arms search and that are not there.

    Each has what all retrievers need that arms search it by. `documents` are those of an index, with or
    without summaries. Returns what was built, and why arms cannot search: something cannot be had here.
    In a folder of our `own` an index that lacks something is made anew. Raises `InputError` for documents
    that cannot be read, or a folder with something else in it.
    """
    from chameleon.retrieval.index import Index
    from chameleon.retrieval.make import build_index, make_retriever, settings_for
    from chameleon.retrieval.manifest import is_index
    from chameleon.retrieval.spec import RetrieverSpec

    sample = next(iter(documents(False)), None)
    if sample is None:
        return [], {}

    @cache
    def tried(spec: RetrieverSpec) -> Manifest:
        """Return what a retriever needs, once it was tried: a model may be missing here."""
        with tempfile.TemporaryDirectory(prefix="chameleon-") as place:
            make_retriever(build_index(place, [sample], spec), spec).search("x")
        return settings_for(spec)

    built, lacks = list[str](), dict[tuple[str, RetrieverSpec], str]()
    modules = [(arm.name, module) for arm in grid.arms.values() for _, module in searching(arm.inventory)]
    for within, spec in grid.spec.indexes.items():
        retrievers = dict.fromkeys(module.retriever for _, module in modules if module.within == within)
        place = folder / within
        if not retrievers or (is_index(place) and not own):
            continue
        wanted = None
        for retriever in retrievers:
            try:
                needed = tried(retriever)
                if wanted is None or not wanted.embeddings:
                    wanted, chosen = needed, retriever
                elif needed.embeddings and needed.embeddings != wanted.embeddings:
                    raise InputError(f"an index has vectors of one kind, and {retriever} needs others")
            except ChameleonError as problem:
                lacks[within, retriever] = str(problem)
        if wanted is None:
            continue
        if is_index(place):
            if not wanted.embeddings or Index.open(place).manifest.embeddings == wanted.embeddings:
                continue
            shutil.rmtree(place)
        # `auto` of an index stays what it is, whichever arms search it beside.
        first = "auto" if wanted.embeddings else "lexical"
        of_all = chosen.model_copy(update={"first": first, "rerank": None})
        try:
            build_index(place, documents(spec.summaries), of_all)
            built.append(within)
        except InputError as problem:
            if not spec.summaries:
                raise
            lacks |= {(within, retriever): str(problem) for retriever in retrievers}
    found = ((name, lacks.get((each.within, each.retriever))) for name, each in modules)
    return built, {name: reason for name, reason in found if reason}
