"""Markdown and plain text as parts: headings, paragraphs, code and tables of bars."""

import re
from collections.abc import Iterator, Sequence

from chameleon.documents.outline import LONGEST_HEADING
from chameleon.documents.parts import BY_LETTERS, DocumentPart
from chameleon.table import Table
from chameleon.table.bars import bars_in, has_bar, split_rows
from chameleon.table.records import MAX_CELLS, Origin, too_many_cells
from chameleon.text import clean_cell

_HASH_HEADING = re.compile(r" {0,3}(#{1,6})\s+(.*)")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,}|\*{4,}|\^{4,})\s*")  # as in Markdown and reStructuredText
_BOLD = re.compile(r"\s*(\*\*|__)(?=\S)((?:(?!\1).)+?)(?<=\S)\1(:?)\s*")
_BEFORE_NUMBER = re.compile(r"\s*(?:[-*+]\s+)?(\*\*|__)(?=\d)|\s*[-*+]\s+(?=\d{1,3}\.\d)")
_RULE = re.compile(r"\s*+\|?\s*+:?-++:?\s*+(?:\|\s*+:?-++:?\s*+)*\|?\s*+")  # possessive: takes linear time
_FENCE = re.compile(r"\s{0,3}(```|~~~)")
_MAX_UNDERLINED_LINES = 2  # lines of an underlined heading


def text_parts(text: str) -> Iterator[DocumentPart]:
    """Yield parts of a text; headings are marked by "#", underlined, or in bold on a line by themselves."""
    block, is_code = list[str](), False
    levels: dict[str, int] = {}  # of underlined headings, in the order in which their underlines first appear
    for line in [*text.splitlines(), ""]:
        ends = _FENCE.match(line) is not None
        if ends or (not line.strip() and not is_code):
            if is_code:
                yield DocumentPart("\n".join([*block, line]), is_literal=True)
            else:
                yield from _block(block, levels)
            is_code = ends and not is_code
            block = [line] if is_code else []
        else:
            block.append(line.rstrip())
    yield from _block(block, levels)


def _without_closing(heading: str) -> str:
    """Return a heading without the "##" that may close it after a space: "C#" keeps its own."""
    stripped = heading.rstrip()
    bare = stripped.rstrip("#")
    return bare if not bare or bare[-1].isspace() else stripped


def _block(lines: Sequence[str], levels: dict[str, int]) -> Iterator[DocumentPart]:
    """Yield the parts between two empty lines."""
    paragraph, rows = list[str](), 0
    for place, line in enumerate(lines):
        if rows and has_bar(line):
            rows += 1
            continue
        if rows:
            yield _table(lines[place - rows : place])
            rows = 0
        heading: DocumentPart | None = None
        if marked := _HASH_HEADING.fullmatch(line):
            heading = DocumentPart(_without_closing(marked[2]), level=len(marked[1]))
        elif paragraph and (underlined := _UNDERLINE.fullmatch(line)) and _may_be_underlined(paragraph):
            level = levels.setdefault(underlined[1][0], len(levels) + 1)
            heading, paragraph = DocumentPart(" ".join(paragraph), level), []
        elif (bold := _BOLD.fullmatch(line)) and len(bold[2]) <= LONGEST_HEADING and bold[2][-1] not in ".;,":
            heading = DocumentPart(bold[2] + bold[3], level=BY_LETTERS)
        elif paragraph and _is_rule(line, lines[place - 1]):
            paragraph.pop()
            rows = 2
        else:
            paragraph.append(_unmarked(line))
            continue
        if paragraph:
            yield DocumentPart("\n".join(paragraph))
            paragraph = []
        if heading is not None:
            yield heading
    if rows:
        yield _table(lines[-rows:])
    if paragraph:
        yield DocumentPart("\n".join(paragraph))


def _unmarked(line: str) -> str:
    """Remove the bullet or bold marks before a number: "**3.1** Dry"."""
    if not (before := _BEFORE_NUMBER.match(line)):
        return line
    rest = line[before.end() :]
    return rest.replace(before[1], "", 1) if before[1] else rest


def _may_be_underlined(lines: Sequence[str]) -> bool:
    is_short = len(lines) <= _MAX_UNDERLINED_LINES and sum(map(len, lines)) <= LONGEST_HEADING
    return is_short and not has_bar(lines[-1])


def _is_rule(line: str, above: str) -> bool:
    """Return whether a line is the rule below a table's header: one or more dashes for each of its cells."""
    if not has_bar(line) or not has_bar(above) or not _RULE.fullmatch(line):
        return False
    return "---" in line or len({bars_in(each.strip().strip("|")) for each in (line, above)}) == 1


def _table(lines: Sequence[str]) -> DocumentPart:
    """Return the table of lines with bars; short rows are filled up, and extra cells get a new column."""
    rule = lines[1].replace("-", "---")
    rows = [list(map(clean_cell, cells)) for cells in split_rows([lines[0], rule, *lines[2:]])]
    width = max(map(len, rows))
    if width * len(rows) > MAX_CELLS:
        raise too_many_cells(Origin("a table of the text"))
    header, *body = [[*row, *[""] * (width - len(row))] for row in rows]
    return DocumentPart(Table(header, body))
