"""Planners that plan again after a failure, or take turns."""

from __future__ import annotations

from typing import Any

from chameleon import State, Step
from chameleon.planners.fixed import Fixed
from chameleon.planners.replanning import Replanning
from chameleon.planners.then import Then
from tests.engine.doubles import Proposes, failing, run


class TestReplanning:
    def test_is_bounded_and_sees_the_failure(self) -> None:
        seen: list[str] = []

        def propose(state: State) -> Any:
            seen.append(str(state.failure.error.message) if state.failure and state.failure.error else "")
            return () if state.plans else [Step("breaks")]

        state = run({"breaks": failing(ValueError("no"))}, Replanning(Proposes(propose), attempts=2))
        assert state.executed_names == ("breaks",) * 3 and state.plan == ("breaks",) * 3
        assert seen[0] == "" and all(told.startswith("ValueError: no (doubles.py, line") for told in seen[1:])

    def test_is_bounded_where_the_failure_is_skipped(self) -> None:
        planner = Replanning(Fixed(["breaks"]), attempts=1)
        state = run({"breaks": failing(ValueError("no"))}, planner, on_error={"breaks": "skip"})
        assert len(state.executed_names) == 2

    def test_goes_on_asking_a_planner_of_several_turns(self) -> None:
        modules = {"one": lambda state: 1, "two": lambda state: 2}
        planner = Replanning(Then([Fixed(["one"]), Fixed(["two"])]))
        assert run(modules, planner).executed_names == ("one", "two")

    def test_works_within_a_planner_of_several_turns(self) -> None:
        fails = iter([True, False])

        def breaks_once(state: State) -> Any:
            if next(fails):
                raise ValueError("no")
            return 2

        modules = {"one": lambda state: 1, "two": breaks_once, "three": lambda state: 3}
        planner = Then([Fixed(["one"]), Replanning(Fixed(["two"])), Fixed(["three"])])
        assert run(modules, planner).executed_names == ("one", "two", "two", "three")
