"""Inventories in LangChain, as runnables and tools; and LangChain's tools as modules."""

import asyncio
import threading
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, InjectedToolArg, InjectedToolCallId, StructuredTool, tool
from langchain_core.tools import ToolException as Told
from langgraph.prebuilt import InjectedState, ToolRuntime
from pydantic import BaseModel, Field

import chameleon
from chameleon import Executor, Inventory, State, Table
from chameleon.errors import ChameleonError, Declined, InputError, InventoryError, ModuleError
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


def test_what_is_not_answered_is_raised(executor: Executor, league: Table) -> None:
    @chameleon.tool
    def fail() -> str:
        """Fails."""
        raise RuntimeError("broken")

    @chameleon.tool(requires_approval=True)
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
    fixed = as_tool(executor, name="league", description="Asks the league.", fixed_inputs={"table": league})
    assert fixed.name == "league" and "table" not in fixed.args
    assert fixed.invoke({"question": HOW_MANY}) == "47"
    for one, wrong, said in (
        (fixed, {"question": LOVELIEST}, "these words were not understood"),
        (fixed, {"question": HOW_MANY, "tabel": CSV}, "does not take tabel"),
        (fixed, args, "does not take table"),
        (made, {"question": HOW_MANY, "table": "demos/data/league.csv"}, "Files are not read here"),
    ):
        asked = {**call, "args": wrong}
        for result in (one.invoke(asked), asyncio.run(one.ainvoke(asked))):
            assert result.status == "error" and said in result.content
    with pytest.raises(InputError, match="does not take tabel"):
        as_tool(executor, fixed_inputs={"tabel": league})


def test_a_tool_of_langchain_inside_belongs_to_the_run_outside() -> None:
    @tool
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


@tool
def convert(amount: float, to: str = "F") -> float:
    """Converts a temperature."""
    return amount * 9 / 5 + 32 if to == "F" else amount + 273.15


@tool
async def wait_for(city: str) -> dict:
    """Tells the weather of a city."""
    await asyncio.sleep(0)
    return {"city": city, "thread": threading.current_thread().name}


@tool
def of_state(x: int, held: Annotated[dict, InjectedState]) -> int:
    """Tells."""
    return x


class Rows(BaseModel):
    city: str = Field(description="in English")
    most: int = 3


class Lookup(BaseTool):
    name: str = "row-lookup"
    description: str = "Looks rows up."
    args_schema: type[BaseModel] = Rows
    extra: str = ""

    def _run(self, city: str, most: int = 3) -> list[Document]:
        return [Document(f"{self.extra}{city} {place}") for place in range(most)]


class Later(Lookup):
    name: str = "later"

    def _run(self, city: str, most: int = 3) -> list[Document]:
        raise NotImplementedError("use arun")

    async def _arun(self, city: str, most: int = 3) -> list[Document]:
        return [Document(city)]


class NotLater(Lookup):
    name: str = "not_later"

    async def _arun(self, city: str, most: int = 3) -> list[Document]:
        raise NotImplementedError("it is not async")


class Nothing(BaseModel):
    """Takes nothing."""


class Even(BaseModel):
    number: int = Field(multiple_of=2)


def half(number: int) -> int:
    """Halves."""
    return number // 2


HALF = StructuredTool.from_function(half, args_schema=Even)


def card_of(given: Any) -> Any:
    (card,) = Inventory.of(given, planner=Fixed(["x"])).cards
    return card


def run(given: Any, args: dict[str, Any] | None = None, *, later: bool = False) -> State:
    step = {"module": card_of([given]).name, **({"args": args} if args is not None else {})}
    executor = Executor(Inventory.of([given], planner=Fixed([step])))
    question = {"question": "Well?"}
    return asyncio.run(executor.arun(question)) if later else executor.run(question)


@pytest.mark.parametrize("later", [False, True])
def test_a_tool_of_a_function_is_a_module_with_its_arguments(later: bool) -> None:
    for given in (convert, [convert]):
        card = card_of(given)
        assert (card.name, card.description) == ("convert", "Converts a temperature.")
        assert card.signature == '(amount: number, to: string = "F")'
    assert run(convert, {"amount": 20}, later=later).answer == 68
    assert run(convert, {"amount": 20, "to": "K"}, later=later).answer == 293.15
    found = run(wait_for, {"city": "Oslo"}, later=later).answer  # in the caller's loop, or without one
    assert found["city"] == "Oslo" and (not later or found["thread"] == threading.main_thread().name)


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("given", [Lookup(), Later(), NotLater()])
def test_a_tool_of_a_class_runs_sync_and_async(given: BaseTool, later: bool) -> None:
    found = run(given, {"city": "Oslo", "most": 1}, later=later)
    assert found.answer[0]["page_content"].startswith("Oslo")
    assert found.history[0].step.module in ("row_lookup", "later", "not_later")


@tool
def find(city: str) -> str:
    """Finds a city."""
    raise Told("there is no Atlantis") if city == "Atlantis" else RuntimeError("secret")


@pytest.mark.parametrize(
    ("given", "args", "said"),
    [
        (convert, {}, "convert is missing the argument 'amount'"),
        (convert, {"amount": 1, "form": "K"}, "convert takes no argument 'form'"),
        (convert, {"amount": "hot"}, "the argument amount of convert is 'hot'"),
        (HALF, {"number": 3}, "the argument number of half is '3'"),
        (find, {"city": "Atlantis"}, "StepRejected"),
        (find, {"city": "Oslo"}, "it failed"),
    ],
)
def test_what_a_plan_gives_is_checked_and_exceptions_are_told(given: Any, args: Any, said: str) -> None:
    state = run(given, args)
    error = state.ended and state.ended.error
    assert error and said in f"{error.kind} {error} {error.reason}"


KINDS = [Annotated[dict, InjectedState], Annotated[str, InjectedToolCallId], Annotated[str, InjectedToolArg]]


@pytest.mark.parametrize("kind", [*KINDS, ToolRuntime])
def test_what_only_an_agent_can_give_is_refused_at_once(kind: Any) -> None:
    def tells(x: int, runtime: Any) -> int:
        """Tells."""
        return x

    tells.__annotations__["runtime"] = kind
    with pytest.raises(InventoryError, match="tells needs runtime, which only an agent of LangChain"):
        Inventory.of([tool(tells)])


def test_a_schema_in_json_makes_the_arguments() -> None:
    def read(**given: Any) -> dict[str, Any]:
        return given

    parts = {"path": {"type": "string", "description": "of the file"}, "head": {"type": "integer"}}
    schema = {"type": "object", "properties": parts, "required": ["path"]}
    made = StructuredTool(name="read", description="Reads.", args_schema=schema, func=read)
    assert card_of([made]).notes == {"path": "of the file"}
    assert run(made, {"path": "a"}).answer == {"path": "a"}
    assert "read takes no argument 'pth'" in str(run(made, {"path": "a", "pth": "b"}).ended)


BLOCKS = [{"type": "text", "text": "It is warm."}, {"type": "image", "url": "x"}]


@pytest.mark.parametrize(
    ("output", "held"),
    [
        ("frame", Table(["city", "people"], [["Oslo", "7"]])),
        (BLOCKS, 'It is warm.\n{"type": "image", "url": "x"}'),
        (Rows(city="Oslo"), {"city": "Oslo", "most": 3}),
        ({"a": (1, 2)}, {"a": (1, 2)}),
        (None, None),
        (("2 rows", object()), "2 rows"),  # content and an artifact
    ],
)
def test_results_are_held_as_text_json_and_tables(output: Any, held: Any) -> None:
    def give() -> Any:
        """Gives."""
        if output == "frame":
            return pytest.importorskip("pandas").DataFrame({"city": ["Oslo"], "people": [7]})
        return output

    kind = "content_and_artifact" if held == "2 rows" else "content"
    made = StructuredTool.from_function(give, args_schema=Nothing, response_format=kind)
    assert run(made).history[0].output == held


OWN = """
from tests.interop.test_langchain import Lookup, convert, of_state, wait_for
both = [convert, wait_for]
bad = [of_state]
"""
ENTRIES = {
    '{warm: "own:convert"}': ["warm"],
    '{several: {use: "own:both", prefix: lc_}}': ["lc_convert", "lc_wait_for"],
    '{several: {use: "own:both", tools: [convert]}}': ["convert"],
    '{rows: {use: "own:Lookup", extra: "<"}}': ["rows"],
}
WRONG = {
    '{warm: {use: "own:convert", to: K}}': "own:convert takes no parameter",
    '{several: {use: "own:bad"}}': "needs held, which only an agent",
}


def test_an_entry_of_a_file_names_a_tool_a_list_or_a_class(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN, "utf-8")
    file = tmp_path / "mine.yaml"
    for entry, names in ENTRIES.items():
        plan = f"{{use: fixed, plan: [{{module: {names[-1]}, args: {{city: Oslo}}}}]}}"
        file.write_text(f"name: mine\nplanner: {plan}\nmodules: {entry}\n", "utf-8")
        inventory = Inventory.load(file)
        assert list(inventory.modules) == names
    assert Executor(inventory).run({"question": "?"}).answer[0]["page_content"] == "<Oslo 0"
    for entry, said in WRONG.items():
        file.write_text(f"name: mine\nplanner: one_shot\nmodules: {entry}\n", "utf-8")
        with pytest.raises(InventoryError, match=said) as caught:
            Inventory.load(file)
        assert "mine.yaml:3: modules." in caught.value.where
