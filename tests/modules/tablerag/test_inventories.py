"""The inventories of TableRAG have the published parameters, and every arm of its grids can be built."""

from __future__ import annotations

import pytest

from chameleon import Inventory, LLMModule
from chameleon.evaluation.grid import Arm, Grid, fixed_plan
from chameleon.modules.tablerag.answer import TableAnswerer
from chameleon.modules.tablerag.similarity import SemanticFilter

# One for each sample: a baseline asks once, the filter's code and a vote take five.
CALLS = {
    "baseline": 1,
    "filter_late": 1,
    "filter_dense": 1,
    "filter_minilm": 1,
    "filter_bm25": 1,
    "filter_llm": 6,
    "clarifier_terms": 2,
    "clarifier_summary": 2,
    "clarifier_both": 3,
    "format_string": 1,
    "format_markdown": 1,
    "format_html": 1,
    "consistency": 5,
    "whole": 12,
    "whole_without_filter": 7,
    "whole_without_terms": 11,
    "whole_without_summary": 11,
    "whole_without_clarifiers": 10,
    "whole_without_formatter": 12,
    "whole_without_consistency": 4,
}
FORMS = {"tabfact": "verdict", "feverous": "label", "sqa": "items", "hybridqa": "short"}


def plan(arm: Arm) -> list[str]:
    return list(fixed_plan(arm.inventory) or ())


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
def test_a_question_takes_so_many_calls(task: str) -> None:
    arms = Grid.load("tablerag", inventory=f"tablerag_{task}").arms
    assert {name: arm.calls for name, arm in arms.items()} == CALLS


@pytest.mark.parametrize("task", FORMS)
@pytest.mark.parametrize("name", ["tablerag", "tablerag_retrieval"])
def test_no_arm_is_another_one_again(name: str, task: str) -> None:
    grid = Grid.load(name, inventory=f"tablerag_{task}")
    seen = {
        (str(plan(arm)), repr(arm.inventory.spec.modules if arm.inventory.spec else None))
        for arm in grid.arms.values()
    }
    assert len(seen) == len(grid.arms) == {"tablerag": 20, "tablerag_retrieval": 17}[name]
    assert all(arm.about for arm in grid.arms.values()) or name != "tablerag"


def test_arms_have_the_parts_that_their_names_say() -> None:
    arms = Grid.load("tablerag").arms
    assert plan(arms["baseline"]) == ["table_retriever", "table_answerer", "consistency"]
    assert plan(arms["filter_llm"]) == ["table_retriever", "table_filter", "table_answerer", "consistency"]
    whole = Inventory.load("tablerag_tabfact").spec
    assert whole is not None and arms["whole"].inventory.spec == whole.model_copy(
        update={"name": "tablerag_whole", "about": arms["whole"].about}
    )
    late = arms["filter_late"].inventory.modules["table_filter"]
    assert isinstance(late, SemanticFilter) and (late.by, late.rows) == ("late", 10)
