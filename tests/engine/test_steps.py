"""What a module may see and change at its step, and what it is told of those that failed."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chameleon import Executor, Module, State, Step
from chameleon.core.module import Traits
from chameleon.core.prompt import Prompt, context_of, slots_of
from chameleon.errors import InputError, MissingPackage, StepRejected, WebError
from chameleon.inventory.schema import RepairSpec
from tests.engine.doubles import QUESTION, Does, executor, failing, run, why


class TestOutputs:
    def test_that_no_log_can_hold_fail_at_their_step_with_the_key_path(self) -> None:
        state = run({"maker": lambda state: {"share": [0.5, float("nan")]}})
        assert state.ended is not None and state.ended.reason == "failed"
        assert "output.share[1] is nan" in why(state) and "maker" in why(state)
        assert not state.cache

    def test_cannot_be_changed_by_who_made_them_or_who_reads_them(self) -> None:
        mine: dict[str, Any] = {"rows": [1, 2]}

        def later(state: State) -> Any:
            mine["rows"].append(3)
            with pytest.raises(TypeError):
                state.cache["maker"]["rows"][0] = 9
            with pytest.raises(TypeError):
                state.cache["new"] = 1  # type: ignore[index]
            return state.cache["maker"]["rows"]

        assert run({"maker": lambda state: mine, "later": later}).answer == (1, 2)


class TestWrites:
    @pytest.mark.parametrize("kind", ["input", "cache"])
    def test_that_were_not_declared_fail_naming_the_key(self, kind: str) -> None:
        update = {f"update_{kind}": lambda old, output: {"question": "Why?"}}
        state = run({"sneaky": Does(lambda state: 1, writes="cache.fine", **update)})
        assert f"it writes {kind}.question, which it does not declare" in why(state)
        assert f'Add "{kind}.question" to its `writes`' in why(state)
        assert state.input["question"] == "How many?" and not state.cache

    @pytest.mark.parametrize("returned", [None, ["key"], "key"])
    def test_that_are_no_mapping_fail(self, returned: Any) -> None:
        vague = Does(lambda state: 1, update_cache=lambda cache, output: returned)
        assert f"update_cache returned a {type(returned).__name__}" in why(run({"vague": vague}))

    def test_to_any_key_may_be_declared(self) -> None:
        free = Does(
            lambda state: 1, writes="cache.*", update_cache=lambda cache, output: {"anything": output}
        )
        reader = Does(lambda state: state.cache["anything"] + 1, reads="cache.anything")
        assert run({"free": free, "reader": reader}).answer == 2


class TestReads:
    def test_are_all_that_a_module_sees(self) -> None:
        seen: list[State] = []
        module = Does(lambda state: seen.append(state), reads="cache.first, input.topic?")
        first = Does(lambda state: 1, writes="cache.first")
        hidden = Does(lambda state: 2)
        run({"first": first, "hidden": hidden, "module": module})
        (state,) = seen
        assert (dict(state.input), dict(state.cache)) == ({}, {"first": 1})
        assert (state.history, state.plans, state.pending) == ((), (), ())
        assert (state.failure, state.started) == (None, None)
        assert state.step == Step("module")

    def test_of_the_history_show_what_happened(self) -> None:
        module = Does(lambda state: [record.step.module for record in state.history], reads="history")
        assert run({"first": lambda state: 1, "module": module}).answer == ("first",)

    def test_of_nothing_are_allowed(self) -> None:
        assert run({"blind": Does(lambda state: len(state.input), reads="")}).answer == 0

    def test_that_are_missing_refuse_the_plan(self) -> None:
        reader = Does(lambda state: 1, reads="cache.facts|cache.rules")
        writer = Does(lambda state: 1, writes="cache.facts")
        state = run({"reader": reader, "writer": writer})
        assert "reader reads cache.facts or cache.rules, and nothing before it gives that" in why(state)
        assert "It is written by writer" in why(state)

    def test_that_a_skipped_step_should_have_given_fail_in_words(self) -> None:
        state = run(
            {"giver": failing(ValueError("no")), "taker": Does(lambda state: 1, reads="cache.giver")},
            on_error={"giver": "skip"},
        )
        assert "taker" in why(state) and "reads cache.giver, and nothing before it gave that" in why(state)


class TestSetup:
    def test_happens_once_for_many_threads(self) -> None:
        class Slow(Module):
            """Takes long to set up."""

            ups = 0

            def setup(self) -> None:
                time.sleep(0)  # lets the others come to the door
                type(self).ups += 1

            def run(self, state: State) -> Any:
                return self.ups

        slow = executor({"slow": Slow()})
        begin = threading.Barrier(16)

        def one(number: int) -> Any:
            begin.wait()
            return slow.run(QUESTION).answer

        with ThreadPoolExecutor(16) as pool:
            assert list(pool.map(one, range(16))) == [1] * 16

    def test_that_fails_is_told_and_tried_again(self) -> None:
        class Flaky(Module):
            """Fails to set up at first."""

            tries = 0

            def setup(self) -> None:
                type(self).tries += 1
                if self.tries == 1:
                    raise OSError("no such device")

            def run(self, state: State) -> Any:
                return "ready"

        flaky = executor({"flaky": Flaky()})
        assert "no such device" in why(flaky.run(QUESTION))
        assert flaky.run(QUESTION).answer == "ready"


SECRET = "sk-0123456789abcdef"
PATH = "/srv/accounts/plans"
NO_INPUT = "what it was given cannot be used"


class Shows(Module):
    """Gives the context that a prompt would show, of the keys that it declares to read."""

    reads = ("input.question", "cache.caption?", "cache.labels?")

    def run(self, state: State) -> str:
        return context_of(state)


def broken(problem: Exception, *writes: str) -> Does:
    return Does(failing(problem), reads=("input.question",), writes=writes)


def told(problem: Exception, *writes: str, shows: Module | None = None) -> str:
    """The context after a module that would have written these keys failed."""
    made = {"looks": broken(problem, *writes), "shows": shows or Shows()}
    state = executor(made, on_error={"looks": "skip"}).run(QUESTION)
    assert state.ended is not None and state.ended.reason == "answered", state.ended
    assert isinstance(state.answer, str)
    return state.answer


NO = InputError(f"{PATH}/a.png is damaged.", where=f"{PATH}/a.png", hint="Save it again.")


@pytest.mark.parametrize(
    ("problem", "writes", "shows", "lack"),
    [
        (NO, ["cache.caption"], Shows(), f"caption ({NO_INPUT})"),
        (NO, ["cache.caption", "cache.labels", "cache.boxes"], Shows(), f"caption, labels ({NO_INPUT})"),
        (NO, ["cache.boxes"], Shows(), ""),  # which it does not read
        (NO, ["input.question"], Shows(), ""),  # which is still there: a lookup leaves the table as it was
        (NO, ["cache.some_words"], Does(context_of), f"some words ({NO_INPUT})"),
        (NO, ["cache.*"], Does(context_of), f"looks ({NO_INPUT})"),
        (
            WebError(f"no way to {PATH}", where="10.0.0.7"),
            ["cache.caption"],
            Shows(),
            "the web gave no answer",
        ),
        (MissingPackage(f"no {PATH}", hint="pip"), ["cache.caption"], Shows(), "it is not installed here"),
        (StepRejected("no table"), ["cache.caption"], Shows(), "it came to no usable result"),
        (RuntimeError(f"401 for key {SECRET}"), ["cache.caption"], Shows(), "it failed"),
        (OSError(2, "No such file or directory", PATH), ["cache.caption"], Shows(), "it failed"),
    ],
)
def test_a_model_reads_what_is_lacking_and_no_word_of_the_error(
    problem: Exception, writes: list[str], shows: Module, lack: str
) -> None:
    lacking = lack if not lack or lack.endswith(")") else f"caption ({lack})"
    assert told(problem, *writes, shows=shows) == (lacking and f"Not available: {lacking}")


def test_what_holds_no_text_is_not_told() -> None:
    looks = broken(InputError("no"), "cache.labels", "cache.boxes")
    looks.traits = Traits(non_text=("cache.boxes",))
    made = {"looks": looks, "shows": Does(context_of)}
    state = executor(made, on_error={"looks": "skip"}).run(QUESTION)
    assert state.answer == f"Not available: labels ({NO_INPUT})"


def test_what_worked_later_or_is_tried_again_is_not_told() -> None:
    tries = iter([StepRejected("not so")])

    def once_rejected(state: State) -> str:
        for problem in tries:
            raise problem
        return "found"

    seen: list[str] = []
    modules = {
        "labels": Does(lambda state: seen.append(context_of(state)) or "text"),
        "caption": Does(once_rejected),
        "shows": Shows(),
    }
    repair = {"caption": RepairSpec(redo="labels", attempts=3, temperature_step=0.1)}
    state = executor(modules, repair=repair).run(QUESTION)
    assert state.answer == "Labels: text\n\nCaption: found"
    assert seen == ["", "Labels: text"]


def test_side_by_side_in_sequence_and_resumed_are_told_the_same() -> None:
    modules = {
        "looks": broken(InputError("no"), "cache.caption"),
        "reads": broken(InputError("not at all"), "cache.labels"),
        "shows": Shows(),
    }
    skipping = executor(modules, on_error={"looks": "skip", "reads": "skip"})
    expected = f"Not available: caption ({NO_INPUT})\nNot available: labels ({NO_INPUT})"
    events = list(skipping.stream(QUESTION))
    assert State.fold(events).answer == expected
    assert Executor(skipping.inventory, parallel=False).run(QUESTION).answer == expected
    for end in range(1, len(events)):
        again = [*events[:end], *skipping.stream(QUESTION, events[:end])]
        assert State.fold(again).answer == expected


@pytest.mark.parametrize("fails", [True, False])
def test_a_prompt_may_tell_it_on_its_own(fails: bool) -> None:
    class Renders(Shows):
        def run(self, state: State) -> str:
            prompt = '---\nslots: [question, "unavailable?"]\n---\n# user\n{{ unavailable }}|{{ question }}'
            return Prompt.parse(prompt).render(slots_of(state))[0][1]

    if fails:
        expected = f"Not available: caption ({NO_INPUT})|How many?"
        assert told(InputError("no"), "cache.caption", shows=Renders()) == expected
    else:
        assert executor({"shows": Renders()}).run(QUESTION).answer == "|How many?"
