"""Tables in HTML pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from chameleon.documents.found import Found, LeftOut, table_of
from chameleon.errors import InputError
from chameleon.markup import decoded
from chameleon.table.html import page_tables
from chameleon.table.html_grid import html_table, layout_reason
from chameleon.table.records import Origin, shown


def page_data_tables(data: bytes, origin: Origin) -> Iterator[Found | LeftOut]:
    """Every table of a page that holds data; its caption, else the heading above it, else the page's title.

    Tables that only place things on the page are left out with the reason. Raises `MissingPackage`
    without lxml.
    """
    page = page_tables(decoded(data))
    for number, markup in enumerate(page.tables, 1):
        heading = f" below {shown(markup.heading)}" if markup.heading else ""
        where = Origin(f"{origin.name}, table {number}{heading}", "row")
        if reason := layout_reason(markup):
            yield LeftOut(where.name, f"is no data: {reason}", is_fault=False)
            continue
        try:
            read = html_table(markup, where)
        except InputError as error:
            yield LeftOut.of(error)
            continue
        if len(read.records) < 2 and not any(cells for cells in read.records[0][1]):
            yield LeftOut(where.name, "is no data: it holds no text", is_fault=False)
            continue
        called = ": ".join(dict.fromkeys(filter(None, [markup.caption, *read.titles])))
        place = {"heading": markup.heading} if markup.heading else {}
        found = table_of(read.records, where, place, called or markup.heading or page.title)
        yield replace(found, notes="\n".join(read.notes)) if isinstance(found, Found) else found
