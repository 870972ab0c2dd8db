"""Statutes: their tree, the references in them, and the provisions that a question needs.

`parser.py` makes the tree of a text (`tree.py`, `labels.py`), `references.py` finds what a text refers to and
`resolving.py` what that means; `library.py` reads statutes from files.
"""

TOOLS = ("statute_retriever",)
