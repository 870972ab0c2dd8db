"""Tables in Excel workbooks (.xlsx), read with openpyxl from the extra `excel`."""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from chameleon.errors import InputError, MissingPackage
from chameleon.table.cells import cell_text, shown
from chameleon.table.grid import MAX_COLUMNS, Origin, Record, build_table
from chameleon.table.sniff import is_workbook
from chameleon.table.table import Table

MAX_UNPACKED_BYTES = 1 << 30
"""What a workbook may unpack to; ordinary ones grow 5 to 15 times, so 1 GiB is past every honest one."""


def excel_table(data: bytes, origin: Origin, caption: str = "", sheet: str | None = None) -> Table:
    """The table in one sheet, by default the first; cells are the values that Excel last saved.

    The header is the first row with any text; wholly empty rows and columns are left out. Numbers are
    given without their display format (12 % is "0.12"). Raises `InputError` for a file that is no
    workbook, an unknown sheet, and formulas saved without values; `MissingPackage` without openpyxl.
    """
    with _workbook(data, origin) as workbook:
        chosen = _choose(workbook, sheet, origin)
        where = _place(chosen, origin)
        records = _filled_records(workbook, chosen, data, where)
    return build_table(records, where, caption=caption, pad=True)


def excel_sheets(data: bytes, origin: Origin) -> Iterator[tuple[str, Origin, list[Record] | InputError]]:
    """Every sheet's name, its place for errors, and its rows (blank ones as one) or why it cannot be read.

    As `excel_table` reads them: wholly empty columns are left out. Raises `InputError` for the file itself.
    """
    with _workbook(data, origin) as workbook:
        for worksheet in workbook.worksheets:
            name = str(worksheet.title)
            where = _place(name, origin)
            try:
                yield name, where, _filled_records(workbook, name, data, where)
            except InputError as error:
                yield name, where, error


@contextmanager
def _workbook(data: bytes, origin: Origin) -> Iterator[Any]:
    _check_archive(data, origin)
    workbook = _open(data, origin, values=True)
    try:
        yield workbook
    finally:
        workbook.close()


def _place(sheet: str, origin: Origin) -> Origin:
    return Origin(f"{origin.name}, sheet {shown(sheet)}", "row")


def _filled_records(workbook: Any, sheet: str, data: bytes, where: Origin) -> list[Record]:
    """The rows of a sheet as texts, each as wide as the columns that hold anything."""
    records = list(_records(workbook[sheet], where))
    width = max((len(cells) for _, cells in records), default=0)
    if any(len(cells) < width or None in cells for _, cells in records):
        _refuse_unsaved_formulas(data, sheet, dict(records), where)
    used = sorted({i for _, cells in records for i, cell in enumerate(cells) if cell is not None})
    return list(_texts(records, used, where))


def _check_archive(data: bytes, origin: Origin) -> None:
    if not is_workbook(data):
        raise origin.error(
            "is not an Excel workbook (.xlsx)", hint="Save it again as .xlsx, or give it its true suffix."
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        raise _damaged(error, origin) from None
    if unpacked > MAX_UNPACKED_BYTES:
        raise origin.error(
            f"unpacks to {unpacked / 1e6:,.0f} MB, more than {MAX_UNPACKED_BYTES / 1e6:,.0f} MB",
            hint="Save the sheet as CSV, or split it.",
        )


def _open(data: bytes, origin: Origin, *, values: bool) -> Any:
    try:
        import openpyxl
    except ImportError:
        raise MissingPackage(
            "Excel files need the package openpyxl",
            where=origin.name,
            hint="pip install openpyxl",
        ) from None
    try:
        with warnings.catch_warnings():
            # openpyxl warns of styles and validations that it leaves out; cells are all we read.
            warnings.simplefilter("ignore")
            return openpyxl.load_workbook(
                io.BytesIO(data), read_only=True, data_only=values, keep_links=False
            )
    except Exception as error:  # openpyxl names no base class for what damaged files make it raise
        raise _damaged(error, origin) from None


def _choose(workbook: Any, sheet: str | None, origin: Origin) -> str:
    names = [worksheet.title for worksheet in workbook.worksheets]
    if not names:
        raise origin.error("the workbook has no sheet with cells", hint="Give one with a table.")
    if sheet is None:
        return str(names[0])
    if sheet not in names:
        listed = ", ".join(shown(name) for name in names[:20])
        raise origin.error(f"no sheet is named {shown(sheet)}", hint=f"There are: {listed}.")
    return sheet


def _records(worksheet: Any, origin: Origin) -> Iterator[tuple[int, list[Any]]]:
    """The rows that the file stores, blank or not, as far as their last filled cell."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # The size that a file states for itself may be wrong by a million rows.
            worksheet.reset_dimensions()
            for number, row in enumerate(worksheet.iter_rows(values_only=True), 1):
                width = next((i for i in range(len(row), 0, -1) if row[i - 1] is not None), 0)
                if width > MAX_COLUMNS:
                    raise origin.error(f"{width:,} cells found, more than {MAX_COLUMNS:,}", at=number)
                if row:
                    yield number, list(row[:width])
    except InputError:
        raise
    except Exception as error:  # see _open
        raise _damaged(error, origin) from None


def _refuse_unsaved_formulas(data: bytes, sheet: str, records: dict[int, list[Any]], origin: Origin) -> None:
    """A formula that no spreadsheet program has computed reads as an empty cell; say so instead."""
    workbook = _open(data, origin, values=False)
    try:
        for number, row in _records(workbook[sheet], origin):
            values = records.get(number, [])
            for index, cell in enumerate(row):
                unsaved = index >= len(values) or values[index] is None
                if unsaved and isinstance(cell, str) and cell.startswith("="):
                    raise origin.error(
                        f"column {index + 1} holds a formula without a saved value",
                        at=number,
                        hint="Open the workbook in a spreadsheet program and save it.",
                    )
    finally:
        workbook.close()


def _texts(records: list[tuple[int, list[Any]]], used: list[int], origin: Origin) -> Iterator[Record]:
    for number, row in records:
        cells = []
        for index in used:
            try:
                cells.append(cell_text(row[index] if index < len(row) else None))
            except ValueError as error:
                raise origin.error(f"column {index + 1} {error}", at=number) from None
        yield number, cells


def _damaged(error: Exception, origin: Origin) -> InputError:
    reason = shown(str(error) or type(error).__name__, 80)
    return origin.error(f"the workbook is damaged ({reason})", hint="Open it in Excel and save it again.")
