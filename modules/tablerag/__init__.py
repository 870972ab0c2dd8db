"""Retrieve tables, filter, clarify and format them, and answer by vote (TableRAG).

`table_retriever` finds the table in an index; `semantic_filter` or `llm_filter` keeps the rows and columns
that the question needs; `term_clarifier` and `wiki_clarifier` say what the table is about;
`passage_retriever` keeps what belongs to the question of the passages beside it; `table_formatter` chooses
the form in which prompts show it; `table_answerer` answers several times, and `consistency` lets the answers
vote; `cell_locator` finds the answer's cells, and `final_answer` gives the answer after it.

docs/tablerag.md lists where this differs from the published code.
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
