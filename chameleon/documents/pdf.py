"""The outline of a PDF: what stands on its pages, read by pdfplumber, without heads and feet."""

from __future__ import annotations

import importlib.util
import io
import logging
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from chameleon.documents.borderless_tables import with_tables
from chameleon.documents.headers_footers import without_running
from chameleon.documents.parts import Part
from chameleon.documents.pdf_headings import Line, printed_parts
from chameleon.documents.pdf_words import words_of
from chameleon.documents.reading_order import Row, Word, in_reading_order, rows_of
from chameleon.documents.ruled_tables import is_within, ruled_table
from chameleon.errors import InputError, MissingPackage
from chameleon.table import Table

MAX_PAGES = 2_000
_FULL_ROWS = 8  # or more: the longest fifth of them is as wide as its column
_MOST = 0.8
_Item = Line | tuple[Table, int]


def pdf_parts(data: bytes, name: str) -> Iterator[Part]:
    """Yield the parts of a PDF. Raises `MissingPackage`, and `InputError` for one that is broken, locked by a
    password, without text (scanned), or of more than 2,000 pages."""
    if importlib.util.find_spec("pdfplumber") is None:
        raise MissingPackage(
            "PDF files are read with the package pdfplumber, which is not installed",
            hint='pip install "chameleon-compose[papers]"',
        )
    if not data.strip():
        hint = "It may not have been saved or downloaded in full."
        raise InputError("the PDF is empty", where=name, hint=hint)
    if b"%PDF-" not in data[:1024]:
        hint = "Save it as PDF anew, or give it the suffix of what it is."
        raise InputError("is no PDF, whatever its name says", where=name, hint=hint)
    items = _items(data, name)
    if not items:
        raise InputError(
            "the PDF holds no text: its pages may be scanned pictures",
            where=name,
            hint="Run a text recognition over it (such as ocrmypdf), or give a page as a picture.",
        )
    yield from printed_parts(items)


def _items(data: bytes, name: str) -> list[_Item]:
    import pdfplumber
    from pdfminer.pdfdocument import PDFEncryptionError, PDFPasswordIncorrect

    logging.getLogger("pdfminer").addHandler(logging.NullHandler())  # else each oddity is a line on stderr
    try:
        with pdfplumber.open(io.BytesIO(data)) as pdf:
            if len(pdf.pages) > MAX_PAGES:
                raise InputError(
                    f"the PDF has more than {MAX_PAGES:,} pages", where=name, hint="Give a part of it."
                )
            pages = list[tuple[list[Row], list[Row]]]()
            for page in pdf.pages:
                pages.append(_rows(page))
                page.close()
    except InputError:
        raise
    except RecursionError as problem:
        raise InputError("the PDF is broken: its parts hold each other", where=name) from problem
    except Exception as problem:  # a damaged file raises whatever the parser stumbled over
        causes = (problem, problem.__cause__, problem.__context__, *problem.args)
        if any(isinstance(cause, PDFPasswordIncorrect | PDFEncryptionError) for cause in causes):
            raise InputError(
                "the PDF is encrypted", where=name, hint="Save a copy without a password."
            ) from problem
        raise InputError(
            "the PDF is broken, cut short, or no PDF at all",
            where=name,
            hint="Save it anew from its source.",
        ) from problem
    if not pages:
        raise InputError(
            "the PDF is broken: it has no pages", where=name, hint="Save it anew from its source."
        )
    level = without_running([rows for rows, _ in pages])
    return [
        item
        for number, (rows, (_, sideways)) in enumerate(zip(level, pages, strict=True), 1)
        for block in (*in_reading_order(rows), *in_reading_order(sideways))
        for item in _block(block, number)
    ]


def _rows(page: Any) -> tuple[list[Row], list[Row]]:
    """The level rows of a page, and the sideways ones; a ruled table is a row, its words are in no other."""
    words, sideways = words_of(page)
    for found in page.find_tables():
        if (table := ruled_table(found, words)) is not None:
            left, top, right, _ = found.bbox
            words = [word for word in words if not is_within(word, found.bbox)]
            words.append(Word("", left, right, top, top + 1, 1.0, table=table))
    return rows_of(words), rows_of(sideways)


def _block(rows: list[Row], page: int) -> Iterator[_Item]:
    """The lines and tables of one column, from the top down."""
    wide = len(rows) >= _FULL_ROWS
    width = sorted(row.x1 - row.x0 for row in rows)[int(_MOST * len(rows))] if wide else 0.0
    for table, between in groupby(rows, key=lambda row: row.table):
        if table is not None:
            yield table, page
            continue
        for item in with_tables(list(between)):
            yield Line.of(item, page, width) if isinstance(item, Row) else (item, page)
