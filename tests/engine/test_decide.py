"""What a run does after a failure: repair, another plan, the fallback, or its end."""

from __future__ import annotations

from typing import Any

import pytest

from chameleon import Declined, Executor, State, Step, StepRejected, errors
from chameleon.core.events import Failure, Redo
from chameleon.errors import ChameleonError, InputError, ModelError
from chameleon.inventory.schema import RepairSpec
from chameleon.planners.fixed import Fixed
from chameleon.planners.replanning import Replanning
from tests.engine.doubles import QUESTION, Does, Proposes, Takes, failing, inventory_of, run, why

BREAKS = failing(ValueError("no"))
REDONE = "step step plain"
NEVER = failing(StepRejected("never"))


class TestModulesThatFail:
    @pytest.mark.parametrize("problem", [KeyError("x"), InputError("odd"), StopIteration()])
    def test_end_the_run_with_their_name_and_the_state_so_far(self, problem: Exception) -> None:
        state = run({"first": lambda state: 1, "breaks": failing(problem), "never": lambda state: 2})
        assert (state.status, state.answer) == ("failed", None) and why(state).count("module breaks") == 1
        assert (state.executed_names, dict(state.cache)) == (("first", "breaks"), {"first": 1})

    def test_are_skipped_where_the_inventory_says_so_but_for_the_last(self) -> None:
        modules = {"breaks": BREAKS, "last": lambda state: "done"}
        state = run(modules, on_error={"breaks": "skip"})
        assert (state.answer, state.executed_names) == ("done", ("breaks", "last"))
        assert run({"breaks": BREAKS}, on_error={"breaks": "skip"}).status == "failed"

    @pytest.mark.parametrize(
        ("policy", "fallback", "executed"),
        [
            (["other"], (), ("breaks", "other")),
            (["breaks"], (), ("breaks", "breaks")),
            ("fallback", ("other",), ("breaks", "other")),
            ("fallback", ("breaks",), ("breaks", "breaks")),
        ],
    )
    def test_are_replaced_by_another_plan_once(self, policy: Any, fallback: Any, executed: Any) -> None:
        modules = {"breaks": BREAKS, "other": lambda state: "other"}
        state = run(modules, Fixed(["breaks"]), on_error={"breaks": policy}, fallback=fallback)
        assert state.executed_names == executed

    @pytest.mark.parametrize("policy", ["stop", "skip", "fallback"])
    @pytest.mark.parametrize("parallel", [True, False])
    def test_may_decline_and_that_ends_the_run_whatever_the_policy(self, policy: str, parallel: bool) -> None:
        polite = Does(failing(Declined("out of reach")), reads="input.question")
        modules = {"polite": polite, "other": Does(lambda state: 1, reads="input.question")}
        inventory = inventory_of(modules, fallback=("other",), on_error={"polite": policy})
        state = Executor(inventory, parallel=parallel).run(QUESTION)
        assert state.status == "declined" and state.executed_names == ("polite",)
        assert "out of reach" in why(state)

    @pytest.mark.parametrize(
        ("kind", "status", "program"),
        [(Declined, "declined", "step"), (ModelError, "failed", "step"), (StepRejected, "answered", REDONE)],
    )
    def test_may_raise_errors_of_ones_own(self, kind: type[Exception], status: str, program: Any) -> None:
        modules = {"step": failing(type("OfMine", (kind,), {})("no")), "plain": lambda state: 1}
        repair = {"step": RepairSpec(redo="step", attempts=2)}
        state = run(modules, Fixed(["step"]), repair=repair, on_error={"step": ["plain"]})
        assert (state.status, " ".join(state.executed_names)) == (status, program)


class TestRepair:
    def test_redoes_until_the_verdict_is_good(self) -> None:
        drafts: list[Redo | None] = []

        def write(state: State) -> Any:
            drafts.append(state.step.redo if state.step else None)
            return len(drafts)

        def verify(state: State) -> Any:
            if state.cache["write"] < 4:
                raise StepRejected("too short")

        spec = RepairSpec(redo="write", attempts=5, temperature_step=0.2, show_error=False)
        modules = {"write": write, "verify": verify, "last": lambda state: state.cache["write"]}
        state = run(modules, repair={"verify": spec})
        assert state.answer == 4 and state.plan == ("write", "verify", "last")
        assert drafts == [None, Redo(1, 0.2), Redo(2, 0.2), Redo(3, 0.2)]

    @pytest.mark.parametrize(("policy", "goes"), [("stop", 0), ("skip", 1), (["plain"], 1), ("fallback", 1)])
    def test_leaves_the_rest_to_the_policy_when_attempts_are_used_up(self, policy: Any, goes: int) -> None:
        repair = {"verify": RepairSpec(redo="verify", attempts=3)}
        modules = {"verify": NEVER, "plain": lambda state: "plain"}
        state = run(modules, repair=repair, on_error={"verify": policy}, fallback=("plain",))
        assert state.executed_names == ("verify",) * 3 + ("plain",) * goes
        assert state.answer == ("plain" if goes else None)

    def test_is_for_rejections_only(self) -> None:
        state = run({"verify": BREAKS}, repair={"verify": RepairSpec(redo="verify", attempts=3)})
        assert state.executed_names == ("verify",)

    def test_keeps_the_arguments_that_the_planner_gave(self) -> None:
        seen: list[Any] = []

        def verify(state: State) -> Any:
            seen.append(state.step)
            if len(seen) < 4:
                raise StepRejected("once more")

        def once(state: State) -> Any:
            return () if state.plans else [Step("write", {"what": "dry"}), Step("verify", {"level": 2})]

        modules = {"write": Takes(lambda state: seen.append(state.step)), "verify": Takes(verify)}
        run(modules, Proposes(once), repair={"verify": RepairSpec(redo="write", temperature_step=0)})
        redo = Redo(1, fault="once more")
        assert seen[2:] == [Step("write", {"what": "dry"}, redo), Step("verify", {"level": 2})]

    def test_is_not_begun_anew_by_a_plan_that_was_refused(self) -> None:
        def propose(state: State) -> Any:
            return [Step("verify")] if state.failure is None else [Step("nobody")]

        repair = {"verify": RepairSpec(redo="verify", attempts=3)}
        state = run({"verify": NEVER}, Replanning(Proposes(propose), attempts=1), repair=repair)
        assert state.executed_names == ("verify",) * 3

    def test_of_one_module_asked_for_by_several_counts_its_runs_together(self) -> None:
        drafts: list[int] = []

        def write(state: State) -> Any:
            drafts.append(1)
            if len(drafts) % 2:
                raise StepRejected("no program")

        modules = {"write": write, "verify": NEVER}
        state = run(modules, repair=dict.fromkeys(modules, RepairSpec(redo="write", attempts=6)))
        repairs = [plan for plan in state.plans if plan.kind == "repair"]
        assert len(drafts) == 6 and {plan.by for plan in repairs} == {"write", "verify"}
        assert "attempt 2 of 6" in repairs[0].note and "attempt 6 of 6" in repairs[-1].note


def test_no_error_has_its_own_words_told() -> None:
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, ChameleonError):
            reason = Failure.of(kind("/srv/plans sk-0123456789abcdef", where="/srv", hint="/srv")).reason
            assert reason.startswith(("it ", "its ", "what ", "the ")) and "/" not in reason
