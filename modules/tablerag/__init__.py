"""Retrieve tables, filter, clarify and format them, and answer by vote (TableRAG).

`table_retriever` finds the table in an index; `semantic_filter` or `llm_filter` keeps the rows and columns
that the question needs; `term_clarifier` and `wiki_clarifier` describe the table; `passage_retriever` keeps
the relevant passages around it; `table_formatter` sets the format of the table in prompts; `table_answerer`
answers several times, and `consistency` takes a vote; `cell_locator` finds the cells of the answer, and
`final_answer` then returns the answer.

docs/tablerag.md lists the differences from the published code.
"""

from chameleon.lazy import tools

TOOLS = {
    "cell_locator": "cell_locator",
    "consistency": "answer",
    "final_answer": "answer",
    "llm_filter": "llm_filter",
    "passage_retriever": "similarity",
    "semantic_filter": "similarity",
    "table_answerer": "answer",
    "table_formatter": "answer",
    "table_retriever": "table_retriever",
    "term_clarifier": "clarifiers",
    "wiki_clarifier": "clarifiers",
}

__getattr__ = tools(__name__, TOOLS)
