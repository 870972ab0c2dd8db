"""Run something composed as one module: an inventory, or a tool of a server or another project."""

TOOLS = ("inventory_module",)
