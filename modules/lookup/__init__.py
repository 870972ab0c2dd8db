"""Look up the rows and columns of a table that a question needs (Chameleon, section 4.1)."""

from chameleon.lazy import tools

TOOLS = {"column_lookup": "lookup", "row_lookup": "lookup"}

__getattr__ = tools(__name__, TOOLS)
