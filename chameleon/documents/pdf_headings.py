"""The headings of a PDF: the lines that its bookmarks name, or else those in larger or bold letters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from chameleon.documents.parts import BY_LETTERS
from chameleon.documents.pdf_lines import CAPTION, LARGER, LEADING, Line, runs_of, text_of

_LEAST = 3  # bookmarks whose headings stand on their pages; with fewer, or less than half, letters tell
_LONGEST, _MOST_LINES = 120, 3
_OFTEN_BOLD = 0.3  # of all letters: where more are bold, bold letters make no heading
_NOT_LETTERS = re.compile(r"\W+|_")
_NUMBER = re.compile(r"\d{1,3}(?:\.\d{1,3})*\b")
_NO_HEADING = re.compile(r"(?:\. ?){4}|[,;]$|^[\W\d_]*$")

Headings = Mapping[int, tuple[int, int]]
"""By the id of a line: the level of its heading, and the id of the heading's first line."""


def headings_of(pdf: Any, pages: Sequence[Sequence[Line]]) -> Headings:
    """The headings on the pages of a PDF (pypdfium2's)."""
    wanted, count = dict[int, dict[str, int]](), 0
    for mark in pdf.get_toc(max_depth=8):
        dest = mark.get_dest()
        if dest is not None and (key := _key(mark.get_title())):
            wanted.setdefault(dest.get_index(), {}).setdefault(key, mark.level + 1)
            count += 1
    found = dict[int, tuple[int, int]]()
    for number, levels in wanted.items():
        if number < len(pages):
            found |= _by_bookmarks(pages[number], levels)
    firsts = {first for _, first in found.values()}
    return found if len(firsts) >= max(_LEAST, count / 2) else _by_letters(pages)


def _key(text: str) -> str:
    """The letters of a heading, without its number."""
    return _NOT_LETTERS.sub("", _NUMBER.sub("", text.strip(), count=1)).casefold()


def _by_bookmarks(page: Sequence[Line], levels: dict[str, int]) -> dict[int, tuple[int, int]]:
    found = dict[int, tuple[int, int]]()
    for place, line in enumerate(page):
        for count in range(1, _MOST_LINES + 1) if levels else ():
            lines = page[place : place + count]
            if (level := levels.pop(_key(text_of(lines)), None)) is not None:
                found |= {id(each): (level, id(line)) for each in lines}
                break
    return found


def _by_letters(pages: Sequence[Sequence[Line]]) -> Headings:
    letters, bold = Counter[float](), 0
    for line in (line for page in pages for line in page):
        letters[line.size] += len(line.text)
        bold += len(line.text) if line.bold else 0
    body = letters.most_common(1)[0][0] if letters else 1.0
    larger = sorted((size for size in letters if size >= LARGER * body), reverse=True)
    bold_stands_out = bold <= _OFTEN_BOLD * letters.total()
    found = dict[int, tuple[int, int]]()
    for page in pages:
        place = 0
        while place < len(page):
            line, end = page[place], place + 1
            while end < len(page) and _goes_on(page[end - 1], page[end]):
                end += 1
            lines, place = page[place:end], end
            stands_out = line.size in larger or (bold_stands_out and line.bold)
            is_cell = end < len(page) and page[end].is_level_with(page[end - 1])
            if stands_out and not is_cell and _is_heading(lines):
                number = _NUMBER.match(line.text)
                depth = min(number[0].count("."), 2) if number else 0
                level = 1 + 3 * min(larger.index(line.size), 3) + depth if line.size in larger else BY_LETTERS
                found |= {id(each): (level, id(line)) for each in lines}
    return found


def _goes_on(line: Line, below: Line) -> bool:
    same = line.size == below.size and line.bold == below.bold
    return same and 0 < line.base - below.base <= LEADING * line.size and not _NUMBER.match(below.text)


def _is_heading(lines: Sequence[Line]) -> bool:
    text = text_of(lines)
    if len(lines) > _MOST_LINES or len(text) > _LONGEST or _NO_HEADING.search(text) or CAPTION.match(text):
        return False
    return all(len(runs_of(line.words, line.size)) == 1 for line in lines)
