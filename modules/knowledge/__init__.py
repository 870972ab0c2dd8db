"""Background knowledge, a table in words, and queries to search with, written by a model (Chameleon)."""

TOOLS = {
    "knowledge_retrieval": "knowledge",
    "query_generator": "knowledge",
    "table_verbalizer": "knowledge",
}
