"""The tools, a folder for each family.

A folder's `TOOLS` are the names that inventories use; each is a file of that name beside its `__init__.py`.
"""

FOLDERS = (
    "dater",
    "documents",
    "knowledge",
    "lookup",
    "offline",
    "program",
    "reports",
    "search",
    "sql",
    "statutes",
    "table_ops",
    "tablerag",
    "vision",
)
