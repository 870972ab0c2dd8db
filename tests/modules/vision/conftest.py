"""Inventories of one module about a picture."""

from typing import Any

from chameleon import Inventory


def inventory_of(name: str, **settings: Any) -> Inventory:
    """Return an inventory whose plan is this module alone, with these settings."""
    planner, takes = {"use": "fixed", "plan": [name]}, {"question": "str", "image": "path"}
    return Inventory.parse({"name": "mine", "input": takes, "planner": planner, "modules": {name: settings}})
