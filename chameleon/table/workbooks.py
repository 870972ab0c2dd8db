"""Tables in spreadsheets (.xlsx, .xlsm, .xlsb, .xls, .ods): every sheet, read by calamine."""

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from functools import partial
from typing import Any

from chameleon.errors import InputError
from chameleon.table.amounts import read_amount
from chameleon.table.found import Finding, LeftOut, Note, Unread, in_short
from chameleon.table.records import MAX_CELLS, MAX_COLUMNS, Origin, cell_text, shown, too_many_cells
from chameleon.table.structure import YEAR
from chameleon.table.text_files import tables_of
from chameleon.text import counted

MAX_UNPACKED_BYTES = 1 << 28  # of a workbook: most grow 5 to 15 times, and at most 64 MB are read

# Attributes may be in any order, hence the lookaheads; names may have a prefix, as in <x:row>.
_RELATION = re.compile(rb'<Relationship\b(?=[^>]*\bId="([^"]+)")(?=[^>]*\bTarget="/?(?:xl/)?([^"]+)")')
_SHEET = re.compile(rb'<(?:\w+:)?sheet\b[^>]*\w:id="([^"]+)"')
_ROW = re.compile(rb'<(?:\w+:)?row\b[^>]*?\br="(\d{1,12})"')
_COLUMN = re.compile(rb'<(?:\w+:)?c\b[^>]*?\br="([A-Z]{1,6})')
_HIDDEN_ROW = re.compile(rb'<(?:\w+:)?row\b[^>]*?\bhidden="(?:1|true)"')
_HIDDEN_COLUMNS = re.compile(
    rb'<(?:\w+:)?col\b(?=[^>]*\bhidden="(?:1|true)")(?=[^>]*\bmin="(\d{1,5})")[^>]*\bmax="(\d{1,5})"'
)
_FORMULA = rb'<c\b[^>]*?\br="([A-Z]{1,3}\d{1,7})"[^>]*><f\b[^>]*>[^<]{0,9000}</f>'  # Excel's limit is 8,192
_UNSAVED, _ZERO = re.compile(_FORMULA + rb"(?:<v\s*/>|<v></v>)?</c>"), re.compile(_FORMULA + rb"<v>0</v>")
_STYLED_CELL = re.compile(rb'<(?:\w+:)?c\b(?=[^>]*?\br="([A-Z]{1,3})(\d{1,7})")[^>]*?\bs="(\d{1,6})"')
_FORMAT = re.compile(
    rb'<(?:\w+:)?numFmt\b(?=[^>]*\bnumFmtId="(\d{1,6})")(?=[^>]*\bformatCode="([^"]{0,300})")'
)
_STYLE = re.compile(rb'<(?:\w+:)?xf\b[^>]*?\bnumFmtId="(\d{1,6})"')
_CELL_STYLES = re.compile(rb"<(?:\w+:)?cellXfs\b.*?</(?:\w+:)?cellXfs>", re.DOTALL)
_LITERAL = re.compile(rb"&quot;.*?&quot;|\\(?=[- ])|\\.|_.|\*.")  # texts, escapes, gaps (_x), fill (*x)
_ZEROS = re.compile(r"0{2,}(?:[-/ ]0+)*")
_Format = Callable[[float], str]


def workbook_tables(
    data: bytes, origin: Origin, is_wanted: Callable[[str], bool], *, is_named: bool = False, header: str = ""
) -> Iterator[Finding]:
    """Yield the tables of the requested sheets, and the names of the others.

    Hidden sheets are read only if a sheet `is_named`. Cells have the values the program last saved; .xlsx
    files also keep percent signs and leading zeros that their formats show. Merged cells are filled.
    Raises `InputError` if the file is damaged or not a workbook.
    """
    from python_calamine import CalamineError, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

    try:
        source = _Source(data, origin) if data.startswith(b"PK") else None  # a zip archive, as .xlsx
        with CalamineWorkbook.from_object(io.BytesIO(data)) as workbook:
            for index, about in enumerate(workbook.sheets_metadata):
                where = Origin(f"{origin.name}, sheet {shown(about.name)}", "row")
                if about.typ != SheetTypeEnum.WorkSheet:
                    continue
                is_hidden = about.visible != SheetVisibleEnum.Visible and not is_named
                if is_hidden:
                    state = "very hidden" if about.visible == SheetVisibleEnum.VeryHidden else "hidden"
                    yield Note(where.name, f"is {state}, and not read unless it is named")
                if is_hidden or not is_wanted(about.name):
                    yield Unread(about.name)
                    continue
                try:
                    xml = source.sheet(index, where) if source else b""
                    sheet = workbook.get_sheet_by_name(about.name)
                    if sheet.height * sheet.width > MAX_CELLS:
                        raise too_many_cells(where)
                except InputError as error:
                    yield LeftOut.of(error)
                    continue
                if not sheet.start:
                    yield LeftOut(where.name, "is empty", is_fault=False)
                    continue
                rows = _cell_texts(sheet, xml, source.formats if source else {})
                decisions = [*_hidden_notes(xml), *_fill_merged(rows, sheet)]
                records, place = enumerate(rows, sheet.start[0] + 1), {"sheet": about.name}
                yield from tables_of(records, where, place, header=header, decisions=decisions, pad=True)
    except (CalamineError, zipfile.BadZipFile, KeyError, OSError, EOFError, zlib.error) as error:
        hint = "Open it in a spreadsheet program and save it again, without a password."
        what = f"cannot be read as a spreadsheet ({shown(str(error), 100)})"
        raise origin.error(what, hint=hint) from error


def _fill_merged(rows: list[list[str]], sheet: Any) -> list[str]:
    """Copy the text of merged cells to each of them, and return notes that say so.

    The only text in a row is a title and is not copied. Neither is a figure, which would count more
    than once, unless it is a year, or names the rows in the first column.
    """
    (top, left), filled, figures = sheet.start, list[str](), list[str]()
    for (first, begin), (last, end) in sorted(sheet.merged_cell_ranges or ()):
        if first < top or begin < left or first - top >= len(rows):
            continue
        within, columns = rows[first - top : last - top + 1], slice(begin - left, end - left + 1)
        text, width = within[0][columns.start], len(within[0][columns])
        is_alone = not any((*within[0][: columns.start], *within[0][columns.stop :]))
        if not text or (is_alone and len(within[0]) > 1):
            continue
        is_name = begin == left and width == 1
        if first > top and not is_name and read_amount(text) and not YEAR.fullmatch(text):
            figures.append(text)
            continue
        filled.append(text)
        for row in within:
            row[columns] = [text] * width
    notes = [("merged cells are filled", filled), ("a figure of merged cells counts once", figures)]
    return [f"{what}: {in_short([*dict.fromkeys(texts)])}" for what, texts in notes if texts]


class _Source:
    """The parts of an .xlsx file with details missing from its cells: hidden rows, formats, formulas."""

    def __init__(self, data: bytes, origin: Origin) -> None:
        self.archive = zipfile.ZipFile(io.BytesIO(data))
        unpacked = sum(member.file_size for member in self.archive.infolist())
        if unpacked > MAX_UNPACKED_BYTES:
            what = f"unpacks to {unpacked / 1e6:,.0f} MB, more than {MAX_UNPACKED_BYTES / 1e6:,.0f} MB"
            raise origin.error(what, hint="Save the sheet as CSV, or split it.")
        book = self._read("xl/workbook.xml")
        targets = dict(_RELATION.findall(self._read("xl/_rels/workbook.xml.rels")))
        self.parts = [f"xl/{targets[id].decode()}" for id in _SHEET.findall(book) if id in targets]
        self.is_uncomputed = b'fullCalcOnLoad="1"' in book  # to be computed when it is opened
        self.formats = _formats(self._read("xl/styles.xml"))

    def _read(self, name: str) -> bytes:
        return self.archive.read(name) if name in self.archive.namelist() else b""

    def sheet(self, index: int, where: Origin) -> bytes:
        """Return the XML of a sheet. Raises `InputError` if it is huge or has formulas without values."""
        source = self.archive.read(self.parts[index]) if index < len(self.parts) else b""
        rows = max(map(int, _ROW.findall(source)), default=0)
        if rows * max(map(_number_of, set(_COLUMN.findall(source))), default=0) > MAX_CELLS:
            raise too_many_cells(where)
        unsaved = _UNSAVED.search(source) if b"<f" in source else None
        if unsaved is None and self.is_uncomputed:
            unsaved = _ZERO.search(source)  # XlsxWriter and others write 0 until a program computes it
        if unsaved:
            hint = "Open the workbook in a spreadsheet program and save it."
            raise where.error(f"cell {unsaved[1].decode()} has a formula without a saved value", hint=hint)
        return source


def _hidden_notes(source: bytes) -> list[str]:
    """Report which rows and columns of a sheet are hidden."""
    columns = sum(int(end) - int(begin) + 1 for begin, end in _HIDDEN_COLUMNS.findall(source))
    counts = ((len(_HIDDEN_ROW.findall(source)), "row"), (min(columns, MAX_COLUMNS), "column"))
    hidden = [counted(count, what) for count, what in counts if count]
    return [f"{' and '.join(hidden)} hidden in the workbook, and read all the same"] if hidden else []


def _cell_texts(sheet: Any, source: bytes, formats: Mapping[bytes, _Format]) -> list[list[str]]:
    """Return the cells of a sheet as texts, formatted by their number formats."""
    values, (top, left) = sheet.to_python(), sheet.start
    rows = [list(map(cell_text, row)) for row in values]
    for letters, number, style in _STYLED_CELL.findall(source) if formats else ():
        row, column = int(number) - 1 - top, _number_of(letters) - 1 - left
        is_here = 0 <= row < len(rows) and 0 <= column < len(rows[row])
        value = values[row][column] if is_here and style in formats else None
        if isinstance(value, float):
            rows[row][column] = formats[style](value)
    return rows


def _formats(styles: bytes) -> dict[bytes, _Format]:
    """Return the formatter of each style that shows percentages or leading zeros."""
    codes = dict(_FORMAT.findall(styles)) | {b"9": b"0%", b"10": b"0.00%"}  # built-in formats
    cells = _CELL_STYLES.search(styles)
    formats: dict[bytes, _Format] = {}
    for number, id in enumerate(_STYLE.findall(cells[0]) if cells else ()):
        code = _LITERAL.sub(b"", codes.get(id, b"")).decode("utf-8", "replace")
        if "%" in code:
            formats[b"%d" % number] = _percent
        elif _ZEROS.fullmatch(code):
            formats[b"%d" % number] = partial(_with_zeros, code)
    return formats


def _percent(value: float) -> str:
    """Write 0.125 as "12.5%", with all digits that a spreadsheet stores."""
    figure = (Decimal(f"{value:.15g}") * 100).normalize()
    return f"{figure:f}%"


def _with_zeros(code: str, value: float) -> str:
    """Write 2116 as "02116" by the format "00000", and 123456789 as "123-45-6789" by "000-00-0000"."""
    if not value.is_integer() or value < 0:
        return cell_text(value)
    size = code.count("0")
    figures = f"{value:.0f}".zfill(size)
    digits = iter(figures[-size:])
    return figures[:-size] + "".join(next(digits) if c == "0" else c for c in code)


def _number_of(letters: bytes) -> int:
    """Return the number of a column, from 1: 28 for "AB"."""
    return sum((letter - 64) * 26**power for power, letter in enumerate(reversed(letters)))
