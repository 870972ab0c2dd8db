"""Tables: the immutable `Table`, typed cells, readers of files and text forms for prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chameleon.lazy import lazy

if TYPE_CHECKING:
    from chameleon.table.formats import ELLIPSIS, Style, to_terminal, to_text
    from chameleon.table.meaning import Meaning
    from chameleon.table.readers import choose_table, read_table
    from chameleon.table.replies import as_subtable, parse_table
    from chameleon.table.table import Column, Table

__all__ = [
    "ELLIPSIS",
    "Column",
    "Meaning",
    "Style",
    "Table",
    "as_subtable",
    "choose_table",
    "parse_table",
    "read_table",
    "to_terminal",
    "to_text",
]

if not TYPE_CHECKING:  # a name that is not listed is an error of types
    __getattr__ = lazy(
        __name__,
        formats="ELLIPSIS Style to_terminal to_text",
        meaning="Meaning",
        readers="choose_table read_table",
        replies="as_subtable parse_table",
        table="Column Table",
    )
