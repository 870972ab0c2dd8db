"""The inventories of Chain-of-Table and Dater have the published parameters."""

from __future__ import annotations

from typing import Any

import pytest

from chameleon import Inventory, LLMModule
from chameleon.modules.table_ops.table_query import TableQuery

TASKS = ("wikitq", "tabfact", "fetaqa")
ASKING_ONCE = ("add_column", "group_by", "sort_by", "table_query")
OPERATIONS = ("add_column", "select_row", "select_column", "group_by", "sort_by")


def settings(inventory: Inventory, name: str) -> tuple[Any, ...]:
    """Samples, temperature and the most tokens of a module."""
    module = inventory.modules[name]
    assert isinstance(module, LLMModule)
    return module.samples, module.llm_params["temperature"], module.llm_params["max_tokens"]


@pytest.mark.parametrize("task", TASKS)
class TestChainOfTable:
    def test_asks_as_often_as_published_and_may_ask_again(self, task: str) -> None:
        inventory = Inventory.load(task)
        assert inventory.budget.calls == 50 and inventory.planner.max_operations == 5  # type: ignore[attr-defined]
        warm = 0.5 if task == "tabfact" else 1.0
        assert settings(inventory, "select_row") == settings(inventory, "select_column") == (8, warm, 200)
        assert {settings(inventory, name) for name in ASKING_ONCE} == {(1, 0, 200)}
        asked = [settings(inventory, name)[0] for name in (*OPERATIONS, "table_query")]
        assert len(OPERATIONS) + sum(asked) <= 25, "a whole chain with its plans fits"

    def test_has_the_published_grammar_and_prompts_of_its_own(self, task: str) -> None:
        inventory = Inventory.load(task)
        follows = inventory.planner.follows  # type: ignore[attr-defined]
        for position, name in enumerate(["start", *OPERATIONS]):
            later = [*OPERATIONS[position:], "end"]
            assert follows[name] == (later[:-1] if name == "start" else later)
        asking = [inventory.planner, *inventory.modules.values()]
        assert {getattr(each, "prompt", "").partition("/")[0] for each in asking} == {task}

    def test_and_its_rivals_give_answers_of_one_form(self, task: str) -> None:
        forms = set()
        for method in ("", "_end_to_end", "_few_shot", "_cot", "_dater"):
            module = Inventory.load(task + method).modules["table_query"]
            assert isinstance(module, TableQuery)
            forms.add(module.form)
        assert len(forms) == 1


@pytest.mark.parametrize("task", TASKS)
def test_dater_has_the_published_samples(task: str) -> None:
    inventory = Inventory.load(f"{task}_dater")
    assert inventory.budget.calls == 200
    assert settings(inventory, "cloze_generator") == (20, 0.4, 80)
    assert settings(inventory, "cloze_filler")[:2] == (20, 0.4)
    assert settings(inventory, "column_choice") == settings(inventory, "row_choice") == (20, 0.5, 150)
    tops = [inventory.modules[name].top for name in ("column_choice", "row_choice")]  # type: ignore[attr-defined]
    assert tops == ([2, 2] if task == "tabfact" else [4, 2])
    if task != "fetaqa":
        assert settings(inventory, "table_query") == (20, 0.7, 150)
