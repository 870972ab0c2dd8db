"""The outline of a text: Markdown headings, numbered lines, paragraphs and tables of bars."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chameleon.documents.numbering import (
    LONGEST_HEADING,
    STARTS_A_HEADING,
    begins_clause,
    heading_level,
    number_of,
)
from chameleon.documents.outline import UNNUMBERED, Outline
from chameleon.table import Table
from chameleon.table.delimited import bars_in, has_bar, split_rows
from chameleon.text import clean_cell

_MARKED = re.compile(r" {0,3}(#{1,6})\s+(.*)")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})\s*")
_BOLD = re.compile(r"\s*(\*\*|__)(?=\S)((?:(?!\1).)+?)(?<=\S)\1(:?)\s*")
_BOLD_NUMBER = re.compile(r"\s*(\*\*|__)(?=\S)((?:(?!\1).)+?)(?<=\S)\1\s+(?=\S)")
_BULLET = re.compile(r"\s*[-*+]\s+(?=\d{1,3}(?:\.\d{1,3})+[.)]?\s+[^\W\d_a-z])")
_RULE = re.compile(r"\s*+\|?\s*+:?-++:?\s*+(?:\|\s*+:?-++:?\s*+)*\|?\s*+")
_FENCE = re.compile(r"\s{0,3}(```|~~~)")
_MOST_UNDERLINED = 2  # lines of a heading that is underlined


def text_outline(text: str) -> Outline:
    """The outline of a Markdown or plain text; what no rule knows is a paragraph.

    Headings are marked by "#", underlined, in bold letters on a line of their own, or numbered.
    """
    outline, held, fenced = Outline(), list[str](), False
    for line in text.splitlines():
        if _FENCE.match(line):
            if not fenced:
                _add(outline, held)
            held.append(line)
            if fenced:
                outline.paragraph("\n".join(held), may_head=False)
                held.clear()
            fenced = not fenced
        elif fenced:
            held.append(line.rstrip())
        elif marked := _MARKED.fullmatch(line):
            _add(outline, held)
            outline.heading(len(marked[1]), without_closing(marked[2]))
        elif (underlined := _UNDERLINE.fullmatch(line)) and _may_be_underlined(held):
            heading = " ".join(held)
            held.clear()
            outline.heading(1 if underlined[1][0] == "=" else 2, heading)
        elif (bold := _BOLD.fullmatch(line)) and len(bold[2]) <= LONGEST_HEADING and bold[2][-1] not in ".;,":
            _add(outline, held)
            level = heading_level(bold[2])
            outline.heading(UNNUMBERED if level is None else level, bold[2] + bold[3])
        elif not line.strip():
            _add(outline, held)
        else:
            held.append(line.rstrip())
    _add(outline, held)
    return outline


def without_closing(heading: str) -> str:
    """A heading without the "##" that may close it after a space: "C#" keeps its own."""
    whole = heading.rstrip()
    bare = whole.rstrip("#")
    return bare if not bare or bare[-1].isspace() else whole


def _may_be_underlined(held: Sequence[str]) -> bool:
    return (
        0 < len(held) <= _MOST_UNDERLINED and sum(map(len, held)) <= LONGEST_HEADING and not has_bar(held[-1])
    )


def _add(outline: Outline, held: list[str]) -> None:
    """Add the lines between two empty ones: the tables among them, and the clauses of the others."""
    begin = 0
    while begin < len(held):
        rule = next((n for n in range(begin + 1, len(held)) if _is_rule(held, n)), None)
        if rule is None:
            end = len(held)
        else:
            end = next((n for n in range(rule, len(held)) if not has_bar(held[n])), len(held))
        _clauses(outline, held[begin : end if rule is None else rule - 1])
        if rule is not None:
            outline.table(_table(held[rule - 1 : end]))
        begin = end
    held.clear()


def _is_rule(lines: Sequence[str], place: int) -> bool:
    """Whether a line is the rule below a table's header: dashes, one or more for each of its cells."""
    rule, above = lines[place], lines[place - 1]
    if not has_bar(rule) or not has_bar(above) or not _RULE.fullmatch(rule):
        return False
    return "---" in rule or _width(rule) == _width(above)


def _width(line: str) -> int:
    line = line.strip()
    return bars_in(line) + 1 - line.startswith("|") - (line.endswith("|") and not line.endswith("\\|"))


def _table(lines: Sequence[str]) -> Table:
    """The table of lines with bars; short rows are filled up, and what a row has too much gets a column."""
    rule = f"|{'---|' * _width(lines[1])}"
    rows = [[clean_cell(cell) for cell in row] for row in split_rows([lines[0], rule, *lines[2:]])]
    width = max(map(len, rows))
    header, *body = [[*row, *[""] * (width - len(row))] for row in rows]
    return Table(header, body)


def _clauses(outline: Outline, lines: Sequence[str]) -> None:
    """Add lines as paragraphs: one for each clause that begins with its number at a line's beginning."""
    held = list[str]()
    for place, each in enumerate(lines):
        bullet = _BULLET.match(each)
        line = each[bullet.end() :] if bullet else each
        below = lines[place + 1].strip() if place + 1 < len(lines) else ""
        last = number_of(held[0].strip()) if held else ()
        if held and (
            _BOLD_NUMBER.match(line)
            or line != each
            or begins_clause(line.strip(), held[-1], below, last or outline.number)
            or (len(held) == 1 and _heads(held[0].strip(), line.strip()))
        ):
            _paragraph(outline, held)
        held.append(line)
    _paragraph(outline, held)


def _paragraph(outline: Outline, held: list[str]) -> None:
    """Add lines as a paragraph; a number in bold letters that it begins with heads it."""
    if held and (bold := _BOLD_NUMBER.match(held[0])) is not None:
        outline.bold_number(bold[2])
    outline.paragraph("\n".join(held))
    held.clear()


def _heads(line: str, below: str) -> bool:
    """Whether a numbered line is the heading of the text that begins in the line below it."""
    return len(line) <= STARTS_A_HEADING and below[:1].isupper() and heading_level(line) is not None
