"""PDF files written by hand: pages of text at places and sizes, and ruled tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


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

_LOCK = b"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <%s> /U <%s> >>" % (b"41" * 32, b"42" * 32)


def pdf(pages: Sequence[Sequence[Item]], *, locked: bool = False) -> bytes:
    """A PDF of these pages, A4, items from the top down; `locked` by a password that nobody knows."""
    kids = " ".join(f"{5 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
    ]
    for number, items in enumerate(pages):
        drawn = _drawn(items).encode("cp1252")
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>" % (6 + 2 * number)
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawn), drawn))
    written, places = b"%PDF-1.4\n", []
    for number, held in enumerate(objects, 1):
        places.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, held)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    lock = b"/ID [<00> <00>] " + _LOCK if locked else b""
    return written + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n"
        % (len(objects) + 1, table, len(objects) + 1, lock, len(written))
    )


def _drawn(items: Sequence[Item]) -> str:
    """The operators that draw the items; 14 points from line to line, more around headings and tables."""
    drawn, y = list[str](), 790.0
    for item in items:
        if isinstance(item, At):
            drawn.append(
                _text(item.x, 842 - item.y, item.size, item.text, "F2" if item.bold else "F1", item.turned)
            )
            continue
        if isinstance(item, list):
            y -= 10
            drawn += _table(item, y)
            y -= 20 * len(item) + 20
            continue
        size, text = item
        if not text:
            y -= 14
            continue
        y -= size + 2
        drawn.append(_text(60, y, size, text))
    return "\n".join(drawn)


def _table(rows: Sequence[Sequence[str]], top: float) -> list[str]:
    width, height = 140, 20
    right, bottom = 60 + width * len(rows[0]), top - height * len(rows)
    drawn = [f"60 {top - height * n} m {right} {top - height * n} l S" for n in range(len(rows) + 1)]
    drawn += [f"{60 + width * n} {top} m {60 + width * n} {bottom} l S" for n in range(len(rows[0]) + 1)]
    return drawn + [
        _text(64 + width * column, top - height * (row + 1) + 6, 10, cell)
        for row, cells in enumerate(rows)
        for column, cell in enumerate(cells)
    ]


def _text(x: float, y: float, size: float, text: str, font: str = "F1", turned: float = 0) -> str:
    escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    along, up = math.cos(math.radians(turned)), math.sin(math.radians(turned))
    return f"BT /{font} {size} Tf {along:.4f} {up:.4f} {-up:.4f} {along:.4f} {x} {y} Tm ({escaped}) Tj ET"
