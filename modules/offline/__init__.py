"""Answer without a model: readers for tables, an index, and labels in a text."""

from chameleon.lazy import tools

TOOLS = ("table_reader", "index_reader", "label_reader")

__getattr__ = tools(__name__, TOOLS)
