"""Planners that take turns: `Branch`, `Replanning`, `Then`, `cascade`, and the grammar of `dynamic`."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from chameleon import LLM, Executor, Inventory, Module, Planner, State, Step, Table
from chameleon.core.events import Plan
from chameleon.core.llm_module import Asking, configure
from chameleon.errors import InventoryError
from chameleon.inventory.schema import RulesSpec
from chameleon.llm import ScriptedModel
from chameleon.planners.branch import Branch
from chameleon.planners.dynamic import Dynamic
from chameleon.planners.fixed import Fixed
from chameleon.planners.replanning import Replanning
from chameleon.planners.then import Then
from tests.engine.doubles import QUESTION, Proposes, failing, inventory_of, run
from tests.llm.asking import Start
from tests.loopback import Reply

READ, COUNT, SAY, SEEK = (Fixed([name]) for name in ("read", "count", "say", "seek"))
BREAKS, ONCE = Fixed(["breaks"]), Fixed(["once"])
MODULES: dict[str, Any] = {name: lambda state: 1 for name in ("seek", "read", "count", "say")}
FAILS = {"breaks": failing(ValueError("no")), "once": lambda state: 1 / (len(state.history) - 1)}


@pytest.mark.parametrize(
    ("planner", "executed"),
    [
        (Then([SEEK, Branch("cache.seek", [Then([READ, SAY]), Then([COUNT, SAY])])]), "seek read say"),
        (Then([SEEK, Branch("cache.found", [Then([READ, SAY]), Then([COUNT, SAY])])]), "seek count say"),
        (Branch("cache.read", [COUNT, Then([READ, SAY])]), "read say"),  # which is written too late
        (Then([SEEK, Branch("cache.none", [SAY, Replanning(BREAKS)])]), "seek breaks breaks"),
        (Replanning(Then([SEEK, READ])), "seek read"),
        (Then([SEEK, Replanning(ONCE), READ]), "seek once once read"),
    ],
)
def test_the_planner_whose_turn_it_is_plans(planner: Planner, executed: str) -> None:
    assert run(MODULES | FAILS, planner).executed_names == tuple(executed.split())


@pytest.mark.parametrize("sees", [True, False, None])
@pytest.mark.parametrize("key", ["model.sees", "cache.seek, model.sees", "cache.seek, cache.none"])
def test_all_keys_must_be_there_and_the_model_of_the_run_may_be_one(sees: bool | None, key: str) -> None:
    llm = None if sees is None else SimpleNamespace(sees=sees, name="a:b", address="")
    planner = Then([SEEK, Branch(key, [READ, COUNT])])
    taken = Executor(inventory_of(MODULES, planner), llm).run(QUESTION).executed_names
    assert taken == ("seek", "read" if sees and "none" not in key else "count")


@pytest.mark.parametrize(("first", "whole"), [(READ, True), (Then([READ, SAY]), False)])
def test_a_whole_plan_is_held_to_the_rules_of_order(first: Planner, whole: bool) -> None:
    planner = Branch("model.sees", [first, SAY])
    inventory = inventory_of(MODULES, planner, rules=RulesSpec(last="say"))
    state = Executor(inventory, SimpleNamespace(sees=True, name="a:b", address="")).run(QUESTION)
    assert planner.returns_full_plan is whole
    assert any("must end with say" in plan.refused for plan in state.plans) is whole


def test_a_key_that_nobody_gives_is_told_before_a_run() -> None:
    inventory = inventory_of({name: Module() for name in MODULES}, Branch("cache.seak", [READ, COUNT]))
    (found,) = [one for one in inventory.obstacles() if one.part == "planner"]
    told = "cache.seak, which neither the input nor a module provides. Did you mean 'cache.seek'"
    assert told in str(found.error)


@pytest.mark.parametrize(("on", "count"), [("table", 2), ("cache.", 2), ("input.table", 1)])
def test_wrong_settings_are_told(on: str, count: int) -> None:
    with pytest.raises(InventoryError, match="planner branch"):
        Branch(on, [SAY] * count)


def test_replanning_is_bounded_and_sees_the_failure() -> None:
    seen: list[str] = []

    def propose(state: State) -> Any:
        seen.append(str(state.failure.error.message) if state.failure and state.failure.error else "")
        return () if state.plans else [Step("breaks")]

    state = run(FAILS, Replanning(Proposes(propose), attempts=2))
    assert state.executed_names == ("breaks",) * 3 and state.plan == ("breaks",) * 3
    assert seen[0] == "" and all(told.startswith("ValueError: no (doubles.py, line") for told in seen[1:])
    state = run(FAILS, Replanning(BREAKS, attempts=1), on_error={"breaks": "skip"})
    assert len(state.executed_names) == 2, "also where the failure is skipped"


TABLE = Table(["City", "Visitors"], [["Lisbon", "4200"], ["Porto", "2900"]], "Visits")
SURE = "Which city had the most visitors?"
UNREAD = "Is Lisbon sunnier?"
PROGRAM = '```python\nans = "yes" if "Lisbon" in list(df["City"]) else "no"\n```'
REPLIES = ['["program_generator"]', PROGRAM]


def climbed(question: str, replies: Sequence[str] = (), rungs: Any = "tables_first", **given: Any) -> State:
    executor = Executor(rungs, LLM.connect(ScriptedModel(list(replies))))
    return executor.run({"question": question, "table": TABLE, **given})


def mine(at_least: float) -> dict[str, Any]:
    sure = {"inventory": "tables_offline", "at_least": at_least}
    takes = {"question": "str", "table": "Table"}
    return {"name": "mine", "input": takes, "planner": "cascade", "modules": {"sure": sure}}


FOLLOWS_UP = {"history": [{"question": SURE, "answer": "Lisbon"}]}  # it is not read without what came before


@pytest.mark.parametrize(
    ("question", "given", "executed", "answer"),
    [
        (SURE, {}, "tables_offline", "Lisbon"),
        (UNREAD, {}, "tables_offline tables", "yes"),
        ("Is Lisbon there?", FOLLOWS_UP, "tables", "yes"),
    ],
)
def test_the_first_that_answers_wins(question: str, given: Any, executed: str, answer: str) -> None:
    state = climbed(question, REPLIES, **given)
    assert (state.answer, state.executed_names) == (answer, tuple(executed.split()))
    assert len(state.calls) == (0 if answer == "Lisbon" else 2)
    assert answer == "yes" or (state.cache["sources"] and state.cache["reading"])
    assert question != UNREAD or "sunnier" in state.plans[1].note


def test_a_rung_is_held_to_its_confidence() -> None:
    state = climbed(SURE, rungs=mine(1.0))
    assert state.status == "declined" and "below 1" in state.why
    with pytest.raises(InventoryError, match=r"at_least.*1"):
        Inventory.parse(mine(2))


OPERATIONS = dict.fromkeys(("select_row", "sort_by", "table_query"), str)
FOLLOWS = {"start": ["select_row", "sort_by"], "select_row": ["sort_by", "end"], "sort_by": ["end"]}


@pytest.mark.parametrize("follows", [{"a": ["end"]}, {"start": []}, {"start": ["a"], "a": ["b"], "b": ["a"]}])
def test_a_grammar_without_sense_is_refused(follows: dict[str, list[str]]) -> None:
    with pytest.raises(InventoryError, match=r"has no `start`|no chain can end"):
        Dynamic(follows, ["table_query"])


def test_a_module_that_is_not_there_is_told_once() -> None:
    with pytest.raises(InventoryError) as told:
        inventory_of(OPERATIONS, Dynamic(FOLLOWS, ["table_qery"])).check()
    assert str(told.value).count("there is no module 'table_qery'. Did you mean 'table_query'?") == 1


@pytest.mark.parametrize(
    ("weights", "logprobs", "chosen"),
    [
        ("given", True, "select_row"),  # 0.99 against twice 0.007
        ("given", False, "sort_by"),  # one vote against two
        ("rank", True, "select_row"),  # 1 against 2/3 + 1/3, and the first of equals
    ],
)
def test_samples_vote(loopback: Start, tmp_path: Path, weights: Any, logprobs: bool, chosen: str) -> None:
    sure, unsure = Reply("f_select_row()", logprobs=(-0.01,)), Reply("f_sort_by()", logprobs=(-5.0,))
    loopback(lambda request: sure if request["seed"] == 1 else unsure)
    planner = Dynamic(FOLLOWS, ["table_query"], samples=3, weights=weights)
    llm = LLM.connect("openai:local", seed=1, logprobs=logprobs)
    assert proposed(planner, llm, tmp_path).names == (chosen,)


@pytest.mark.parametrize(
    ("replies", "note"),
    [
        (["<END>"], "chosen from sort_by, end"),
        (["I cannot tell."], "the reply names none of sort_by, end"),
        (["f_select_row(row 1)"], "the reply names none of sort_by, end"),
        (["?", "<END>", "f_sort_by(a)"], "chosen from sort_by, end"),
    ],
)
def test_a_chain_says_whether_the_model_chose_its_end(replies: list[str], note: str, tmp_path: Path) -> None:
    sorted_or_ended = {"start": ["sort_by", "end"], "sort_by": ["end"]}
    planner = Dynamic(sorted_or_ended, ["table_query"], samples=len(replies))
    plan = proposed(planner, LLM.connect(ScriptedModel(replies)), tmp_path)
    assert plan.names == ("table_query",) and plan.note == f"the chain ends: {note}"


def proposed(planner: Dynamic, llm: LLM, folder: Path) -> Plan:
    """Return what the planner proposes for a table that no operation has changed yet."""
    (folder / "plan.md").write_text("# user\nNext?\n", "utf-8")
    planner.prompt = "plan"
    configure(planner, Asking(folders=(folder,)))
    state = State(input={"question": "?", "table": Table(["a"], [["1"]])})
    return planner.with_llm(llm).propose(state, inventory_of(OPERATIONS, planner))
