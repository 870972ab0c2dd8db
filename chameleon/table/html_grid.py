"""From the cells of an HTML table to records: spans filled in, header rows joined, layout told from data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from chameleon.table.amount_columns import EMPTY, Slot, joined_columns, unmarked_header
from chameleon.table.html import Cell, Markup
from chameleon.table.records import MAX_COLUMNS, Origin, Record

MAX_CELLS = 2_000_000
"""What a table may grow to by its spans, which cost a page a few letters for millions of cells."""

_LONGEST_CELL = 150  # on average, in letters, in a table without header cells


@dataclass
class HtmlTable:
    """A table of data: records with the header first, titles that span it above, notes that span it below.

    `is_turned`: its rows stand as columns on the page.
    """

    records: list[Record]
    titles: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    is_turned: bool = False


_Grid = list[tuple[int, list[Slot]]]


def layout_reason(table: Markup) -> str:
    """Say why this table only places things on the page; "" for data.

    What counts: its role, tables inside it, one column or row, and in tables without header cells also forms,
    headings and long texts in cells.
    """
    rows = [row for _, group in table.groups for row in group if row]
    cells = [cell for row in rows for cell in row]
    has_header = any(cell.is_header for cell in cells)
    speaks_for_data = has_header or table.caption or table.role in ("table", "grid")
    if table.role in ("presentation", "none"):
        return "it is marked as layout"
    if table.is_navigation:
        return "it is for navigation"
    if table.holds_tables and not (has_header and table.caption):
        return "it holds other tables"
    if len(rows) < 2:
        return "it has one row" if rows else "it has no rows"
    if max(sum(cell.colspan for cell in row) for row in rows) < 2 and not has_header:
        return "it has one column and no header"
    if speaks_for_data:
        return ""
    if table.holds_controls or table.holds_prose:
        return "it holds forms, headings or other parts of a page, and no header"
    if sum(len(cell.text) for cell in cells) > _LONGEST_CELL * len(cells):
        return "its cells are long texts, and it has no header"
    return ""


def html_table(table: Markup, origin: Origin, *, keep_notes: bool = False) -> HtmlTable:
    """Return the table's records, numbered by row. Raises `InputError` where spans make it too large.

    The header is what `<thead>` holds, else the rows of `<th>` alone at the top, else the first row; several
    are joined from the top down. Where each row begins with its name and there is no row of names, rows and
    columns are swapped. A row that one cell spans is a title above the header and a note below it; a header
    that is repeated between rows is left out. Signs in cells of their own, as in filings, go with their
    amounts, and columns that hold nothing else are none. With `keep_notes`, notes are rows as well.
    """
    grid, heads = _expanded(table, origin)
    width = max(len(row) for _, row in grid)
    rows = [(number, [*row, *[EMPTY] * (width - len(row))]) for number, row in grid]
    found = HtmlTable([])
    while width > 1 and len(rows) > 1 and _is_one_cell(rows[0][1]):
        found.titles.append(rows.pop(0)[1][0].text)
        heads -= 1
    if width > 1:
        joined = joined_columns([row for _, row in rows])
        rows = [(number, row) for (number, _), row in zip(rows, joined, strict=True)]
        width = len(joined[0])
    slots = [row for _, row in rows]
    tops = len(list(takewhile(lambda row: all(slot.is_header or not slot.text for slot in row), slots)))
    above = heads if heads > 0 else (tops if tops < len(slots) else 0) or unmarked_header(slots)
    header, body = rows[: above or 1], rows[above or 1 :]
    if width > 1:
        found.notes = [row[0].text for _, row in body if _is_one_cell(row)]
        if keep_notes:
            empty = [EMPTY] * (width - 1)
            body = [(n, [row[0], *empty] if _is_one_cell(row) else row) for n, row in body]
        else:
            body = [(number, row) for number, row in body if not _is_one_cell(row)]
    named = (row[0].is_header and not any(slot.is_header for slot in row[1:]) for _, row in (*header, *body))
    if not above and width > 1 and all(named):
        columns = list(zip(*[[slot.text for slot in row] for _, row in (*header, *body)], strict=True))
        found.records, found.is_turned = list(enumerate(columns, 1)), True
        return found
    above_each = ([row[index].text for _, row in header] for index in range(width))
    names = [" ".join(dict.fromkeys(filter(None, texts))) for texts in above_each]
    repeated = [[slot.text for slot in row] for _, row in header]
    texts = [
        (number, [slot.text for slot in row], all(slot.is_header for slot in row)) for number, row in body
    ]
    found.records = [(1, names)]
    found.records += [(number, cells) for number, cells, bare in texts if not (bare and cells in repeated)]
    return found


def _expanded(table: Markup, origin: Origin) -> tuple[_Grid, int]:
    """Return each row's number and its places with the cells over them; count the rows of `<thead>`."""
    order = {"thead": 0, "tbody": 1, "tfoot": 2}
    groups = sorted(table.groups, key=lambda group: order[group[0]])
    grid: _Grid = []
    heads = count = number = 0
    for kind, group in groups:
        spanning: dict[int, tuple[Slot, int]] = {}
        filled = [row for row in group if row]
        for left, row in zip(range(len(filled), 0, -1), filled, strict=True):
            number += 1
            slots = _placed(row, spanning, left, origin, count)
            count += len(slots)
            if count > MAX_CELLS:
                raise origin.error(f"grows to more than {MAX_CELLS:,} cells by its spans")
            if any(slot.text for slot in slots):
                grid.append((number, slots))
                heads += kind == "thead"
    if not grid:
        raise origin.error("holds no text")
    return grid, heads if heads < len(grid) else 0


def _placed(
    row: Sequence[Cell], spanning: dict[int, tuple[Slot, int]], left: int, origin: Origin, count: int
) -> list[Slot]:
    """Return a row's slots; `spanning` has the cells that reach down, by column, with the rows to fill."""
    slots: list[Slot] = []

    def take_spanning() -> None:
        while (place := len(slots)) in spanning:
            slot, more = spanning.pop(place)
            slots.append(slot)
            if more > 1:
                later[place] = (slot, more - 1)

    later: dict[int, tuple[Slot, int]] = {}
    for cell in row:
        take_spanning()
        slot = Slot(cell.text, cell.is_header, count + len(slots))
        down = left if cell.rowspan == 0 else min(cell.rowspan, left)
        for _ in range(cell.colspan):
            if down > 1:
                later[len(slots)] = (slot, down - 1)
            slots.append(slot)
        if len(slots) > MAX_COLUMNS:
            raise origin.error(f"has more than {MAX_COLUMNS:,} columns")
    for place in sorted(spanning):
        slots += [EMPTY] * (place - len(slots))
        take_spanning()
    spanning.update(later)
    return slots


def _is_one_cell(row: Sequence[Slot]) -> bool:
    return all(slot.cell == row[0].cell for slot in row) and row[0].cell >= 0
