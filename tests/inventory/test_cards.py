"""The cards that a planner reads, and what an inventory says in their place."""

from __future__ import annotations

from typing import Any

import pytest

from chameleon import Inventory
from chameleon.errors import InventoryError


def test_an_inventory_describes_its_modules_itself() -> None:
    own = {"solution_generator": {"description": "Solves it in words.", "when": "Use it last."}}
    inventory = Inventory.parse({"name": "mine", "extends": "tables", "modules": own})
    cards = {card.name: card for card in inventory.cards}
    assert cards["solution_generator"].description == "Solves it in words."
    assert cards["solution_generator"].when == "Use it last."
    shipped = {card.name: card for card in Inventory.load("tables").cards}
    assert cards["program_generator"] == shipped["program_generator"]
    assert shipped["solution_generator"].description not in ("", "Solves it in words.")


@pytest.mark.parametrize(
    ("module", "entry", "told"),
    [
        ("program_generator", {"description": ["a", "b"]}, "description"),
        ("solution_generator", {"structured": "auto"}, "SolutionGenerator replies in text"),
        ("answer_generator", {"max_text_tokens": 9}, "asks no model and has no 'max_text_tokens'"),
    ],
)
def test_what_a_module_does_not_take_is_refused(module: str, entry: dict[str, Any], told: str) -> None:
    with pytest.raises(InventoryError, match=told):
        Inventory.parse({"name": "mine", "extends": "tables", "modules": {module: entry}})
