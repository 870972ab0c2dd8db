"""`Executor`: the loop that asks the planner, runs modules and merges what they return."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from functools import cached_property
from typing import Any

from chameleon.decide import AskPlanner, RunSteps, decide, finished, goes_on
from chameleon.errors import BudgetExceeded, Declined, InputError, LogError, NoModel, PlanError
from chameleon.inventory import Inventory
from chameleon.inventory.ablation import kept
from chameleon.inventory.digest import check_same, check_same_files, files_of, settings_of
from chameleon.log import EventLog
from chameleon.planner import plan_of
from chameleon.state import Begun, Ended, Event, Failure, Plan, Record, State, Step
from chameleon.steps import beside, run_step
from chameleon.usage import Budget, Meter, recording
from chameleon.values import freeze

# How many inputs for each worker are taken before the first is done: one that waits minutes for its model
# must not leave the others idle, and the states that wait for it must fit into memory.
_AHEAD = 32


class Executor:
    """Runs an inventory: `run` one input, `batch` many, or `stream` the events of one.

    - `llm`: the model (`chameleon.llm.LLM`); needed when the inventory's planner or modules ask one.
    - `budget`: limits for one run, in place of the inventory's.
    - `parallel`: run neighbouring steps that do not depend on each other at the same time; the outcome
      is that of running them one by one.

    Raises `NoModel` when a model is needed and none is given. Safe to use from several threads.
    """

    def __init__(
        self, inventory: Inventory, llm: Any = None, *, budget: Budget | None = None, parallel: bool = True
    ) -> None:
        if inventory.needs_default_model and llm is None:
            raise NoModel(
                f"the inventory {inventory.name} asks a model, and none is configured",
                hint="Name one with --model PROVIDER:NAME or CHAMELEON_MODEL, or set a provider's key, "
                "such as OPENAI_API_KEY.",
            )
        planner = inventory.planner.bound(llm)
        modules = {name: module.bound(llm) for name, module in inventory.modules.items()}
        self.inventory = replace(inventory, planner=planner, modules=modules)
        self.access = dict(self.inventory.access)
        self.budget = budget or inventory.budget
        self.parallel = parallel
        self.model: str | None = getattr(llm, "name", None)
        self.server: str = getattr(llm, "address", "")

    @cached_property
    def settings(self) -> Mapping[str, Any]:
        """What the log of a run keeps: the model's name, and digests of the inventory and its prompts."""
        model = {"model": self.model} if self.model else {}
        settings: Mapping[str, Any] = freeze({**model, **settings_of(self.inventory)}, "settings")
        return settings

    def run(self, input: Mapping[str, Any], log: Iterable[Event] = ()) -> State:
        """Run one input to its end and return the final state; `state.answer` is the answer.

        A failure is no exception here: `state.ended` says how the run ended and why. Raises `InputError`
        for an input that the inventory does not take. `log`: see `stream`.
        """
        before = tuple(log)
        return State.fold((*before, *self.stream(input, log if isinstance(log, EventLog) else before)))

    def batch(self, inputs: Iterable[Mapping[str, Any]], workers: int = 1) -> Iterator[State]:
        """Run many inputs in `workers` threads; the final states come in the order of the inputs.

        An input that the inventory does not take is a state that has failed: the others go on. Inputs are
        taken as they are needed, and few states are held, so that any number of inputs takes the same memory.
        """
        workers = max(workers, 1)
        with ThreadPoolExecutor(workers) as pool:
            waiting: deque[Future[State]] = deque()
            try:
                for one in inputs:
                    waiting.append(pool.submit(self._run_or_fail, one))
                    while waiting and (waiting[0].done() or len(waiting) > _AHEAD * workers):
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                pool.shutdown(wait=False, cancel_futures=True)

    def _run_or_fail(self, input: Mapping[str, Any]) -> State:
        try:
            return self.run(input)
        except InputError as problem:
            return State(ended=Ended("failed", Failure.of(problem)))

    async def arun(self, input: Mapping[str, Any], log: Iterable[Event] = ()) -> State:
        """`run` in a thread of its own, for callers with an event loop."""
        return await asyncio.to_thread(self.run, input, log)

    def stream(
        self, input: Mapping[str, Any], log: Iterable[Event] = (), *, stop: threading.Event | None = None
    ) -> Iterator[Event]:
        """Yield the events of a run as they happen, beginning after those of `log`.

        `log` is any prefix of an earlier run's events: the run goes on where it stopped and comes to the
        same end. An `EventLog` is written to as well. Raises `LogError` when the log belongs to another
        input or inventory, or when the inventory, one of its prompts or a file of the input has changed
        since; the model, the parameters of its calls and the budget may change. Once `stop` is set no
        further step begins, and the events end without an end: the run can go on from them.
        """
        events = self._events(input, log, stop)
        if not isinstance(log, EventLog):
            yield from events
            return
        for event in events:
            log.append(event)
            yield event

    def _events(
        self, input: Mapping[str, Any], log: Iterable[Event], stop: threading.Event | None
    ) -> Iterator[Event]:
        given = self.inventory.check_input(input)
        files = files_of(self.inventory, given)
        state = State.fold(log)
        if state.begun is None:
            settings = freeze({**self.settings, **files}, "settings") if files else self.settings
            begun = Begun(self.inventory.name, given, settings)
            state = state.after(begun)
            yield begun
        elif (state.begun.inventory, state.begun.input) != (self.inventory.name, given):
            raise LogError(
                "the log belongs to another question or inventory",
                hint="Give a new file, or ask the same again.",
            )
        else:
            check_same(state, self.inventory, self.settings)
            check_same_files(state, files)
        meter = Meter(self.budget, state.usage, state.seconds)
        while state.ended is None:
            # After a failure the run's own rules come first: what it ends with is known only then.
            if stop is not None and stop.is_set() and state.failure is None:
                return
            for event in self._next(state, meter):
                for told in (*state.news_of(event), event):
                    state = state.after(told)
                    yield told

    def _next(self, state: State, meter: Meter) -> Iterable[Plan | Record | Ended]:
        decision = decide(state, self.inventory)
        if isinstance(decision, (Plan, Ended)):
            return [decision]
        if isinstance(decision, AskPlanner):  # it may be done; its calls are limited one by one
            return [self._plan(state, meter)]
        assert isinstance(decision, RunSteps)
        try:
            meter.check(len(state.taken))
        except BudgetExceeded as problem:
            return [Ended("budget", Failure.of(problem))]
        group = self._next_steps(state, meter)
        if len(group) > 1:
            return self._run_beside(group, state, meter)
        step = group[0]
        return [run_step(step, self.inventory.modules[step.module], self.access, state, meter)]

    def _next_steps(self, state: State, meter: Meter) -> tuple[Step, ...]:
        """The pending steps that can run side by side, as far as the budget goes."""
        group = beside(state.pending, self.access) if self.parallel else state.pending[:1]
        if len(group) > 1 and meter.budget.steps is not None:
            group = group[: meter.budget.steps - len(state.taken)]
        return group

    def _plan(self, state: State, meter: Meter) -> Plan | Ended:
        planner = self.inventory.planner
        begun = time.monotonic()
        with recording(meter) as recorder:
            try:
                event = self._checked(plan_of(planner, state, self.inventory), state)
            except Declined as problem:
                event = Ended("declined", Failure.of(problem))
            except BudgetExceeded as problem:
                event = Ended("budget", Failure.of(problem))
            except Exception as problem:  # a user's planner may raise anything; the run ends with it
                event = Ended("failed", Failure.of(problem, f"planner {planner.name}"))
        calls = tuple(recorder.calls)
        if isinstance(event, Plan):
            return replace(event, seconds=time.monotonic() - begun, calls=calls)
        return Ended(event.reason, event.error, calls)

    def _checked(self, plan: Plan, state: State) -> Plan | Ended:
        """The plan, refused with the reason if it breaks a rule; the end of the run if it is empty."""
        plan = kept(plan, self.inventory.left_out)
        if plan.refused:
            return plan
        if not plan.steps:
            return finished(state)
        try:
            self.inventory.check_plan(plan.names, state, whole=self.inventory.planner.whole)
        except PlanError as problem:
            return replace(plan, refused=str(problem))
        return plan

    def _run_beside(self, group: tuple[Step, ...], state: State, meter: Meter) -> Iterator[Record]:
        """Run these steps at the same time; yield their records in plan order."""
        modules = self.inventory.modules
        with ThreadPoolExecutor(max_workers=len(group)) as pool:
            running = [
                pool.submit(
                    copy_context().run,
                    run_step,
                    step,
                    modules[step.module],
                    self.access,
                    state,
                    meter,
                )
                for step in group
            ]
        stopped = False
        for future in running:
            record = future.result()
            if stopped:
                record = replace(record, output=None, input_changes={}, cache_changes={}, dropped=True)
            yield record
            stopped = stopped or not goes_on(record, self.inventory)
