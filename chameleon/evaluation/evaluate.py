"""Run an inventory over many problems, in threads, and keep the results."""

import copy
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from chameleon.core.conversation import HISTORY, Turn, turn_of
from chameleon.core.events import Event, Failure, RunEnded, RunStarted
from chameleon.core.state import State
from chameleon.errors import ChameleonError, InputError, NoSuchKey, Stopped, raised_at
from chameleon.evaluation.benchmark import Benchmark, Judgment, Problem, Scorer
from chameleon.evaluation.problems import in_turn
from chameleon.evaluation.results import Result, Spending
from chameleon.evaluation.run_dir import RunDir
from chameleon.inventory import Inventory
from chameleon.run.approval import refuse
from chameleon.run.executor import Executor
from chameleon.values import to_json

# Failures that would repeat for every later problem: the evaluation stops, and can resume later.
_CONCERNS_ALL = frozenset(
    {"AuthFailed", "NoModel", "ParameterRefused", "ScriptExhausted"}
    | {"MachineError", "SandboxUnavailable", "StoreError"}
)
# A server is down, or a quota is used up: after `_MAX_FAILURES_IN_A_ROW` of these no more calls are made.
_MODEL_FAILURES = frozenset({"EmptyReply", "ModelError", "RateLimited", "Unreachable"})
_MAX_FAILURES_IN_A_ROW = 20
_GRACE_S = 10.0  # after Ctrl-C, for running steps

_log = logging.getLogger("chameleon")


def turn(problem: Problem, answer: Any) -> Turn:
    """Return a question with its answer as text: several answers joined with bars, "" for none."""
    return turn_of(problem.input.get("question", ""), answer)


def with_history(problem: Problem, turns: Sequence[Turn]) -> Problem:
    """Put the earlier turns of the conversation into a problem's input, if it belongs to one."""
    if not problem.sequence:
        return problem
    return replace(problem, input={**problem.input, HISTORY: [dict(each) for each in turns]})


def taken_by(inventory: Inventory, problem: Problem) -> dict[str, Any]:
    """Return the part of a problem's input that an inventory takes."""
    keys = inventory.input_types
    return {key: value for key, value in problem.input.items() if not keys or key in keys}


class Evaluation:
    """Run problems, and report each result.

    The questions of a conversation run one after the other. Each gets the earlier ones and this run's answers
    as `input.history`, if the inventory takes it; the answer is empty if the run declined or failed.

    Args:
        executor: runs the problems, in `workers` threads; it gets what its inventory takes of a problem's
            input. Requests for approval are refused if nobody can be asked.
        scorer: judges answers. A failed run is never right, a declined one only if it should decline.
        benchmark: returns further columns that a run counts in, and findings that the scorer looks at.
        run_dir: keeps results and events; problems that it already has are not run again.
        spending: counts the calls; the evaluation stops when its limit is reached.
        on_event: called with each event of a problem's run, including those kept earlier.
        on_result: called with each result, from one thread at a time.
        gold_history: whether `input.history` has the gold answers instead of this run's.
    """

    def __init__(
        self,
        executor: Executor,
        scorer: Scorer,
        benchmark: Benchmark,
        *,
        run_dir: RunDir | None = None,
        workers: int = 1,
        spending: Spending | None = None,
        on_event: Callable[[Problem, Event], None] = lambda problem, event: None,
        on_result: Callable[[Result], None] = lambda result: None,
        gold_history: bool = False,
    ) -> None:
        if workers < 1:
            raise InputError("workers must be at least 1")
        self.executor = copy.copy(executor)  # the caller's keeps its `approve`
        self.executor.approve = executor.approve or refuse
        self.scorer, self.benchmark, self.run_dir = scorer, benchmark, run_dir
        self.workers, self.on_result, self.gold_history = workers, on_result, gold_history
        self.on_event, self.spending = on_event, spending or Spending()
        self._stop = threading.Event()
        self._problem: BaseException | None = None
        self._handing_out, self._keeping = threading.Lock(), threading.Lock()  # of the queue, of results
        self._failed_in_a_row = self._lost_in_a_row = 0

    def stop(self) -> None:
        """Start no further step. Runs under way can resume later if their events are kept."""
        self._stop.set()

    def run(self, problems: Iterable[Problem]) -> None:
        """Run every problem that has no result yet.

        Raises any error that stops the evaluation: an error in the data, a full disk, a model that refuses
        every call. After Ctrl-C, running steps have ten seconds to end before its exception is raised here;
        finished results are kept.
        """
        queue = in_turn(problems)
        # No `join`: CPython 3.11 and 3.12 regard a thread as ended after Ctrl-C interrupts its join.
        all_ended: list[threading.Event] = []
        try:
            for _ in range(self.workers):  # Ctrl-C may come while they start
                all_ended.append(threading.Event())
                threading.Thread(target=self._work, args=(queue, all_ended[-1]), daemon=True).start()
            for ended in all_ended:
                ended.wait()
        except BaseException:  # the command line has a separate exception for Ctrl-C
            self.stop()
            _log.warning("stops: running steps have up to %.0f seconds to end; Ctrl-C ends at once", _GRACE_S)
            deadline = time.monotonic() + _GRACE_S
            for ended in all_ended:
                ended.wait(max(deadline - time.monotonic(), 0))
            raise
        if self._problem is not None:
            raise self._problem

    def _work(self, queue: Iterator[Sequence[Problem]], ended: threading.Event) -> None:
        try:
            while (questions := self._next(queue)) is not None:
                self._ask(questions)
        except BaseException as problem:  # raised by the waiting thread
            self._problem = self._problem or problem
            self.stop()
        finally:
            ended.set()

    def _next(self, queue: Iterator[Sequence[Problem]]) -> Sequence[Problem] | None:
        with self._handing_out:
            for questions in queue:
                if self._stop.is_set():
                    return None
                if self.run_dir is None or any(each.id not in self.run_dir.done for each in questions):
                    return questions
        return None

    def _ask(self, questions: Sequence[Problem]) -> None:
        """Run a problem, or the questions of a conversation that have no result, in order."""
        turns: list[Turn] = []
        for problem in questions:
            if self._stop.is_set():
                return
            if self.run_dir is not None and problem.id in self.run_dir.done:
                answer = self.run_dir.answers.get(problem.id)
            elif (result := self._solve(with_history(problem, turns))) is None:  # stopped on the way
                return
            else:
                answer = result.answer if result.answered else None
            turns.append(turn(problem, problem.gold if self.gold_history else answer))

    def _solve(self, problem: Problem) -> Result | None:
        """Return the result of a run, or None if it was stopped."""
        state = self._state(problem)
        if state.ended is None:
            return None
        error = state.ended.error
        if state.ended.reason == "failed" and error is not None and error.kind in _CONCERNS_ALL:
            raise Stopped(
                f"problem {problem.id} failed for a reason that would fail all others: {error.message}",
                where=error.where,
                hint=error.hint,
                code=error.code,
            )
        with self._keeping:
            result = self._result(problem, state)
            if self.run_dir is not None:
                result = self.run_dir.finish(result)
            self.on_result(result)
            self._check_for_going_on(error)
        return result

    def _result(self, problem: Problem, state: State) -> Result:
        """Judge the outcome of a run; without an answer it is never right."""
        answered = state.ended is not None and state.ended.reason == "answered"
        found: Any = to_json(dict(self.benchmark.found(state))) if answered else {}
        try:
            prediction = self.scorer.from_run(to_json(state.answer), found, problem) if answered else None
            judgment = self.scorer.judged(prediction, problem, answered=answered)
            if problem.to_decline and judgment.correct is not None:
                judgment = Judgment(state.ended is not None and state.ended.reason == "declined")
        except Exception as why:  # whatever your scorer raises
            if isinstance(why, ChameleonError) and not isinstance(why, NoSuchKey):
                raise
            what = f"{type(why).__name__}: {why}{raised_at(why)}"
            what = f"its scorer cannot judge {state.answer!r:.200}: {what}"
            raise InputError(what, where=f"problem {problem.id}") from why
        result = Result.of(problem, state, judgment, self.benchmark.run_columns(state), found)
        dropped = self.run_dir.dropped.get(problem.id) if self.run_dir else None
        return replace(result, usage=result.usage + dropped) if dropped else result

    def _check_for_going_on(self, error: Failure | None) -> None:
        kind = "" if error is None else error.kind
        self._failed_in_a_row = self._failed_in_a_row + 1 if kind in _MODEL_FAILURES else 0
        self._lost_in_a_row = self._lost_in_a_row + 1 if kind == "Unreachable" else 0
        # As many unreachable in a row as workers: the server is down. Other failures may concern one problem.
        failed, is_down = self._failed_in_a_row, self._lost_in_a_row >= self.workers
        if error is not None and (is_down or failed >= max(_MAX_FAILURES_IN_A_ROW, 2 * self.workers)):
            raise Stopped(
                f"{failed} problem{'s in a row' if failed > 1 else ''} failed, the last with: {error.advice}",
                where=error.where,
                hint="Fix that, then retry the failed problems.",
                code="retry-failed",
            )

    def _state(self, problem: Problem) -> State:
        """Run to the end, or until stopped, from the last kept event; return the state."""
        inputs = taken_by(self.executor.inventory, problem)
        try:
            checked = self.executor.inventory.check_input(inputs)
        except InputError as error:
            return State(ended=RunEnded("failed", Failure.of(error)))
        before = self.run_dir.unfinished(problem.id) if self.run_dir else ()
        state = State.fold(before)
        if self.run_dir and problem.sequence and state.started and state.started.input != checked:
            # An earlier question was retried and answered differently.
            before = self.run_dir.take_back(problem.id, before, 0)
            state = State()
        for event in before:
            self.on_event(problem, event)
        if state.ended is not None:
            return state
        for event, after in self.executor.states(inputs, before, stop=self._stop):
            state = after
            if self.run_dir is not None:
                self.run_dir.append(problem.id, event)
            self.on_event(problem, event)
            if not isinstance(event, RunStarted) and event.calls:
                self.spending.add(event.calls)
                if self.spending.is_over:
                    self.stop()
        return state
