"""Programs for questions about tables, written by a grammar and no language model."""

from chameleon.modules.grammar.write import Program, write_program

__all__ = ["Program", "write_program"]
