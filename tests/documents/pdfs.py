"""PDF files written by ReportLab and by fpdf2: pages of text at places and sizes, and ruled tables."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import reportlab
from fpdf import FPDF
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfbase.pdfmetrics import registerFont
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

VERA = str(Path(reportlab.__file__).parent / "fonts" / "Vera.ttf")
WIDTH, HEIGHT = 595, 842


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
    pages: Sequence[Sequence[Item]], *, locked: bool = False, bookmarks: Sequence[tuple[int, int, str]] = ()
) -> bytes:
    """A PDF of these pages, A4, items from the top down; `locked` by a password that nobody knows.

    `bookmarks`: page (from 1), level (from 0) and title of each.
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
            canvas.grid(
                [60 + 140 * n for n in range(len(item[0]) + 1)], [y - 20 * n for n in range(len(item) + 1)]
            )
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
    for number, piece in enumerate(pieces):
        line.setFont(("Helvetica", "Vera")[number % 2], 11)
        line.textOut(piece)
    canvas.drawText(line)
    canvas.save()
    return written.getvalue()


def mixed_by_fpdf(pieces: Sequence[str]) -> bytes:
    """The same by fpdf2, with letters drawn nearer to each other than their widths are."""
    made = FPDF()
    made.add_page()
    made.add_font("Vera", fname=VERA)
    made.set_char_spacing(-0.4)
    for number, piece in enumerate(pieces):
        made.set_font(("Helvetica", "Vera")[number % 2], size=11)
        made.write(text=piece)
    return bytes(made.output())


def picture_pdf() -> bytes:
    """A page that is a picture, and nothing else."""
    from PIL import Image

    written = io.BytesIO()
    Image.new("RGB", (300, 400), "white").save(written, "PDF")
    return written.getvalue()
