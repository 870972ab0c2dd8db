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
from chameleon.errors import ModuleError, NoSuchKey
from chameleon.values import freeze
from tests.engine.doubles import Does, executor, run, why

INPUT = {"question": "How many?", "table": Table(["a"], [["1"]])}
FILE = "test_undeclared_reads.py"


def seen_by(reads: str, **cache: Any) -> State:
    """Return what a module with these `reads` sees."""
    state = State().after(RunStarted("mine", freeze(INPUT))).with_fields(cache=freeze(cache))
    return Access.of(Does(lambda state: 1, reads=reads)).view(state)


@pytest.mark.parametrize(
    "read",
    [
        lambda state: state.input["table"],
        lambda state: state.input.get("table"),
        lambda state: state.input.get("table", 1),
        lambda state: state.table,
    ],
)
def test_a_key_that_is_not_declared_is_told_with_what_to_add(read: Callable[[State], Any]) -> None:
    with pytest.raises(ModuleError) as told:
        read(seen_by("input.question"))
    assert told.value.what.startswith(f"it reads input.table, which it does not declare ({FILE}, line ")
    assert told.value.hint == 'Add "input.table" to its `reads`. There are: question.'


def test_the_line_of_the_module_is_told() -> None:
    def reads(state: State) -> Any:
        return state.cache["price"]

    line = reads.__code__.co_firstlineno + 1
    assert why(run({"shop": Does(lambda state: 1), "last": Does(reads, reads="input.question")})) == (
        f"module last: it reads cache.price, which it does not declare ({FILE}, line {line}). "
        'Add "cache.price" to its `reads`.'
    )


def test_a_key_that_nobody_wrote_is_told_with_those_that_there_are() -> None:
    with pytest.raises(NoSuchKey, match=r"there is no input.tabel \(.*\)\. Did you mean 'table'\?"):
        seen_by("input.*").input["tabel"]
    with pytest.raises(NoSuchKey, match=r"there is no cache.nobody \(.*\)\. There are: city, shop\."):
        seen_by("cache.*", shop=1, city=2).cache["nobody"]
    with pytest.raises(NoSuchKey, match=r"there is no cache.price \(.*, line \d+\)$"):
        seen_by("cache.price?").cache["price"]
    everything = why(run({"shop": Does(lambda state: state.input["tabel"])}))  # it declares nothing
    assert f"module shop: there is no key 'tabel' ({FILE}, line " in everything
    assert everything.endswith("There are: question.")


def test_a_value_names_its_keys_and_no_more_than_twenty_of_them() -> None:
    prices = freeze({f"city {number}": number for number in range(40)})
    with pytest.raises(NoSuchKey, match=r"no key 'x' .*There are: city 0, .*, city 19 …\.$"):
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
