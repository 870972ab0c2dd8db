"""`DocumentPart`: a heading, paragraph or table, yielded by document readers in reading order."""

from typing import NamedTuple

from chameleon.table import Table

BY_LETTERS = 13
"""The level of a heading marked only by bold letters: below "Item 7", above "7 Notice"."""


class DocumentPart(NamedTuple):
    """A heading (`level` 1 or more, 1 outermost), a paragraph (0) or a table, with its line breaks."""

    content: str | Table
    level: int = 0
    page: int | None = None
    """Counted from 1; None if the format has no pages."""
    is_literal: bool = False
    """Whether a number at its start belongs to no clause: code, a list item, a footnote."""
    is_unread: bool = False
    """Whether it replaces a page that was not read, and says why."""


def unread_page(page: int, why: str) -> DocumentPart:
    """Return the placeholder for a page that is a picture and was not read."""
    text = f"[This page is a picture that was not read: {why}.]"
    return DocumentPart(text, page=page, is_literal=True, is_unread=True)
