"""The sections of a document: the text below each heading, marked as one or recognized by its number.

Numbers follow one rule: a line begins a section if its number is the next one and a capital letter
follows. So "7.2 Notice" after 7.1 is a heading; "3.5 per cent" and "12 Cranes" are not.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from chameleon.documents.parts import BY_LETTERS, DocumentPart
from chameleon.table import Table

LONGEST_HEADING = 120
_MAX_TITLE_CHARS = 300  # characters of a heading in the title of a passage; the rest is in the text
_MAX_WRAPPED_CHARS = 60  # of a numbered line that is the heading of the lines right below it
_MAX_CAPTION_CHARS = 150
_NUMBER = re.compile(r"(\d{1,3}(?:\.\d{1,3}){0,5})[.)]?\s+(?=[^\W\d_a-z]|[\"“(])")
# "ARTICLE IV", "Item 7A.", "§ 3 –": a label and a number, before a capital, a quote, "of the" or the end.
_LABELED_NUMBER = re.compile(
    r"((?i:part|item|article|chapter|section|clause|schedule|annex|appendix|exhibit|note)\s|§)\s*"
    r"([IVXLC]+|[ivx]+|[A-Z]|\d+[\w.]*)(?![\w-])[.:)]?[\s—–-]*(?=$|[^\W\d_a-z]|[\"“(]|(?:to|of) the )"
)
_OUTERMOST = ("part", "chapter", "schedule", "annex", "appendix", "exhibit")
_SMALL_WORDS = r"(?:a|an|and|as|at|by|for|from|in|of|on|or|the|to|with)"
# A title before its text, up to eight words, all capitalized but the small ones: "Governing Law. This …".
_RUN_IN = re.compile(
    rf"((?:[^\W\d_a-z][\w’'-]*,?)(?: (?:[^\W\d_a-z][\w’'-]*|{_SMALL_WORDS}),?){{0,7}})[.:](?=\s|$)"
)
_STOPS, _OPEN_ENDS = (".", ";", ":", "!", "?"), (".", ";", ",", ":")
_LEADERS = re.compile(r"(?:\. ?){4}")  # in a table of contents


@dataclass
class Section:
    """The text below a heading.

    Attributes:
        headings: its own heading and those around it, the outermost first.
        page: the page of its own heading.
    """

    headings: tuple[str, ...] = ()
    parts: list[DocumentPart] = field(default_factory=list)
    page: int | None = None


class _FoundHeading(NamedTuple):
    """A number that begins a section; `is_whole`: the heading is the whole line."""

    level: int
    number: tuple[int, ...]
    heading: str
    is_whole: bool


def sections_of(parts: Iterable[DocumentPart]) -> list[Section]:
    """Put the parts below their headings without losing a word.

    A heading with nothing below it is included in the titles of the headings inside it. Without any, it is
    text of the section around it or, with a number such as 7.2, of the section of that number.
    """
    outline = _Outline()
    for part in parts:
        outline.add(part)
    sections = list[Section]()
    for section, following in pairwise([*outline.sections, Section()]):
        headings, below = section.headings, section.parts
        if not below:
            if not headings or len(following.headings) > len(headings):
                continue
            below = [DocumentPart(headings[-1], page=section.page)]
            number = _number_of(headings[-1])
            headings = (*headings[:-1], *([".".join(map(str, number))] if len(number) > 1 else []))
        if sections and sections[-1].headings == headings:
            sections[-1].parts += below
        else:
            sections.append(Section(headings, list(below), section.page))
    return sections


class _Outline:
    """Collects sections; `open` holds the level, number and text of each heading that has not ended."""

    def __init__(self) -> None:
        self.sections: list[Section] = [Section()]
        self.last: tuple[int, ...] = ()
        self.open: list[tuple[int, tuple[int, ...], str]] = []

    def add(self, part: DocumentPart) -> None:
        content = part.content
        if isinstance(content, Table):
            self._table(content, part.page)
        elif not content.strip():
            return
        elif part.level:
            text = " ".join(content.split())
            match = _LABELED_NUMBER.match(text) if part.level == BY_LETTERS else None
            self._heading(_level(match) if match else part.level, _number_of(text), text, part.page)
        elif part.is_literal:
            self.sections[-1].parts.append(part)
        else:
            self._paragraph(part)

    def _heading(self, level: int, number: tuple[int, ...], text: str, page: int | None) -> None:
        if number and level >= BY_LETTERS:  # the same level as the number before it, as "3" after "## 2"
            same = (at for at, other, _ in self.open if len(other) == len(number))
            level = next(same, BY_LETTERS + len(number))
        self.last = number or self.last
        while self.open and self.open[-1][0] >= level:
            self.open.pop()
        title = shortened(text, _MAX_TITLE_CHARS)
        self.open.append((level, number, title))
        self.sections.append(Section(tuple(name for _, _, name in self.open), page=page))
        if title != text:
            self.sections[-1].parts.append(DocumentPart(text, page=page))

    def _paragraph(self, part: DocumentPart) -> None:
        """Add a paragraph, or several if its lines begin sections."""
        lines = str(part.content).strip("\n").split("\n")
        section, body = self.sections[-1], list[str]()
        if section.headings and not section.parts and _is_bare(section.headings[-1]) and _is_title(lines):
            level, number, text = self.open[-1]
            self.open[-1] = (level, number, f"{text} {lines[0].strip()}")
            section.headings = tuple(name for _, _, name in self.open)
            return
        may_begin = True
        for line, below in pairwise([*lines, ""]):
            heading = self._find_heading(line.strip(), below.strip(), begins=not body, may_begin=may_begin)
            if heading is not None:
                self._text(body, part.page)
                body = []
                self._heading(heading.level, heading.number, heading.heading, part.page)
            may_begin = line.rstrip().endswith(_STOPS) or heading is not None
            if heading is None or not heading.is_whole:
                body.append(line)
        self._text(body, part.page)

    def _text(self, lines: list[str], page: int | None) -> None:
        if lines:
            self.sections[-1].parts.append(DocumentPart("\n".join(lines), page=page))

    def _find_heading(self, line: str, below: str, *, begins: bool, may_begin: bool) -> _FoundHeading | None:
        """Return the heading a line begins with, if any; it `begins` a paragraph or `may_begin` a section."""
        number = _number_of(line)
        if number:
            match = _NUMBER.match(line)
            level, is_next = BY_LETTERS + len(number), _goes_on(number, self.last, 3 if begins else 1)
            is_next = is_next and (len(number) > 1 or (may_begin and len(_number_of(below)) != 1))
        else:
            match = _LABELED_NUMBER.match(line) if line[:1].isupper() or line[:1] == "§" else None
            level, is_next = _level(match) if match else 0, may_begin
        if match is None or not is_next or _LEADERS.search(line):
            return None
        rest, name = line[match.end() :], line[: match.end()].rstrip(" .:)—–-")
        limit = _MAX_WRAPPED_CHARS if below else LONGEST_HEADING
        begins_text = below[:1].isupper() or below[:1] in ("“", '"', "") or _NUMBER.match(below)
        if len(line) <= limit and begins_text and not rest.endswith(_OPEN_ENDS):
            return _FoundHeading(level, number, line, True)
        if title := _RUN_IN.match(rest):
            return _FoundHeading(level, number, f"{name} {title[1]}", not rest[title.end() :].strip())
        is_clause = len(number) != 1 and not rest.startswith(("to the ", "of the "))
        return _FoundHeading(level, number, name, False) if is_clause else None

    def _table(self, table: Table, page: int | None) -> None:
        """Add a table; a short line right above it, such as "Table 3: Dues, in EUR", is its caption.

        A table with the same header as the one before it, as on the next page, gets the same caption.
        """
        parts = self.sections[-1].parts
        above = parts[-1] if parts else DocumentPart("")
        if isinstance(above.content, Table):
            if above.content.header == table.header and not table.caption:
                table = table.with_caption(above.content.caption)
        elif not (table.caption or above.is_literal or above.page != page):
            line = above.content.strip()
            if 0 < len(line) <= _MAX_CAPTION_CHARS and "\n" not in line and not line.endswith("."):
                parts.pop()
                table = table.with_caption(line)
        parts.append(DocumentPart(table, page=page))


def shortened(text: str, most: int) -> str:
    """Shorten a text at the end of a word."""
    if len(text) <= most:
        return text
    at = text.rfind(" ", most // 2, most)
    return f"{text[: at if at > 0 else most]} …"


def _number_of(text: str) -> tuple[int, ...]:
    number = _NUMBER.match(f"{text} X")  # a number can be the whole text
    return tuple(map(int, number[1].split("."))) if number else ()


def _goes_on(number: tuple[int, ...], last: tuple[int, ...], max_step: int) -> bool:
    """Return whether a number may follow another: 7.2 after 7.1 or 7.1.9, 7.1 after 7, 8.1 after 7.3."""
    if not last:
        return len(number) > 1 or number == (1,)
    for at, (current, before) in enumerate(zip(number, (*last, 0), strict=False)):
        if current != before:
            return 0 < current - before <= max_step and set(number[at + 1 :]) <= {1}
    return False


def _level(match: re.Match[str]) -> int:
    name = match[1].strip().lower()
    return 10 if name in _OUTERMOST else 12 if name == "note" or "." in match[2].rstrip(".") else 11


def _is_bare(heading: str) -> bool:
    """Return whether a heading is only a name and a number, as "ARTICLE IV", so its title may be below."""
    return (match := _LABELED_NUMBER.match(heading)) is not None and match.end() == len(heading)


def _is_title(lines: list[str]) -> bool:
    text = lines[0].strip()
    return len(lines) == 1 and len(text) <= 80 and text[0].isupper() and not text.endswith(_OPEN_ENDS)
