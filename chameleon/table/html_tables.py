"""The tables of an HTML page, by lxml: spans filled in, header rows joined, layout tables recognized."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise, takewhile
from typing import Any, NamedTuple

from chameleon.errors import InputError
from chameleon.table.found import Found, LeftOut, notes_on_lines, table_of
from chameleon.table.records import MAX_CELLS, MAX_COLUMNS, Origin, Record, shown, too_many_cells
from chameleon.table.structure import header_rows, joined_header
from chameleon.text import clean_cell
from chameleon.web.markup import SUPERSCRIPTS, UNREAD, decoded, is_hidden, require_lxml

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BREAKS = re.compile("br|p|div|li|ul|ol|dl|dt|dd|tr|h[1-6]|hr|pre|blockquote|section|article|caption|t[dh]")
_NOT_DATA = (*_HEADINGS, "article", "section", "nav", "form", "blockquote", "pre", "input", "textarea")
_MAX_MEAN_CHARS = 150  # average characters of a cell, in a table without header cells
_SPACES = re.compile(r"\s+")
_POWER = re.compile(r"(?:(?<![\d.,])(?:10|2)|(?<![^\W_])(?:[^\W\d_]{1,2}|yds?|sec|min))$")  # 10², m³, yd²
_MAX_MARK_CHARS, _SAMPLE_ROWS = 100, 30  # characters; rows
_MARK = re.compile(r"(?:[(\[]?(?:\d{1,2}|[a-d]|[*†‡§¶#]{1,3})[)\]]?[,; ]*){1,5}|\[.{1,12}\]")  # (1), [a], *
_SIGN_BEFORE = re.compile(r"(?:[A-Z]{2,3})?[$€£¥]\s*\(?|[A-Z]{3}\s*\(?|[–—-]?\(")  # $, US$, CHF (
_SIGN_AFTER = re.compile(r"\)?\s*%|\)|pp|bps?")  # ), %, bps
_AMOUNT = re.compile(r"[A-Z$€£¥(+–—\s-]{0,9}\d[\d,. ]*[)%\s]*|[–—-]+\s*%?|n/?[am]|nil", re.IGNORECASE)
_YEAR = re.compile(r"(?:fy\s?)?(?:19|20)\d\d(?:\*|\s?[AE]|\s?\(\w\))?", re.IGNORECASE)


class Slot(NamedTuple):
    """One place of the grid: its text, whether it is in a header, and the cell that fills it."""

    text: str
    is_header: bool
    cell: int


_EMPTY = Slot("", False, -1)
_Row = list[Slot]


def parse_page(data: bytes) -> Any:
    """Return the tree of a page without comments and hidden parts. Raises `MissingPackage`."""
    require_lxml()
    from lxml import etree, html

    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    text = decoded(data).replace("\0", "").encode("utf-8", "replace")
    root = etree.HTML(text or b" ", parser)
    if root is None:
        return etree.Element("html")
    for each in [*root.iter()]:
        is_unread = each.tag != "head" and UNREAD.fullmatch(each.tag)  # the head has the title
        is_unseen = is_hidden(each.attrib) or "mw-editsection" in each.get("class", "")
        if (is_unread or is_unseen) and each.getparent() is not None:
            each.drop_tree()
    return root


def page_tables(data: bytes, origin: Origin, *, keep_notes: bool = False) -> Iterator[Found | LeftOut]:
    """Yield each table of a page if it holds data, else why not, in page order; nested ones too.

    Each is named by its caption, else the heading above it, else the page's title. With `keep_notes` (see
    `html_table`), only captions name tables.
    """
    root = parse_page(data)
    title = next((text_of(each) for each in root.iter("title")), "")
    heading, tables = "", list[tuple[Any, str]]()
    for element in root.iter("table", *_HEADINGS):
        if element.tag == "table":
            tables.append((element, heading))
        elif next(element.iterancestors(*_HEADINGS), None) is None:  # includes headings inside it
            heading = text_of(element)
    findings = []
    for number in range(len(tables), 0, -1):  # the inner ones first, to remove them from the outer ones
        table, heading = tables[number - 1]
        where = f"{origin.name}, table {number}" + (f" below {shown(heading)}" if heading else "")
        names = ("", "") if keep_notes else (heading, title)
        findings.append(html_table(table, Origin(where, "row"), *names, keep_notes=keep_notes))
        table.getparent().set("data-holds-table", "yes")
        table.drop_tree()
    yield from reversed(findings)


def html_table(
    table: Any, origin: Origin, heading: str = "", title: str = "", *, keep_notes: bool = False
) -> Found | LeftOut:
    """Return the table of an element, without the tables inside it, or why it is not data.

    The header is `<thead>`, else the rows at the top with only `<th>`, else the first row; several rows
    are joined from the top down. If each row begins with its name and no row names the columns, rows and
    columns are swapped. A row of one spanning cell is a title above the header and a note below it. Signs
    in separate cells, as in filings, are joined to their amounts.

    Args:
        heading: names the table if it has neither a caption nor a title row.
        title: the page's title, which names it if there is no heading either.
        keep_notes: whether a note is also a row.
    """
    # Rows inside a cell but not in a nested table are text of that cell.
    rows = [row for row in table.iter("tr") if next(row.iterancestors("td", "th", "table")).tag == "table"]
    try:
        if reason := _layout_reason(table, rows):
            return LeftOut(origin.name, f"is not data: {reason}", is_fault=False)
        grid = _grid(rows, origin)
        if not grid:
            return LeftOut(origin.name, "has no text", is_fault=False)
        records, titles, notes = _records(grid, keep_notes=keep_notes)
        caption = next((text_of(each) for each in table.iter("caption")), "")
        name = ": ".join(dict.fromkeys(filter(None, [caption, *titles]))) or heading or title
        place = {"heading": heading} if heading else {}
        decisions = notes_on_lines(titles, notes)
        return table_of(records, origin, place, name, "\n".join(notes), decisions=decisions)
    except InputError as error:
        return LeftOut.of(error)


def text_of(element: Any) -> str:
    """Return the text of an element on one line, without footnote marks; powers as "m²"."""
    from lxml import etree

    parts = list[str]()
    starts = list[int]()
    for event, node in etree.iterwalk(element, events=("start", "end")):
        is_inner = node is not element
        edge = " " if is_inner and isinstance(node.tag, str) and _BREAKS.fullmatch(node.tag) else ""
        if event == "start":
            starts.append(len(parts) + 1)
            parts += [edge, node.text or ""]
            continue
        start = starts.pop()
        # Nested marks may hold all of a text, which would be joined again and again.
        lengths = (len(parts[place]) for place in range(start, len(parts)))
        if is_inner and node.tag == "sup" and all(size <= _MAX_MARK_CHARS for size in accumulate(lengths)):
            before = "".join(parts[max(0, start - 9) : start])[-9:]
            parts[start:] = [_superscript(before, "".join(parts[start:]), node.tail or "")]
        parts += [edge, (node.tail or "") if is_inner else ""]
    return _SPACES.sub(" ", clean_cell("".join(parts)))


def _superscript(before: str, raised: str, after: str) -> str:
    """Write a superscript, never joined to the figure before it: "$5" with a mark "2" is not 52."""
    mark = raised.strip()
    if mark.isdecimal() and after.lstrip()[:1] in tuple("/⁄"):
        return f" {mark}" if before[-1:].isdigit() else mark
    if mark.lstrip("+-−–").isdecimal() and len(mark) < 4 and (not mark[0].isdigit() or _POWER.search(before)):
        return mark.translate(SUPERSCRIPTS)
    is_letter = mark.isalpha() and before.rstrip()[-1:] not in tuple("0123456789)%")
    return "" if before.strip() and _MARK.fullmatch(mark) and not is_letter else raised


def _layout_reason(table: Any, rows: Sequence[Any]) -> str:
    """Say why this table is only layout; "" for data."""
    role = table.get("role", "").strip().lower()
    cells = [[cell for cell in row if cell.tag in ("td", "th")] for row in rows]
    every = [cell for row in cells for cell in row]
    has_header = any(cell.tag == "th" for cell in every)
    has_caption = table.find("caption") is not None
    if role in ("presentation", "none", "navigation") or "navbox" in table.get("class", ""):
        return "it is marked as layout or navigation"
    if table.find(".//*[@data-holds-table]") is not None and not (has_header and has_caption):
        return "it holds other tables"
    if sum(map(bool, cells)) < 2 or (max(map(len, cells)) < 2 and not has_header):
        return "it has one row or column, or none"
    if has_header or has_caption or role in ("table", "grid"):
        return ""
    is_long = sum(len(text_of(cell)) for cell in every) > _MAX_MEAN_CHARS * len(every)
    is_page = is_long or next(table.iter(*_NOT_DATA), None) is not None
    return "it has no header, and long texts, forms or headings in its cells" if is_page else ""


def _grid(rows: Iterable[Any], origin: Origin) -> list[_Row]:
    """Return the rows with text, spans filled in, `<thead>` first."""
    order = {"thead": 0, "tfoot": 2}
    grid = list[_Row]()
    reaching: dict[int, tuple[Slot, int]] = {}  # by column: a cell that extends down, and how many rows
    group, count, widest = None, 0, 0
    for row in sorted(rows, key=lambda each: order.get(each.getparent().tag, 1)):
        if row.getparent() is not group:
            group, reaching = row.getparent(), {}  # no span leaves its <tbody>
        slots = {column: slot for column, (slot, _) in reaching.items()}
        reaching = {column: (slot, below - 1) for column, (slot, below) in reaching.items() if below > 1}
        column = 0
        for cell in row.iterchildren("td", "th"):
            while column in slots:
                column += 1
            count += 1
            slot = Slot(text_of(cell), cell.tag == "th" or group.tag == "thead", count)
            span = range(column, column + min(_span(cell, "colspan") or 1, 1_000))  # HTML's maximum
            slots |= dict.fromkeys(span, slot)
            if below := (_span(cell, "rowspan") or MAX_CELLS) - 1:  # 0: to the end of its group
                reaching |= dict.fromkeys(span, (slot, below))
            widest = max(widest, span.stop)
            if widest > MAX_COLUMNS or widest * (len(grid) + 1) > MAX_CELLS:
                raise too_many_cells(origin)
        if any(slot.text for slot in slots.values()):
            grid.append([slots.get(column, _EMPTY) for column in range(max(slots) + 1)])
    return grid


def _span(cell: Any, name: str) -> int:
    digits = re.match(r"\s*(\d{1,6})", cell.get(name, "1"))
    return int(digits[1]) if digits else 1


def _records(grid: Sequence[_Row], *, keep_notes: bool) -> tuple[list[Record], list[str], list[str]]:
    """Return the records of a grid, the titles above them, and the notes between or below them."""
    width = max(map(len, grid))
    rows = [[*slots, *[_EMPTY] * (width - len(slots))] for slots in grid]
    titles = list[str]()
    while len(rows) > 1 and _is_one_cell(rows[0]):
        titles.append(rows.pop(0)[0].text)
    rows = _joined_columns(rows)
    above = _header_rows(rows)
    header, body = rows[: above or 1], rows[above or 1 :]
    notes = [slots[0].text for slots in body if _is_one_cell(slots)]
    if keep_notes:
        blank = [_EMPTY] * (len(header[0]) - 1)
        body = [[slots[0], *blank] if _is_one_cell(slots) else slots for slots in body]
    else:
        body = [slots for slots in body if not _is_one_cell(slots)]
    names, cells = ([[slot.text for slot in slots] for slots in part] for part in (header, body))
    marks = [[slot.is_header for slot in slots] for slots in (*header, *body)]
    if not above and all(first and not any(others) for first, *others in marks):
        return list(enumerate(zip(*names, *cells, strict=True), 1)), titles, notes  # rows become columns
    marked = zip(cells, marks[len(header) :], strict=True)
    data_rows = [texts for texts, are_names in marked if texts not in names or not all(are_names)]
    return list(enumerate([joined_header(names), *data_rows], 1)), titles, notes


def _header_rows(rows: Sequence[Sequence[Slot]]) -> int:
    """Count the rows at the top that are marked as a header or name columns of figures; 0 if none are."""
    marked = takewhile(
        lambda slots: all(slot.is_header or not slot.text for slot in slots) and not _is_one_cell(slots), rows
    )
    if above := len(list(marked)):
        return above if above < len(rows) else 0
    if any(slot.is_header for slots in rows for slot in slots):
        return 0
    texts = [[slot.text for slot in slots] for slots in rows]
    joined, above = header_rows(texts[:_SAMPLE_ROWS]), 1
    # Without <th>, more rows are names if they have years, or no amounts and nothing on the left.
    for (corner, *_), (first, *others) in pairwise(texts[:6]):
        filled = [text for text in others if text]
        aside = all(text[:1] in ("", "(") for text in (corner, first))
        are_names = all(map(_YEAR.fullmatch, filled)) or (aside and not any(map(_is_amount, filled)))
        if not filled or not are_names:
            break
        above += 1
    has_figures = [any(map(_is_amount, others)) for _, *others in texts]
    is_clear = above > 1 and not has_figures[0] and any(has_figures[above:])
    return above if is_clear else joined if joined > 1 else 0


def _joined_columns(rows: Sequence[Sequence[Slot]]) -> list[_Row]:
    """Return the rows with signs joined to their amounts, without empty and duplicate columns."""
    body = next((n for n, slots in enumerate(rows) if any(_is_amount(slot.text) for slot in slots[1:])), 0)
    columns = list[Sequence[Slot]]()
    for column in zip(*rows, strict=True):
        if columns and (one := _one_column(columns[-1], column, body)):
            columns[-1] = one
        else:
            columns.append(column)
    return list(map(list, zip(*columns, strict=True)))


def _one_column(left: Sequence[Slot], right: Sequence[Slot], body: int) -> tuple[Slot, ...] | None:
    """Join two columns if one holds only signs of the other, or nothing; else return None."""
    pairs = list(zip(left, right, strict=True))
    own = [(row, a.text, b.text) for row, (a, b) in enumerate(pairs) if a.cell != b.cell]
    if any(a and b and (row < body or not _is_amount(a + b)) for row, a, b in own):
        return None
    are_before = all(not a or (b and _SIGN_BEFORE.fullmatch(a)) for row, a, b in own if row >= body)
    are_after = all(not b or (a and _SIGN_AFTER.fullmatch(b)) for row, a, b in own if row >= body)
    if not are_before and not are_after:
        return None
    return tuple(a if a.cell == b.cell or not b.text else b._replace(text=a.text + b.text) for a, b in pairs)


def _is_amount(text: str) -> bool:
    return len(text) < 60 and _AMOUNT.fullmatch(text) is not None and not _YEAR.fullmatch(text)


def _is_one_cell(slots: Sequence[Slot]) -> bool:
    return len(slots) > 1 and slots[0].cell >= 0 and all(slot.cell == slots[0].cell for slot in slots)
