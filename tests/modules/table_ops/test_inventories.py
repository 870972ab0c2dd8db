"""The inventories of Chain-of-Table have the published grammar."""

from __future__ import annotations

import pytest

from chameleon import Inventory
from chameleon.modules.table_ops.table_query import TableQuery

TASKS = ("wikitq", "tabfact", "fetaqa")
OPERATIONS = ("add_column", "select_row", "select_column", "group_by", "sort_by")


@pytest.mark.parametrize("task", TASKS)
class TestChainOfTable:
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
