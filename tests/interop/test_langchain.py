"""Inventories in LangChain: as a runnable, a node of a graph, a tool, and a tool of an agent."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool as langchain_tool

from chameleon import Executor, Inventory, State, Table, tool
from chameleon.errors import ChameleonError, Declined, InputError, ModuleError
from chameleon.interop.langchain import as_runnable, as_tool
from chameleon.planners.fixed import Fixed
from chameleon.table import read_table
from tests.e2e.commands import ROOT

CSV = "Team,Points\nKingsmere Town,47\nHarrow,12\n"
HOW_MANY = "How many points does Kingsmere Town have?"
LOVELIEST = "Which team plays the loveliest football?"


@pytest.fixture(scope="module")
def league() -> Table:
    return read_table(ROOT / "demos/data/league.csv")


@pytest.fixture(scope="module")
def executor() -> Executor:
    return Executor("tables_offline")


def of(module: Any) -> Executor:
    return Executor(Inventory("mine", Fixed([module.name]), {module.name: module}))


def test_a_runnable_runs_sync_and_async(executor: Executor, league: Table) -> None:
    runnable, given = as_runnable(executor), {"question": HOW_MANY, "table": league}
    output = runnable.invoke(given)
    assert runnable.get_name() == "tables_offline"
    assert output.pop("usage")["calls"] == 0 and output.pop("sources")[0]["rows"] == [1]
    assert output.pop("reading") == "Points where Team is Kingsmere Town"
    assert output == {"answer": "47", "ended": "answered", "program": ["table_reader", "final_answer"]}

    async def later() -> list[Any]:
        parts = [part async for part in runnable.astream(given)]
        return [await runnable.ainvoke(given), *await runnable.abatch([given] * 3), parts]

    *outputs, parts = asyncio.run(later())
    assert [each["answer"] for each in outputs] == ["47"] * 4
    assert list(runnable.stream(given)) == parts == [runnable.invoke(given)]


def test_a_question_alone_is_an_input_and_a_runnable_is_part_of_a_chain() -> None:
    @tool
    def shout(state: State) -> str:
        """Shouts."""
        return str(state.input["question"]).upper()

    chain = as_runnable(of(shout)) | RunnableLambda(lambda output: output["answer"])
    assert chain.invoke("hello") == "HELLO" and chain.batch(["a", "b"]) == ["A", "B"]


def test_what_is_not_answered_is_raised(executor: Executor, league: Table) -> None:
    @tool
    def fail() -> str:
        """Fails."""
        raise RuntimeError("broken")

    @tool(requires_approval=True)
    def save() -> str:
        """Saves."""
        return "saved"

    good, bad = {"question": HOW_MANY, "table": league}, {"question": LOVELIEST, "table": league}
    wrong: list[Any] = [
        (of(fail), {"question": "?"}, ModuleError, "broken"),
        (executor, bad, Declined, "not understood: loveliest"),
        (executor, {"question": HOW_MANY, "tabel": league}, InputError, "needs a table"),
        (executor, 3, InputError, "the input is an int"),
        (of(save), {"question": "?"}, ChameleonError, "save"),
    ]
    for one, given, kind, said in wrong:
        runnable = as_runnable(one)
        with pytest.raises(kind, match=said):
            runnable.invoke(given)
        with pytest.raises(kind, match=said):
            asyncio.run(runnable.ainvoke(given))
        with pytest.raises(kind, match=said):
            list(runnable.stream(given))
    found = as_runnable(executor).batch([good, bad], return_exceptions=True)
    assert found[0]["answer"] == "47" and isinstance(found[1], Declined)


def test_a_tool_has_the_input_as_its_arguments(executor: Executor, league: Table) -> None:
    made, args = as_tool(executor), {"question": HOW_MANY, "table": CSV}
    assert made.name == "tables_offline" and made.description == executor.inventory.about
    assert made.args.keys() == executor.inventory.input_types.keys()
    assert made.invoke(args) == asyncio.run(made.ainvoke(args)) == "47"
    call = {"type": "tool_call", "id": "1", "name": made.name, "args": args}
    message = made.invoke(call)
    assert isinstance(message, ToolMessage) and message.artifact["program"][0] == "table_reader"
    fixed = as_tool(executor, name="league", description="Asks the league.", given={"table": league})
    assert (
        fixed.name == "league" and "table" not in fixed.args and fixed.invoke({"question": HOW_MANY}) == "47"
    )
    for one, wrong, said in (
        (fixed, {"question": LOVELIEST}, "these words were not understood"),
        (fixed, {"question": HOW_MANY, "tabel": CSV}, "takes no tabel"),
        (fixed, args, "takes no table"),
        (made, {"question": HOW_MANY, "table": "demos/data/league.csv"}, "Files are not read here"),
    ):
        asked = {**call, "args": wrong}
        for result in (one.invoke(asked), asyncio.run(one.ainvoke(asked))):
            assert result.status == "error" and said in result.content
    with pytest.raises(InputError, match="takes no tabel"):
        as_tool(executor, given={"tabel": league})


def test_a_tool_of_langchain_inside_belongs_to_the_run_outside() -> None:
    @langchain_tool
    def double(x: int) -> int:
        """Doubles."""
        return 2 * x

    seen: list[Any] = []

    class Nested(BaseCallbackHandler):
        def on_tool_start(self, serialized: Any, input_str: str, **more: Any) -> None:
            seen.append(more["parent_run_id"])

    plan = Fixed([{"module": "double", "args": {"x": 4}}])
    runnable = as_runnable(Executor(Inventory.of([double], planner=plan)))
    assert runnable.invoke("?", {"callbacks": [Nested()]})["answer"] == 8 and len(seen) == 1
