"""The headings of a PDF: the lines that its bookmarks name, or else lines in larger or bold letters."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain, count
from typing import Any

from chameleon.documents.parts import BY_LETTERS
from chameleon.documents.pdf_lines import CAPTION, LARGER, Line, text_of

_MIN_BOOKMARKS = 3  # bookmarks found on their pages; with fewer, or less than half, letters decide
_MAX_CHARS, _MAX_LINES = 120, 3
_MAX_BOLD_SHARE = 0.3  # of all letters: if more are bold, bold letters make no heading
_NOT_LETTERS = re.compile(r"\W+|_")
_NUMBER = re.compile(r"\d{1,3}(?:\.\d{1,3})*\b")
_NO_HEADING = re.compile(r"(?:\. ?){4}|[,;]$|^[\W\d_]*$")


def mark_headings(pdf: Any, pages: Sequence[Sequence[Line]]) -> None:
    """Mark the lines of headings on the pages of a PDF (from pypdfium2)."""
    bookmarks, numbers = dict[int, dict[str, int]](), count(1)
    for mark in pdf.get_toc(max_depth=8):
        dest = mark.get_dest()
        if dest is not None and (key := _key(mark.get_title())):
            bookmarks.setdefault(dest.get_index(), {}).setdefault(key, mark.level + 1)
    headings = list[tuple[Sequence[Line], int]]()
    for page, levels in bookmarks.items():
        lines = pages[page] if page < len(pages) else []
        for begin, length in ((n, m) for n in range(len(lines)) for m in range(1, _MAX_LINES + 1)):
            several = lines[begin : begin + length]
            if levels and (level := levels.pop(_key(text_of(several)), None)):
                headings.append((several, level))
    if len(headings) < max(_MIN_BOOKMARKS, sum(map(len, bookmarks.values())) / 2):
        headings = _by_letters(pages)
    for lines, level in headings:
        heading = (level, next(numbers))
        for line in lines:
            line.heading = heading


def _key(text: str) -> str:
    """Return the letters of a heading, without its number."""
    return _NOT_LETTERS.sub("", _NUMBER.sub("", text.strip(), count=1)).casefold()


def _by_letters(pages: Sequence[Sequence[Line]]) -> list[tuple[Sequence[Line], int]]:
    """Return the lines and level of each heading that larger or bold letters show."""
    letters, bold = Counter[float](), 0
    for line in chain.from_iterable(pages):
        letters[line.size] += len(line.text)
        bold += len(line.text) * line.bold
    body = letters.most_common(1)[0][0] if letters else 1.0
    larger = sorted((size for size in letters if size >= LARGER * body), reverse=True)
    bold_stands_out = bold <= _MAX_BOLD_SHARE * letters.total()
    headings = list[tuple[Sequence[Line], int]]()
    for page in pages:
        end = 0
        while end < len(page):
            begin, line = end, page[end]
            end += 1
            while end < len(page) and _goes_on(page[end - 1], page[end]):
                end += 1
            is_cell = line.table or (end < len(page) and page[end].is_level_with(page[end - 1]))
            if not is_cell and _is_heading(lines := page[begin:end]):
                number = _NUMBER.match(line.text)
                depth = min(number[0].count("."), 2) if number else 0
                if line.size in larger:
                    # Three levels for each of four sizes, by the depth of the number: 12 at most.
                    headings.append((lines, 1 + 3 * min(larger.index(line.size), 3) + depth))
                elif bold_stands_out and line.bold:
                    headings.append((lines, BY_LETTERS))
    return headings


def _goes_on(line: Line, below: Line) -> bool:
    same = line.size == below.size and line.bold == below.bold
    return same and line.goes_on(below) and not _NUMBER.match(below.text)


def _is_heading(lines: Sequence[Line]) -> bool:
    text = text_of(lines)
    if len(lines) > _MAX_LINES or len(text) > _MAX_CHARS or _NO_HEADING.search(text) or CAPTION.match(text):
        return False
    return all(len(line.runs()) == 1 for line in lines)
