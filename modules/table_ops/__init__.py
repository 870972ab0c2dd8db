"""Operations that change a table step by step until it shows the answer (Wang et al., 2024, Chain-of-Table).

`operation.py` defines an operation and how a model chooses its arguments. `filter_rows`, `aggregate`, `join`
and `union` are not in the paper: an inventory uses them if its planner's `follows` names them.
"""

from chameleon.lazy import tools

TOOLS = {
    "add_column": "add_column",
    "aggregate": "aggregate",
    "filter_rows": "filter_rows",
    "group_by": "aggregate",
    "join": "join",
    "select_column": "selection",
    "select_row": "selection",
    "sort_by": "sort_by",
    "table_query": "table_query",
    "union": "join",
}

__getattr__ = tools(__name__, TOOLS)
