"""Plans and replies: held to a schema or in text, malformed, of small models, with modules of your own."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pytest import LogCaptureFixture

from chameleon import LLM, Executor, Inventory, Module, State, Step, Table, tool
from chameleon.core.llm_module import _REMINDER
from chameleon.core.planner import check_plan
from chameleon.errors import PlanError
from chameleon.inventory import shipped_inventories
from chameleon.llm import ResponseStore, ScriptedModel
from tests.e2e.problems import make_problems, table
from tests.e2e.rule_model import PROGRAM, SOLUTION, RuleModel, outline, tabmwp
from tests.llm.asking import calling
from tests.loopback import Answer, Fault, Reply, Start

TABLE = Table(["Team", "Points"], [["Red", "9"], ["Blue", "7"], ["Ash", "12"]])
ASKED = {"question": "Which team has 12 points?", "table": TABLE}
REFUSED = Fault(400, {"error": {"message": "Invalid parameter: 'response_format' of type 'json_schema'"}})


def in_form(request: dict[str, Any]) -> str:
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
    assert form["strict"] and requests[0]["messages"][0]["content"].endswith(_REMINDER)
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


class FirstRow(Module):
    """Keeps the first row: its hooks return whole mappings, as in the paper."""

    def run(self, state: Any) -> Table:
        return state.table.take_rows([0])

    def update_input(self, input: Any, output: Any) -> Any:
        return {**input, "table": output}

    def update_cache(self, cache: Any, output: Any) -> Any:
        return {**cache, "knowledge": "One row was kept.", "gone": None}


def test_hooks_may_return_the_whole_mapping() -> None:
    model = ScriptedModel(['["first_row", "solution_generator", "answer_generator"]', "The answer is 1."])
    inventory = Inventory.parse({"name": "mine", "extends": "tabmwp", "modules": {"first_row": FirstRow}})
    state = Executor(inventory, LLM.connect(model)).run({"question": "How many?", "table": STOPS})
    assert len(state.table.rows) == 1 and state.history[0].input_changes.keys() == {"table"}
    assert "Knowledge: One row was kept.\n" in (prompt := model.requests[-1][-1][1]) and "Gone" not in prompt


COUNT = 27
OF_ONE_RUN = ("seconds", "at", "cached", "usage", "attempts")
PROBLEM = make_problems(8)[7]
BY_PROGRAM, BY_SOLUTION = json.dumps(PROGRAM), json.dumps(SOLUTION)


@pytest.mark.slow
def test_many_workers_and_a_replay_come_to_the_results_of_one(loopback: Start, tmp_path: Path) -> None:
    problems, path = make_problems(COUNT), tmp_path / "replies.sqlite"
    alone = loopback(RuleModel())
    sequential = [tabmwp().run(problem) for problem in problems]
    beside = loopback(model := RuleModel(delay=0.02))
    together = list(tabmwp(store=ResponseStore(path)).batch(problems, workers=16))
    assert [*map(outline, sequential)] == [*map(outline, together)] and len(together) == COUNT
    assert alone.peak == 1 and beside.peak > 1
    assert sorted(map(json.dumps, alone.requests)) == sorted(map(json.dumps, beside.requests))
    used = [state.usage for state in together]
    assert sum(usage.calls for usage in used) == len(beside.requests)
    assert (sum(u.input_tokens or 0 for u in used), sum(u.output_tokens or 0 for u in used)) == model.tokens
    assert {usage.cost for usage in used} == {None}, "this server names no price: unknown is not 0"
    beside.stop()
    replayed = list(tabmwp(store=ResponseStore(path, "replay")).batch(problems, workers=16))
    for one, other in zip(together, replayed, strict=True):
        assert outline(one, OF_ONE_RUN) == outline(other, OF_ONE_RUN) and other.usage.calls == 0


@pytest.mark.parametrize(
    ("plan", "fault"),
    [
        ("I would look the price up and subtract.", "no list of modules"),
        (json.dumps([*PROGRAM[:1], *PROGRAM[2:]]), "followed directly by program_verifier"),
        (json.dumps([*["row_lookup"] * 2, *SOLUTION]), "row_lookup occurs 2 times, but it may"),
        (json.dumps(["row_lookup"] * 10_000 + [*SOLUTION]), "a plan has a line or two"),
        ("__import__('os').system('echo [x]')", "there is no module 'x'"),
    ],
    ids=["prose alone", "no verifier", "a lookup twice", "ten thousand modules", "code"],
)
def test_a_bad_plan_is_repaired_once_then_the_fallback_runs(loopback: Start, plan: str, fault: str) -> None:
    server = loopback(RuleModel({"planner": [plan, BY_SOLUTION]}))
    state = tabmwp().run(PROBLEM)
    refused, accepted = state.plans[:2]
    assert fault in refused.refused and refused.calls[0].text == plan
    assert accepted.names == SOLUTION and not accepted.refused and state.answer is not None
    written, told = server.requests[1]["messages"][-2:]
    assert plan.startswith(written["content"]) and len(written["content"]) <= 1_000
    assert fault in told["content"]

    loopback(model := RuleModel({"planner": [plan, plan]}))
    state = tabmwp().run(PROBLEM)
    assert [plan.kind for plan in state.plans][:3] == ["proposed", "proposed", "fallback"]
    assert model.asked.count("planner") == 2 and fault in state.plans[2].note
    assert state.plan == PROGRAM and state.answer is not None


@pytest.mark.parametrize("reply", [Reply(BY_PROGRAM[:30], finish="length"), Reply("", finish="length")])
def test_a_plan_that_is_cut_off_or_empty_is_repaired(loopback: Start, reply: Reply) -> None:
    loopback(RuleModel({"planner": [reply] * 3 + [BY_SOLUTION]}))
    first, second = tabmwp().run(PROBLEM).plans[:2]
    assert first.refused and first.calls[0].usage.calls == 3 and second.names == SOLUTION


def how_ended(state: State) -> tuple[str, str, str]:
    assert state.ended is not None
    error = state.ended.error
    return state.ended.reason, error.kind if error else "", str(error) if error else ""


def test_a_failed_lookup_leaves_the_table_whole_and_says_why(loopback: Start) -> None:
    problem, plan = make_problems(2)[1], json.dumps(["row_lookup", *SOLUTION])
    header = Reply("| ".join(problem["table"].header), finish="length")
    for useless in (header, "There is no such row.", "a | b\n1 | 2"):
        loopback(RuleModel({"planner": [plan], "row_lookup": [useless] * 3}))
        state = tabmwp().run(problem)
        assert how_ended(state)[0] == "answered" and state.table == problem["table"]
        error = state.history[0].error
        assert error is not None and error.kind in ("StepRejected", "CutOff")


VISITS = table(
    """
City | Country | Visitors | Football class
Lisbon | Portugal | 4,200 | 2
Porto | Portugal | 2,900 | 1
Lyon | France | 3,100 | 2
"""
)
BY_PLAN = '["program_generator", "program_verifier", "program_executor", "answer_generator"]'
SOLVE = '["solution_generator", "answer_generator"]'
ROW = 'ans = max(table["rows"], key=lambda row: row[2])'
SQL = "SELECT COUNT(*) FROM w WHERE Football class = 2"
CALL = f'[{{"module": "sql_query", "args": {{"query": "{SQL}"}}}}]'
PROSE, LISBON = "Lisbon leads.\n\nPorto is last.", "The answer is Lisbon."
UNSTATED = 'The solution does not say "The answer is …".'
LYON = ["Lyon", "France", "3,100"]
CITIES = ("Porto", "Lisbon")
SUPPLY = ("shortage", "surplus")
MOST = "Which city had the most visitors?"
MEDIAN = "What is the median?"
CITY, VISITORS = "Which city had 4,200 visitors?", "What are the visitors of Lisbon?"
"""Questions that a cell answers: nothing has to be computed for them."""


def ask(inventory: str, replies: Sequence[str], question: str = MOST, **given: Any) -> State:
    model = LLM.connect(ScriptedModel(list(replies)), temperature=0)
    return Executor(Inventory.load(inventory), model).run({"question": question, "table": VISITS, **given})


@pytest.mark.parametrize(
    ("inventory", "question", "choices", "replies", "answer", "calls"),
    [
        ("tabmwp_pot", MOST, SUPPLY, ["ans = surplus"], "surplus", 1),
        ("tabmwp_pot", MOST, CITIES, ["Lisbon"], "Lisbon", 1),
        ("tables", VISITORS, None, [SOLVE, *["**4,200**"] * 2], "4,200", 3),
        ("wikitq_end_to_end", "Which most visitors?", None, ["Lyon | France | 3,100 | 2"], None, 1),
        ("tabmwp_pot", MOST, None, ["v = [158, 185]\nans = max(v)\n```\nProgram:"], 185, 1),
        ("tabmwp", MOST, None, [SOLVE, "The answer is 8,595 - 7,589 = 1,006."], "1,006", 2),
        ("tables", CITY, None, [SOLVE, "The answer is Lisbon, which had 4,200."], "Lisbon", 2),
        ("tables", VISITORS, None, [SOLVE, *["The visitors of the city are 4,200."] * 2], "4,200", 3),
        ("tables", MEDIAN, None, [SOLVE, *["The total is 4,200km."] * 2], None, 3),
        ("tabmwp", MEDIAN, None, [SOLVE, "The answer is P(X=2)=0.3."], "P(X=2)=0.3", 2),
        ("tables", MEDIAN, None, [SOLVE, *["Add them.\n## Step 4"] * 2], None, 3),
        ("tables", MEDIAN, None, [SOLVE, "It is 8.", UNSTATED], None, 4),
        ("tables", MEDIAN, None, [SOLVE, *["The answer is NaN."] * 2], None, 3),
        ("tabmwp", MEDIAN, None, [SOLVE, "The answer is:\n```\n8\n```"], "8", 2),
        ("tables", MEDIAN, None, [BY_PLAN, "rows, cols = df.shape\nans = max(rows, 0)"], 3, 2),
        ("tables", CITY, None, [BY_PLAN, *['x = 1 + 1\nans = "Lyon"'] * 2, LISBON], "Lisbon", 4),
        ("tabmwp_cot", MEDIAN, None, ["The median of the numbers is 8."] * 3, None, 2),
        ("tables", MOST, CITIES, [BY_PLAN, ROW], "Lisbon", 2),
        ("tables", MOST, CITIES, [BY_PLAN, "ans = 40 + 2", ROW], "Lisbon", 3),
        ("tables", CITY, CITIES, [BY_PLAN, *(f"ans = 40 + {n}" for n in (2, 3, 4)), LISBON], "Lisbon", 5),
        ("tables", CITY, None, [BY_PLAN, *(f'ans = "{c}"' for c in ("Lyon", *CITIES)), LISBON], "Lisbon", 5),
        ("tables", MOST, None, [BY_PLAN, 'ans = "Lyon"', f"{ROW}[0]"], "Lisbon", 3),
        ("tables", VISITORS, None, [BY_PLAN, *["ans = 4,200"] * 2, "The answer is 4,200."], "4,200", 4),
        ("wikitq_end_to_end", MOST, None, ["Lyon | France | 3,100 | 2"], ["Lyon"], 1),
        ("wikitq_end_to_end", "List all of Lyon.", None, [" | ".join(LYON)], LYON, 1),
        ("wikitq_end_to_end", "How many?", None, ['Answer: sql_query(query="x")'], None, 1),
        ("wikitq_end_to_end", "Name two.", None, ["Lyon | Porto"], ["Lyon", "Porto"], 1),
        ("wikitq_text_to_sql", MOST, None, [SQL], ["2"], 1),
        ("tables_agent", "How many are of class 2?", None, [CALL, "2"], "2", 2),
        ("tables_agent", CITY, None, [PROSE], PROSE, 1),
    ],
)
def test_what_a_reply_comes_to(
    inventory: str, question: str, choices: Any, replies: list[str], answer: Any, calls: int
) -> None:
    state = ask(inventory, replies, question, **({"choices": choices} if choices else {}))
    found = list(state.answer) if isinstance(state.answer, tuple) else state.answer
    assert (found, len(state.calls)) == (answer, calls), state.ended


@pytest.mark.parametrize(
    ("inventory", "replies"),
    [
        ("tables", [SOLVE, *["I cannot tell from this table."] * 2]),
        ("tables_agent", ["Answer: The table does not say who came."]),
    ],
)
def test_a_model_that_knows_no_answer_declines(inventory: str, replies: list[str]) -> None:
    done = ask(inventory, replies).ended
    assert done is not None and done.reason == "declined" and "found no answer" in str(done.error)


@pytest.mark.parametrize(
    ("inventory", "further", "answer"),
    [
        ("tables", ["ans = 1 + 1"], 2),
        ("tabmwp", ["ans = 1 + 1"], 2),
        ("scienceqa", ["The answer is A."], "2"),
        ("pictures", ["The answer is 2."], "2"),
    ],
)
def test_a_plan_that_cannot_answer_is_refused(inventory: str, further: list[str], answer: Any) -> None:
    loaded = Inventory.load(inventory)
    given = {"table": VISITS} if "table" in loaded.input_types else {"text": "Two."}
    model = LLM.connect(ScriptedModel(['["answer_generator"]'] * 2 + further))
    state = Executor(loaded, model).run({"question": "?", **given, "choices": ["2", "3"]})
    assert str(state.answer) == str(answer)
    refused, again, taken = state.plans
    assert refused.refused == again.refused and "solution" in again.refused and taken.kind == "fallback"


def test_every_shipped_planner_refuses_it() -> None:
    for name in shipped_inventories():
        inventory = Inventory.load(name)
        if "answer_generator" in inventory.modules and not inventory.planner.fixed_plans:
            with pytest.raises(PlanError, match="It is written by"):
                check_plan([Step("answer_generator")], inventory, {"input.question"}, [], whole=False)


def test_a_solution_beside_a_program_is_dropped() -> None:
    plan = f'["solution_generator", {BY_PLAN[1:]}'
    state = ask("tables", [plan, "ans = 4200 + 2900"], "How many?")
    assert state.answer == 7100 and len(state.calls) == 2
    assert "solution_generator" not in state.plan and "without solution_generator" in state.plans[0].note


def test_a_prompt_over_the_context_takes_the_fallback_and_then_names_shorter_ones(loopback: Start) -> None:
    model, limit = RuleModel(), 6_000

    def reply(request: dict[str, Any]) -> Answer:
        if sum(len(each["content"]) for each in request["messages"]) > limit:
            message = "request exceeds the available context size (2048 tokens)"
            return Fault(400, {"error": {"message": message}})
        return model(request)

    loopback(reply)
    problem = make_problems(8)[7]
    state = tabmwp().run(problem)
    assert [plan.kind for plan in state.plans] == ["fallback"] and state.ended.reason == "answered"  # type: ignore[union-attr]
    limit = 100
    error = tabmwp().run(problem).ended.error  # type: ignore[union-attr]
    assert error is not None and error.kind == "ContextTooLong" and "tables_agent" in error.hint
