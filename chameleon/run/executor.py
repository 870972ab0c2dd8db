"""`Executor`: the loop that asks the planner, runs modules and merges their results."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self

from chameleon import bridge
from chameleon.core.events import (
    Approval,
    Event,
    Failure,
    Nested,
    Plan,
    Reason,
    RunEnded,
    RunStarted,
    Step,
    StepRecord,
)
from chameleon.core.log import EventLog
from chameleon.core.masking import masked
from chameleon.core.module import Module, bound
from chameleon.core.planner import RETURN_NOTHING, Planner, next_plan, repeats
from chameleon.core.state import State
from chameleon.errors import BudgetExceeded, ContextTooLong, Declined, InputError, NoModel
from chameleon.inventory import Inventory
from chameleon.inventory.digest import check_same, files_of, settings_of
from chameleon.lazy import cached_property
from chameleon.run.approval import Approve, Request, answer_of, held, may_run, needs_approval, refuse
from chameleon.run.decide import Next, continues_after, decide, fall_back, finished
from chameleon.run.steps import PreparedModule, RunContext, failure_of, parallel_group, run_step
from chameleon.text import known_secrets
from chameleon.usage import Budget, Meter, recording
from chameleon.values import freeze

if TYPE_CHECKING:
    from langchain_core.language_models.chat_models import BaseChatModel

    from chameleon.llm import LLM

    ChatModel = LLM | BaseChatModel | str

# How many inputs per worker are started before the first is done. One that waits minutes for its model must
# not leave the others idle, and the finished states that wait for it must fit into memory.
_INPUTS_PER_WORKER = 32
# Failures that another plan might avoid.
_PLAN_FAULTS = ("PlanError", "ModuleError", "StepRejected", "CutOff")
_log = logging.getLogger("chameleon")
OnText = Callable[[str | None], None]
Input = Mapping[str, Any]
Tools = Inventory | Module | str | Path | Mapping[str, Any] | Iterable[Any] | Callable[..., Any]
"""An inventory, its name or file, a mapping laid out like a file, or tools: see `Inventory.of`."""


class Executor:
    """Runs an inventory: `run` one input, `batch` many, or `stream` the events of one.

    Safe to use from several threads.

    Args:
        inventory: an inventory, its name or file, or a list of tools (`Inventory.of`).
        llm: the model (`chameleon.llm.LLM`), its name, or a LangChain chat model; needed if the inventory's
            planner or modules ask a model and the inventory names none.
        planner: a planner or its name to use with a list of tools; default: `one_shot`.
        budget: limits for one run, instead of the inventory's.
        parallel: run neighboring steps that do not depend on each other at the same time; the outcome is
            the same as running them one by one.
        approve: a function that decides whether the steps of an approval request may run: True, False or
            None. Without it, or with None, a run waits until its log has the answer
            (`State.answer_approval`).
        approve_each: ask before each step that needs approval, not once per plan.

    Raises:
        InventoryError: if the inventory cannot be used, or already has a planner.
        NoModel: if a model is needed and none is set.
    """

    def __init__(
        self,
        inventory: Tools,
        llm: ChatModel | None = None,
        *,
        planner: str | Planner | type[Planner] | None = None,
        budget: Budget | None = None,
        parallel: bool = True,
        approve: Approve | None = None,
        approve_each: bool = False,
    ) -> None:
        made = Inventory.of(inventory, planner)
        model: Any = _connected(llm, made) if made.needs_model else llm
        modules = {name: bound(module, model) for name, module in made.modules.items()}
        self.inventory = replace(made, planner=made.planner.with_llm(model), modules=modules)
        self._modules = {name: PreparedModule(each) for name, each in self.inventory.modules.items()}
        self.budget = budget or made.budget
        self.parallel, self.approve, self.approve_each = parallel, approve, approve_each
        self.llm: Any = model
        self.model: str | None = getattr(model, "name", None)
        self.server: str = getattr(model, "address", "")

    def __repr__(self) -> str:
        return f"<Executor {self.inventory}{f' with {self.model}' if self.model else ''}>"

    def __reduce__(self) -> NoReturn:
        what = "an Executor cannot be pickled (it has locks and connections): make one in each process"
        raise TypeError(f"{what} with Executor(inventory, model); its `batch` runs inputs in threads")

    def __copy__(self) -> Self:
        clone = object.__new__(type(self))
        vars(clone).update(vars(self))
        return clone

    @cached_property
    def settings(self) -> Mapping[str, Any]:
        """Return the settings for a run's log: the model's name, digests of the inventory and its prompts."""
        model = {"model": self.model} if self.model else {}
        settings: Mapping[str, Any] = freeze({**model, **settings_of(self.inventory)}, "settings")
        return settings

    def run(
        self,
        input: Input,
        log: Iterable[Event] = (),
        *,
        on_text: OnText | None = None,
        raise_errors: bool = False,
    ) -> State:
        """Run one input to its end; `state.answer` is the answer.

        If a step still needs approval, the run has not ended, and `state.waiting` lists such steps.

        Args:
            log, on_text: see `stream`.
            raise_errors: raise the error of a run that ends without an answer or waits for approval. By
                default no failure raises: `state.ended` says how the run ended and why.

        Raises:
            InputError: for an input that the inventory does not take.
            LogError: as `stream` does.
        """
        events = log if isinstance(log, EventLog) else tuple(log)  # may be read twice
        last = deque(self.states(input, events, on_text=on_text), maxlen=1)
        return _checked(last[0][1] if last else State.fold(events), raise_errors)

    def batch(
        self,
        inputs: Iterable[Input],
        workers: int = 1,
        *,
        raise_errors: bool = False,
        progress: bool = False,
    ) -> list[State]:
        """Run many inputs at once; return the final states in the order of the inputs.

        An input that the inventory does not take becomes a failed state, and the others continue.

        Args:
            workers: the number of threads; for `raise_errors` see `run`.
            progress: whether to show on stderr how many are done.
        """
        return [_checked(state, raise_errors) for state in self.map(inputs, workers, progress=progress)]

    def map(self, inputs: Iterable[Input], workers: int = 1, *, progress: bool = False) -> Iterator[State]:
        """Run many inputs as `batch` does; yield each final state once it and all earlier ones are ready.

        Inputs are read as needed and few states are kept, so memory does not grow with the number of inputs.
        """
        if isinstance(inputs, Mapping):
            raise InputError("this is one input, not many", hint="Pass a list of inputs, or call `run`.")
        states = self._map(inputs, workers)
        return _counted(states, inputs) if progress else states

    def _map(self, inputs: Iterable[Input], workers: int) -> Iterator[State]:
        with ThreadPoolExecutor(max(workers, 1)) as pool:
            waiting: deque[Future[State]] = deque()
            try:
                for task in _ahead(inputs, lambda one: pool.submit(self._run_or_fail, one), waiting, workers):
                    yield task.result()
            finally:
                pool.shutdown(wait=False, cancel_futures=True)  # if the caller stops early, start no more

    def _run_or_fail(self, input: Input) -> State:
        """Run one input; one that the inventory does not take becomes a failed state."""
        try:
            return self.run(input)
        except InputError as problem:
            return State(ended=RunEnded("failed", Failure.of(problem)))

    async def arun(
        self,
        input: Input,
        log: Iterable[Event] = (),
        *,
        on_text: OnText | None = None,
        raise_errors: bool = False,
    ) -> State:
        """Run one input in the caller's event loop: see `run` and `astream`."""
        hear = on_text and bridge.in_this_loop(on_text)
        return await bridge.run(self.run, input, log, on_text=hear, raise_errors=raise_errors)

    async def abatch(
        self, inputs: Iterable[Input], workers: int = 64, *, raise_errors: bool = False
    ) -> list[State]:
        """Run many inputs in the caller's event loop, `workers` at a time: see `batch`."""
        return [_checked(state, raise_errors) async for state in self.amap(inputs, workers)]

    async def amap(self, inputs: Iterable[Input], workers: int = 64) -> AsyncIterator[State]:
        """Run many inputs in the caller's event loop, `workers` at a time: see `map`."""
        import asyncio

        turns = asyncio.Semaphore(max(workers, 1))
        waiting: deque[asyncio.Task[State]] = deque()

        async def one(item: Input) -> State:
            async with turns:
                return await bridge.run(self._run_or_fail, item)

        try:
            for task in _ahead(inputs, lambda item: asyncio.create_task(one(item)), waiting, workers):
                yield await task
        finally:
            for task in waiting:
                task.cancel()

    async def astream(
        self,
        input: Input,
        log: Iterable[Event] = (),
        *,
        stop: threading.Event | None = None,
        on_text: OnText | None = None,
    ) -> AsyncIterator[Event]:
        """Yield the events of a run as they happen, in the caller's event loop: see `stream`.

        No thread waits for a model. A module's `async def run` runs in this loop; your plain `run` methods,
        and work without a model, run in a thread. If the task is cancelled, the log ends there and the run
        can resume from it; results of running threads are lost. `on_text` is called in this loop.
        """
        events = self.stream(input, log, stop=stop, on_text=on_text and bridge.in_this_loop(on_text))
        while (event := await bridge.run(next, events, None)) is not None:
            yield event

    def stream(
        self,
        input: Input,
        log: Iterable[Event] = (),
        *,
        stop: threading.Event | None = None,
        on_text: OnText | None = None,
    ) -> Iterator[Event]:
        """Yield the events of a run as they happen, starting after the events of `log`.

        Args:
            log: any prefix of an earlier run's events: the run resumes where it stopped, with the same end.
                An `EventLog` is also written to.
            stop: once it is set, no further step starts and the events stop without an end, so that the run
                can resume from them.
            on_text: called with each piece of the model's last reply as it arrives, and with None if the
                text so far does not count because another reply starts. The last reply is that of a step
                after which no planned step asks a model.

        Raises:
            InputError: for an input that the inventory does not take.
            LogError: if the log belongs to another input or inventory, or if the inventory, one of its
                prompts or a file of the input has changed since. The model, the parameters of its calls
                and the budget may change.
        """
        for event, _ in self.states(input, log, stop=stop, on_text=on_text):
            yield event

    def states(
        self,
        input: Input,
        log: Iterable[Event] = (),
        *,
        stop: threading.Event | None = None,
        on_text: OnText | None = None,
        within: RunContext | None = None,
    ) -> Iterator[tuple[Event, State]]:
        """Yield each event of a run with the state after it: see `stream`.

        `within` is the context of the outer run, if this run is a step of one.
        """
        keep = log.append if isinstance(log, EventLog) else lambda _: None
        state, started = self.begin(input, log)
        if started is not None:
            keep(started)
            yield started, state
        meter = Meter(self.budget, state.usage, state.seconds, state.steps_taken)
        if within is None:
            hear = _without_doubt(on_text) if on_text else None
            context = RunContext(meter, hear, stop, self.approve, self.approve_each)
        else:
            meter.parent, meter.place = within.meter, within.meter.place_of(self.inventory.name)
            context = replace(within, meter=meter, hear=within.hear and _without_doubt(within.hear))
        if context.approve is refuse:  # unattended: an approval in the log does not count
            state = state.with_fields(allowed=())
        secrets = known_secrets()  # once per run: each event is searched for them
        while state.ended is None:
            # A failure is handled before stopping, because its policy decides how the run ends.
            if context.stop is not None and context.stop.is_set() and state.failure is None:
                return
            for raw in self._next(state, context):
                event = masked(raw, secrets)
                if isinstance(event, StepRecord) and event.dropped:
                    meter.drop_step()
                state = state.after(event)
                if isinstance(event, RunEnded) and event.error and event.error.kind in _PLAN_FAULTS:
                    # Replies behind such a plan are requested again next time, not served from the store.
                    for doubt in meter.doubts:
                        doubt()
                keep(event)
                yield event, state
            if state.waiting:
                return

    def begin(self, input: Input, log: Iterable[Event] = ()) -> tuple[State, RunStarted | None]:
        """Return the state that a run starts or resumes from, and its start event if it is new.

        Raises `InputError` and `LogError` as `stream` does.
        """
        settings, checked = self.settings, self.inventory.check_input(input)
        if files := files_of(self.inventory, checked):
            settings = freeze({**settings, **files}, "settings")
        state = State.fold(log)
        if state.started is not None:
            check_same(state, self.inventory, checked, settings)
            return state, None
        started = RunStarted(self.inventory.name, checked, settings, round(time.time(), 6))
        return state.after(started), started

    def _next(self, state: State, context: RunContext) -> Iterable[Event]:
        """Return the events that follow from `decide`."""
        decision = decide(state, self.inventory)
        if isinstance(decision, (Plan, RunEnded)):
            return [decision]
        if decision is Next.PLAN:  # there may be nothing left; calls are limited one by one
            return [self._plan(state, context.meter)]
        if steps := held(state, self.inventory, each=context.approve_each):
            return self._ask(steps, state, context.approve)
        modules, access = self.inventory.modules, self.inventory.access
        group = parallel_group(state.pending, access) if self.parallel else state.pending[:1]
        group, failure = may_run(group, state, self.inventory, context.ran)
        if failure is not None:
            return [StepRecord(state.pending[0], error=failure)]
        try:
            group = group[: context.meter.take_steps(len(group))]
        except BudgetExceeded as problem:
            if len(state.plans) > 1 and repeats(state.plans[-2], state):
                problem = BudgetExceeded(problem.what, where=problem.where, hint=RETURN_NOTHING)
            return [RunEnded("budget", Failure.of(problem))]
        # An approval is used up by one call, whatever its outcome, even if nobody reads it any more.
        approvals = [Approval((each,), "begun") for each in group if modules[each.module].requires_approval]
        if len(group) > 1:
            return chain(approvals, self._run_parallel(group, state, replace(context, hear=None)))
        step, *later = state.pending
        if any(access[each.module].needs_model for each in later):  # this reply is not the last one
            context = replace(context, hear=None)
        return chain(approvals, run_step(step, self._modules[step.module], access, state, context))

    def _ask(self, steps: tuple[Step, ...], state: State, approve: Approve | None) -> Iterator[Event]:
        """Ask a person to approve these steps; yield the question, and the answer, if any."""
        if not state.asked:
            yield Approval(steps, "asked")
        answer = answer_of(approve, Request(steps, state, self.inventory))
        if answer is not None:
            yield Approval(steps, "yes" if answer else "no", getattr(approve, "__name__", ""))

    def _plan(self, state: State, meter: Meter) -> Plan | RunEnded:
        """Ask the planner; whatever it raises ends the run."""
        event: Plan | RunEnded
        started = time.monotonic()
        with recording(meter) as recorder:
            try:
                plan = next_plan(state, self.inventory)
                event = plan if plan.steps or plan.refused else finished(state)
            except (Declined, BudgetExceeded) as problem:
                reason: Reason = "declined" if isinstance(problem, Declined) else "budget"
                event = RunEnded(reason, Failure.of(problem))
            except Exception as problem:  # a user's planner may raise anything, which ends the run
                failure = failure_of(problem, f"planner {self.inventory.planner.name}")
                event = RunEnded("failed", failure)
                if isinstance(problem, ContextTooLong):  # the fallback's prompts may be shorter
                    event = fall_back(state, self.inventory, failure)
        calls = tuple(recorder.calls)
        if isinstance(event, Plan) and event.refused:
            for doubt in recorder.doubts:
                doubt()
        else:
            meter.doubts += recorder.doubts
        if isinstance(event, Plan):
            return replace(event, seconds=time.monotonic() - started, calls=calls)
        return replace(event, calls=calls) if calls else event

    def _run_parallel(
        self, group: tuple[Step, ...], state: State, context: RunContext
    ) -> Iterator[StepRecord | Nested]:
        """Run these steps in parallel; yield the events inside each and its record, in plan order."""
        outside = state.with_fields(inside=())

        def work(step: Step) -> list[Nested | StepRecord]:
            view = state if step is group[0] else outside
            return list(run_step(step, self._modules[step.module], self.inventory.access, view, context))

        stopped = False
        for result in bridge.each([partial(work, step) for step in group], len(group), "chameleon-step"):
            if isinstance(result, BaseException):
                raise result
            yield from (event for event in result if isinstance(event, Nested))
            records = [event for event in result if isinstance(event, StepRecord)]
            if not records:  # it was stopped early
                return
            record = replace(records[0], beside=records[0].step is not group[0])
            if stopped:
                record = replace(record, output=None, input_changes={}, cache_changes={}, dropped=True)
            yield record
            stopped = stopped or not continues_after(record, state, self.inventory)


def _ahead(
    inputs: Iterable[Input], start: Callable[[Input], Any], waiting: deque[Any], workers: int
) -> Iterator[Any]:
    """Start work on inputs, some ahead of the first unfinished one; yield the work to wait for, in order."""
    for one in inputs:
        waiting.append(start(one))
        while waiting and (waiting[0].done() or len(waiting) > _INPUTS_PER_WORKER * max(workers, 1)):
            yield waiting.popleft()
    while waiting:
        yield waiting.popleft()


@contextmanager
def counter(total: int | None) -> Iterator[Callable[[], object]]:
    """Show on stderr how many of these questions are done; call the yielded function for each."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("questions", total=total)
        yield lambda: progress.advance(task)


def _counted(states: Iterator[State], inputs: Iterable[Input]) -> Iterator[State]:
    with counter(len(inputs) if isinstance(inputs, Sized) else None) as advance:
        for state in states:
            advance()
            yield state


def _without_doubt(on_text: OnText) -> OnText:
    """Skip the None that discards earlier text if no text came."""
    has_text, works = False, True

    def hear(piece: str | None) -> None:
        nonlocal has_text, works
        if works and (piece is not None or has_text):
            try:
                on_text(piece)
            except Exception as problem:  # not a failure of the run
                works = False
                _log.warning("on_text is not called any more: %s: %s", type(problem).__name__, problem)
        has_text = piece is not None

    return hear


def _connected(llm: ChatModel | None, inventory: Inventory) -> Any:
    """Return the model to ask: the argument, the model of that name, or the one the inventory names.

    A name is connected with the inventory's settings; an `LLM` keeps its own settings. Raises `NoModel` if a
    model is needed and none is set.
    """
    if llm is None and inventory.needs_default_model and not (llm := inventory.llm.model):
        raise NoModel(
            f"the inventory {inventory.name} asks a model, but none is configured",
            hint='Pass a model, such as Executor(inventory, "openai:gpt-6-luna"), or a plan: '
            'Executor(tools, planner=Fixed(["NAME"])).',
            code="no-model",
        )
    if llm is None or hasattr(llm, "ask"):
        return llm
    from chameleon.llm import LLM

    return LLM.connect(llm, **inventory.llm.connection())


def _checked(state: State, raise_errors: bool) -> State:
    """Return the state of a run; with `raise_errors`, raise the error of one that failed or waits."""
    if raise_errors and state.ended is not None and state.ended.error is not None:
        raise state.ended.error.exception
    if raise_errors and state.waiting:
        raise needs_approval(state)
    return state
