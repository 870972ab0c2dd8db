"""PDF files written by ReportLab and by fpdf2: pages of text at places and sizes, and ruled tables."""

from __future__ import annotations

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
