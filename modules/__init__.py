"""The tools, a folder for each family.

A folder's `TOOLS` are the names that inventories use: each stands in a file of that name beside its
`__init__.py`, or, where `TOOLS` is a mapping, in the file that it gives.
"""

FOLDERS = (
    "compose",
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
