"""Answer from a user's own documents: find the passages or the table of an index, and say which were used."""

from chameleon.lazy import tools

TOOLS = {
    "paper_answerer": "paper_readers",
    "paper_program_generator": "paper_readers",
    "paper_program_verifier": "paper_readers",
    "paper_retriever": "paper_retriever",
    "passage_list": "paper_retriever",
    "table_choice": "table_choice",
    "table_sources": "table_sources",
}

__getattr__ = tools(__name__, TOOLS)
