"""Run an inventory, a server's tool or a tool from another project as a module."""

from chameleon.lazy import tools

TOOLS = ("inventory_module",)

__getattr__ = tools(__name__, TOOLS)
