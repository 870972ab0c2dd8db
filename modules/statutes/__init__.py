"""Statutes: their tree, the references in them, and the provisions that a question needs.

`parser.py` makes the tree of a text (`tree.py`, `labels.py`, `marks.py`), `references.py` finds what a text
refers to and `resolving.py` what that means; `library.py` reads statutes from files. `statute_retriever`
keeps what a question needs (`selection.py`), and `statute_answerer` judges by it (`replies.py`).
`rule_statute_answerer` judges without a model: `facts/` reads the facts, `tax_law.py` the law's figures,
`income_tax.py`, `statements.py` and `kinship.py` have the rules.

docs/statutes.md shows them.
"""

TOOLS = ("rule_statute_answerer", "statute_answerer", "statute_retriever")
