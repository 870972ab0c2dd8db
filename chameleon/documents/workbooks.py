"""Tables in Excel workbooks: every sheet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from chameleon.documents.found import Found, LeftOut, tables_of
from chameleon.errors import InputError
from chameleon.table.excel import excel_sheets
from chameleon.table.records import Origin, Record


def workbook_tables(data: bytes, origin: Origin) -> Iterator[Found | LeftOut]:
    """The tables of every sheet that is not empty. Raises as `excel_sheets` does."""
    for sheet, where, records in excel_sheets(data, origin):
        if isinstance(records, InputError):
            yield LeftOut.of(records, where.name)
        else:
            yield from tables_of(_with_gaps(records), where, {"sheet": sheet}, pad=True)


def _with_gaps(records: Iterable[Record]) -> Iterator[Record]:
    """The rows with a blank one where the file leaves some out."""
    last = 0
    for number, cells in records:
        if number > last + 1:
            yield number - 1, []
        yield number, cells
        last = number
