"""PDF files written by ReportLab and by fpdf2, a contract among them, and a long filing as HTML."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import reportlab
from fpdf import FPDF
from reportlab import platypus
from reportlab.lib.colors import black, lightgrey, white
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfbase.pdfmetrics import registerFont
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph

VERA = str(Path(reportlab.__file__).parent / "fonts" / "Vera.ttf")
WIDTH, HEIGHT = 595, 842
RULED = [("GRID", (0, 0), (-1, -1), 0.5, black)]
STRIPED = [("ROWBACKGROUNDS", (0, 0), (-1, -1), [lightgrey, white])]
COLUMNS = [("LINEAFTER", (0, 0), (-2, -1), 0.5, black), ("LINEBELOW", (0, 0), (-1, 0), 0.5, black)]


@dataclass(frozen=True)
class At:
    """A text at its place, in points from the left and the top of the page; `turned` to the left, degrees."""

    x: float
    y: float
    text: str
    size: float = 10
    bold: bool = False
    turned: float = 0


Item = tuple[float, str] | list[list[str]] | At
"""A line with the size of its letters or a table by its rows, below the item before; a text at its place."""


def pdf(
    pages: Sequence[Sequence[Item]],
    *,
    locked: bool = False,
    bookmarks: Sequence[tuple[int, int, str]] = (),
    rules: Sequence[Sequence[float]] = (),
) -> bytes:
    """A PDF of these pages, A4, items from the top down; `locked` by a password that nobody knows.

    `bookmarks`: page (from 1), level (from 0), title; `rules`: places of lines, from the left and the top.
    """
    written = io.BytesIO()
    lock = StandardEncryption("a secret") if locked else None
    canvas = Canvas(written, pagesize=(WIDTH, HEIGHT), encrypt=lock, invariant=1)
    for number, items in enumerate(pages, 1):
        for key, (page, level, title) in enumerate(bookmarks):
            if page == number:
                canvas.bookmarkPage(str(key))
                canvas.addOutlineEntry(title, str(key), level)
        _draw(canvas, items)
        if rules:
            canvas.grid(rules[0], [HEIGHT - y for y in rules[1]])
        canvas.showPage()
    canvas.save()
    return written.getvalue()


def _draw(canvas: Canvas, items: Sequence[Item]) -> None:
    y = 790.0
    for item in items:
        if isinstance(item, At):
            canvas.saveState()
            canvas.translate(item.x, HEIGHT - item.y)
            canvas.rotate(item.turned)
            canvas.setFont("Helvetica-Bold" if item.bold else "Helvetica", item.size)
            canvas.drawString(0, 0, item.text)
            canvas.restoreState()
        elif isinstance(item, list):
            y -= 10
            lines = [y - 20 * n for n in range(len(item) + 1)]
            canvas.grid([60 + 140 * n for n in range(len(item[0]) + 1)], lines)
            canvas.setFont("Helvetica", 10)
            for row, cells in enumerate(item, 1):
                for column, cell in enumerate(cells):
                    canvas.drawString(64 + 140 * column, y - 20 * row + 6, cell)
            y -= 20 * len(item) + 20
        else:
            size, text = item
            y -= size + 2 if text else 14
            canvas.setFont("Helvetica", size)
            canvas.drawString(60, y, text)


def mixed_by_reportlab(pieces: Sequence[str]) -> bytes:
    """One line, whose pieces are in Helvetica and in a subset of a TrueType font by turns."""
    registerFont(TTFont("Vera", VERA))
    written = io.BytesIO()
    canvas = Canvas(written, invariant=1)
    line = canvas.beginText(60, 700)
    for piece, font in zip(pieces, cycle(("Helvetica", "Vera")), strict=False):
        line.setFont(font, 11)
        line.textOut(piece)
    canvas.drawText(line)
    canvas.save()
    return written.getvalue()


def mixed_by_fpdf(pieces: Sequence[str]) -> bytes:
    made = FPDF()
    made.add_page()
    made.add_font("Vera", fname=VERA)
    made.set_char_spacing(-0.4)
    for piece, font in zip(pieces, cycle(("Helvetica", "Vera")), strict=False):
        made.set_font(font, size=11)
        made.write(text=piece)
    return bytes(made.output())


def report(
    rows: Sequence[Sequence[str]],
    *,
    style: Sequence[tuple[Any, ...]] = RULED,
    widths: Sequence[float] | None = None,
    again: int = 1,
    foot: str = "Page {}",
) -> bytes:
    """A heading, a table with its first rows `again` on each page, and a text, by Platypus; `widths` wrap."""
    style_of_text, written = getSampleStyleSheet(), io.BytesIO()
    cells = [
        [Paragraph(cell, style_of_text["Normal"]) if widths and len(cell) > 20 else cell for cell in row]
        for row in rows
    ]
    table = platypus.Table(cells, widths, style=platypus.TableStyle(style), repeatRows=again)
    below = Paragraph("So much for the berths.", style_of_text["Normal"])

    def numbered(canvas: Canvas, made: Any) -> None:
        canvas.drawString(290, 30, foot.format(canvas.getPageNumber()))

    story = [Paragraph("Berths", style_of_text["Heading1"]), table, below]
    document = platypus.SimpleDocTemplate(written, pagesize=(WIDTH, HEIGHT), invariant=1)
    document.build(story, numbered, numbered)
    return written.getvalue()


def table_by_fpdf(rows: Sequence[Sequence[str]]) -> bytes:
    made = FPDF()
    made.add_page()
    made.set_font("Helvetica", size=11)
    with made.table() as table:
        for row in rows:
            table.row(row)
    return bytes(made.output())


FILLER = (
    "The parties keep records of each delivery and show them on request.",
    "Goods are packed so that salt water does them no harm.",
    "A notice is sent by letter and counts from the day on which it arrives.",
    "Insurance covers loss at sea, fire and theft from the quay.",
)
TOLD = {
    7: "<p>Dredging of the north basin cost 4.2 million crowns, a tenth more than planned.</p>",
    8: "<table><caption>Income, in thousands of crowns</caption>"
    "<tr><th></th><th>2023</th><th>2024</th></tr>"
    "<tr><td>Berth fees</td><td>8,140</td><td>8,915</td></tr>"
    "<tr><td>Crane hire</td><td>1,377</td><td>1,204</td></tr></table>",
}


PRICES = [["Line", "2024", "2025"], ["Bow line", "118", "124"], ["Stern line", "96", "101"]]
CONTRACT = f"""
18 Supply Agreement
11 This agreement is made between Hollin Ropeworks and the
11 harbour of Marsh End.
14 1 Goods
11 1.1 Hollin Ropeworks delivers mooring lines as ordered.
11 1.2 {FILLER[1]}

14 2 Term
11 2.1 The agreement runs for four years from its signature.
11 2.2 Either party may end it by a notice of ninety days to
11 the end of a quarter.
14 3 Records
11 3.1 {FILLER[0]}

14 4 Prices
11 4.1 Prices for each line are as follows, in EUR.
PRICES
11 4.2 Prices hold for a calendar year.

14 5 Law
11 5.1 The courts of Arvik decide.
11 Deposit: 2,500 EUR
"""


def contract() -> bytes:
    pages = []
    for number, text in enumerate(CONTRACT.strip().split("\n\n"), 1):
        lines = (line.partition(" ") for line in text.splitlines())
        body: list[Item] = [(int(size), said) if said else PRICES for size, _, said in lines]
        foot = f"Page {number} of 4"
        pages.append([(9, "Saltmarsh Supply Agreement"), (11, ""), *body, (11, ""), (9, foot)])
    return pdf(pages)


def filing() -> bytes:
    parts = ["<html><head><title>Annual report</title><style>p {color: red}</style></head><body>"]
    parts.append("<h1>Marsh End Harbour: annual report</h1>")
    for number in range(1, 41):
        parts.append(f"<p><b>Item {number}. {_subject(number)}</b></p>")
        parts += [f"<div>{FILLER[n % 4]} This concerns berth {number * 100 + n}.</div>" for n in range(45)]
        parts.append(TOLD.get(number, ""))
    return "".join([*parts, "</body></html>"]).encode()


def _subject(number: int) -> str:
    return {7: "Works and dredging", 8: "Income"}.get(number, f"Berths of quay {number}")
