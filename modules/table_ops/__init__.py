"""Operations that change a table step by step until it shows the answer (Wang et al., 2024, Chain-of-Table).

`operation.py` says what an operation is, `table_operation.py` how a model chooses its arguments; each of the
`TOOLS` has a file of its own. `filter_rows`, `aggregate` and `join` go beyond the paper: an inventory has
them where its planner's `follows` names them.
"""

TOOLS = (
    "add_column",
    "aggregate",
    "filter_rows",
    "group_by",
    "join",
    "select_column",
    "select_row",
    "sort_by",
    "table_query",
)
