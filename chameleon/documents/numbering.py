"""The numbers of headings and clauses: how deep they stand, and which begin a clause within a paragraph."""

from __future__ import annotations

import re

LONGEST_HEADING = 120
_LONGEST_TITLE = 80
_MOST_WORDS = 10
STARTS_A_HEADING = 60
"""Characters at most of a numbered line that heads the lines right below it."""
_NUMBERED = 10
"""Levels of headings known by their number alone begin here, below those of marked headings."""
UNNUMBERED, DECIMALS, BELOW_NUMBERS = _NUMBERED + 3, _NUMBERED + 4, _NUMBERED + 20
"""Headings that only their letters show stand below "Item 7", and above "7 Notice" or below all numbers."""

_NAMED = re.compile(
    r"((?:part|item|article|chapter|section|clause|schedule|annex|appendix|exhibit|note)(?=\s)|§)\s*"
    r"((?-i:[IVXLC]+|[ivx]+|[A-Z])|\d+[\w.]*)\b[.:)]?",
    re.IGNORECASE,
)
_WHOLE = frozenset(("part", "chapter", "schedule", "annex", "appendix", "exhibit"))
_ATTACHED = re.compile(r"(?:to|of) (?:the |this |an? )?\S+(?: \S+){0,4}")
_DECIMAL = re.compile(r"(\d{1,3}(?:\.\d{1,3}){0,5})[.)]?\s+(?=\S)")
LEADERS = re.compile(r"(?:\. ?){4}")
"""Dots that lead, in a list of contents, to the number of a page."""
_TITLE = re.compile(r"[^\W\d_a-z]|[\"“(]")
_SMALL = r"(?:a|an|and|as|at|by|for|from|in|of|on|or|the|to|with)"
_RUN_IN = re.compile(
    rf"((?:[^\W\d_a-z][\w’'-]*,?)(?: (?:[^\W\d_a-z][\w’'-]*|{_SMALL}),?){{0,7}})[.:](?=\s|$)"
)
_REFERS = re.compile(
    r"\b(?:see|clauses?|sections?|articles?|paragraphs?|items?|parts?|an?|the|of|in|to|by|from|for|with|under|on"
    r"|at|and|or|as|per|than|is|are|was|were|be|about|within|between)\s*$",
    re.IGNORECASE,
)
_VALUE = re.compile(r":\s*(?!(?:19|20)\d\d)\S*\d|:\s*[A-Z]{3}\s\d")  # "Keys: 4" is no title
_STOPS = (".", ";", ":", "!", "?")

Number = tuple[int, ...]
"""The parts of a decimal number: 7.2 is (7, 2); () is none."""


def heading_level(line: str) -> int | None:
    """The level of a line that its number shows to be a heading, such as "7.2 Notice"; None for others.

    A heading is short, one line, begins with a capital letter after its number and ends without a full stop,
    unless it is a name with its number and a title in capitals: "Section 4.01 Organization.".
    """
    if len(line) > LONGEST_HEADING or "\n" in line or LEADERS.search(line):
        return None
    if named := _NAMED.match(line):
        rest = line[named.end() :].strip(" .:—–-")
        if line[-1] in ".;,:" and rest and not _RUN_IN.fullmatch(line[named.end() :].strip(" —–-")):
            return None
        attached = named[1].lower() in _WHOLE and _ATTACHED.fullmatch(rest)
        if rest and not _TITLE.match(rest) and not attached:
            return None  # "Section 3 applies to …"
        return _NUMBERED + number_depth(line)
    if line[-1:] in ".;,:" or _VALUE.search(line):
        return None
    number = _DECIMAL.match(line)
    if number and _TITLE.match(line, number.end()):
        return DECIMALS + number[1].count(".")
    return None


def number_depth(line: str) -> int:
    """How deep a heading's number is among headings of one size: 1 for "7.2" and "Item 7", 0 for "7".

    2 is for "Section 7.2" and "Note 7", which stand below "Article 7" and "Item 7".
    """
    if named := _NAMED.match(line):
        kind = named[1].lower()
        return 0 if kind in _WHOLE else 2 if kind == "note" or "." in named[2].rstrip(".") else 1
    number = _DECIMAL.match(line)
    return number[1].count(".") if number else 0


def number_of(text: str) -> Number:
    """The decimal number that a text begins with."""
    number = _DECIMAL.match(text)
    return tuple(map(int, number[1].split("."))) if number else ()


def follows(number: Number, last: Number) -> bool:
    """Whether a number is the next one after another: 7.2 after 7.1 or 7.1.9, 7.1 after 7, 8.1 after 7.3."""
    base = number[:-1] if len(number) > 1 and number[-1] == 1 else None
    if base is not None and (base == last or _is_next(base, last)):
        return True
    return _is_next(number, last)


def _is_next(number: Number, last: Number) -> bool:
    depth = len(number)
    return 0 < depth <= len(last) and number == (*last[: depth - 1], last[depth - 1] + 1)


def clause(text: str, last: Number) -> tuple[int, str] | None:
    """The level and the heading of a paragraph that begins with a number; `last` is the number before it.

    "7.2 Either party may …" is headed "7.2", "Section 4.01 Organization. The Borrower …" by its title too.
    """
    if named := _NAMED.match(text):
        rest = text[named.end() :].lstrip(" .:—–-")
        if not rest or not _TITLE.match(rest):
            return None
        return _NUMBERED + number_depth(text), _with_title(named[0].rstrip(".:)"), rest)
    number = _DECIMAL.match(text)
    if number is None or "." not in number[1]:
        return None
    rest = text[number.end() :]
    if not _TITLE.match(rest) and not follows(number_of(text), last):
        return None  # "3.5 per cent of the price …"
    return DECIMALS + number[1].count("."), _with_title(number[1], rest)


def _with_title(number: str, rest: str) -> str:
    """The number with the title that stands before a text in its first line, if there is one."""
    title = _RUN_IN.match(rest)
    if title and _VALUE.match(rest, title.end() - 1):
        return number
    return f"{number} {title[1]}" if title and rest[title.end() :].strip() else number


def begins_clause(line: str, above: str, below: str, last: Number) -> bool:
    """Whether a line within a paragraph begins a clause; `last` is the number of the clause that it ends.

    A number that only stands at the beginning of a line, such as a price, is none: it is not the next one.
    """
    stopped = above.rstrip().endswith(_STOPS)
    ended = stopped or heading_level(above.strip()) is not None
    if _NAMED.match(line):
        ended = ended or (heading_level(line) is not None and _is_whole(above))
        return ended and (clause(line, last) is not None or heading_level(line) is not None)
    number = number_of(line)
    if len(number) > 1:
        if stopped or (ended and _begins_text(line)):
            return follows(number, last) or clause(line, last) is not None
        return follows(number, last) and not _REFERS.search(above) and _begins_text(line)
    if not number or heading_level(line) is None:
        return False
    opens = number_of(below)[:1] == number and len(number_of(below)) == 2
    heads = len(last) > 1 or (len(line) <= STARTS_A_HEADING and below[:1].isupper())
    return opens or (ended and heads and follows(number, last))


def _begins_text(line: str) -> bool:
    """Whether a capital letter or a quotation stands after the number of a line: not "1.4 below"."""
    number = _DECIMAL.match(line)
    return number is not None and _TITLE.match(line, number.end()) is not None


def _is_whole(line: str) -> bool:
    """Whether a line without a full stop is short, and ends with no word that asks for another."""
    line = line.strip()
    return len(line) <= STARTS_A_HEADING and not _REFERS.search(line) and line[-1:] not in (",", "-", "–")


def is_title(text: str) -> bool:
    """Whether a paragraph may be the title of the number that stands above it by itself."""
    return (
        len(text) <= _LONGEST_TITLE
        and "\n" not in text
        and text[-1] not in ".;:,"
        and text[0].isupper()
        and len(text.split()) <= _MOST_WORDS
        and not LEADERS.search(text)
        and not _VALUE.search(text)
    )


def is_bare(line: str) -> bool:
    """Whether a line is a number of a heading with its name, and nothing else: "Item 7.", "ARTICLE IV"."""
    return (named := _NAMED.match(line)) is not None and named.end() == len(line)
