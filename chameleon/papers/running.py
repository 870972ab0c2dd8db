"""Heads and feet of pages: rows that several pages share, and those that count the pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from chameleon.papers.layout import Row

_PAGES = 3  # or more bear the same head
_ROWS = 2  # at either end of a page, which may be its head or foot
_SAME_HEIGHT = 4.0  # points
_CELLS = 3  # or more in a row: it may be the header of a table that goes on
_DIGITS = re.compile(r"\d+")
_COUNT = re.compile(r"(\d+)\b|.*\b(\d+)\W*", re.DOTALL)
_Form = tuple[object, ...]


def without_running(pages: Sequence[Sequence[Row]]) -> list[list[Row]]:
    """The pages without their heads and feet.

    These are rows at the ends of three pages or more: at one height with the same text, whatever numbers it
    has, or with a number that counts the pages; or on most pages with the same text at any height.
    """
    often = Counter(form for number, page in enumerate(pages) for form in {*_forms_of_ends(page, number)})
    running = {
        form
        for form, count in often.items()
        if count >= _PAGES and (form[0] != "anywhere" or 2 * count > len(pages))
    }
    return [
        [row for place, row in enumerate(page) if not running.intersection(_forms(page, place, number))]
        for number, page in enumerate(pages)
    ]


def _forms_of_ends(page: Sequence[Row], number: int) -> Iterator[_Form]:
    for place in range(len(page)):
        yield from _forms(page, place, number)


def _forms(page: Sequence[Row], place: int, number: int) -> Iterator[_Form]:
    """What a row at an end of a page has in common with those of other pages."""
    row = page[place]
    if _ROWS <= place < len(page) - _ROWS or row.table is not None or len(row.gaps) >= _CELLS:
        return
    text, height = _DIGITS.sub("#", row.text), round(row.top / _SAME_HEIGHT)
    yield "here", text, row.size, height
    yield "anywhere", text, row.size
    if counted := _COUNT.fullmatch(row.text) or _COUNT.match(row.text):
        for digits in filter(None, counted.groups()):
            if len(digits) <= 4:
                yield "counts", int(digits) - number, height
