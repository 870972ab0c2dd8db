"""The lines of a PDF's page in writing order, with its heads and feet recognized."""

import ctypes
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

from chameleon.errors import InputError
from chameleon.table import Table
from chameleon.web.markup import SUPERSCRIPTS, visible

MAX_CHARACTERS = 300_000  # of a page; a page of a telephone book has about 20,000
LEADING = 1.75  # of the letters' size: lines further apart belong to different paragraphs
LARGER = 1.15  # times as large: letters of another kind
CAPTION = re.compile(r"(?:table|figure|fig\.)\s+[A-Z]?\d", re.IGNORECASE)
SOFT = "\xad"
"""The hyphen of a word split at the end of a line."""
_BOLD = re.compile(rb"bold|black|heavy|demi|medi|cmbx|cmssbx|sfbx", re.IGNORECASE)
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl"})
_RAISED_CHARS = "0123456789+-−"
_MAX_RAISED_SIZE, _MIN_RISE, _MAX_GAP = 0.85, 0.15, 0.5  # of the letters' size: limits for a raised figure
_CELL_GAP = 0.9  # of the letters' size: words further apart are cells; figures half as far
_FIGURE = re.compile(r"[^\w\s]*\d[\d.,:%e+-]*\W?")
_SIGN_BEFORE, _SIGN_AFTER = re.compile(r"-?[$€£¥(]+"), re.compile(r"[)%]+")
_LINE, _WORD = re.compile(r"[^\r\n\x02]+"), re.compile(r"[^\s\x00\ufffe\uffff]+")
TURNS = ((1, 0), (0, 1), (-1, 0), (0, -1))  # -1 is the last of them
_MAX_LEAN = 0.01  # of a quarter of a turn: letters that lean less are still level
_MAX_LIFT = 0.5  # of the letters' size: words this much higher or lower are on another line
_COLUMN_JUMP = 12.0  # lines: text that continues this much higher is in another column
_END_LINES = 2  # lines at either end of a page that may be its head or foot
_PAGES = 3  # at least this many share a head
_MAX_HEAD_CHARS = 200  # letters of a head with page numbers
_MAX_OFFSET = 50  # the largest difference between a page's printed number and its place in the file
_NUMBER = re.compile(r"(?<![\d.,])\d{1,4}(?![.,]?\d)")
_PAGE_NUMBER = re.compile(r"\W*(?:(?:page|p\.) )?\d{1,4}(?: ?(?:of|/) ?\d{1,4})?\W*", re.IGNORECASE)
"""A line that is only a page number, which two pages are enough to show."""
_Form = tuple[object, ...]  # a text and its height; or the text around a number, and the number's offset


class Word(NamedTuple):
    """A word, with where it begins and ends along its line, in points."""

    text: str
    x0: float
    x1: float


class _Letter(NamedTuple):
    """The place of a letter along its line and above the page's foot; `turn` is None if it is slanted."""

    x0: float
    x1: float
    base: float
    size: float
    turn: int | None


@dataclass(slots=True, eq=False)
class Line:
    """Words written one after another on one line; a word that continues on the next line ends in `SOFT`.

    Attributes:
        base: its height above the page's foot.
        turn: quarter turns to the left.
        heading: the level of the heading it belongs to, and which heading of the document that is.
        table: the table it represents.
        edges: the edges of the table's columns, if lines separate them.
    """

    base: float
    size: float
    turn: int
    bold: bool = False
    words: list[Word] = field(default_factory=list)
    heading: tuple[int, int] | None = None
    table: Table | None = None
    edges: Sequence[float] = ()

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)

    @property
    def x0(self) -> float:
        return self.words[0].x0

    @property
    def x1(self) -> float:
        return self.words[-1].x1

    def is_level_with(self, other: "Line") -> bool:
        return abs(self.base - other.base) <= _MAX_LIFT * max(self.size, other.size)

    def goes_on(self, below: "Line") -> bool:
        """Return whether `below` is right below this line, and neither is a table."""
        furthest = LEADING * max(self.size, below.size)
        return not (self.table or below.table) and 0 < self.base - below.base <= furthest

    def runs(self) -> list[list[Word]]:
        """Return the words, split where white space separates cells of a table."""
        runs = [[self.words[0]]]
        for before, word in pairwise(self.words):
            is_sign = _SIGN_BEFORE.fullmatch(before.text) or _SIGN_AFTER.fullmatch(word.text)
            are_figures = _FIGURE.fullmatch(before.text) and _FIGURE.fullmatch(word.text)
            white = (_CELL_GAP / 2 if are_figures else _CELL_GAP) * self.size
            if word.x0 - before.x1 > white and not is_sign:
                runs.append([])
            runs[-1].append(word)
        return runs


class _Letters(dict[int, _Letter]):
    """The requested letters of a page, by their places in PDFium's text of it."""

    def __init__(self, text: Any) -> None:
        import pypdfium2.raw as pdfium

        self._pdfium, self._text = pdfium, text.raw
        self._box, self._matrix = pdfium.FS_RECTF(), pdfium.FS_MATRIX()
        self._x, self._y, self._flags = ctypes.c_double(), ctypes.c_double(), ctypes.c_int()
        self._font = ctypes.create_string_buffer(128)
        codes = (pdfium.FPDFText_GetUnicode(text.raw, n) for n in range(text.count_chars()))
        self.written = "".join(map(chr, codes))

    def __missing__(self, place: int) -> _Letter:
        text, box, matrix = self._text, self._box, self._matrix
        self._pdfium.FPDFText_GetMatrix(text, place, matrix)
        self._pdfium.FPDFText_GetLooseCharBox(text, place, box)
        self._pdfium.FPDFText_GetCharOrigin(text, place, self._x, self._y)
        size = self._pdfium.FPDFText_GetFontSize(text, place) * math.hypot(matrix.c, matrix.d)
        quarters = 2 * math.atan2(matrix.b, matrix.a) / math.pi
        turn = round(quarters)
        along, up = TURNS[turn]
        ends = along * box.left + up * box.bottom, along * box.right + up * box.top
        base = along * self._y.value - up * self._x.value
        is_level = abs(quarters - turn) <= _MAX_LEAN
        size = round(size, 1) or 1.0
        self[place] = _Letter(min(ends), max(ends), base, size, turn % 4 if is_level else None)
        return self[place]

    def is_bold(self, place: int) -> bool:
        self._pdfium.FPDFText_GetFontInfo(self._text, place, self._font, 128, self._flags)
        return _BOLD.search(self._font.value) is not None


def lines_of(text: Any, where: str) -> list[Line]:
    """Return the lines of a page (pypdfium2's text of it), without slanted words such as stamps.

    The words are PDFium's: it knows from the widths of the letters where a space is. Raised figures are
    superscripts: "10⁶", "402¹".
    """
    if text.count_chars() > MAX_CHARACTERS:
        what = f"the page has more than {MAX_CHARACTERS:,} characters"
        raise InputError(what, where=where, hint="Give it as a text or as a table.")
    letters, lines = _Letters(text), list[Line]()
    for match in _LINE.finditer(letters.written):
        words = list(_WORD.finditer(letters.written, match.start(), match.end()))
        ends = [(letters[word.start()], word.start()) for word in words[:1] + words[-1:]]
        level = [(end.size, place, end) for end, place in ends if end.turn is not None]
        if not level:
            continue
        size, place, letter = max(level)
        if not (lines and _is_raised(ends[0][0], lines[-1]) and _is_beside(ends[0][0], lines[-1])):
            lines.append(Line(letter.base, size, letter.turn or 0, letters.is_bold(place)))
        words_of_line = lines[-1].words
        for word in words:
            _add(lines[-1], word[0], word.start(), letters)
        if not words_of_line:
            lines.pop()
        elif letters.written[match.end() : match.end() + 1] == "\x02":  # PDFium's mark of a split word
            words_of_line[-1] = words_of_line[-1]._replace(text=words_of_line[-1].text + SOFT)
    return lines


def _add(line: Line, word: str, begin: int, letters: _Letters) -> None:
    """Add a word, placed by its letters, if it is turned as its line is."""
    first, length = letters[begin], len(word)
    if first.turn != line.turn:
        return
    last = letters[begin + length - 1] if length > 1 else first
    while length and word[length - 1] in _RAISED_CHARS and _is_raised(letters[begin + length - 1], line):
        length -= 1
    plain = word[:length].encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    text = visible(plain.translate(_LIGATURES)).strip() + word[length:].translate(SUPERSCRIPTS)
    if text and not length and line.words and _is_beside(first, line):
        line.words[-1] = Word(line.words[-1].text + text, line.words[-1].x0, last.x1)
    elif text:
        line.words.append(Word(text, min(first.x0, last.x0), max(first.x1, last.x1)))


def _is_raised(letter: _Letter, line: Line) -> bool:
    """Return whether a letter is smaller and higher than the letters of a line."""
    is_small = letter.turn == line.turn and letter.size <= _MAX_RAISED_SIZE * line.size
    return is_small and _MIN_RISE * line.size <= letter.base - line.base <= line.size


def _is_beside(letter: _Letter, line: Line) -> bool:
    return abs(letter.x0 - line.x1) <= _MAX_GAP * line.size


def text_of(lines: Sequence[Line]) -> str:
    """Join lines as one line."""
    return " ".join(line.text for line in lines).replace(f"{SOFT} ", "").replace(SOFT, "-")


def flows(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Yield the lines in runs that go down the page, as in a column."""
    run = list[Line]()
    for line in lines:
        if run and (line.turn != run[-1].turn or line.base - run[-1].base > _COLUMN_JUMP * line.size):
            yield run
            run = []
        run.append(line)
    if run:
        yield run


def without_heads(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """Return the pages without their heads and feet.

    These are lines at the top or bottom, set off from the text by white space, that repeat on three pages or
    more, or on both of two: at the same height, or the same except for a number that counts the pages. The
    first of several at the same height is kept, before the text of its page.
    """
    ends = {line: {*_forms(line, number)} for number, page in enumerate(pages) for line in _ends(page)}
    often = Counter(form for forms in ends.values() for form in forms)
    heads, kept, known, least = set[Line](), set[Line](), set[_Form](), 2 if len(pages) == 2 else _PAGES
    for line, forms in ends.items():
        counts = _PAGE_NUMBER.fullmatch(line.text)
        shared = {form for form in forms if often[form] >= (least if counts or len(form) == 2 else _PAGES)}
        if shared:
            (heads if shared & known or any(len(form) > 2 for form in shared) else kept).add(line)
        known |= shared
    ordered = [sorted(page, key=lambda line: line not in kept) for page in pages]
    return [[line for line in page if line not in heads] for page in ordered]


def _ends(page: Sequence[Line]) -> Iterator[Line]:
    """Yield the lines at either end of a page that white space sets off from the others."""
    level = sorted((line for line in page if not line.turn), key=lambda line: line.base)
    for lines in (level, level[::-1]):
        for place, (line, inner) in enumerate(pairwise(lines[: _END_LINES + 1]), 1):
            if abs(line.base - inner.base) > LEADING * min(line.size, inner.size):
                yield from lines[:place]
                break


def _forms(line: Line, page: int) -> Iterator[_Form]:
    yield line.text, round(line.base / 4)
    for number in _NUMBER.finditer(line.text) if len(line.text) <= _MAX_HEAD_CHARS else ():
        if abs(count := int(number[0]) - page) <= _MAX_OFFSET:
            yield line.text[: number.start()], count, line.text[number.end() :]
