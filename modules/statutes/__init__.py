"""Statutes: their tree, the references in them, and the provisions that a question needs.

`parser.py` makes the tree of a text (`tree.py`), `references.py` finds what a text refers to and what that
means; `library.py` reads statutes from files. `statute_retriever` keeps what a question needs, and
`statute_answerer` judges by it.

docs/statutes.md shows them.
"""

from chameleon.lazy import tools

TOOLS = ("statute_answerer", "statute_retriever")

__getattr__ = tools(__name__, TOOLS)
