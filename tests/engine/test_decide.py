"""What a run does after a failure: repair, another plan, the fallback, or its end."""

from __future__ import annotations

from typing import Any

import pytest

from chameleon import Declined, Executor, Inventory, State, Step, StepRejected
from chameleon.core.events import Redo
from chameleon.errors import InputError
from chameleon.inventory.schema import RepairSpec
from chameleon.planners.fixed import Fixed
from chameleon.planners.replanning import Replanning
from tests.engine.doubles import QUESTION, Does, Proposes, Takes, failing, run, why


class TestModulesThatFail:
    @pytest.mark.parametrize(
        "problem",
        [KeyError("x"), InputError("odd"), StopIteration()],
    )
    def test_end_the_run_with_their_name_and_the_state_so_far(self, problem: Exception) -> None:
        state = run({"first": lambda state: 1, "breaks": failing(problem), "never": lambda state: 2})
        assert state.ended is not None and state.ended.reason == "failed"
        assert why(state).count("module breaks") == 1
        assert (state.executed_names, dict(state.cache), state.answer) == (
            ("first", "breaks"),
            {"first": 1},
            None,
        )

    def test_are_skipped_where_the_inventory_says_so(self) -> None:
        state = run(
            {"breaks": failing(ValueError("no")), "last": lambda state: "done"}, on_error={"breaks": "skip"}
        )
        assert (state.answer, state.executed_names) == ("done", ("breaks", "last"))

    def test_cannot_be_skipped_as_the_last(self) -> None:
        state = run({"first": lambda state: 1, "last": failing(ValueError("no"))}, on_error={"last": "skip"})
        assert state.ended is not None and state.ended.reason == "failed"

    def test_are_replaced_by_another_plan_once(self) -> None:
        modules = {"breaks": failing(ValueError("no")), "other": lambda state: "other"}
        planner = Fixed(["breaks"])
        assert run(modules, planner, on_error={"breaks": ["other"]}).answer == "other"
        assert run(modules, planner, on_error={"breaks": ["breaks"]}).executed_names == ("breaks", "breaks")
        assert run(modules, planner, on_error={"breaks": "fallback"}, fallback=("other",)).answer == "other"
        state = run(modules, planner, on_error={"breaks": "fallback"}, fallback=("breaks",))
        assert state.executed_names == ("breaks", "breaks")

    def test_may_decline_and_that_ends_the_run_whatever_the_policy(self) -> None:
        for policy in ("stop", "skip", "fallback"):
            for parallel in (True, False):
                polite = Does(failing(Declined("out of reach")), reads="input.question")
                other = Does(lambda state: 1, reads="input.question")
                inventory = Inventory(
                    "mine",
                    Fixed(["polite", "other"]),
                    {"polite": polite, "other": other},
                    fallback=("other",),
                    on_error={"polite": policy},  # type: ignore[dict-item]
                )
                state = Executor(inventory, parallel=parallel).run(QUESTION)
                assert state.ended is not None and state.ended.reason == "declined"
                assert "out of reach" in why(state) and state.executed_names == ("polite",)


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
            repair={"verify": RepairSpec(redo="write", attempts=5, temperature_step=0.2, show_error=False)},
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
        assert state.executed_names == ("verify",) * 3 + ("plain",) * program
        assert state.answer == ("plain" if program else None)

    def test_is_for_rejections_only(self) -> None:
        state = run(
            {"verify": failing(ValueError("a bug"))}, repair={"verify": RepairSpec(redo="verify", attempts=3)}
        )
        assert state.executed_names == ("verify",)

    def test_keeps_the_arguments_that_the_planner_gave(self) -> None:
        seen: list[Any] = []

        def note(state: State) -> Any:
            seen.append(state.step)

        def verify(state: State) -> Any:
            note(state)
            if len(seen) < 4:
                raise StepRejected("once more")

        def once(state: State) -> Any:
            return () if state.plans else [Step("write", {"what": "dry"}), Step("verify", {"level": 2})]

        run(
            {"write": Takes(note), "verify": Takes(verify)},
            Proposes(once),
            repair={"verify": RepairSpec(redo="write", temperature_step=0)},
        )
        redo = Redo(1, fault="once more")
        assert seen[2:] == [Step("write", {"what": "dry"}, redo), Step("verify", {"level": 2})]

    def test_is_not_begun_anew_by_a_plan_that_was_refused(self) -> None:
        def propose(state: State) -> Any:
            return [Step("verify")] if state.failure is None else [Step("nobody")]

        state = run(
            {"verify": failing(StepRejected("never"))},
            Replanning(Proposes(propose), attempts=1),
            repair={"verify": RepairSpec(redo="verify", attempts=3)},
        )
        assert state.executed_names == ("verify",) * 3

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
