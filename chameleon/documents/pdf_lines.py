"""The lines of a PDF's page in the order in which they were written, and which of them are heads and feet."""

from __future__ import annotations

import ctypes
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from chameleon.errors import InputError
from chameleon.markup import SUPERSCRIPTS, visible

MAX_CHARACTERS = 300_000  # of a page; a page of a telephone book has some 20,000
_BOLD = re.compile(rb"bold|black|heavy|demi|medi|cmbx|cmssbx|sfbx", re.IGNORECASE)
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl"})
_APART = 0.9  # of the letters' size: what stands further apart are cells; of figures half as far
LEADING = 1.75  # of the letters' size: lines further apart are of two paragraphs
LARGER = 1.15  # times as large are letters of another kind
CAPTION = re.compile(r"(?:table|figure|fig\.)\s+[A-Z]?\d", re.IGNORECASE)
_FIGURE = re.compile(r"[^\w\s]*\d[\d.,:%e+-]*\W?")
_Form = tuple[object, ...]  # a text and its height; or what stands around a number, and how far it is off
_TURNS = ((1, 0), (0, 1), (-1, 0), (0, -1))
_SMALL, _HIGHER, _BESIDE = 0.85, 0.15, 0.5  # of the letters' size: how a raised figure stands
_RAISED = frozenset("0123456789+-−")
_SIGN_BEFORE, _SIGN_AFTER = re.compile(r"-?[$€£¥(]+"), re.compile(r"[)%]+")
SOFT = "\xad"
"""The hyphen of a word that a line's end parts."""
_ROMAN = re.compile(r"[ivxlc]+")
_LINE, _WORD = re.compile(r"[^\r\n\x02]+"), re.compile(r"[^\s\x00\ufffe\uffff]+")
_LEVEL = 0.02  # radians by which letters may lean and stand level all the same
_LIFTED = 0.5  # of the letters' size: what stands so much higher or lower is on another line
_JUMP = 12.0  # lines: what goes on so much higher up stands in another column
_ENDS = 2  # lines at either end of a page that may be its head or foot
_PAGES = 3  # or more share a head
_FURTHEST = 50  # the number that a page bears is at most so far from its place in the file
_NUMBER = re.compile(r"(?<![\d.,])\d{1,4}(?![.,]?\d)")


class Word(NamedTuple):
    """A word, and where it begins and ends along its line, in points."""

    text: str
    x0: float
    x1: float


@dataclass(slots=True)
class Line:
    """Words that were written one after another on one line; `base` is its height above the page's foot.

    `turn`: how often a quarter of a turn to the left. A word that goes on in the next line ends in `SOFT`.
    """

    words: list[Word]
    base: float
    size: float
    bold: bool
    turn: int

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)

    @property
    def x0(self) -> float:
        return self.words[0].x0

    @property
    def x1(self) -> float:
        return self.words[-1].x1

    def is_level_with(self, other: Line) -> bool:
        return abs(self.base - other.base) <= _LIFTED * max(self.size, other.size)


class _Letters:
    """The letters of a page, by their places in PDFium's text of it."""

    def __init__(self, text: Any) -> None:
        import pypdfium2.raw as pdfium

        self._pdfium, self._text = pdfium, text
        self._box, self._matrix = pdfium.FS_RECTF(), pdfium.FS_MATRIX()
        self._x, self._y, self._flags = ctypes.c_double(), ctypes.c_double(), ctypes.c_int()
        self._font = ctypes.create_string_buffer(128)
        self.written = "".join(chr(pdfium.FPDFText_GetUnicode(text, n)) for n in range(text.count_chars()))

    def size(self, place: int) -> tuple[float, float]:
        """The size of a letter, and the angle at which it stands."""
        self._pdfium.FPDFText_GetMatrix(self._text, place, self._matrix)
        size = self._pdfium.FPDFText_GetFontSize(self._text, place)
        size *= math.hypot(self._matrix.c, self._matrix.d)
        return round(size, 1) or 1.0, math.atan2(self._matrix.b, self._matrix.a)

    def base(self, place: int, turn: int) -> float:
        """How high the line is that a letter stands on."""
        self._pdfium.FPDFText_GetCharOrigin(self._text, place, self._x, self._y)
        along, up = _TURNS[turn]
        return along * self._y.value - up * self._x.value

    def ends(self, place: int, turn: int) -> tuple[float, float]:
        """Where a letter begins and ends along its line."""
        self._pdfium.FPDFText_GetLooseCharBox(self._text, place, self._box)
        along, up = _TURNS[turn]
        return (
            along * self._box.left + up * self._box.bottom,
            along * self._box.right + up * self._box.top,
        )

    def is_bold(self, place: int) -> bool:
        self._pdfium.FPDFText_GetFontInfo(self._text, place, self._font, 128, self._flags)
        return _BOLD.search(self._font.value) is not None


def lines_of(text: Any, where: str) -> list[Line]:
    """The lines of a page (pypdfium2's text of it); slanted words, as those of stamps, are left out.

    The words are PDFium's: it knows from the letters' own widths where a blank stands. Raised figures are
    superscripts: "10⁶", "402¹".
    """
    if text.count_chars() > MAX_CHARACTERS:
        what = f"the page has more than {MAX_CHARACTERS:,} letters"
        raise InputError(what, where=where, hint="Give it as a text or as a table.")
    letters, lines = _Letters(text), list[Line]()
    for found in _LINE.finditer(letters.written):
        words = list(_WORD.finditer(letters.written, found.start(), found.end()))
        ends = ((*letters.size(word.start()), word.start()) for word in (*words[:1], *words[-1:]))
        size, angle, place = max((end for end in ends if _is_level(end[1])), default=(0.0, 0.0, 0))
        turn = round(2 * angle / math.pi) % 4
        line = Line([], letters.base(place, turn), size, letters.is_bold(place), turn)
        for word in words if size else ():
            _add(line, word.start(), word.end(), letters)
        if line.words and letters.written[found.end() : found.end() + 1] == "\x02":
            line.words[-1] = line.words[-1]._replace(text=line.words[-1].text + SOFT)
        if line.words and lines and _is_mark(line, lines[-1]):
            last, (mark, _, end) = lines[-1].words[-1], line.words[0]
            lines[-1].words[-1] = Word(last.text + mark.translate(SUPERSCRIPTS), last.x0, end)
        elif line.words:
            lines.append(line)
    return lines


def _add(line: Line, begin: int, end: int, letters: _Letters) -> None:
    """Add a word, if it stands as its line does, by the places of its letters."""
    _, angle = letters.size(begin)
    if not _is_level(angle) or round(2 * angle / math.pi) % 4 != line.turn:
        return
    along = *letters.ends(begin, line.turn), *letters.ends(end - 1, line.turn)
    raised = end
    while raised > begin and letters.written[raised - 1] in _RAISED:
        small = letters.size(raised - 1)[0] <= _SMALL * line.size
        if not small or letters.base(raised - 1, line.turn) < line.base + _HIGHER * line.size:
            break
        raised -= 1
    shown = visible(_plain(letters.written[begin:raised])).strip()
    shown += letters.written[raised:end].translate(SUPERSCRIPTS)
    if shown and raised == begin and line.words and min(along) - line.x1 < _BESIDE * line.size:
        line.words[-1] = Word(line.words[-1].text + shown, line.words[-1].x0, max(along))
    elif shown:
        line.words.append(Word(shown, min(along), max(along)))


def _is_level(angle: float) -> bool:
    """Whether letters stand level, or sideways."""
    return abs(math.remainder(angle, math.pi / 2)) <= _LEVEL


def _is_mark(line: Line, before: Line) -> bool:
    """Whether a line is a raised figure right behind another line."""
    lift = line.base - before.base
    return (
        len(line.words) == 1
        and set(line.words[0].text) <= _RAISED
        and line.size <= _SMALL * before.size
        and _HIGHER * before.size <= lift <= before.size
        and abs(line.x0 - before.x1) <= _BESIDE * before.size
    )


def _plain(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").translate(_LIGATURES)


def runs_of(words: Sequence[Word], size: float) -> list[list[Word]]:
    """Words of one line, parted where white stands between cells of a table."""
    runs = [[words[0]]]
    for before, word in pairwise(words):
        between = _APART / 2 if _FIGURE.fullmatch(before.text) and _FIGURE.fullmatch(word.text) else _APART
        is_sign = _SIGN_BEFORE.fullmatch(before.text) or _SIGN_AFTER.fullmatch(word.text)
        if word.x0 - before.x1 > between * size and not is_sign:
            runs.append([])
        runs[-1].append(word)
    return runs


def text_of(lines: Sequence[Line]) -> str:
    """Lines as one line."""
    return " ".join(line.text for line in lines).replace(f"{SOFT} ", "").replace(SOFT, "-")


def flows(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """The lines in runs that go down the page, as those of a column do."""
    held = list[Line]()
    for line in lines:
        if held and (line.turn != held[-1].turn or line.base - held[-1].base > _JUMP * line.size):
            yield held
            held = []
        held.append(line)
    if held:
        yield held


def without_heads(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """The pages without their heads and feet: lines at their ends, parted from the text by white, which
    three pages or more bear, the same at one height, or the same but for a number that counts the pages.

    What is the same is kept where it stands first.
    """
    ends = [[(line, {*_forms(line, number)}) for line in _ends(page)] for number, page in enumerate(pages)]
    often = Counter(form for page in ends for form in set[_Form]().union(*(forms for _, forms in page)))
    running = {form for form, count in often.items() if count >= _PAGES}
    left, seen = set[int](), set[_Form]()
    for line, forms in (end for page in ends for end in page):
        if found := forms & running:
            if any(len(form) == 3 or form in seen for form in found):
                left.add(id(line))
            seen |= found
    return [[line for line in page if id(line) not in left] for page in pages]


def _ends(page: Sequence[Line]) -> Iterator[Line]:
    """The lines at either end of a page, that white parts from the others."""
    level = sorted((line for line in page if not line.turn), key=lambda line: line.base)
    for lines in (level, level[::-1]):
        for place, (line, inner) in enumerate(pairwise(lines[: _ENDS + 1]), 1):
            if abs(line.base - inner.base) > LEADING * min(line.size, inner.size):
                yield from lines[:place]
                break


def _forms(line: Line, page: int) -> Iterator[_Form]:
    height = round(line.base / 4)
    yield (("roman", 0, height) if _ROMAN.fullmatch(line.text) else (line.text, height))
    for number in _NUMBER.finditer(line.text):
        if abs(count := int(number[0]) - page) <= _FURTHEST:
            yield line.text[: number.start()], count, line.text[number.end() :]
