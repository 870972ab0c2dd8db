"""Programs for questions about tables, written by a grammar and no language model."""

from chameleon.modules.offline.grammar.relevance import named_rows, relevant_columns, relevant_rows
from chameleon.modules.offline.grammar.write import Program, write_program

__all__ = ["Program", "named_rows", "relevant_columns", "relevant_rows", "write_program"]
