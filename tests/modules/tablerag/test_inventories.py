"""The inventories of TableRAG answer in the form of their task, and every arm of its grids can be built."""

from __future__ import annotations

import pytest

from chameleon import Inventory
from chameleon.evaluation.grid import Arm, Grid, fixed_plan
from chameleon.modules.tablerag.answer import TableAnswerer
from chameleon.modules.tablerag.similarity import SemanticFilter

FORMS = {"tabfact": "verdict", "feverous": "label", "sqa": "items", "hybridqa": "short"}


def plan(arm: Arm) -> list[str]:
    return list(fixed_plan(arm.inventory) or ())


def test_answers_are_of_the_task_s_form() -> None:
    for task, form in FORMS.items():
        answerer = Inventory.load(f"tablerag_{task}").modules["table_answerer"]
        assert isinstance(answerer, TableAnswerer)
        assert (answerer.form, answerer.prompt) == (form, f"tablerag/{task}")


@pytest.mark.parametrize(("name", "count", "calls"), [("tablerag", 22, 100), ("tablerag_retrieval", 17, 17)])
def test_arms_differ_and_take_so_many_calls(name: str, count: int, calls: int) -> None:
    arms = Grid.load(name).arms.values()
    specs = [arm.inventory.spec for arm in arms]
    seen = {(str(plan(arm)), repr(spec and spec.modules)) for arm, spec in zip(arms, specs, strict=True)}
    assert len(seen) == len(arms) == count and sum(arm.calls or 0 for arm in arms) == calls


def test_arms_have_the_parts_that_their_names_say() -> None:
    arms = Grid.load("tablerag").arms
    assert plan(arms["baseline"]) == ["table_retriever", "table_answerer", "consistency"]
    assert plan(arms["filter_llm"]) == ["table_retriever", "table_filter", "table_answerer", "consistency"]
    whole, named = Inventory.load("tablerag_tabfact").spec, {"name": "tablerag_whole"}
    assert whole is not None
    assert arms["whole"].inventory.spec == whole.model_copy(update={**named, "about": arms["whole"].about})
    late = arms["filter_late"].inventory.modules["table_filter"]
    assert isinstance(late, SemanticFilter) and (late.by, late.rows) == ("late", 10)
