"""Answer from a user's own documents: find the passages or the table of an index, and say which were used."""

TOOLS = (
    "paper_answerer",
    "paper_program_generator",
    "paper_program_verifier",
    "paper_retriever",
    "passage_list",
    "table_choice",
    "table_sources",
)
