"""Answer without a model, by the words of a question: programs by a grammar, rows, labels and statements."""

TOOLS = (
    "grammar_program_generator",
    "lexical_column_lookup",
    "lexical_group_by",
    "lexical_question",
    "lexical_reader",
    "lexical_row_lookup",
    "lexical_select_column",
    "lexical_select_row",
    "lexical_sort_by",
    "lexical_statement",
    "lexical_table_choice",
    "lexical_table_query",
    "lexical_table_sources",
)
