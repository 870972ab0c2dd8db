"""Run an inventory over many problems, in threads, and keep what comes of each."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from chameleon.errors import ChameleonError, InputError
from chameleon.evaluation.benchmark import Judgement, Problem, Scorer
from chameleon.evaluation.conversations import Turn, in_turn, turn, with_history
from chameleon.evaluation.folder import RunFolder
from chameleon.evaluation.results import Result
from chameleon.evaluation.spending import Spending
from chameleon.executor import Executor
from chameleon.state import Event, Failure, RunEnded, RunStarted, State
from chameleon.values import to_json

# What would fail every problem after this one in the same way: the evaluation stops, and can go on later.
_CONCERNS_ALL = frozenset({"AuthFailed", "NoModel", "ParameterRefused", "StoreError", "ScriptExhausted"})
# A server that is down, or a quota that is used up: so many model failures in a row that no more are made.
_MODEL_FAILURES = frozenset({"EmptyReply", "ModelError", "RateLimited", "Unreachable"})
_MOST_IN_A_ROW = 20
_GRACE_S = 10.0

_log = logging.getLogger("chameleon")


class Stopped(ChameleonError):
    """The evaluation was stopped before its end; what is done is kept."""


class Evaluation:
    """Runs problems and tells each result.

    - `executor` runs them, in `workers` threads; it is given what its inventory takes of a problem's input.
    - `scorer` says what is right: an answer that was given, never a declined or failed one.
    - `folder` keeps results and events; problems that it has are not run again.
    - `spending` counts the calls; where its limit is reached, the evaluation stops.
    - `on_result` is called with each result, from one thread at a time.
    - `run_columns` tells further columns that a run counts in, and `found` what it found besides its answer
      that the scorer looks at, from its state.

    The questions of a conversation run one after the other, each with the earlier ones and what this run
    answered them as `input.history`, where the inventory takes it; what was declined or failed has an empty
    answer there. With `gold_history` the gold answers stand there instead.
    """

    def __init__(
        self,
        executor: Executor,
        scorer: Scorer,
        *,
        folder: RunFolder | None = None,
        workers: int = 1,
        spending: Spending | None = None,
        on_result: Callable[[Result], None] = lambda result: None,
        run_columns: Callable[[State], Sequence[str]] = lambda state: (),
        found: Callable[[State], Mapping[str, Any]] = lambda state: {},
        gold_history: bool = False,
    ) -> None:
        if workers < 1:
            raise InputError("workers must be at least 1")
        self.executor, self.scorer, self.folder = executor, scorer, folder
        self.workers, self.on_result, self.run_columns = workers, on_result, run_columns
        self.found, self.gold_history = found, gold_history
        self.spending = spending or Spending()
        self._stop = threading.Event()
        self._problem: BaseException | None = None
        self._handing_out, self._keeping = threading.Lock(), threading.Lock()
        self._failed_in_a_row = self._lost_in_a_row = 0

    def stop(self) -> None:
        """Begin no further step. Runs that are under way can go on later where there is a folder."""
        self._stop.set()

    def run(self, problems: Iterable[Problem]) -> None:
        """Run every problem that has no result yet.

        Raises what keeps the evaluation from going on: an error in the data, a full disk, a model that
        refuses every call. After Ctrl-C, running steps have ten seconds to end before the exception that
        it raises here goes on; nothing that ended is lost.
        """
        waiting = in_turn(problems)
        # No `join`: CPython 3.11 and 3.12 take a thread for ended whose join Ctrl-C has interrupted.
        all_ended = [threading.Event() for _ in range(self.workers)]
        for ended in all_ended:
            threading.Thread(target=self._work, args=(waiting, ended), daemon=True).start()
        try:
            for ended in all_ended:
                ended.wait()
        except BaseException:  # the command line has an exception of its own for Ctrl-C
            self.stop()
            _log.warning("stops: running steps have up to %.0f seconds to end; Ctrl-C ends at once", _GRACE_S)
            until = time.monotonic() + _GRACE_S
            for ended in all_ended:
                ended.wait(max(until - time.monotonic(), 0))
            raise
        if self._problem is not None:
            raise self._problem

    def _work(self, waiting: Iterator[tuple[Problem, ...]], ended: threading.Event) -> None:
        try:
            while (questions := self._next(waiting)) is not None:
                self._ask(questions)
        except BaseException as problem:  # told by the thread that waits
            self._problem = self._problem or problem
            self.stop()
        finally:
            ended.set()

    def _next(self, waiting: Iterator[tuple[Problem, ...]]) -> tuple[Problem, ...] | None:
        with self._handing_out:
            for questions in waiting:
                if self._stop.is_set():
                    return None
                if self.folder is None or any(each.id not in self.folder.done for each in questions):
                    return questions
        return None

    def _ask(self, questions: Sequence[Problem]) -> None:
        """Run a problem, or those of a conversation that have no result, in their order."""
        turns: list[Turn] = []
        for problem in questions:
            if self._stop.is_set():
                return
            result = self.folder.earlier.get(problem.id) if self.folder else None
            if result is None:
                result = self._solve(with_history(problem, turns) if problem.sequence else problem)
            if result is None:  # stopped on the way
                return
            answer = result.answer if result.answered else None
            turns.append(turn(problem, problem.gold if self.gold_history else answer))

    def _solve(self, problem: Problem) -> Result | None:
        """The result of a run; None where it was stopped."""
        state = self._state(problem)
        if state.ended is None:
            return None
        error = state.ended.error
        if state.ended.reason == "failed" and error is not None and error.kind in _CONCERNS_ALL:
            raise Stopped(
                f"problem {problem.id} failed for a reason that would fail all others: {error.message}",
                where=error.where,
                hint=error.hint,
            )
        with self._keeping:
            dropped = self.folder.dropped.get(problem.id) if self.folder else None
            found = to_json(dict(self.found(state))) if state.ended.reason == "answered" else {}
            judged = self._judged(state, found, problem)
            result = Result.of(problem, state, judged, dropped, self.run_columns(state), found=found)
            if self.folder is not None:
                self.folder.finish(result)
            self.on_result(result)
            self._check_for_going_on(error)
        return result

    def _judged(self, state: State, found: Mapping[str, Any], problem: Problem) -> Judgement:
        assert state.ended is not None
        if state.ended.reason != "answered":
            return self.scorer.judged(None, problem, answered=False)
        return self.scorer.judged(self.scorer.from_run(to_json(state.answer), found, problem), problem)

    def _check_for_going_on(self, error: Failure | None) -> None:
        kind = "" if error is None else error.kind
        self._failed_in_a_row = self._failed_in_a_row + 1 if kind in _MODEL_FAILURES else 0
        self._lost_in_a_row = self._lost_in_a_row + 1 if kind == "Unreachable" else 0
        failed = max(self._failed_in_a_row, self._lost_in_a_row)
        is_down = self._lost_in_a_row >= self.workers
        if error is not None and (is_down or failed >= max(_MOST_IN_A_ROW, 2 * self.workers)):
            raise Stopped(
                f"{failed} problem{'s in a row' if failed > 1 else ''} failed, the last with: {error.advice}",
                where=error.where,
                hint="Once that is mended, the same command with --retry-failed goes on.",
            )

    def _state(self, problem: Problem) -> State:
        """The state of the run at its end, or where it was stopped; it goes on from what is kept of it."""
        given = self._given(problem)
        try:
            checked = self.executor.inventory.check_input(given)
        except InputError as error:
            return State(ended=RunEnded("failed", Failure.of(error)))
        before = self.folder.unfinished(problem.id) if self.folder else ()
        state = State.fold(before)
        if self.folder and problem.sequence and state.begun and state.begun.input != checked:
            # An earlier question, tried again, was answered otherwise.
            before = self.folder.take_back(problem.id, before, 0)
            state = State()
        if state.ended is not None:
            return state
        for event in self.executor.stream(given, before, stop=self._stop):
            self._keep(problem.id, event)
            state = state.after(event)
        return state

    def _keep(self, id: str, event: Event) -> None:
        if self.folder is not None:
            self.folder.append(id, event)
        if not isinstance(event, RunStarted) and event.calls:
            self.spending.add(event.calls)
            if self.spending.is_over:
                self.stop()

    def _given(self, problem: Problem) -> dict[str, Any]:
        """What the inventory takes of a problem."""
        taken = self.executor.inventory.input_types
        return {key: value for key, value in problem.input.items() if not taken or key in taken}
