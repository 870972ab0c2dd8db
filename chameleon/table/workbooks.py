"""Tables in spreadsheets (.xlsx, .xlsm, .xlsb, .xls, .ods): every sheet, read by calamine."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator

from chameleon.errors import InputError, require
from chameleon.table.cell_text import cell_text
from chameleon.table.found import Finding, LeftOut, Unread
from chameleon.table.records import MAX_CELLS, Origin, shown, too_many_cells
from chameleon.table.text_files import tables_of

MAX_UNPACKED_BYTES = 1 << 28
"""What a workbook may unpack to; ordinary ones grow 5 to 15 times, and 64 MB are the most that is read."""

_RELATION = re.compile(rb'<Relationship\b(?=[^>]*\bId="([^"]+)")(?=[^>]*\bTarget="/?(?:xl/)?([^"]+)")')
_SHEET = re.compile(rb'<(?:\w+:)?sheet\b[^>]*\w:id="([^"]+)"')
_ROW = re.compile(rb'<(?:\w+:)?row\b[^>]*?\br="(\d{1,12})"')
_COLUMN = re.compile(rb'<(?:\w+:)?c\b[^>]*?\br="([A-Z]{1,6})')
_UNSAVED = re.compile(
    rb'<c\b[^>]*?\br="([A-Z]{1,3}\d{1,7})"[^>]*><f\b[^>]*>[^<]{0,9000}</f>(?:<v\s*/>|<v></v>)?</c>'
)


def workbook_tables(data: bytes, origin: Origin, wanted: Callable[[str], bool]) -> Iterator[Finding]:
    """Yield the tables of the sheets that are wanted, and the names of the others.

    Cells are the values that the program last saved, without their display format (12 % is "0.12"). Raises
    `InputError` for a file that is no workbook, or a damaged one, `MissingPackage` without python-calamine.
    """
    require(
        "python-calamine",
        "spreadsheets need",
        "excel",
        module="python_calamine",
        where=origin.name,
        imports=True,
    )
    from python_calamine import CalamineError, CalamineWorkbook, SheetTypeEnum

    try:
        archive = zipfile.ZipFile(io.BytesIO(data)) if data.startswith(b"PK") else None
        parts = _parts(archive, origin) if archive else []
        with CalamineWorkbook.from_object(io.BytesIO(data)) as workbook:
            for index, about in enumerate(workbook.sheets_metadata):
                if about.typ != SheetTypeEnum.WorkSheet:
                    continue
                if not wanted(about.name):
                    yield Unread(about.name)
                    continue
                where = Origin(f"{origin.name}, sheet {shown(about.name)}", "row")
                try:
                    if archive and index < len(parts):
                        _check_sheet(archive.read(parts[index]), where)
                    sheet = workbook.get_sheet_by_name(about.name)
                    if sheet.height * sheet.width > MAX_CELLS:
                        raise too_many_cells(where)
                except InputError as error:
                    yield LeftOut.of(error)
                    continue
                if not sheet.start:
                    yield LeftOut(where.name, "is empty", is_fault=False)
                    continue
                rows = enumerate(sheet.to_python(), sheet.start[0] + 1)
                records = ((number, list(map(cell_text, row))) for number, row in rows)
                yield from tables_of(records, where, {"sheet": about.name}, pad=True)
    except (CalamineError, zipfile.BadZipFile, KeyError, OSError, EOFError, zlib.error) as error:
        hint = "Open it in a spreadsheet program and save it again, without a password."
        raise origin.error(
            f"cannot be read as a spreadsheet ({shown(str(error), 100)})", hint=hint
        ) from error


def _parts(archive: zipfile.ZipFile, origin: Origin) -> list[str]:
    """Return the names of the parts of an .xlsx file that hold its sheets, in order; none of other files."""
    unpacked = sum(member.file_size for member in archive.infolist())
    if unpacked > MAX_UNPACKED_BYTES:
        what = f"unpacks to {unpacked / 1e6:,.0f} MB, more than {MAX_UNPACKED_BYTES / 1e6:,.0f} MB"
        raise origin.error(what, hint="Save the sheet as CSV, or split it.")
    try:
        targets = dict(_RELATION.findall(archive.read("xl/_rels/workbook.xml.rels")))
        ids = _SHEET.findall(archive.read("xl/workbook.xml"))
        return [f"xl/{targets[id].decode()}" for id in ids]
    except KeyError:
        return []


def _check_sheet(source: bytes, where: Origin) -> None:
    """Raise `InputError` for a sheet that says to be huge, and for a formula that reads as an empty cell."""
    rows = max(map(int, _ROW.findall(source)), default=0)
    letters = {found[1] for found in _COLUMN.finditer(source)}
    last = max(letters, key=lambda name: (len(name), name), default=b"")
    columns = sum((letter - 64) * 26**power for power, letter in enumerate(reversed(last)))
    if rows * columns > MAX_CELLS:
        raise too_many_cells(where)
    if b"<f" in source and (unsaved := _UNSAVED.search(source)):
        hint = "Open the workbook in a spreadsheet program and save it."
        raise where.error(f"cell {unsaved[1].decode()} holds a formula without a saved value", hint=hint)
