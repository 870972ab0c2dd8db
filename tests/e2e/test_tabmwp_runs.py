"""Runs of `tabmwp`, many at once and with malformed plans; and what is found in replies of small models."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from chameleon import LLM, Executor, Inventory, State, Step
from chameleon.core.planner import check_plan
from chameleon.errors import PlanError
from chameleon.inventory import shipped_inventories
from chameleon.llm import ResponseStore, ScriptedModel
from tests.e2e.problems import make_problems, table
from tests.e2e.rule_model import PROGRAM, SOLUTION, RuleModel, outline, tabmwp
from tests.loopback import Answer, Fault, Reply, Start

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
        (json.dumps([*["row_lookup"] * 2, *SOLUTION]), "row_lookup occurs 2 times, and it may"),
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


def ended(state: State) -> tuple[str, str, str]:
    assert state.ended is not None
    error = state.ended.error
    return state.ended.reason, error.kind if error else "", str(error) if error else ""


def test_a_failed_lookup_leaves_the_table_whole_and_says_why(loopback: Start) -> None:
    problem, plan = make_problems(2)[1], json.dumps(["row_lookup", *SOLUTION])
    header = Reply("| ".join(problem["table"].header), finish="length")
    for useless in (header, "There is no such row.", "a | b\n1 | 2"):
        loopback(RuleModel({"planner": [plan], "row_lookup": [useless] * 3}))
        state = tabmwp().run(problem)
        assert ended(state)[0] == "answered" and state.table == problem["table"]
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
PLAN = '["program_generator", "program_verifier", "program_executor", "answer_generator"]'
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
        ("tables", MEDIAN, None, [PLAN, "rows, cols = df.shape\nans = max(rows, 0)"], 3, 2),
        ("tables", CITY, None, [PLAN, *['x = 1 + 1\nans = "Lyon"'] * 2, LISBON], "Lisbon", 4),
        ("tabmwp_cot", MEDIAN, None, ["The median of the numbers is 8."] * 3, None, 2),
        ("tables", MOST, CITIES, [PLAN, ROW], "Lisbon", 2),
        ("tables", MOST, CITIES, [PLAN, "ans = 40 + 2", ROW], "Lisbon", 3),
        ("tables", CITY, CITIES, [PLAN, *(f"ans = 40 + {n}" for n in (2, 3, 4)), LISBON], "Lisbon", 5),
        ("tables", CITY, None, [PLAN, *(f'ans = "{c}"' for c in ("Lyon", *CITIES)), LISBON], "Lisbon", 5),
        ("tables", MOST, None, [PLAN, 'ans = "Lyon"', f"{ROW}[0]"], "Lisbon", 3),
        ("tables", VISITORS, None, [PLAN, *["ans = 4,200"] * 2, "The answer is 4,200."], "4,200", 4),
        ("wikitq_end_to_end", MOST, None, ["Lyon | France | 3,100 | 2"], ["Lyon"], 1),
        ("wikitq_end_to_end", "List all of Lyon.", None, [" | ".join(LYON)], LYON, 1),
        ("wikitq_end_to_end", "How many?", None, ["8,595 - 7,589 = 1,006"], ["1,006"], 1),
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
        ("tables_agent", ["I do not know."]),
        ("tables_agent", ["Answer: The table does not say who came."]),
    ],
)
def test_a_model_that_knows_no_answer_declines(inventory: str, replies: list[str]) -> None:
    ended = ask(inventory, replies).ended
    assert ended is not None and ended.reason == "declined" and "found no answer" in str(ended.error)


@pytest.mark.parametrize(
    ("inventory", "further", "answer"),
    [
        ("tables", ["ans = 1 + 1"], 2),
        ("tables_replanning", ["ans = 1 + 1"], 2),
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
    plan = f'["solution_generator", {PLAN[1:]}'
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
