"""What a module is told that reads a key which it does not declare, or which nobody wrote."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from chameleon import Executor, State, Table
from chameleon.core.access import Access
from chameleon.core.events import RunStarted
from chameleon.core.module import Module
from chameleon.errors import NoSuchKey
from chameleon.values import freeze
from tests.engine.doubles import Does, executor, run, why

INPUT = {"question": "How many?", "table": Table(["a"], [["1"]])}


def seen_by(reads: str, **cache: Any) -> State:
    """Return what a module with these `reads` sees."""
    state = State().after(RunStarted("mine", freeze(INPUT))).with_fields(cache=freeze(cache))
    return Access.of(Does(lambda state: 1, reads=reads)).view(state)


ADD = r"reads input.table, which it does not declare\. Add \"input.table\" to its `reads`\. There are: quest"
READS: list[tuple[str, dict[str, Any], Callable[[State], Any], str]] = [
    ("input.question", {}, lambda state: state.input["table"], ADD),
    ("input.question", {}, lambda state: state.input.get("table", 1), ADD),
    ("input.question", {}, lambda state: state.table, ADD),
    ("input.*", {}, lambda state: state.input["tabel"], r"no input.tabel\. Did you mean 'table'\?$"),
    (
        "cache.*",
        {"shop": 1, "city": 2},
        lambda state: state.cache["x"],
        r"x\. There are: city, shop\.$",
    ),
    ("cache.price?", {}, lambda state: state.cache["price"], r"^there is no cache.price$"),
]


@pytest.mark.parametrize(("reads", "cache", "read", "expected"), READS)
def test_a_key_that_is_not_there_or_not_declared_is_named_with_what_to_do(
    reads: str, cache: dict[str, Any], read: Callable[[State], Any], expected: str
) -> None:
    with pytest.raises(NoSuchKey, match=expected):
        read(seen_by(reads, **cache))


@pytest.mark.parametrize(
    ("reads", "expected"),
    [
        (
            "input.question",
            'it reads cache.price, which it does not declare ({}). Add "cache.price" to',
        ),
        (None, "there is no key 'price' ({}). There are: shop"),
    ],
)
def test_a_failed_step_names_the_line_of_the_module(reads: str | None, expected: str) -> None:
    def read(state: State) -> Any:
        return state.cache["price"]

    place = f"test_undeclared_reads.py, line {read.__code__.co_firstlineno + 1}"
    failed = run({"shop": Does(lambda state: 1), "last": Does(read, reads=reads)})
    assert f"module last: {expected.format(place)}" in why(failed)


def test_a_value_names_its_keys_and_no_more_than_twenty_of_them() -> None:
    prices = freeze({f"city {number}": number for number in range(40)})
    with pytest.raises(NoSuchKey, match=r"no key 'x'.*There are: city 0, .*, city 19 …\.$"):
        prices["x"]
    with pytest.raises(NoSuchKey, match=r"It is empty\.$"):
        freeze({})["x"]


def test_what_is_not_there_can_be_asked_for_as_in_any_dictionary() -> None:
    state = seen_by("input.question, cache.price?")
    assert state.cache.get("price") is None and state.cache.get("nobody", 3) == 3
    assert "table" not in state.input and dict(state.input) == {"question": "How many?"}
    assert state.input.get("question") == "How many?"
    with pytest.raises(KeyError):
        state.input["table"]
    assert pickle.loads(pickle.dumps(state.input)) == {"question": "How many?"}
    assert str(pickle.loads(pickle.dumps(NoSuchKey("no", hint="yes")))) == "no. yes"


def test_a_module_sees_the_same_in_its_updates() -> None:
    class Shop(Module):
        reads = "input.question"

        def run(self, state: State) -> Any:
            return 1

        def update_cache(self, cache: Any, output: Any) -> Any:
            return {"shop": cache["city"]}

    told = why(run({"city": Does(lambda state: "Rome"), "shop": Shop()}))
    assert "module shop: it reads cache.city, which it does not declare" in told


def test_what_has_run_before_does_not_matter_to_who_does_not_declare_it() -> None:
    """One after the other, side by side and in a run that goes on: a module sees the same."""
    asks = Does(lambda state: state.cache.get("city", "none"), reads="input.question")
    modules = {"city": Does(lambda state: "Rome", reads="input.question"), "asks": asks}
    inventory = executor(modules).inventory
    for runs in (Executor(inventory), Executor(inventory, parallel=False)):
        events = list(runs.stream({"question": "Where?"}))
        for length in range(len(events)):
            assert runs.run({"question": "Where?"}, events[:length]).answer == "none"
