"""Run something composed as one module: an inventory, or a tool of a server or another project."""

from chameleon.lazy import tools

TOOLS = ("inventory_module",)

__getattr__ = tools(__name__, TOOLS)
