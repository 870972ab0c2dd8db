"""Plans held to a schema, or in text, and modules of your own in them."""

import json
from typing import Any

import pytest
from pytest import LogCaptureFixture

from chameleon import LLM, Executor, Inventory, Module, Table, tool
from chameleon.core.llm_module import _IN_FORM
from tests.llm.asking import calling
from tests.loopback import Answer, Fault, Reply, Start

TABLE = Table(["Team", "Points"], [["Red", "9"], ["Blue", "7"], ["Ash", "12"]])
ASKED = {"question": "Which team has 12 points?", "table": TABLE}
REFUSED = Fault(400, {"error": {"message": "Invalid parameter: 'response_format' of type 'json_schema'"}})


def in_form(request: dict[str, Any]) -> str:
    """Reply as a model does that keeps to the schema, and in text where none is asked for."""
    form = request.get("response_format", {}).get("json_schema", {}).get("schema", {}).get("properties", {})
    prompt = request["messages"][-1]["content"]
    if "modules" in form or prompt.endswith("Modules:"):
        plan = ["solution_generator", "answer_generator"]
        return json.dumps({"modules": plan} if form else plan)
    if "next" in form:
        offered = form["next"]["enum"]
        return json.dumps({"next": "sort_by" if "sort_by" in offered else "end"})
    if "order" in form:
        return json.dumps({"column": "Points", "order": "large to small", "datatype": "number"})
    return "Ash has 12 points. The answer is Ash." if "Solution:" in prompt else "The answer is: Ash"


def run(inventory: str, model: str, loopback: Start, reply: Any) -> tuple[Any, list[dict[str, Any]]]:
    server = loopback(reply)
    llm = LLM.connect(model, base_url=server.url, api_key="k")
    return Executor(Inventory.load(inventory), llm).run(ASKED), server.requests


def test_a_plan_is_held_to_the_modules(loopback: Start) -> None:
    state, requests = run("tables", "openai:gpt-4.1-mini", loopback, in_form)
    assert state.answer == "Ash"
    assert list(state.executed_names) == ["solution_generator", "answer_generator"]
    form = requests[0]["response_format"]["json_schema"]
    offered = form["schema"]["properties"]["modules"]["items"]["enum"]
    assert offered == ["program_generator", "solution_generator", "answer_generator"]
    assert form["strict"] and requests[0]["messages"][0]["content"].endswith(_IN_FORM)
    assert "response_format" not in requests[1]  # a solution is text


@pytest.mark.parametrize(
    ("refusal", "told"),
    [
        (None, "ignored a schema"),
        (REFUSED, "refused a schema"),
        (Fault(500, {"error": {"message": "assertion failed"}}), "refused a schema"),
        (Reply(""), "refused a schema"),
    ],
)
def test_a_schema_is_tried_once(
    refusal: Answer | None, told: str, loopback: Start, caplog: LogCaptureFixture
) -> None:
    plan = "solution_generator -> answer_generator"

    def reply(request: dict[str, Any]) -> Answer:
        if "response_format" in request:
            return refusal or plan
        return plan if request["messages"][-1]["content"].endswith("Modules:") else in_form(request)

    server = loopback(reply)
    executor = Executor(Inventory.load("tables"), LLM.connect("openai:local", retries=0))
    for _ in range(2):
        state = executor.run(ASKED)
        assert state.answer == "Ash", state.ended
    assert [n for n, asked in enumerate(server.requests) if "response_format" in asked] == [0]
    assert caplog.text.count(told) == 1 and len(server.requests) == 4 + bool(refusal)


@tool
def weather(city: str) -> dict[str, Any]:
    """Tells the weather in a city now: `sky`, and `temp` in degrees Celsius."""
    return {"sky": "rain", "temp": {"Oslo": 4, "Rome": 19}[city]}


CALLS = [
    {"module": "weather", "args": {"city": "Oslo"}},
    {"module": "convert", "args": {"celsius": "$weather.temp", "to": "F"}},
]
HELD = json.dumps({"steps": CALLS})
IN_WORDS = 'weather(city: "Oslo") → convert(celsius: "$weather.temp", to: "F")'


@pytest.mark.parametrize("takes", [True, False])
def test_native_tools_are_tried_once(takes: bool, loopback: Start) -> None:
    def reply(request: dict[str, Any]) -> Answer:
        said = [each["content"] for each in request["messages"]]
        if takes and len(said) < 3:
            return calling(("weather", '{"city": "Oslo"}'))
        if takes or "rain" in str(said):
            return "Answer: 4"
        return json.dumps(CALLS[:1]) if "tools" not in request else "I would look it up."

    server = loopback(reply)
    executor = Executor(Inventory.of([weather], "react"), LLM.connect("openai:local"))
    for _ in range(3):
        assert executor.run({"question": "How warm is Oslo?"}).answer == "4"
    tried = ["tools" in asked for asked in server.requests]
    assert tried == ([True] * 6 if takes else [True, False, False] * 2 + [False] * 2)


def test_operations_and_their_arguments_are_held_to_what_the_table_has(loopback: Start) -> None:
    state, requests = run("chain_of_table", "openai:gpt-4.1-mini", loopback, in_form)
    assert list(state.answer) == ["Ash"], state.ended
    assert [link["call"] for link in state.cache["chain"]] == ["f_sort_by(Points, large to small)"]
    forms = [asked["response_format"]["json_schema"] for asked in requests if "response_format" in asked]
    assert [form["name"] for form in forms] == ["operation", "arguments"]
    assert forms[1]["schema"]["properties"]["column"]["enum"] == ["Team", "Points"] and forms[1]["strict"]


STOPS = Table(["Stop", "Arrives"], [["market", "12:10"], ["station", "12:25"]])
FACT = "The bus waits ten minutes."


class BusFacts(Module):
    """Tells facts about the bus company. For questions about buses."""

    def run(self, state: Any) -> str:
        return FACT


@pytest.mark.parametrize(
    ("inventory", "plan"),  # a fixed one where no model plans
    [
        ("tables", ""),
        ("tabmwp", ""),
        ("pictures", ""),
        ("wikitq_pot", "program_generator program_executor table_answer"),
        ("wikitq_text_to_sql", "sql_generator sql_executor"),
        ("wikitq_end_to_end", "table_query"),
    ],
)
def test_what_it_finds_changes_the_answer(loopback: Start, inventory: str, plan: str) -> None:
    def reply(request: dict[str, Any]) -> str:
        prompt = request["messages"][-1]["content"]
        if prompt.rstrip().endswith("Modules:"):
            way = "program" if inventory == "tables" else "solution"  # as it stands in no cell
            return json.dumps(["bus_facts", f"{way}_generator", "answer_generator"])
        time = "12:35" if FACT in prompt else "12:25"
        said = {"wikitq_pot": f'ans = "{time}"', "wikitq_text_to_sql": f"SELECT '{time}'"}
        said["tables"] = f'ans = max("12:10", "{time}")'
        return said.get(inventory, f"The answer is {time}.")

    loopback(reply)
    planner = {"planner": {"use": "fixed", "plan": ["bus_facts", *plan.split()]}} if plan else {}
    mine = {"name": "mine", "extends": inventory, "modules": {"bus_facts": BusFacts}, **planner}
    given = {"text": "It arrives at 12:25."} if inventory == "pictures" else {"table": STOPS}
    state = Executor(Inventory.parse(mine), LLM.connect("openai:local")).run({"question": "When?", **given})
    assert "12:35" in str(state.answer) and "bus_facts" in state.plan, state.ended
