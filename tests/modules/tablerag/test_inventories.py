"""The inventories of TableRAG have the published parameters, and every arm of its grids can be built."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import chameleon.inventories
from chameleon import Inventory, LLMModule
from chameleon.inventory.source import _merge
from chameleon.modules.tablerag.table_answerer import TableAnswerer

FORMS = {"tabfact": "verdict", "feverous": "label", "sqa": "items", "hybridqa": "short"}
GRIDS = Path(chameleon.inventories.__path__[0]) / "grids"


def grid(name: str) -> dict[str, Any]:
    found = yaml.safe_load((GRIDS / f"{name}.yaml").read_text("utf-8"))
    assert isinstance(found, dict)
    return found


def arm(grid: dict[str, Any], name: str, inventory: str = "") -> Inventory:
    """An arm as docs/tablerag.md defines it: what is common, then its own keys, over the inventory."""
    common, own = dict(grid.get("common", {})), dict(grid["arms"][name])
    out = [*common.pop("without", []), *own.pop("without", [])]
    base = {
        "about": grid["about"],
        "name": f"{grid['name']}_{name}",
        "extends": inventory or grid["inventory"],
    }
    return Inventory.parse(_merge(_merge(base, common), own)).without(*out)


def plan(inventory: Inventory) -> list[str]:
    planned = inventory.planner.fixed_plans[0]  # type: ignore[attr-defined]
    return [name for name in planned if name not in inventory.left_out]


@pytest.mark.parametrize("task", FORMS)
def test_the_parameters_are_the_published_ones(task: str) -> None:
    inventory = Inventory.load(f"tablerag_{task}")
    asking = {name: each for name, each in inventory.modules.items() if isinstance(each, LLMModule)}
    assert {name: each.samples for name, each in asking.items()} == {
        "table_filter": 5,
        "term_clarifier": 1,
        "wiki_clarifier": 1,
        "table_answerer": 5,
    }
    for module in asking.values():
        assert module.llm_params == {"temperature": 0.5, "max_tokens": 500, "top_p": 1}
    answerer = asking["table_answerer"]
    assert isinstance(answerer, TableAnswerer) and answerer.form == FORMS[task]
    assert answerer.prompt == f"tablerag/{task}"


@pytest.mark.parametrize("task", FORMS)
@pytest.mark.parametrize("name", sorted(file.stem for file in GRIDS.glob("*.yaml")))
def test_every_arm_can_be_built_for_every_task(name: str, task: str) -> None:
    arms = grid(name)
    plans = {}
    for each in arms["arms"]:
        built = arm(arms, each, f"tablerag_{task}")
        plans[each] = (plan(built), str(built.spec))
        assert built.about and "table_answerer" in plan(built)
    assert len({str(each) for each in plans.values()}) == len(plans), "no arm is another one again"


def test_the_arms_differ_by_what_their_names_say() -> None:
    arms = grid("tablerag")
    assert plan(arm(arms, "baseline")) == ["table_retriever", "table_answerer"]
    assert plan(arm(arms, "filter_llm")) == ["table_retriever", "table_filter", "table_answerer"]
    whole = arm(arms, "whole")
    assert plan(whole) == plan(Inventory.load("tablerag_tabfact"))
    samples = {
        name: getattr(arm(arms, name).modules["table_answerer"], "samples", 0) for name in arms["arms"]
    }
    assert {name for name, count in samples.items() if count == 5} == {
        name
        for name in arms["arms"]
        if name.startswith(("whole", "consistency")) and "without_consis" not in name
    }
    late = arm(arms, "filter_late").modules["table_filter"]
    assert (late.by, late.rows, late.needs_model) == ("late", 10, False)  # type: ignore[attr-defined]
