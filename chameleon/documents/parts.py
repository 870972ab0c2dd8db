"""`Part`: what every reader of documents yields: headings, paragraphs and tables, in reading order."""

from __future__ import annotations

from typing import NamedTuple

from chameleon.table import Table

BY_LETTERS = 13
"""The level of a heading that only bold letters show: below "Item 7", above "7 Notice"."""


UNREAD_PAGE = "[This page is a picture that was not read"
"""How the text begins that stands for such a page: what is read of the document is not all of it."""


class Part(NamedTuple):
    """A heading (its `level` is 1 or more, 1 outermost), a paragraph (0) or a table.

    Line breaks stand where the document has them. Levels are compared, no more.
    """

    content: str | Table
    level: int = 0
    page: int | None = None
    """Counted from 1; None where the format has no pages."""
    is_literal: bool = False
    """Whether a number that it begins with is no clause's: code, an item of a list, a note at the foot."""
