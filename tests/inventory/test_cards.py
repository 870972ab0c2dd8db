"""The cards that a planner reads, and what an inventory says in their place."""

from __future__ import annotations

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
    assert cards["row_lookup"] == shipped["row_lookup"]
    assert shipped["solution_generator"].description not in ("", "Solves it in words.")


def test_a_description_is_a_text() -> None:
    with pytest.raises(InventoryError, match="description"):
        Inventory.parse(
            {"name": "mine", "extends": "tables", "modules": {"row_lookup": {"description": ["a", "b"]}}}
        )


def test_a_module_that_replies_in_text_is_not_structured() -> None:
    with pytest.raises(InventoryError, match="SolutionGenerator replies in text"):
        Inventory.parse(
            {"name": "mine", "extends": "tables", "modules": {"solution_generator": {"structured": "auto"}}}
        )
