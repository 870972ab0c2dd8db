"""Heads and feet of pages: rows that several pages share, and those that count the pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

from chameleon.documents.reading_order import Row

_PAGES = 3  # or more bear the same head
_ROWS = 2  # at either end of a page, which may be its head or foot
_SAME_HEIGHT = 4.0  # points
_CELLS = 3  # or more in a row: it may be the header of a table that goes on
_WHITE = 0.6  # of the letters' size, or more, parts a head from the text
_FURTHEST = 40  # the number that a page bears is at most so far from its place in the file
_LONGEST = 80  # characters of a head that differs from page to page but for its number
_NUMBER = re.compile(r"(?<![\d.,])\d{1,4}(?![.,]?\d)")
_Form = tuple[object, ...]


def without_running(pages: Sequence[Sequence[Row]]) -> list[list[Row]]:
    """The pages without their heads and feet.

    These are rows at the ends of pages, with white between them and the text: on two pages or more the same
    text, which is kept where it stands first; on three or more the same but for a number that counts the
    pages, at one height or on most pages; or such a number at one height.
    """
    ends = [
        {place: [*_forms(page[place], number)] for place in _ends(page)} for number, page in enumerate(pages)
    ]
    often = Counter(form for found in ends for form in {*chain.from_iterable(found.values())})
    running = {form for form, count in often.items() if _is_running(form, count, len(pages))}
    seen = set[_Form]()
    kept = list[list[Row]]()
    for page, found in zip(pages, ends, strict=True):
        rows = list[Row]()
        for place, row in enumerate(page):
            forms = running.intersection(found.get(place, ()))
            same = {form for form in forms if form[0] == "same"}
            if not forms or (same == forms and not same & seen):
                rows.append(row)
            seen |= same
        kept.append(rows)
    return kept


def _is_running(form: _Form, pages: int, of: int) -> bool:
    if form[0] == "anywhere":
        return pages >= _PAGES and 2 * pages > of
    return pages >= (2 if form[0] == "same" else _PAGES)


def _ends(page: Sequence[Row]) -> list[int]:
    """The places of the rows at either end of a page that white parts from the others."""
    whites = [n for n in range(1, len(page)) if page[n].top - page[n - 1].bottom > _WHITE * page[n - 1].size]
    head = max((n for n in whites if n <= _ROWS), default=0)
    foot = min((n for n in whites if n >= len(page) - _ROWS), default=len(page))
    places = [*range(head), *range(max(head, foot), len(page))]
    return [place for place in places if page[place].table is None and len(page[place].gaps) < _CELLS]


def _forms(row: Row, page: int) -> Iterator[_Form]:
    """What a row at an end of a page may have in common with those of other pages: its text, as it is or
    with a number that counts the pages, and where it ends in that number, where it stands."""
    text, height = row.text, round(row.top / _SAME_HEIGHT)
    yield "same", text, row.size, height
    for number in _NUMBER.finditer(text):
        count = int(number[0]) - page
        if abs(count) > _FURTHEST:
            continue
        without = f"{text[: number.start()]}#{count}{text[number.end() :]}"
        yield "here", without, row.size, height
        yield "anywhere", without, row.size
        is_at_an_edge = not text[: number.start()].strip() or not text[number.end() :].strip()
        if is_at_an_edge and len(text) <= _LONGEST and text[-1] not in ".;:!?":
            yield "counts", count, height
