"""Look up the rows and columns of a table that a question needs (Chameleon, section 4.1)."""

TOOLS = {"column_lookup": "lookup", "row_lookup": "lookup"}
