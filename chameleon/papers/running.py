"""Heads and feet of pages: rows that several pages share, and those that count the pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

from chameleon.papers.layout import Row

_PAGES = 3  # or more bear the same head
_ROWS = 2  # at either end of a page, which may be its head or foot
_SAME_HEIGHT = 4.0  # points
_CELLS = 3  # or more in a row: it may be the header of a table that goes on
_WHITE = 0.6  # of the letters' size, or more, parts a head from the text
_LONGEST_COUNT = 4  # digits of the number of a page
_DIGITS = re.compile(r"\d+")
_COUNT = re.compile(r"(\d+)\b|.*\b(\d+)\W*", re.DOTALL)
_Form = tuple[object, ...]


def without_running(pages: Sequence[Sequence[Row]]) -> list[list[Row]]:
    """The pages without their heads and feet.

    These are rows at the ends of three pages or more, with white between them and the text: at one height
    with the same words, whatever numbers they have, or with a number that counts the pages; or on most pages
    with the same words at any height.
    """
    ends = [
        {place: {*_forms(page[place], number)} for place in _ends(page)} for number, page in enumerate(pages)
    ]
    often = Counter(form for found in ends for form in {*chain.from_iterable(found.values())})
    running = {
        form
        for form, count in often.items()
        if count >= _PAGES and (form[0] != "anywhere" or 2 * count > len(pages))
    }
    return [
        [row for place, row in enumerate(page) if running.isdisjoint(found.get(place, ()))]
        for page, found in zip(pages, ends, strict=True)
    ]


def _ends(page: Sequence[Row]) -> list[int]:
    """The places of the rows at either end of a page that white parts from the others."""
    whites = [n for n in range(1, len(page)) if page[n].top - page[n - 1].bottom > _WHITE * page[n - 1].size]
    head = max((n for n in whites if n <= _ROWS), default=0)
    foot = min((n for n in whites if n >= len(page) - _ROWS), default=len(page))
    places = [*range(head), *range(max(head, foot), len(page))]
    return [place for place in places if page[place].table is None and len(page[place].gaps) < _CELLS]


def _forms(row: Row, page: int) -> Iterator[_Form]:
    """What a row at an end of a page may have in common with those of other pages."""
    text, height = _DIGITS.sub("#", row.text), round(row.top / _SAME_HEIGHT)
    yield "here", text, row.size, height
    yield "anywhere", text, row.size
    counted = _COUNT.fullmatch(row.text) or _COUNT.match(row.text)
    for digits in filter(None, counted.groups() if counted else ()):
        if len(digits) <= _LONGEST_COUNT:
            yield "counts", int(digits) - page, height
