"""Tables in Excel workbooks (.xlsx), read with openpyxl from the extra `excel`."""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from chameleon.errors import InputError, MissingPackage
from chameleon.table.files import is_workbook
from chameleon.table.records import MAX_COLUMNS, Origin, Record, build_table, cell_text, shown
from chameleon.table.table import Table

MAX_UNPACKED_BYTES = 1 << 30
"""What a workbook may unpack to; ordinary ones grow 5 to 15 times, so 1 GiB is past every honest one."""


def excel_table(data: bytes, origin: Origin, caption: str = "", sheet: str | None = None) -> Table:
    """Read the table in one sheet, by default the first; cells are the values that Excel last saved.

    The header is the first row with any text; wholly empty rows and columns are left out. Numbers are
    given without their display format (12 % is "0.12"). Raises `InputError` for a file that is no
    workbook, an unknown sheet, and formulas saved without values; `MissingPackage` without openpyxl.
    """
    with closing(_Workbook(data, origin)) as workbook:
        names = workbook.sheets
        if not names:
            raise origin.error("the workbook has no sheet with cells", hint="Give one with a table.")
        if sheet is not None and sheet not in names:
            listed = ", ".join(shown(name) for name in names[:20])
            raise origin.error(f"no sheet is named {shown(sheet)}", hint=f"There are: {listed}.")
        chosen = names[0] if sheet is None else sheet
        records = workbook.records(chosen)
    return build_table(records, workbook.place(chosen), caption=caption, pad=True)


def excel_sheets(data: bytes, origin: Origin) -> Iterator[tuple[str, Origin, list[Record] | InputError]]:
    """Yield every sheet's name, its place for errors, and its rows (blank ones too) or why it has none.

    As `excel_table` reads them: wholly empty columns are left out. Raises `InputError` for the file itself.
    """
    with closing(_Workbook(data, origin)) as workbook:
        for name in workbook.sheets:
            try:
                yield name, workbook.place(name), workbook.records(name)
            except InputError as error:
                yield name, workbook.place(name), error


class _Workbook:
    """An open workbook, whose faults are told as `InputError`."""

    def __init__(self, data: bytes, origin: Origin) -> None:
        self._data, self._origin = data, origin
        if not is_workbook(data):
            raise origin.error(
                "is not an Excel workbook (.xlsx)", hint="Save it again as .xlsx, or give it its true suffix."
            )
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                unpacked = sum(member.file_size for member in archive.infolist())
        except (zipfile.BadZipFile, ValueError, OSError) as error:
            raise self._damaged(error, origin) from None
        if unpacked > MAX_UNPACKED_BYTES:
            raise origin.error(
                f"unpacks to {unpacked / 1e6:,.0f} MB, more than {MAX_UNPACKED_BYTES / 1e6:,.0f} MB",
                hint="Save the sheet as CSV, or split it.",
            )
        self._opened = self._open(values=True)
        self.sheets = [str(worksheet.title) for worksheet in self._opened.worksheets]

    def close(self) -> None:
        """Close the file."""
        self._opened.close()

    def place(self, sheet: str) -> Origin:
        """Return where errors say that they are."""
        return Origin(f"{self._origin.name}, sheet {shown(sheet)}", "row")

    def records(self, sheet: str) -> list[Record]:
        """Return the rows of a sheet as texts, each as wide as the columns that hold anything."""
        where, records = self.place(sheet), list(self._rows(self._opened, sheet))
        width = max((len(cells) for _, cells in records), default=0)
        if any(len(cells) < width or None in cells for _, cells in records):
            self._refuse_unsaved_formulas(sheet, dict(records))
        used = sorted({i for _, cells in records for i, cell in enumerate(cells) if cell is not None})
        found = list[Record]()
        for number, row in records:
            cells = []
            for index in used:
                try:
                    cells.append(cell_text(row[index] if index < len(row) else None))
                except ValueError as error:
                    raise where.error(f"column {index + 1} {error}", at=number) from None
            found.append((number, cells))
        return found

    def _open(self, *, values: bool) -> Any:
        try:
            import openpyxl
        except ImportError:
            raise MissingPackage(
                "Excel files need the package openpyxl",
                where=self._origin.name,
                hint="pip install openpyxl",
            ) from None
        try:
            with warnings.catch_warnings():
                # openpyxl warns of styles and validations that it leaves out; cells are all we read.
                warnings.simplefilter("ignore")
                return openpyxl.load_workbook(
                    io.BytesIO(self._data), read_only=True, data_only=values, keep_links=False
                )
        except Exception as error:  # openpyxl names no base class for what damaged files make it raise
            raise self._damaged(error, self._origin) from None

    def _rows(self, workbook: Any, sheet: str) -> Iterator[tuple[int, list[Any]]]:
        """Yield the rows that the file stores, blank or not, as far as their last filled cell."""
        where, worksheet = self.place(sheet), workbook[sheet]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                # The size that a file states for itself may be wrong by a million rows.
                worksheet.reset_dimensions()
                for number, row in enumerate(worksheet.iter_rows(values_only=True), 1):
                    width = next((i for i in range(len(row), 0, -1) if row[i - 1] is not None), 0)
                    if width > MAX_COLUMNS:
                        raise where.error(f"{width:,} cells found, more than {MAX_COLUMNS:,}", at=number)
                    if row:
                        yield number, list(row[:width])
        except InputError:
            raise
        except Exception as error:  # see _open
            raise self._damaged(error, where) from None

    def _refuse_unsaved_formulas(self, sheet: str, records: dict[int, list[Any]]) -> None:
        """Raise for a formula that no spreadsheet program has computed: it reads as an empty cell."""
        with closing(self._open(values=False)) as workbook:
            for number, row in self._rows(workbook, sheet):
                values = records.get(number, [])
                for index, cell in enumerate(row):
                    unsaved = index >= len(values) or values[index] is None
                    if unsaved and isinstance(cell, str) and cell.startswith("="):
                        raise self.place(sheet).error(
                            f"column {index + 1} holds a formula without a saved value",
                            at=number,
                            hint="Open the workbook in a spreadsheet program and save it.",
                        )

    @staticmethod
    def _damaged(error: Exception, where: Origin) -> InputError:
        reason = shown(str(error) or type(error).__name__, 80)
        return where.error(f"the workbook is damaged ({reason})", hint="Open it in Excel and save it again.")
