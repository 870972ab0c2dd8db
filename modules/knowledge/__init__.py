"""Background knowledge, a table in words, and queries to search with, written by a model (Chameleon)."""

TOOLS = (
    "knowledge_retrieval",
    "query_generator",
    "table_verbalizer",
)
