"""Tables as text, for prompts and files."""

from __future__ import annotations

import csv
import html
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from chameleon.errors import InputError
from chameleon.table.bars import escape_bars, join_bars
from chameleon.table.table import Table
from chameleon.text import clean_cell, estimated_tokens

Style = Literal["pipe", "numbered", "markdown", "html", "tsv", "csv", "json"]
STYLES: tuple[Style, ...] = get_args(Style)

ELLIPSIS = "…"
"""What a note of omission begins with, and what a cut cell ends with."""


@dataclass(frozen=True)
class Excerpt:
    """The part of a table that is shown, each cell on one line, and a note of what was left out."""

    header: list[str]
    rows: list[list[str]]
    note: str
    first: int = 1  # the number of the first row, where rows are counted


def to_text(
    table: Table,
    style: Style = "pipe",
    *,
    max_rows: int | None = None,
    max_cell: int | None = None,
    max_tokens: int | None = None,
    first: int = 1,
) -> str:
    r"""Write a table as text: its header, then one row a line; the caption is left to the caller.

    "pipe" is `a | b` as in PromptPG's prompts, "numbered" the PIPE encoding of Chain-of-Table (`col : a | b`,
    `row 1 : 1 | 2`), "markdown" has a rule and a frame; these write a bar inside a cell as `\|`. Cells are
    trimmed and put on one line. `max_rows` keeps the first rows, `max_cell` (in characters, at least 1) cuts
    cells, `max_tokens` (estimated, see `estimated_tokens`) keeps the first rows that fit beside the header;
    what was cut is said in a last line (in JSON under "note"). `first` is the number of the first row in
    "numbered", for a part of a longer table. Raises `InputError` for an unknown style or a limit below its
    least value.
    """
    if style not in _WRITERS:
        raise InputError(f"no table style is called {style!r}", hint=f"There are: {', '.join(STYLES)}.")
    return _WRITERS[style](replace(excerpt(table, max_rows, max_cell, max_tokens), first=first))


def excerpt(
    table: Table, max_rows: int | None = None, max_cell: int | None = None, max_tokens: int | None = None
) -> Excerpt:
    """The first rows with their cells cut, and the note that says so ("" when nothing was)."""
    least = ((max_rows, 0), (max_cell, 1), (max_tokens, 1))
    if any(limit is not None and limit < bound for limit, bound in least):
        raise InputError("a table's text keeps at least 0 rows, 1 token and 1 character of each cell")
    lines = [[clean_cell(cell) for cell in row] for row in (table.header, *table.rows[:max_rows])]
    cut = 0
    if max_cell is not None:
        lines, long = [[_cut(cell, max_cell) for cell in line] for line in lines], lines
    if max_tokens is not None:
        lines = lines[: _fitting(lines, max_tokens)]
    if max_cell is not None:
        cut = sum(len(cell) > max_cell for line in long[: len(lines)] for cell in line)
    notes = []
    if hidden := len(table.rows) - (len(lines) - 1):
        notes.append(f"{hidden:,} more {'row' if hidden == 1 else 'rows'} not shown")
    if cut:
        notes.append(f"{cut:,} {'cell' if cut == 1 else 'cells'} cut to {max_cell:,} characters")
    return Excerpt(lines[0], lines[1:], f"{ELLIPSIS} {'; '.join(notes)}" if notes else "")


def _fitting(lines: Sequence[Sequence[str]], max_tokens: int) -> int:
    """How many of the lines fit; the header always does."""
    used = 0
    for number, line in enumerate(lines):
        used += estimated_tokens(" | ".join(line)) + 1
        if used > max_tokens and number:
            return number
    return len(lines)


def _cut(cell: str, limit: int) -> str:
    return cell if len(cell) <= limit else cell[: limit - 1] + ELLIPSIS


def _pipe(part: Excerpt) -> str:
    return "\n".join([join_bars(part.header), *map(join_bars, part.rows), *_note(part)])


def _numbered(part: Excerpt) -> str:
    """The header and the rows with their numbers, as Chain-of-Table's prompts have them."""
    header, *rows = (" | ".join(map(escape_bars, line)) for line in (part.header, *part.rows))
    counted = (f"row {number} : {row}" for number, row in enumerate(rows, part.first))
    text = "\n".join([f"col : {header}", *counted, *_note(part)]).rstrip()
    return text.replace("*/", "* /")  # these prompts put tables between /* and */


def _markdown(part: Excerpt) -> str:
    lines = [f"| {' | '.join(map(escape_bars, line))} |" for line in (part.header, *part.rows)]
    lines.insert(1, f"|{'---|' * len(part.header)}")
    return "\n".join([*lines, *_note(part)])


def _html(part: Excerpt) -> str:
    def line(cells: Sequence[str], tag: str) -> str:
        return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"

    lines = ["<table>", line(part.header, "th"), *(line(row, "td") for row in part.rows), "</table>"]
    return "\n".join([*lines, *(f"<p>{html.escape(note)}</p>" for note in _note(part))])


def _delimited(part: Excerpt, delimiter: str) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
    writer.writerows([part.header, *part.rows])
    return "\n".join([buffer.getvalue().removesuffix("\n"), *_note(part)])


def _json(part: Excerpt) -> str:
    """One row a line, so that a model reads it as easily as the other forms."""
    header, *rows = (json.dumps(line, ensure_ascii=False) for line in (part.header, *part.rows))
    body = "[\n" + ",\n".join(rows) + "\n]" if rows else "[]"
    note = f', "note": {json.dumps(part.note, ensure_ascii=False)}' if part.note else ""
    return f'{{"header": {header}, "rows": {body}{note}}}'


def _note(part: Excerpt) -> list[str]:
    return [part.note] if part.note else []


_WRITERS: dict[str, Callable[[Excerpt], str]] = {
    "pipe": _pipe,
    "numbered": _numbered,
    "markdown": _markdown,
    "html": _html,
    "tsv": lambda part: _delimited(part, "\t"),
    "csv": lambda part: _delimited(part, ","),
    "json": _json,
}
