"""The calls that a user tries first: lists of tools, names, exceptions on request, planners of one's own."""

from __future__ import annotations

import asyncio
import copy
import pickle
import pydoc
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import chameleon
from chameleon import (
    LLM,
    Executor,
    Inventory,
    Module,
    Plan,
    Planner,
    State,
    Step,
    Table,
    ask,
    read_table,
    tool,
)
from chameleon.core.log import event_from_json, event_to_json
from chameleon.errors import ChameleonError, InputError, InventoryError, ModuleError
from chameleon.llm.scripted import ScriptedModel
from chameleon.planners.fixed import Fixed
from chameleon.planners.react import ModelAnswer, MoreTools, React
from tests.e2e.commands import environment
from tests.test_floors import ROOT, public_names

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
    shown = pydoc.plain(pydoc.render_doc(chameleon))
    assert all(name in shown for name in public_names()) and shown.count("\n") <= 80, "two screens"


def test_what_is_public_shows_itself_in_a_line() -> None:
    inventory = Inventory.of([one], Fixed("one"))
    state = copy.copy(Executor(inventory)).run(GIVEN)
    with pytest.raises(TypeError, match="not pickled: make one in each process"):
        pickle.dumps(Executor(inventory))
    shown = [inventory, Executor(inventory), state, state.plans[0], state.history[0], inventory.planner, one]
    assert [repr(each) for each in shown] == [
        "<Inventory tools: fixed over one>",
        "<Executor tools: fixed over one>",
        "<State answered: 1 (one)>",
        "<Plan proposed by fixed: one>",
        "<StepRecord one: 1>",
        "<planner fixed>",
        "<tool one()>",
    ]
    long = Executor(Inventory.of([tool(lambda: "x" * 9_999, name="long")], Fixed("long"))).run(GIVEN)
    assert len(repr(long)) < 400


LEAGUE = ROOT / "demos" / "data" / "league.csv"
MOST = "Which team has the most points?"


@pytest.mark.parametrize("given", [str(LEAGUE), LEAGUE, read_table(LEAGUE), read_table(LEAGUE).to_pandas()])
def test_one_line_asks_a_table(given: object) -> None:
    state = ask(MOST, given)
    assert (state.status, state.answer, state.why) == ("answered", "Kingsmere Town", "")
    assert state.reading and state.sources[0]["columns"] == ("Team", "Points")


def test_records_are_a_table_and_what_is_not_there_is_declined() -> None:
    records = [{"fruit": "apple", "price": 2}, {"fruit": "pear", "price": 3}]
    assert ask("What is the total price?", records).answer == "5"
    state = ask("Will it rain?", records)
    assert (state.status, state.answer) == ("declined", None) and "rain" in state.why
    with pytest.raises(InputError, match=r"Table\.from_records takes rows of any values"):
        Table(["price"], [[2]])  # type: ignore[list-item]


def test_progress_is_shown_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    executor = Executor(Inventory.of([one], Fixed("one")))
    states = executor.batch(iter([GIVEN] * 3), progress=True)
    assert [state.answer for state in states] == [1, 1, 1]
    assert capsys.readouterr().out == ""
    with pytest.raises(InputError, match="this is one input, not many"):
        executor.batch(GIVEN)  # type: ignore[arg-type]


def test_shipped_tools_are_imported_by_their_class_from_their_family() -> None:
    from chameleon.modules.lookup import RowLookup

    assert RowLookup().name == "row_lookup"
    with pytest.raises(ImportError, match="NoTool"):
        from chameleon.modules.lookup import NoTool  # noqa: F401


class Deletes(Module):
    """Deletes."""

    reads = ()

    def run(self, state: State) -> str:
        return "deleted"


class InProperty(Deletes):
    @property
    def asks(self) -> str:
        return "approval"


@pytest.mark.parametrize("given", [type("InClass", (Deletes,), {"asks": "approval"}), InProperty])
def test_an_attribute_under_its_old_name_is_refused(given: type[Module]) -> None:
    with pytest.raises(InventoryError, match=r"'asks'\. It is now called 'requires_approval'"):
        Inventory.of([given], Fixed("one"))
    with pytest.raises(InventoryError, match=r"'whole'\. It is now called 'returns_full_plan'"):
        Inventory.of([one], type("InParts", (Fixed,), {"whole": False})("one"))


def test_old_keys_of_an_entry_are_read_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    entry = {"use": Deletes, "asks": "approval", "at_most": 2}
    made = Inventory.parse(
        {"name": "m", "planner": {"use": "fixed", "plan": ["own"]}, "modules": {"own": entry}}
    )
    assert (made.modules["own"].requires_approval, made.modules["own"].max_runs) == (True, 2)
    assert sum("version 0.3" in each.getMessage() for each in caplog.records) == 2
    with pytest.raises(InventoryError, match="asks is 'aproval'"):
        Inventory.parse({"name": "m", "modules": {"own": {**entry, "asks": "aproval"}}})


def test_a_module_may_have_what_a_planner_once_had() -> None:
    assert Inventory.of([one, type("Own", (Deletes,), {"brings": 3, "whole": True})], Fixed("one"))
    with pytest.raises(InventoryError, match=r"'brings'\. It is now called 'extra_modules'"):
        Inventory.of([one], type("Own", (Fixed,), {"brings": {}})("one"))


def test_a_planner_that_proposes_what_has_just_run_is_stopped() -> None:
    class Again(Planner):
        def propose(self, state: State, inventory: Inventory) -> list[Step]:
            return [Step("one")]

    ended = Executor(Inventory.of([one], Again())).run(GIVEN).ended
    assert ended is not None and ended.error is not None
    assert "it proposes one again, which has just run to its end" in ended.error.message


def test_a_fixed_plan_of_one_module_is_its_name() -> None:
    assert Executor(Inventory.of([one], Fixed("one"))).run(GIVEN).answer == 1
    with pytest.raises(InventoryError, match="at least one module"):
        Fixed([])
