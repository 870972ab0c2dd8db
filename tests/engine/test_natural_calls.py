"""The calls that a user tries first: lists of tools, names, exceptions on request, planners of one's own."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import chameleon
from chameleon import LLM, Executor, Inventory, Module, Plan, Planner, State, Step, tool
from chameleon.core.log import event_from_json, event_to_json
from chameleon.errors import ChameleonError, InventoryError, ModuleError
from chameleon.llm.scripted import ScriptedModel
from chameleon.planners.fixed import Fixed
from chameleon.planners.react import ModelAnswer, MoreTools, React
from tests.e2e.commands import environment

GIVEN = {"question": "What?"}


@tool
def one() -> int:
    """Gives one."""
    return 1


@tool
def broken() -> int:
    """Fails."""
    return 1 // 0


class Two(Module):
    """Gives two."""

    def run(self, state: State) -> int:
        return 2


def model(*replies: Any) -> LLM:
    return LLM.connect(ScriptedModel(list(replies), tools=True))


@pytest.mark.parametrize("given", [[one, Two], (one, Two()), {"one": one, "two": Two()}])
def test_tools_are_given_as_they_are(given: Any) -> None:
    assert [card.name for card in Inventory.of(given).cards] == ["one", "two"]
    assert Executor(given, model('["one", "two"]')).run(GIVEN).answer == 2
    assert Executor(given, model("2."), planner="react").run(GIVEN).answer == "2."
    assert Executor(given, model("2."), planner=React(max_turns=2)).run(GIVEN).answer == "2."


def test_one_tool_is_an_inventory_and_an_inventory_is_itself(tmp_path: Path) -> None:
    assert Executor(one, model('["one"]')).run(GIVEN).answer == 1
    inventory = Inventory.of([one], Fixed(["one"]), name="mine")
    assert Inventory.of(inventory) is inventory and inventory.name == "mine"
    assert str(inventory) == "mine: fixed over one"
    file = tmp_path / "mine.yaml"
    file.write_text("name: mine\nplanner: {use: fixed, plan: final_answer}\nmodules: {final_answer: }\n")
    names = [Executor(given).inventory.name for given in (str(file), file, "tables_offline")]
    assert names == ["mine", "mine", "tables_offline"]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: Inventory.of([]), "there are no tools"),
        (lambda: Inventory.of(3), "3 is an int, not a module. Give a Module, or a function"),
        (lambda: Inventory.of("tabels"), "there is no inventory 'tabels'. Did you mean 'tables'?"),
        (lambda: Inventory.of([one], "reakt"), "there is no planner 'reakt'. Did you mean 'react'?"),
        (lambda: Inventory.of([one], Fixed), "tools: Fixed lacks the parameter 'plan'"),
        (lambda: Fixed([("one", {})]), "('one', {}) is no step. Write a name, or {module: NAME, args"),  # type: ignore[list-item]
        (lambda: Inventory.of([one], 3), "'3' is no planner"),  # type: ignore[arg-type]
        (lambda: Executor("tables", "openai:x", planner="react"), "an inventory has a planner of its own"),
        (lambda: Executor("tables_offline", planner="one_shot"), "an inventory has a planner of its own"),
        (lambda: Inventory.of({"name": "mine", "modules": {}}, "react"), "a planner of its own"),
        (lambda: Inventory.of([tool(one, name="model_answer")], "react"), "that name is the planner's"),
        (lambda: Inventory.of([tool(one, name="more_tools")], "react"), "called more_tools, and that name"),
        (lambda: Executor([one]), "asks a model, and none is configured"),
        (lambda: Executor(Inventory.of([one], Fixed(["one"]))).run("What?"), "the input is a str"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_is_told_in_a_sentence(call: Callable[[], Any], told: str) -> None:
    with pytest.raises(ChameleonError) as caught:
        call()
    assert told in str(caught.value)


def test_names_that_a_planner_brings_are_free_for_others_and_for_its_own_modules() -> None:
    assert "model_answer" in Inventory.of([tool(one, name="model_answer")]).modules
    inventory = Inventory.of([one, MoreTools, ModelAnswer], "react")
    executor = Executor(inventory, LLM.connect(ScriptedModel(["Answer: 1"])))
    assert executor.run({"question": "What?"}).answer == "1"


def test_exceptions_are_raised_where_that_is_asked_for() -> None:
    executor = Executor(Inventory.of([broken], Fixed(["broken"])))
    state = executor.run(GIVEN)
    assert state.ended is not None and state.ended.error is not None
    assert str(state) == f"failed: {state.ended.error} (broken)"
    calls: Sequence[Callable[[], Any]] = (
        lambda: executor.run(GIVEN, raise_errors=True),
        lambda: executor.batch([GIVEN], raise_errors=True),
        lambda: asyncio.run(executor.arun(GIVEN, raise_errors=True)),
        lambda: asyncio.run(executor.abatch([GIVEN], raise_errors=True)),
    )
    for call in calls:
        with pytest.raises(
            ModuleError, match=r"module broken: ZeroDivisionError.*test_natural_calls"
        ) as caught:
            call()
        assert isinstance(caught.value.__cause__, ZeroDivisionError)
    events = [event_from_json(event_to_json(event)) for event in executor.stream(GIVEN)]
    ended = State.fold(events).ended
    assert ended is not None and ended.error is not None
    assert isinstance(ended.error.exception, ModuleError) and ended.error.exception.__cause__ is None


def test_batches_are_lists() -> None:
    executor = Executor(Inventory.of([one], Fixed(["one"])))
    states = executor.batch([GIVEN, {}, GIVEN])
    assert isinstance(states, list) and [state.answer for state in states] == [1, 1, 1]
    assert [state.answer for state in asyncio.run(executor.abatch([GIVEN, GIVEN]))] == [1, 1]
    assert [str(state) for state in states] == ["answered: 1 (one)"] * 3


@pytest.mark.slow
def test_a_traceback_is_printed_where_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "fails.py").write_text("def fails() -> int:\n    return 1 // 0\n")
    (tmp_path / "fails.yaml").write_text(
        'name: fails\nplanner: {use: fixed, plan: [fails]}\nmodules: {fails: "fails:fails"}\n'
    )
    for variable, is_told in ({"CHAMELEON_DEBUG": "1"}, True), ({}, False):
        done = subprocess.run(
            [sys.executable, "-m", "chameleon", "ask", "What?", "--inventory", f"{tmp_path}/fails.yaml"],
            env=environment(**variable),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1 and ("Traceback" in done.stderr) is is_told, done.stderr
        assert "chameleon: module fails: ZeroDivisionError: " in done.stderr


def test_a_planner_that_proposes_what_has_just_run_is_stopped() -> None:
    class Again(Planner):
        def propose(self, state: State, inventory: Inventory) -> list[Step]:
            return [Step("one")]

    ended = Executor(Inventory.of([one], Again())).run(GIVEN).ended
    assert ended is not None and str(ended.error) == (
        "planner again: it proposes one again, which has just run to its end. "
        "Return () from `propose` when there is nothing more to do."
    )


@pytest.mark.parametrize("is_async", [False, True])
def test_a_planner_may_wait(is_async: bool) -> None:
    class Waits(Planner):
        async def propose(self, state: State, inventory: Inventory) -> Sequence[Step]:  # type: ignore[override]
            await asyncio.sleep(0)
            return () if state.plans else [Step("one")]

    executor = Executor(Inventory.of([one], Waits()))
    state = asyncio.run(executor.arun(GIVEN)) if is_async else executor.run(GIVEN)
    assert state.answer == 1


def test_what_is_printed_is_short() -> None:
    assert str(Plan((Step("one"), Step("say", {"what": "$one"})), "me")) == 'one → say (what: "$one")'
    assert set(chameleon.__all__) <= set(dir(chameleon)) and len(chameleon.__all__) <= 20


def test_a_fixed_plan_of_one_module_is_its_name() -> None:
    assert Executor(Inventory.of([one], Fixed("one"))).run(GIVEN).answer == 1
    with pytest.raises(InventoryError, match="at least one module"):
        Fixed([])
