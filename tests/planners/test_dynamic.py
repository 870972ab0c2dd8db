"""The dynamic planner's grammar, and how several samples vote on the next operation."""

from __future__ import annotations

from pathlib import Path

import pytest

from chameleon import LLM, State, Table
from chameleon.core.events import Plan
from chameleon.core.llm_module import Asking, configure
from chameleon.errors import InventoryError
from chameleon.llm import ScriptedModel
from chameleon.planners.dynamic import Dynamic
from tests.engine.doubles import inventory_of
from tests.llm.asking import Start
from tests.loopback import Reply

MODULES = dict.fromkeys(("select_row", "sort_by", "table_query"), str)
FOLLOWS = {"start": ["select_row", "sort_by"], "select_row": ["sort_by", "end"], "sort_by": ["end"]}


@pytest.mark.parametrize("follows", [{"a": ["end"]}, {"start": []}, {"start": ["a"], "a": ["b"], "b": ["a"]}])
def test_a_grammar_without_sense_is_refused(follows: dict[str, list[str]]) -> None:
    with pytest.raises(InventoryError, match=r"has no `start`|no chain can end"):
        Dynamic(follows, ["table_query"])


def test_a_module_that_is_not_there_is_told_once() -> None:
    with pytest.raises(InventoryError) as told:
        inventory_of(MODULES, Dynamic(FOLLOWS, ["table_qery"])).check()
    assert str(told.value).count("there is no module 'table_qery'. Did you mean 'table_query'?") == 1


@pytest.mark.parametrize(
    ("weights", "logprobs", "chosen"),
    [
        ("given", True, "select_row"),  # 0.99 against twice 0.007
        ("given", False, "sort_by"),  # one vote against two
        ("rank", True, "select_row"),  # 1 against 2/3 + 1/3, and the first of equals
    ],
)
def test_samples_vote_with_what_they_are_worth(
    loopback: Start, tmp_path: Path, weights: str, logprobs: bool, chosen: str
) -> None:
    sure, unsure = Reply("f_select_row()", logprobs=(-0.01,)), Reply("f_sort_by()", logprobs=(-5.0,))
    loopback(lambda request: sure if request["seed"] == 1 else unsure)
    planner = Dynamic(FOLLOWS, ["table_query"], samples=3, weights=weights)  # type: ignore[arg-type]
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
    return planner.with_llm(llm).propose(state, inventory_of(MODULES, planner))
