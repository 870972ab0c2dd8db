"""The figures of a grid's arms: how much of the tables reaches a model."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from chameleon.core.conversation import Turn
from chameleon.core.events import Failure, RunEnded, RunStarted
from chameleon.core.llm_module import LLMModule, asking_of, template_of
from chameleon.core.prompt import table_text
from chameleon.core.state import State
from chameleon.errors import ChameleonError, InputError
from chameleon.evaluation.benchmark import Benchmark, Cell, Problem
from chameleon.evaluation.evaluate import taken_by, turn, with_history
from chameleon.evaluation.grid import Arm, fixed_plan
from chameleon.evaluation.problems import in_turn
from chameleon.inventory import Inventory
from chameleon.inventory.obstacles import all_of
from chameleon.inventory.schema import RulesSpec
from chameleon.llm.prices import Pricing
from chameleon.run.executor import Executor
from chameleon.table import Table
from chameleon.text import estimated_tokens
from chameleon.usage import Usage

# Failures that would repeat for every later problem.
_MISSING = ("AuthFailed", "MissingPackage", "ModelError", "NoModel", "RateLimited", "SandboxUnavailable")
MAX_REPLY_TOKENS = 1_000  # of a reply without a limit, when estimating the cost of a run
Groups = Sequence[Collection[Cell]] | None


def arm_figures(arm: Arm, asks: Sequence[str] = (), lacks: str = "", **measured: Any) -> dict[str, Any]:
    """Return everything known about one arm as JSON; figures that were not `measured` are null.

    Args:
        asks: the modules that call a model and did not run; the answering one is last.
        lacks: why the arm could not run, or could not finish.
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
        "table": None,
        **measured,
    }


def most_spent(arm: Arm, problems: Sequence[Problem], model: str) -> Usage:
    """Estimate what an arm spends: calls by its plan, else by its budget, with replies of full length.

    A prompt counts as the mean of the arm's prompts, with the first problem's table. Unknown values, such as
    the model's price, are None.
    """
    inventory, calls = arm.inventory, arm.calls
    calls = len(problems) * ((inventory.budget.calls or 0) if calls is None else calls)
    try:
        asking = [
            (template_of(asker).sections, asking_of(asker).params) for asker in inventory.askers.values()
        ]
    except ChameleonError:  # a prompt is missing: the arm cannot run
        return Usage()
    if not asking or not calls:
        return Usage(calls)
    prompt = fmean(estimated_tokens(" ".join(text for _, text in sections)) for sections, _ in asking)
    table = problems[0].input.get("table")
    prompt += estimated_tokens(table_text(table, style="pipe", max_rows=100)) if table else 0
    reply = fmean(params.get("max_tokens") or MAX_REPLY_TOKENS for _, params in asking)
    tokens = Usage(calls, round(calls * prompt), round(calls * reply))
    prices = inventory.llm.prices
    return replace(tokens, cost=Pricing(model, prices.each if prices else None).cost(tokens))


def left_of(state: State, problem: Problem, groups: Groups, text: str | None) -> dict[str, float]:
    """Return how much of the table reaches a model, if known.

    The values are its `rows` and `columns`, their share of the original `cells`, the estimated `tokens` of
    the table as shown, and `gold_kept`: whether the gold cells are still included. A failed run keeps none.

    Args:
        groups: the gold cells, of each group of which one is needed.
        text: the table as shown.
    """
    failed = _failure_in(state) is not None
    has = (False if groups else None) if failed else has_gold(state, problem, groups)
    shares: dict[str, float] = {} if has is None else {"gold_kept": has}
    table, source = state.table, _source_table(state)
    if failed or table is None or source is None:
        return shares
    shares |= {} if text is None else {"tokens": estimated_tokens(text)}
    cells_left, cells = len(table.rows) * len(table.header), len(source.rows) * len(source.header)
    return shares | {
        "rows": len(table.rows),
        "columns": len(table.header),
        "cells": cells_left / cells if cells else 1.0,
    }


def _means_of(runs: Sequence[Mapping[str, float]]) -> dict[str, Any] | None:
    """Return the mean of each value as JSON, null if no run has it; None if no run has any."""
    names = ("rows", "columns", "cells", "tokens", "gold_kept")
    values = {name: [run[name] for run in runs if name in run] for name in names}
    if not any(values.values()):
        return None
    means = {name: round(fmean(each), 4) if each else None for name, each in values.items()}
    return {"n": len(values["rows"]), **means, "gold_known": len(values["gold_kept"])}


def has_gold(state: State, problem: Problem, groups: Groups) -> bool | None:
    """Return whether a cell of each group is left, or None if unknown.

    A table retrieved from an index must be the problem's own. `cache.kept` names the rows and columns that
    are left of a shortened table.
    """
    source, own_table = _source_table(state), problem.input.get("table")
    if not groups or own_table is None:
        return None
    if source is None or _cells(source) != _cells(own_table):
        return False
    kept_part = state.cache.get("kept")
    if kept_part is None:
        return True if state.table is not None and _cells(state.table) == _cells(source) else None
    rows, columns = frozenset(kept_part["rows"]), frozenset(kept_part["columns"])
    return all(any(row in rows and column in columns for row, column in cells) for cells in groups)


def _source_table(state: State) -> Table | None:
    """Return the table retrieved from an index, else the given one, or None."""
    table: Table | None = state.started.input.get("table") if state.started else None
    for record in state.history:
        if "retrieved" in record.cache_changes:
            table = record.input_changes.get("table", table)
    return table


def _cells(table: Table) -> tuple[Any, Any]:
    """Return everything in a table except its name."""
    return table.header, table.rows


def _failure_in(state: State) -> Failure | None:
    """Return the failure that ended a run early, if a step or the input caused it."""
    failed = next((record.error for record in state.history if record.error), None)
    return failed or (state.ended.error if state.ended and state.started is None else None)


def _prompted_table(inventory: Inventory, asks: str, state: State) -> str | None:
    """Return the table as this module's prompt shows it, or None."""
    module, access = inventory.modules[asks], inventory.access[asks]
    if state.table is None or not isinstance(module, LLMModule) or not access.depends_on({"input.table"}):
        return None
    text = module.slots(access.view(state)).get("table")
    return text if isinstance(text, str) else None


def measure_arm(
    arm: Arm,
    benchmark: Benchmark,
    problems: Sequence[Problem],
    *,
    gold_history: bool = False,
    advance: Callable[[int], object] = lambda done: None,
) -> dict[str, Any]:
    """Run the steps before the answering module over all problems, if only that module calls a model.

    Questions of a conversation have the earlier ones as history. Returns the arm's figures; an arm that
    cannot run here says why.

    Args:
        gold_history: whether the history has the gold answers; otherwise it has no answers.
        advance: called with the number of problems done.
    """
    plan = fixed_plan(arm.inventory)
    asks = [name for name in plan or () if arm.inventory.access[name].needs_model]
    if plan is None or len(asks) > 1:
        return arm_figures(arm, asks or ["the planner"])
    before = plan[: plan.index(asks[0])] if asks else plan
    left_out = frozenset(arm.inventory.modules) - set(before)
    part = replace(  # nothing is repaired: a failure ends the run
        arm.inventory, left_out=left_out, rules=RulesSpec(), fallback=(), repair={}, on_error={}
    )
    if before and (obstacles := [each for each in part.obstacles() if each.stops]):
        return arm_figures(arm, asks, str(all_of(obstacles, arm.name)))
    executor, failures, seconds = Executor(part), list[str](), 0.0
    shares = list[dict[str, float]]()
    for number, problem in enumerate(_with_history(problems, gold_history), 1):
        inputs = taken_by(part, problem)
        try:
            started = State().after(RunStarted(part.name, part.check_input(inputs)))
            state = executor.run(inputs) if before else started
        except InputError as error:
            state = State(ended=RunEnded("failed", Failure.of(error)))
        seconds += state.seconds
        failure = _failure_in(state)
        text = _prompted_table(arm.inventory, asks[0], state) if asks and failure is None else None
        shares.append(left_of(state, problem, benchmark.gold_cells(problem), text))
        advance(number)
        if failure is not None:
            failures.append(str(failure))
            if failure.kind in _MISSING or len(failures) == len(problems):
                return arm_figures(arm, asks, failures[-1])
    return arm_figures(
        arm,
        asks,
        problems=len(problems),
        failed=len(failures),
        failed_first_for=failures[0] if failures else None,
        seconds_per_question=round(seconds / len(problems), 6),
        table=_means_of(shares),
    )


def _with_history(problems: Sequence[Problem], gold_history: bool) -> Iterator[Problem]:
    for questions in in_turn(problems):
        turns: list[Turn] = []
        for problem in questions:
            yield with_history(problem, turns)
            turns.append(turn(problem, problem.gold if gold_history else None))
