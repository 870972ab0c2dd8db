"""Workbooks: every sheet, or the one that is named; values as they were saved."""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

from chameleon.errors import InputError
from chameleon.table import Table, choose_table, read_table, workbooks
from chameleon.table.found import Found, LeftOut
from chameleon.table.readers import tables_in

openpyxl = pytest.importorskip("openpyxl")

Sheet = tuple[str, list[list[Any]]]


def workbook(*sheets: Sheet) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets:
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def with_sheet(source: bytes) -> bytes:
    """A workbook in which this stands in place of its sheet."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(workbook(("S", [["a"], [1]])))) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            new.writestr(name, source if name.endswith("sheet1.xml") else old.read(name))
    return made.getvalue()


VALUES: list[list[Any]] = [
    ["Day", "Start", "Units", "Share", "Open"],
    [dt.date(2025, 5, 4), dt.time(9, 45), 3.0, 0.125, True],
    [dt.datetime(2025, 5, 5, 10, 30), dt.time(9, 45, 7), 12, None, False],
]
TEXTS = [
    ["Day", "Start", "Units", "Share", "Open"],
    ["2025-05-04", "09:45", "3", "0.125", "true"],
    ["2025-05-05 10:30:00", "09:45:07", "12", "", "false"],
]


def test_values_become_plain_text(tmp_path: Path) -> None:
    path = tmp_path / "may.xlsx"
    path.write_bytes(workbook(("May", VALUES)))
    assert read_table(path, caption="Shop") == Table(TEXTS[0], TEXTS[1:], "Shop")


def test_an_empty_sheet_is_named_and_so_are_the_others() -> None:
    data = workbook(("Empty", []), ("Data", [["a"], [1]]), ("More", [["b"], [2]]))
    assert choose_table(data).name == "Data"
    with pytest.raises(InputError, match=r"sheet 'Empty': is empty\. There are: 'Data', 'More'\."):
        choose_table(data, sheet="Empty")
    with pytest.raises(InputError, match=r"holds no table \(is empty\)"):
        choose_table(workbook(("Empty", [])))


def test_open_document_spreadsheets_are_read() -> None:
    odf = pytest.importorskip("odf.opendocument")
    from odf import table, text

    book = odf.OpenDocumentSpreadsheet()
    sheet = table.Table(name="May")
    for row in (["Item", "Cost"], ["Rent", "90"]):
        line = table.TableRow()
        for cell in row:
            line.addElement(made := table.TableCell(valuetype="string"))
            made.addElement(text.P(text=cell))
        sheet.addElement(line)
    book.spreadsheet.addElement(sheet)
    buffer = io.BytesIO()
    book.save(buffer)
    assert choose_table(buffer.getvalue(), name="x.ods").table == Table(["Item", "Cost"], [["Rent", "90"]])


def test_the_table_may_stand_anywhere_in_its_sheet() -> None:
    rows = [[], [None, "a", None, "b"], [], [None, 1, None, "x\ny"], [None, None, None, 2]]
    assert read_table(workbook(("S", rows))) == Table(["a", "b"], [["1", "x y"], ["", "2"]])


def test_a_sheet_is_chosen_by_name_or_number_and_the_others_are_told() -> None:
    notes = [["Lots of people"], ["Never mind"], [], ["Name", "Age"], ["Ann", 3], ["Bob", 5]]
    data = workbook(("Empty", []), ("arts", notes), ("other", [["b"], [2]]))
    chosen = choose_table(data)
    assert (chosen.name, chosen.others) == ("arts", ["other"])
    assert chosen.table == Table(["Name", "Age"], [["Ann", "3"], ["Bob", "5"]], "Lots of people: Never mind")
    assert choose_table(data, sheet="Other").table == choose_table(data, sheet="2").table
    with pytest.raises(InputError, match=r"no sheet or table is named 'Three'\. There are: 'Empty', 'arts'"):
        read_table(data, sheet="Three")


def test_two_tables_in_a_sheet_and_one_that_cannot_be_read_beside_another() -> None:
    two = [["Spending"], [], ["Item", "Cost"], ["Rent", 1], ["Note: net"]]
    two += [[], ["Income"], ["From", "Sum"], ["Fees", 5]]
    sums: Sheet = ("Sums", [["a", "b"], [1, "=A2*2"]])
    findings = list(tables_in(workbook(("Both", two), sums), "x.xlsx"))
    spending, income, fault = findings
    assert isinstance(spending, Found) and isinstance(income, Found) and isinstance(fault, LeftOut)
    assert (spending.table.caption, income.table.caption) == ("Spending", "Income")
    assert spending.notes == "Note: net" and income.place == {"sheet": "Both"}
    assert fault.where == "x.xlsx, sheet 'Sums'" and "B2 holds a formula without a saved value" in fault.why


def test_a_sheet_that_says_to_be_huge_is_refused_at_once() -> None:
    cells = b'<row r="1"><c r="A1"><v>1</v></c></row><row r="%d"><c r="%s"><v>1</v></c></row>'
    head = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    for row, place in ((999_999_999, b"A999999999"), (1_048_576, b"XFD1048576")):
        data = with_sheet(head + cells % (row, place) + b"</sheetData></worksheet>")
        with pytest.raises(InputError, match="more than 5,000,000 cells"):
            read_table(data)


def test_files_that_are_no_workbooks_and_such_with_another_suffix(tmp_path: Path) -> None:
    good = workbook(("S", [["a"], [1]]))
    page = b"<table><tr><th>a<tr><td>1</table>"
    for name, data in (("a.csv", good), ("b.xls", b"a\tb\n1\t2\n"), ("c.xls", page)):
        (tmp_path / name).write_bytes(data)
        assert read_table(tmp_path / name).header[0] == "a"
    (tmp_path / "d.xlsx").write_bytes(good[: len(good) // 2])
    with pytest.raises(InputError, match=r"d\.xlsx: cannot be read as a spreadsheet"):
        read_table(tmp_path / "d.xlsx")


def test_every_cut_or_changed_workbook_is_refused_in_one_line() -> None:
    good = workbook(("S", [["a", "b"], [1, "x"]]))
    for place in range(0, len(good), 97):
        for bad in (good[:place], good[:place] + bytes([good[place] ^ 0x55]) + good[place + 1 :]):
            try:
                read_table(bad, name="bad.xlsx")
            except InputError as error:
                assert "\n" not in str(error)


@pytest.mark.usefixtures("in_this_process")
def test_a_workbook_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbooks, "MAX_UNPACKED_BYTES", 10_000_000)
    buffer = io.BytesIO(workbook(("S", [["a"], [1]])))
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive, archive.open("xl/x", "w") as file:
        for _ in range(11):
            file.write(bytes(1_000_000))
    with pytest.raises(InputError, match=r"unpacks to 11 MB, more than 10 MB"):
        read_table(buffer.getvalue())
