"""Run something composed as one module: an inventory."""

TOOLS = ("inventory_module",)
