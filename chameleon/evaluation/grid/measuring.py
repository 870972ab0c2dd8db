"""Measuring an arm: the part of it that needs no model, run for every problem, or what an evaluation kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice

from chameleon.errors import ChameleonError, InputError
from chameleon.evaluation.benchmark import Benchmark, Problem
from chameleon.evaluation.conversations import Turn, in_turn, turn, with_history
from chameleon.evaluation.folder import Run
from chameleon.evaluation.grid.kept import Kept
from chameleon.evaluation.grid.line import Line
from chameleon.evaluation.grid.prepared import Prepared, prompted_table
from chameleon.evaluation.grid.searching import recall_of
from chameleon.inventory.grid import Arm
from chameleon.inventory.obstacles import all_of
from chameleon.state import Failure, RunEnded, State

_ALIKE = 3
"""So many problems that fail at the beginning, and in one way, are taken for all of them."""
_MISSING = ("AuthFailed", "MissingPackage", "ModelError", "NoModel", "RateLimited", "SandboxUnavailable")
_AT_ONCE = 256


class Measuring:
    """Runs what of an arm needs no model, over problems; `gold_history` is as `Evaluation` has it.

    Questions of a conversation are told those before them, without answers: there is no model to give any.
    """

    def __init__(
        self,
        arm: Arm,
        benchmark: Benchmark,
        *,
        gold_history: bool = False,
        advance: Callable[[int], object] = lambda done: None,
    ) -> None:
        self.arm, self.benchmark, self.gold_history = arm, benchmark, gold_history
        self.advance = advance
        self.kept = Kept()
        self.done, self.failed, self.reason, self.seconds = 0, 0, "", 0.0
        self._first: list[Failure | None] = []
        self._last: Failure | None = None

    def line(self, problems: Sequence[Problem]) -> Line:
        """Run them all, and tell what was measured; an arm that cannot run here says why."""
        prepared = Prepared.of(self.arm.inventory)
        if prepared is None:
            return Line(self.arm, asks=("the planner",))
        asks = prepared.asks
        if found := [each for each in prepared.part.obstacles() if each.stops]:
            return Line(self.arm, asks=asks, lacks=str(all_of(found, self.arm.name)))
        asked = list(self._asked(problems))
        try:  # all queries at once cost less than one by one, and what is missing shows before any run
            recall = recall_of(prepared.part, list(_begun_of(asked, prepared)))
        except ChameleonError as error:
            return Line(self.arm, asks=asks, lacks=str(error))
        for problem in asked:
            self._run(problem, prepared)
            if lacks := self._hopeless():
                return Line(self.arm, asks=asks, lacks=lacks)
        if self.failed == self.done:
            return Line(self.arm, asks=asks, lacks=self.reason)
        n, failed = self.done, self.failed
        return Line(self.arm, n, asks, "", failed, self.reason, self.seconds, recall, self.kept)

    def _asked(self, problems: Sequence[Problem]) -> Iterator[Problem]:
        for questions in in_turn(problems):
            turns: list[Turn] = []
            for problem in questions:
                yield with_history(problem, turns) if problem.sequence else problem
                turns.append(turn(problem, problem.gold if self.gold_history else None))

    def _run(self, problem: Problem, prepared: Prepared) -> None:
        try:
            state = prepared.state(problem.input)
        except InputError as error:
            state = State(ended=RunEnded("failed", Failure.of(error)))
        failure = self._last = _failure(state)
        if len(self._first) < _ALIKE:
            self._first.append(failure)
        self.failed += failure is not None
        self.reason = self.reason or (str(failure) if failure else "")
        self.seconds += state.seconds
        if prepared.knows_table:
            groups = self.benchmark.gold_cells(problem)
            text = None if failure else prepared.prompted(state)
            self.kept.add(state, problem, groups, text, failed=failure is not None)
        self.done += 1
        self.advance(self.done)

    def _hopeless(self) -> str:
        """Why no further problem is tried: something is missing here, or all the first ones failed alike."""
        if self._last is not None and self._last.kind in _MISSING:
            return str(self._last)
        told = {str(failure) if failure else "" for failure in self._first}
        return told.pop() if len(self._first) == _ALIKE and len(told) == 1 else ""


def look_back(
    arm: Arm, run: Run, problems: Sequence[Problem], benchmark: Benchmark
) -> tuple[Kept, list[tuple[Problem, State]]]:
    """What was left of the tables in the runs of an evaluation, and each problem as its run began."""
    kept, begun, inventory = Kept(), list[tuple[Problem, State]](), arm.inventory
    by_id = {problem.id: problem for problem in problems}
    left = iter([result.id for result in run.results if result.id in by_id])
    while ids := list(islice(left, _AT_ONCE)):
        for id, events in run.histories(ids).items():
            state, problem = State.fold(events), by_id[id]
            asked = [name for name in state.plan if inventory.modules[name].needs_model]
            failed = _failure(state) is not None
            text = None if failed else prompted_table(inventory, asked, state)
            kept.add(state, problem, benchmark.gold_cells(problem), text, failed=failed)
            if state.begun is not None:
                begun.append((problem, State().after(state.begun)))
    return kept, begun


def _begun_of(problems: Iterable[Problem], prepared: Prepared) -> Iterator[tuple[Problem, State]]:
    """The problems with the states that their runs begin with, without those whose input is none."""
    for problem in problems:
        with suppress(InputError):  # told where it is run
            yield problem, prepared.begun(problem.input)


def _failure(state: State) -> Failure | None:
    """What kept a run from its end, if it was a step or its input."""
    failed = next((record.error for record in state.history if record.error), None)
    return failed or (state.ended.error if state.ended and state.begun is None else None)
