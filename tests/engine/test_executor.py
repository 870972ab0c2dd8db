"""Batches, logs and inventories made in Python."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Generator
from typing import Any

import pytest

from chameleon import Executor, State
from chameleon.errors import InputError, NoModel
from chameleon.llm import LLM
from tests.engine.doubles import QUESTION, Does, executor, run, why


class TestInventoriesInPython:
    def test_a_module_may_stand_under_two_names(self) -> None:
        echo = Does(lambda state: dict(state.cache))
        state = run({"first": echo, "second": echo})
        assert list(state.cache) == ["first", "second"]

    def test_need_a_model_if_a_part_needs_one(self) -> None:
        from chameleon import LLMModule

        class Asks(LLMModule):
            """Asks."""

        with pytest.raises(NoModel, match="the inventory mine asks a model"):
            executor({"asks": Asks()})


def test_a_model_that_is_named_is_asked_as_the_inventory_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    llm = {"model": "openai:other", "retries": 0, "timeout": 9.0, "prices": {"input": 1.0, "output": 2.0}}
    spec = {"name": "mine", "planner": "one_shot", "llm": llm, "modules": {"table_reader": None}}
    asked = Executor(spec, "openai:m1").llm.connected_by
    assert asked.items() >= {"model": "openai:m1", "retries": 0, "timeout": 9.0, "prices": (1, 2)}.items()
    assert Executor(spec, own := LLM.connect("openai:m1")).llm is own


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

    states = executor({"work": work}).map(({"question": str(number)} for number in range(40)), workers=2)
    assert [state.answer for state in states] == [str(number) for number in range(40)]
    assert done[-1] == "0"


def test_a_batch_takes_inputs_as_it_needs_them() -> None:
    endless = ({"question": str(number)} for number in itertools.count())
    states = executor({"work": lambda state: state.input["question"]}).map(endless, workers=4)
    assert [state.answer for state in itertools.islice(states, 5)] == ["0", "1", "2", "3", "4"]
    assert isinstance(states, Generator)
    states.close()


@pytest.mark.parametrize("given", ["How many?", None, 5, ["question"]])
def test_an_input_that_is_no_mapping_is_told_and_a_batch_goes_on(given: Any) -> None:
    asks = executor({"one": lambda state: 1})
    with pytest.raises(InputError, match="An input is a mapping such as"):
        asks.run(given)
    first, second = asks.batch([given, QUESTION])
    assert why(first).startswith("the input is a") and second.answer == 1
