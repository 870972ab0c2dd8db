"""Tables: the immutable `Table`, typed cells, readers of files and text forms for prompts."""

from chameleon.table.formats import to_terminal, to_text
from chameleon.table.readers import choose_table, read_table
from chameleon.table.replies import as_subtable, parse_table
from chameleon.table.table import Column, Row, Table
from chameleon.table.typed import Kind, Value, read_value

__all__ = [
    "Column",
    "Kind",
    "Row",
    "Table",
    "Value",
    "as_subtable",
    "choose_table",
    "parse_table",
    "read_table",
    "read_value",
    "to_terminal",
    "to_text",
]
