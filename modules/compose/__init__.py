"""Run something composed as one module: an inventory, or a tool of another project."""

TOOLS = ("inventory_module",)
