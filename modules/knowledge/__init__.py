"""Background knowledge, a table in words, and queries to search with, written by a model (Chameleon)."""

from chameleon.lazy import tools

TOOLS = {
    "knowledge_retrieval": "knowledge",
    "query_generator": "knowledge",
    "table_verbalizer": "knowledge",
}

__getattr__ = tools(__name__, TOOLS)
