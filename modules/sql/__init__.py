"""SQL over tables: Text-to-SQL, Binder (SQL that asks a model), Dater (sub-questions that SQL counts), and
SQL as a tool.

`database.py` holds the tables for SQL, and `query.py` queries them in the sandbox. docs/tables.md lists how
the methods differ from the published code.
"""

from chameleon.lazy import tools

TOOLS = {
    "binder_executor": "binder",
    "binder_generator": "binder",
    "binder_vote": "binder",
    "cloze_filler": "dater",
    "cloze_generator": "dater",
    "column_choice": "dater",
    "row_choice": "dater",
    "sql_executor": "text_to_sql",
    "sql_generator": "text_to_sql",
    "sql_query": "sql_query",
    "table_part": "dater",
    "table_schema": "sql_query",
}

__getattr__ = tools(__name__, TOOLS)
