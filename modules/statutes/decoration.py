"""Statutes in Markdown: lines as they read without quote marks, hashes, bullets, emphasis and links."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from chameleon.modules.statutes.marks import is_unit, labels_of, section_of
from chameleon.modules.statutes.tree import Line

_STEP = 4  # columns that a quote mark or the hash of a heading counts
_QUOTE = re.compile(r"\s*>(?:\s?>)*\s?")
_HASHES = re.compile(r"\s*(#{1,6})\s+(?=\S)")
_BULLET = re.compile(r"[-*+•◦▪‣]\s+")
_LEADING = re.compile(r"[*_`]{1,3}(?=[\[(§0-9A-Za-z\\])")
_EMPHASIS = re.compile(
    r"(?<![\w*])\*{1,3}(?P<stars>[^\s*](?:[^*]{0,300}[^\s*])?)\*{1,3}"
    r"|(?<![\w_])_{1,3}(?P<lines>[^\s_](?:[^_]{0,300}[^\s_])?)_{1,3}(?!\w)"
    r"|`(?P<code>[^`]{1,300})`"
)
_INNER = re.compile(r"\(\s*([*_`]{1,3})([0-9A-Za-z]{1,7})\1\s*\)")  # "(**a**)"
_ESCAPED = re.compile(r"\\([()\[\].*_#§>+-])")
_LINK = re.compile(r"\[([^\[\]]{1,200})\]\([^()\s]{1,200}\)")
_ANCHOR = re.compile(r"\s\{#[\w.-]{1,80}\}$")
_CLOSING = re.compile(r"(?<!#)#{1,6}$")
_NESTED = 3  # emphasis within emphasis


@dataclass(frozen=True, slots=True)
class _Read:
    """A line, what it says, the column where that begins, and which marks stood before it.

    `begins` is "label", "section" or "unit" for what the line begins with.
    """

    line: Line
    body: str
    column: int
    hashes: int = 0
    bulleted: bool = False
    begins: str = ""

    @property
    def is_decorated(self) -> bool:
        return self.body != self.line.content


def undecorated(lines: Sequence[Line]) -> list[Line]:
    """The lines, those in Markdown with what they read as in `plain`; without any decoration the same.

    The marks of a line are taken off where a label, a section or a unit follows them, hashes and quote marks
    everywhere. A bullet indents by one column, a quote mark by four. Where headings with labels stand beside
    labels that are indented, or are the only ones and of several ranks, a heading indents by four columns a
    rank, and what follows it more than that; else numbering tells which label stands in which.
    """
    found = [_read(line) for line in lines]
    if not any(each.is_decorated for each in found):
        return list(lines)
    return _indented(found, _ranks_count(found))


def _read(line: Line) -> _Read:
    body, column = line.content, line.indent
    if quote := _QUOTE.match(body):
        inner = body[quote.end() :]
        body = inner.lstrip()
        column += _STEP * quote[0].count(">") + len(inner) - len(body)
    hashes = 0
    if heading := _HASHES.match(body):
        hashes, body = len(heading[1]), body[heading.end() :].rstrip()
        if closing := _CLOSING.search(body[-7:]):
            body = body[: len(body) - len(closing[0])].rstrip()
        body = _ANCHOR.sub("", body)
    bullet = _BULLET.match(body)
    plain = _without_emphasis(body[bullet.end() :] if bullet else body)
    begins = _begins(Line(line.number, plain))
    if begins:
        return _Read(line, plain, column, hashes, bool(bullet), begins)
    return _Read(line, body, column, hashes)


def _without_emphasis(text: str) -> str:
    plain = _ESCAPED.sub(r"\1", _INNER.sub(r"(\2)", _LINK.sub(r"\1", text)))
    for _ in range(_NESTED):
        before, plain = plain, _EMPHASIS.sub(lambda found: found[found.lastgroup or 0], plain)
        if plain == before:
            break
    return plain[leading.end() :] if (leading := _LEADING.match(plain)) else plain


def _begins(line: Line) -> str:
    content = line.content
    if section_of(line):
        return "section"
    return "unit" if is_unit(content) else "label" if labels_of(content) else ""


def _ranks_count(found: Sequence[_Read]) -> bool:
    """Whether the ranks of headings tell which label stands in which."""
    labels = [each for each in found if each.begins == "label"]
    headings = {each.hashes for each in labels if each.hashes}
    others = {each.column + each.bulleted for each in labels if not each.hashes}
    return bool(headings) and (others != {0} if others else len(headings) > 1)


def _indented(found: Sequence[_Read], ranks: bool) -> list[Line]:
    lines, offset = list[Line](), 0
    for is_blank, group in groupby(found, key=lambda each: not each.body):
        item = -1  # the column of the item of a list that lines go on with
        for each in group:
            if each.begins in ("section", "unit"):
                offset = 0
            column = each.column + each.bulleted + offset
            if ranks and each.begins == "label" and each.hashes:
                column = each.column + _STEP * each.hashes
                offset = _STEP * (each.hashes + 1)
            if each.begins or each.hashes:
                item = column if each.bulleted else -1
            elif not is_blank:
                column = max(column, item)
            as_it_is = not each.is_decorated and column == each.line.indent
            lines.append(each.line if as_it_is else replace(each.line, plain=" " * column + each.body))
    return lines
