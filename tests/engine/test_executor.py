"""What the executor does with modules and planners that fail, and what modules may see and change."""

from __future__ import annotations

import copy
import itertools
import json
import pickle
import threading
import time
from collections.abc import Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from chameleon import Declined, Executor, Inventory, Module, State, Step, Table
from chameleon.errors import InputError, NoModel
from chameleon.log import EventLog
from chameleon.planners.fixed import Fixed
from chameleon.values import freeze
from tests.engine.doubles import QUESTION, Does, executor, failing, run, why


class TestOutputs:
    @pytest.mark.parametrize(
        ("output", "told"),
        [
            ({1, 2}, "output is a set"),
            ({"share": [0.5, float("nan")]}, "output.share[1] is nan"),
            ([{"a": object()}], "output[0].a is a object"),
            ({"a": {7: 1}}, "output.a has the key 7"),
        ],
    )
    def test_that_no_log_can_hold_fail_at_their_step_with_the_key_path(self, output: Any, told: str) -> None:
        state = run({"maker": lambda state: output})
        assert state.ended is not None and state.ended.reason == "failed"
        assert told in why(state) and "maker" in why(state)
        assert not state.cache

    def test_are_what_the_last_module_returned(self) -> None:
        table = Table(["a"], [["1"]])
        assert run({"one": lambda state: 1, "two": lambda state: table}).answer is table

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
        class Sneaky(Module):
            """Writes what it does not declare."""

            writes = "cache.fine"

            def run(self, state: State) -> Any:
                return 1

        setattr(Sneaky, f"update_{kind}", lambda self, old, output: {"question": "Why?"})
        state = run({"sneaky": Sneaky()})
        assert f"it writes {kind}.question, which it does not declare" in why(state)
        assert f'Add "{kind}.question" to its `writes`' in why(state)
        assert state.input["question"] == "How many?" and not state.cache

    @pytest.mark.parametrize("returned", [None, 5, ["key"], "key"])
    def test_that_are_no_mapping_fail(self, returned: Any) -> None:
        class Vague(Module):
            """Returns no mapping."""

            def run(self, state: State) -> Any:
                return 1

            def update_cache(self, cache: Mapping[str, Any], output: Any) -> Any:
                return returned

        assert f"update_cache returned a {type(returned).__name__}" in why(run({"vague": Vague()}))

    def test_to_any_key_may_be_declared(self) -> None:
        class Free(Module):
            """Writes where it likes."""

            writes = "cache.*"

            def run(self, state: State) -> Any:
                return 1

            def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
                return {"anything": output}

        reader = Does(lambda state: state.cache["anything"] + 1, reads="cache.anything")
        assert run({"free": Free(), "reader": reader}).answer == 2


class TestReads:
    def test_are_all_that_a_module_sees(self) -> None:
        seen: list[State] = []
        module = Does(lambda state: seen.append(state), reads="cache.first, input.topic?")
        first = Does(lambda state: 1, writes="cache.first")
        hidden = Does(lambda state: 2)
        run({"first": first, "hidden": hidden, "module": module})
        (state,) = seen
        assert (dict(state.input), dict(state.cache)) == ({}, {"first": 1})
        assert (state.history, state.plans, state.pending, state.failure, state.begun) == (
            (),
            (),
            (),
            None,
            None,
        )
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


class TestModulesThatFail:
    @pytest.mark.parametrize(
        "problem",
        [ValueError("too bad"), KeyError("x"), ZeroDivisionError(), InputError("odd"), StopIteration()],
    )
    def test_end_the_run_with_their_name_and_the_state_so_far(self, problem: Exception) -> None:
        state = run({"first": lambda state: 1, "breaks": failing(problem), "never": lambda state: 2})
        assert state.ended is not None and state.ended.reason == "failed"
        assert "breaks" in why(state)
        assert (state.program, dict(state.cache), state.answer) == (("first", "breaks"), {"first": 1}, None)

    def test_are_skipped_where_the_inventory_says_so(self) -> None:
        state = run(
            {"breaks": failing(ValueError("no")), "last": lambda state: "done"}, on_error={"breaks": "skip"}
        )
        assert (state.answer, state.program) == ("done", ("breaks", "last"))

    def test_cannot_be_skipped_as_the_last(self) -> None:
        state = run({"first": lambda state: 1, "last": failing(ValueError("no"))}, on_error={"last": "skip"})
        assert state.ended is not None and state.ended.reason == "failed"

    def test_are_replaced_by_another_plan_once(self) -> None:
        modules = {"breaks": failing(ValueError("no")), "other": lambda state: "other"}
        planner = Fixed(["breaks"])
        assert run(modules, planner, on_error={"breaks": ["other"]}).answer == "other"
        assert run(modules, planner, on_error={"breaks": ["breaks"]}).program == ("breaks", "breaks")
        assert run(modules, planner, on_error={"breaks": "fallback"}, fallback=("other",)).answer == "other"
        state = run(modules, planner, on_error={"breaks": "fallback"}, fallback=("breaks",))
        assert state.program == ("breaks", "breaks")

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
                assert "out of reach" in why(state) and state.program == ("polite",)


class TestSetup:
    def test_happens_once_for_many_threads(self) -> None:
        class Slow(Module):
            """Takes long to set up."""

            ups = 0

            def setup(self) -> None:
                time.sleep(0.02)
                type(self).ups += 1

            def run(self, state: State) -> Any:
                return self.ups

        slow = Executor(Inventory("mine", Fixed(["slow"]), {"slow": Slow()}))
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

        flaky = Executor(Inventory("mine", Fixed(["flaky"]), {"flaky": Flaky()}))
        assert "no such device" in why(flaky.run(QUESTION))
        assert flaky.run(QUESTION).answer == "ready"


class TestInventoriesInPython:
    def test_a_module_may_stand_under_two_names(self) -> None:
        echo = Does(lambda state: dict(state.cache))
        state = run({"first": echo, "second": echo})
        assert list(state.cache) == ["first", "second"]

    def test_and_in_two_inventories(self) -> None:
        echo = Does(lambda state: 1)
        first = executor({"first": echo})
        second = executor({"second": echo})
        assert list(first.run(QUESTION).cache) == ["first"]
        assert list(second.run(QUESTION).cache) == ["second"]

    def test_need_a_model_if_a_part_needs_one(self) -> None:
        from chameleon import LLMModule

        class Asks(LLMModule):
            """Asks."""

        with pytest.raises(NoModel, match="the inventory mine asks a model"):
            executor({"asks": Asks()})


def test_a_batch_goes_on_after_an_input_that_does_not_fit() -> None:
    executor = Executor(Inventory.load("tables_offline"))
    table = Table(["a", "b"], [["x", "1"], ["y", "2"]])
    inputs = [{"question": " ", "table": table}, {"question": "How much b does y have?", "table": table}]
    first, second = executor.batch(inputs, workers=2)
    assert first.ended is not None and first.ended.reason == "failed"
    assert first.ended.error is not None and "question is empty" in first.ended.error.message
    assert second.ended is not None and second.ended.reason in ("answered", "declined")


def test_a_problem_that_takes_long_does_not_stop_the_others_of_a_batch() -> None:
    done: list[str] = []
    others_done = threading.Event()

    def work(state: State) -> str:
        name = str(state.input["question"])
        if name == "0":
            assert others_done.wait(30)
        done.append(name)
        if len(done) == 39:
            others_done.set()
        return name

    states = executor({"work": work}).batch(({"question": str(number)} for number in range(40)), workers=2)
    assert [state.answer for state in states] == [str(number) for number in range(40)]
    assert done[-1] == "0"


def test_a_batch_takes_inputs_as_it_needs_them() -> None:
    endless = ({"question": str(number)} for number in itertools.count())
    states = executor({"work": lambda state: state.input["question"]}).batch(endless, workers=4)
    assert [state.answer for state in itertools.islice(states, 5)] == ["0", "1", "2", "3", "4"]
    assert isinstance(states, Generator)
    states.close()


def test_a_log_given_to_a_run_is_written(tmp_path: Path) -> None:
    executor = Executor(Inventory.load("tables_offline"))
    given = {"question": "Which a has the most b?", "table": Table(["a", "b"], [["x", "1"], ["y", "2"]])}
    with EventLog(tmp_path / "log.jsonl") as log:
        state = executor.run(given, log)
    with EventLog(tmp_path / "log.jsonl") as log:
        assert State.fold(log).cache == state.cache and State.fold(log).answer == state.answer
        events = len(log.events)
        assert executor.run(given, log).answer == state.answer
        assert len(log.events) == events, "a run that has ended is only told again"


def test_values_can_be_read_copied_pickled_and_written_but_not_changed() -> None:
    frozen = freeze({"a": [1, {"b": None}]})
    assert json.loads(json.dumps(frozen)) == {"a": [1, {"b": None}]}
    for again in (copy.deepcopy(frozen), pickle.loads(pickle.dumps(frozen)), copy.copy(frozen)):
        assert again == frozen and type(again) is type(frozen)
        with pytest.raises(TypeError, match="read-only"):
            again["c"] = 1
        with pytest.raises(TypeError, match="read-only"):
            again["a"][1].update(b=2)


@pytest.mark.parametrize("given", ["How many?", None, 5, ["question"]])
def test_an_input_that_is_no_mapping_is_told_and_a_batch_goes_on(given: Any) -> None:
    asks = executor({"one": lambda state: 1})
    with pytest.raises(InputError, match="An input is a mapping such as"):
        asks.run(given)
    first, second = asks.batch([given, QUESTION])
    assert why(first).startswith(f"the input is a {type(given).__name__}") and second.answer == 1
