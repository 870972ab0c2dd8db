"""The tools, a folder for each family.

A folder's `TOOLS` are the names that inventories use: each is in a file of that name next to its
`__init__.py`, or, if `TOOLS` is a mapping, in the file that it names.
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
