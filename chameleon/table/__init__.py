"""Tables: the immutable `Table`, typed cells, readers of files and text forms for prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chameleon.lazy import lazy

if TYPE_CHECKING:  # "as" makes each name public for type checkers
    from chameleon.table.formats import ELLIPSIS as ELLIPSIS
    from chameleon.table.formats import Style as Style
    from chameleon.table.formats import to_terminal as to_terminal
    from chameleon.table.formats import to_text as to_text
    from chameleon.table.meaning import Meaning as Meaning
    from chameleon.table.readers import choose_table as choose_table
    from chameleon.table.readers import read_table as read_table
    from chameleon.table.replies import as_subtable as as_subtable
    from chameleon.table.replies import parse_table as parse_table
    from chameleon.table.table import Column as Column
    from chameleon.table.table import Table as Table
else:  # a type checker reports unlisted names
    __getattr__ = lazy(
        __name__,
        formats="ELLIPSIS Style to_terminal to_text",
        meaning="Meaning",
        readers="choose_table read_table",
        replies="as_subtable parse_table",
        table="Column Table",
    )
