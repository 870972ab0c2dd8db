"""Planners that fail, plan again, or take turns; and steps that are done anew."""

from __future__ import annotations

from typing import Any

import pytest

from chameleon import Declined, Inventory, State, Step, StepRejected
from chameleon.errors import InventoryError, MissingPackage, ModelError, PlanError
from chameleon.inventory.schema import RepairSpec
from chameleon.planners.fixed import Fixed
from chameleon.planners.replanning import Replanning
from chameleon.planners.then import Then
from chameleon.state import Redo
from tests.engine.doubles import Does, Proposes, failing, run, why


class TestPlanners:
    @pytest.mark.parametrize(
        "problem",
        [ValueError("oops"), KeyError("k"), RecursionError("deep"), InventoryError("odd"), MemoryError()],
    )
    def test_may_raise_anything_and_the_run_ends_with_it(self, problem: Exception) -> None:
        state = run({"one": lambda state: 1}, Proposes(failing(problem)))
        assert state.ended is not None and state.ended.reason == "failed"
        assert "proposes" in why(state)

    def test_may_decline(self) -> None:
        state = run({"one": lambda state: 1}, Proposes(failing(Declined("not about tables"))))
        assert state.ended is not None and state.ended.reason == "declined"
        assert why(state) == "not about tables"

    @pytest.mark.parametrize("returned", [None, 5, "one", ["one"], [Step("one"), "one"], [None]])
    def test_must_return_steps(self, returned: Any) -> None:
        state = run({"one": lambda state: 1}, Proposes(lambda state: returned))
        assert "propose gave" in why(state) and "It must return steps" in why(state)

    def test_may_yield_their_steps(self) -> None:
        def once(state: State) -> Any:
            return iter(()) if state.plans else (Step(name) for name in ("one", "one"))

        assert run({"one": lambda state: 1}, Proposes(once)).program == ("one", "one")

    def test_may_give_arguments_that_a_log_can_hold(self) -> None:
        def once(state: State) -> Any:
            return () if state.plans else [Step("one", {"columns": ["a", "b"]})]

        assert run(
            {"one": lambda state: state.step and state.step.args and state.step.args["columns"]},
            Proposes(once),
        ).answer == ("a", "b")
        bad = run({"one": lambda state: 1}, Proposes(lambda state: [Step("one", {"columns": {"a"}})]))
        assert "the argument of one.columns is a set" in why(bad)

    def test_with_nothing_to_propose_fail(self) -> None:
        assert "proposed no step" in why(run({"one": lambda state: 1}, Proposes(lambda state: ())))

    def test_refused_twice_give_way_to_the_fallback_once(self) -> None:
        stubborn = Proposes(lambda state: [Step("nobody")])
        state = run({"one": lambda state: 1}, stubborn, fallback=("one",))
        assert state.program == ("one",)
        assert "no valid plan: there is no module 'nobody'" in why(state)

    def test_that_cannot_read_a_plan_are_asked_once_more(self) -> None:
        def second(state: State) -> Any:
            if not state.plans:
                raise PlanError("no list")
            return [] if state.history else [Step("one")]

        assert run({"one": lambda state: "ok"}, Proposes(second)).answer == "ok"

    def test_asked_after_every_step_see_what_happened(self) -> None:
        def count(state: State) -> Any:
            return [Step("one")] if len(state.history) < 3 else []

        assert run({"one": lambda state: len(state.history)}, Proposes(count)).answer == 2


class TestReplanning:
    def test_is_bounded_and_sees_the_failure(self) -> None:
        seen: list[str] = []

        def propose(state: State) -> Any:
            seen.append(str(state.failure.error.message) if state.failure and state.failure.error else "")
            return () if state.plans else [Step("breaks")]

        state = run({"breaks": failing(ValueError("no"))}, Replanning(Proposes(propose), attempts=2))
        assert state.program == ("breaks",) * 3 and state.plan == ("breaks",) * 3
        assert seen[0] == "" and all(told.startswith("ValueError: no (doubles.py, line") for told in seen[1:])

    def test_is_bounded_where_the_failure_is_skipped(self) -> None:
        state = run(
            {"breaks": failing(ValueError("no"))},
            Replanning(Fixed(["breaks"]), attempts=1),
            on_error={"breaks": "skip"},
        )
        assert len(state.program) == 2

    def test_goes_on_asking_a_planner_of_several_turns(self) -> None:
        modules = {"one": lambda state: 1, "two": lambda state: 2}
        planner = Replanning(Then([Fixed(["one"]), Fixed(["two"])]))
        assert run(modules, planner).program == ("one", "two")

    def test_works_within_a_planner_of_several_turns(self) -> None:
        fails = iter([True, False])

        def breaks_once(state: State) -> Any:
            if next(fails):
                raise ValueError("no")
            return 2

        modules = {"one": lambda state: 1, "two": breaks_once, "three": lambda state: 3}
        planner = Then([Fixed(["one"]), Replanning(Fixed(["two"])), Fixed(["three"])])
        assert run(modules, planner).program == ("one", "two", "two", "three")

    def test_turns_may_nest(self) -> None:
        modules = {name: lambda state: 1 for name in "abcd"}
        planner = Then([Then([Fixed(["a"]), Fixed(["b"])]), Then([Fixed(["c"]), Fixed(["d"])])])
        assert run(modules, planner).program == ("a", "b", "c", "d")


class TestRepair:
    def test_redoes_until_the_verdict_is_good(self) -> None:
        drafts: list[Redo | None] = []

        def write(state: State) -> Any:
            drafts.append(state.step.redo if state.step else None)
            return len(drafts)

        def verify(state: State) -> Any:
            if state.cache["write"] < 4:
                raise StepRejected("too short")
            return "good"

        state = run(
            {"write": write, "verify": verify, "last": lambda state: state.cache["write"]},
            repair={"verify": RepairSpec(redo="write", attempts=5, temperature_step=0.2)},
        )
        assert state.answer == 4
        assert drafts == [None, Redo(1, 0.2), Redo(2, 0.2), Redo(3, 0.2)]
        assert state.plan == ("write", "verify", "last")

    @pytest.mark.parametrize(
        ("policy", "program"), [("stop", 0), ("skip", 1), (["plain"], 1), ("fallback", 1)]
    )
    def test_leaves_the_rest_to_the_policy_when_attempts_are_used_up(self, policy: Any, program: int) -> None:
        state = run(
            {"verify": failing(StepRejected("never")), "plain": lambda state: "plain"},
            repair={"verify": RepairSpec(redo="verify", attempts=3)},
            on_error={"verify": policy},
            fallback=("plain",),
        )
        assert state.program == ("verify",) * 3 + ("plain",) * program
        assert state.answer == ("plain" if program else None)

    def test_is_for_rejections_only(self) -> None:
        state = run(
            {"verify": failing(ValueError("a bug"))}, repair={"verify": RepairSpec(redo="verify", attempts=3)}
        )
        assert state.program == ("verify",)

    def test_keeps_the_arguments_that_the_planner_gave(self) -> None:
        seen: list[Any] = []

        def note(state: State) -> Any:
            seen.append(state.step)

        def verify(state: State) -> Any:
            note(state)
            if len(seen) < 4:
                raise StepRejected("once more")

        def once(state: State) -> Any:
            return () if state.plans else [Step("write", {"tone": "dry"}), Step("verify", {"level": 2})]

        run(
            {"write": note, "verify": verify},
            Proposes(once),
            repair={"verify": RepairSpec(redo="write", temperature_step=0)},
        )
        assert seen[2:] == [Step("write", {"tone": "dry"}, Redo(1)), Step("verify", {"level": 2})]

    def test_is_not_begun_anew_by_a_plan_that_was_refused(self) -> None:
        def propose(state: State) -> Any:
            return [Step("verify")] if state.failure is None else [Step("nobody")]

        state = run(
            {"verify": failing(StepRejected("never"))},
            Replanning(Proposes(propose), attempts=1),
            repair={"verify": RepairSpec(redo="verify", attempts=3)},
        )
        assert state.program == ("verify",) * 3

    def test_of_one_module_asked_for_by_several_counts_its_runs_together(self) -> None:
        drafts: list[int] = []

        def write(state: State) -> Any:
            drafts.append(1)
            if len(drafts) % 2:
                raise StepRejected("no program")
            return len(drafts)

        state = run(
            {"write": write, "verify": failing(StepRejected("never"))},
            repair={
                "write": RepairSpec(redo="write", attempts=6),
                "verify": RepairSpec(redo="write", attempts=6),
            },
        )
        assert len(drafts) == 6
        repairs = [plan for plan in state.plans if plan.kind == "repair"]
        assert {plan.by for plan in repairs} == {"write", "verify"}
        assert "attempt 2 of 6" in repairs[0].note and "attempt 6 of 6" in repairs[-1].note


class OutOfReach(Declined):
    """A user's own way of saying no."""


class NotGood(StepRejected):
    """A user's own verdict."""


class OutOfOrder(ModelError):
    """A user's own failure of a model."""


@pytest.mark.parametrize(
    ("problem", "reason", "program"),
    [
        (OutOfReach("not mine"), "declined", ("step",)),
        (OutOfOrder("no model"), "failed", ("step",)),
        (NotGood("no"), "answered", ("step", "step", "plain")),
    ],
)
def test_errors_of_ones_own_count_as_the_kind_that_they_are(
    problem: Exception, reason: str, program: tuple[str, ...]
) -> None:
    state = run(
        {"step": failing(problem), "plain": lambda state: 1},
        Fixed(["step"]),
        repair={"step": RepairSpec(redo="step", attempts=2)},
        on_error={"step": ["plain"]},
    )
    assert state.ended is not None and (state.ended.reason, state.program) == (reason, program)


def test_the_check_of_an_inventory_checks_its_planners_too() -> None:
    class Unfit(Proposes):
        def check(self) -> None:
            raise MissingPackage("embeddings need a package", hint="pip install it")

    inventory = Inventory("mine", Then([Fixed(["only"]), Unfit(lambda state: ())]), {"only": Does(str)})
    with pytest.raises(InventoryError, match="the planner unfit cannot run here: embeddings need a package"):
        inventory.check()
