"""Run something composed as one module: an inventory; bring the tools of a server."""

TOOLS = ("inventory_module",)
