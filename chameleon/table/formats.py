"""Tables as text: for prompts, files and terminals."""

import csv
import html
import io
import json
from dataclasses import dataclass, replace
from itertools import accumulate, takewhile
from typing import Literal, get_args

from chameleon.errors import InputError
from chameleon.table.bars import escape_bars, join_bars
from chameleon.table.table import Table
from chameleon.text import clean_cell, counted, estimated_tokens, harmless

Style = Literal["pipe", "numbered", "markdown", "html", "tsv", "csv", "json"]
STYLES: tuple[Style, ...] = get_args(Style)

ELLIPSIS = "…"
"""Begins a note of omission and ends a cut cell."""

_GAP = "  "
_MIN_WIDTH, _MIN_COLUMN_WIDTH, _MAX_COLUMN_WIDTH = 20, 8, 40  # places


@dataclass(frozen=True)
class Excerpt:
    """The visible part of a table, each cell on one line, and a note of the omitted parts."""

    header: list[str]
    rows: list[list[str]]
    note: str
    first: int = 1  # the number of the first row, if rows are numbered

    @property
    def lines(self) -> list[list[str]]:
        return [self.header, *self.rows]

    def in_style(self, style: Style) -> str:
        """Return the excerpt as text; see `to_text`."""
        note = [self.note] if self.note else []
        match style:
            case "pipe":
                lines = list(map(join_bars, self.lines))
            case "numbered":
                header, *rows = (" | ".join(map(escape_bars, line)) for line in self.lines)
                numbered = (f"row {number} : {row}" for number, row in enumerate(rows, self.first))
                text = "\n".join([f"col : {header}", *numbered, *note]).rstrip()
                return text.replace("*/", "* /")  # Chain-of-Table's prompts put tables between /* and */
            case "markdown":
                lines = [f"| {' | '.join(map(escape_bars, line))} |" for line in self.lines]
                lines.insert(1, f"|{'---|' * len(self.header)}")
            case "html":
                cells = [[f"<td>{html.escape(cell)}</td>" for cell in line] for line in self.rows]
                names = [f"<th>{html.escape(name)}</th>" for name in self.header]
                lines = ["<table>", *(f"<tr>{''.join(line)}</tr>" for line in (names, *cells)), "</table>"]
                note = [f"<p>{html.escape(each)}</p>" for each in note]
            case "tsv" | "csv":
                buffer = io.StringIO()
                writer = csv.writer(buffer, delimiter="\t" if style == "tsv" else ",", lineterminator="\n")
                writer.writerows(self.lines)
                lines = [buffer.getvalue().removesuffix("\n")]
            case "json":  # one row per line, which a model reads as easily as the other forms
                header, *rows = (json.dumps(line, ensure_ascii=False) for line in self.lines)
                body = "[\n" + ",\n".join(rows) + "\n]" if rows else "[]"
                suffix = f', "note": {json.dumps(self.note, ensure_ascii=False)}' if self.note else ""
                return f'{{"header": {header}, "rows": {body}{suffix}}}'
        return "\n".join([*lines, *note])


def to_text(
    table: Table,
    style: Style = "pipe",
    *,
    max_rows: int | None = None,
    max_cell: int | None = None,
    max_tokens: int | None = None,
    first: int = 1,
) -> str:
    r"""Write a table as text: its header, then one row per line; the caller adds the caption.

    Cells are trimmed and put on one line. A last line (in JSON under "note") lists the cuts.

    Args:
        style: "pipe" is `a | b` as in PromptPG's prompts, "numbered" the PIPE encoding of Chain-of-Table
            (`col : a | b`, `row 1 : 1 | 2`), "markdown" has a rule and a frame; these write a bar inside a
            cell as `\|`. The others are "html", "tsv", "csv" and "json".
        max_rows: keep the first rows. None, here and below: no limit.
        max_cell: cut cells at this number of characters, at least 1.
        max_tokens: keep the first rows that fit with the header (estimated, see `estimated_tokens`).
        first: the number of the first row in "numbered" when the table is part of a longer one.

    Raises:
        InputError: for an unknown style or a limit below its minimum.
    """
    if style not in STYLES:
        raise InputError(f"no table style is named {style!r}", hint=f"There are: {', '.join(STYLES)}.")
    return replace(excerpt(table, max_rows, max_cell, max_tokens), first=first).in_style(style)


def excerpt(
    table: Table, max_rows: int | None = None, max_cell: int | None = None, max_tokens: int | None = None
) -> Excerpt:
    """Return the first rows with their cells cut, and a note of the cuts ("" without any); see `to_text`."""
    bounds = ((max_rows, 0), (max_cell, 1), (max_tokens, 1))
    if any(limit is not None and limit < bound for limit, bound in bounds):
        raise InputError("the limits must be at least 0 rows, 1 token and 1 character per cell")
    lines = [[clean_cell(cell) for cell in row] for row in (table.header, *table.rows[:max_rows])]
    if max_tokens is not None:
        used = accumulate(estimated_tokens(" | ".join(_cut(line, max_cell))) + 1 for line in lines)
        fitting = len(list(takewhile(lambda tokens: tokens <= max_tokens, used)))
        lines = lines[: max(fitting, 1)]  # the header always fits
    cut = sum(max_cell is not None and len(cell) > max_cell for line in lines for cell in line)
    lines = [_cut(line, max_cell) for line in lines]
    hidden = len(table.rows) - (len(lines) - 1)
    notes = [f"{counted(hidden, 'more row')} not shown"] if hidden else []
    notes += [f"{counted(cut, 'cell')} cut to {max_cell:,} characters"] if cut else []
    return Excerpt(lines[0], lines[1:], f"{ELLIPSIS} {'; '.join(notes)}" if notes else "")


def _cut(line: list[str], limit: int | None) -> list[str]:
    if limit is None:
        return line
    return [cell if len(cell) <= limit else cell[: limit - 1] + ELLIPSIS for cell in line]


def to_terminal(table: Table, width: int = 80, max_rows: int | None = 20) -> str:
    """Write a table in aligned columns for a terminal.

    Numbers are aligned right and never cut; texts are (at 40 places, down to 8 on a short line). A last line
    names the columns that do not fit and counts the rows left out. Wide characters take two places.
    Control, format and private characters are shown as U+FFFD, so that a cell can neither color the screen
    nor reorder a line.

    Args:
        width: places in a line, at least 20.
        max_rows: how many rows to show.

    Raises:
        InputError: for a width below 20 places.
    """
    if width < _MIN_WIDTH:
        raise InputError(f"a table needs a terminal of at least {_MIN_WIDTH} columns, not {width}")
    part = excerpt(table, max_rows)
    lines = [[harmless(cell) for cell in line] for line in part.lines]
    are_numbers = [column.meaning.is_number for column in table.take_rows(range(len(part.rows))).columns]
    widths = _widths(lines, are_numbers, width)
    text = []
    for line in lines:
        # `zip` stops at the last width: the other columns did not fit.
        placed = zip(line, widths, are_numbers, strict=False)
        cells = [padded(cell, size, to_right=to_right) for cell, size, to_right in placed]
        text.append(_GAP.join(cells).rstrip())
    text.insert(1, _GAP.join("─" * size for size in widths))
    text += [part.note] if part.note else []
    if hidden := [name or "(unnamed)" for name in lines[0][len(widths) :]]:
        names = ", ".join(name[:_MIN_WIDTH] for name in hidden[:5]) + (", …" if len(hidden) > 5 else "")
        text.append(f"{ELLIPSIS} {counted(len(hidden), 'more column')} not shown: {names}")
    return "\n".join(text)


def places(text: str) -> int:
    """Return how many places a terminal uses for a text: 2 for wide characters, 0 for combining ones."""
    from rich.cells import cell_len

    return len(text) if text.isascii() else cell_len(text)


def padded(cell: str, width: int, *, to_right: bool) -> str:
    """Return a cell in exactly `width` places, cut or padded."""
    from rich.text import Text

    text = Text(cell, overflow="ellipsis")
    text.align("right" if to_right else "left", width)
    return text.plain


def _widths(lines: list[list[str]], numbers: list[bool], width: int) -> list[int]:
    """Return the widths of the columns that fit, shrinking the widest text first.

    Numbers are never cut: "$42…" could be read as another one.
    """
    widths, min_widths = [], []
    for (name, *cells), is_number in zip(zip(*lines, strict=True), numbers, strict=True):
        widest = max(map(places, cells), default=0)
        natural = min(_MAX_COLUMN_WIDTH, max(places(name), widest))
        widths.append(natural)
        min_widths.append(min(natural, width, max(_MIN_COLUMN_WIDTH, widest if is_number else 0)))
    totals = [total + len(_GAP) * gaps for gaps, total in enumerate(accumulate(min_widths))]
    count = max(1, sum(total <= width for total in totals))  # columns that fit at their least widths
    widths = widths[:count]
    room = width - len(_GAP) * (count - 1)
    while sum(widths) > room:
        slack, column = max((widths[i], i) for i in range(count) if widths[i] > min_widths[i])
        widths[column] = slack - 1
    return widths
