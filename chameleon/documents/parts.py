"""`Part`: what every reader of documents yields: headings, paragraphs and tables, as they are read aloud."""

from __future__ import annotations

from typing import NamedTuple

from chameleon.table import Table


class Part(NamedTuple):
    """A heading (its `level` is 1 or more, 1 outermost), a paragraph (0) or a table.

    Lines of a paragraph are parted by line breaks where the document parts them. Levels are compared, no more.
    """

    content: str | Table
    level: int = 0
    page: int | None = None
    """Counted from 1; None where the format has no pages."""
    is_literal: bool = False
    """Whether a number that it begins with is no clause's: code, an item of a list, a note at the foot."""
