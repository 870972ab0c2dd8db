"""Inventories: YAML files of modules, a planner, rules, repair and budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chameleon.lazy import lazy

if TYPE_CHECKING:
    from chameleon.inventory.composition import Card
    from chameleon.inventory.inventory import Inventory
    from chameleon.inventory.obstacles import Obstacle
    from chameleon.inventory.schema import InventorySpec
    from chameleon.inventory.source import shipped_inventories

__all__ = ["Card", "Inventory", "InventorySpec", "Obstacle", "shipped_inventories"]

if not TYPE_CHECKING:  # type checkers reject unlisted names
    __getattr__ = lazy(
        __name__,
        composition="Card",
        inventory="Inventory",
        obstacles="Obstacle",
        schema="InventorySpec",
        source="shipped_inventories",
    )
