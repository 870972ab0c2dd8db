"""Excel workbooks: their first sheet, or the one that is named."""

from __future__ import annotations

import datetime as dt
import io
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from chameleon.errors import InputError, MissingPackage
from chameleon.table import Table, excel, read_table, read_table_bytes

openpyxl = pytest.importorskip("openpyxl")


def workbook(*sheets: tuple[str, list[list[Any]]]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets:
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def test_values_become_plain_text(tmp_path: Path) -> None:
    path = tmp_path / "may.xlsx"
    path.write_bytes(
        workbook(
            (
                "May",
                [
                    ["Day", "Start", "Units", "Share", "Open"],
                    [dt.date(2025, 5, 4), dt.time(9, 45), 3.0, 0.125, True],
                    [dt.datetime(2025, 5, 5, 10, 30), dt.time(9, 45, 7), 12, None, False],
                ],
            )
        )
    )
    assert read_table(path, caption="Shop") == Table(
        ["Day", "Start", "Units", "Share", "Open"],
        [
            ["2025-05-04", "09:45", "3", "0.125", "true"],
            ["2025-05-05 10:30:00", "09:45:07", "12", "", "false"],
        ],
        "Shop",
    )


def test_the_table_may_stand_anywhere_in_its_sheet() -> None:
    data = workbook(("S", [[], [None, "a", None, "b"], [], [None, 1, None, "x\ny"], [None, None, None, 2]]))
    assert read_table_bytes(data) == Table(["a", "b"], [["1", "x y"], ["", "2"]])


def test_a_sheet_is_chosen_by_name() -> None:
    data = workbook(("One", [["a"], [1]]), ("Two", [["b"], [2]]))
    assert read_table_bytes(data).header == ("a",)
    assert read_table_bytes(data, sheet="Two").header == ("b",)
    with pytest.raises(InputError, match=r"no sheet is named 'Three'\. There are: 'One', 'Two'"):
        read_table_bytes(data, sheet="Three")


@pytest.mark.parametrize(
    ("rows", "part"),
    [
        ([], "holds no text"),
        ([["a", "b"]], "has a header but no rows"),
        ([["a", "a"], [1, 2]], "columns 1 and 2 are both named 'a'"),
        ([["a", None, "b"], [1, 2, 3]], "column 2 has no name"),
        ([["a"], [1, 2]], "column 2 has no name"),
        ([["a", "b"], [1, "=A2*2"]], "row 2: column 2 holds a formula without a saved value"),
        ([["a"] * 10_001, [1]], "10,001 cells found"),
    ],
)
def test_bad_sheets(rows: list[list[Any]], part: str) -> None:
    with pytest.raises(InputError) as caught:
        read_table_bytes(workbook(("S", rows)), source="w.xlsx")
    assert part in str(caught.value) and str(caught.value).startswith("w.xlsx, sheet 'S'")


def test_files_that_are_no_workbooks(tmp_path: Path) -> None:
    good = workbook(("S", [["a"], [1]]))
    for name, data, part in [
        ("a.xlsx", b"a,b\n1,2\n", "is not an Excel workbook"),
        ("b.xlsx", good[: len(good) // 2], "is not an Excel workbook"),
        ("c.xlsx", good[:200] + good[200:].replace(b"xl/", b"yl/"), "is not an Excel workbook"),
        ("d.csv", good, "is an Excel workbook, not text. Give it the suffix .xlsx"),
    ]:
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(InputError) as caught:
            read_table(path)
        assert "is " in str(caught.value) and str(path) in str(caught.value)
        assert part in str(caught.value) or "damaged" in str(caught.value)


def test_every_cut_or_changed_workbook_is_refused_in_one_line() -> None:
    good = workbook(("S", [["a", "b"], [1, "x"]]))
    for place in range(0, len(good), 97):
        for bad in (good[:place], good[:place] + bytes([good[place] ^ 0x55]) + good[place + 1 :]):
            try:
                read_table_bytes(bad, "xlsx")
            except InputError as error:
                assert "\n" not in str(error)


def test_a_workbook_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert excel.MAX_UNPACKED_BYTES == 1 << 30
    monkeypatch.setattr(excel, "MAX_UNPACKED_BYTES", 10_000_000)
    buffer = io.BytesIO(workbook(("S", [["a"], [1]])))
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive, archive.open("xl/x", "w") as file:
        for _ in range(11):
            file.write(bytes(1_000_000))
    with pytest.raises(InputError, match=r"unpacks to 11 MB, more than 10 MB"):
        read_table_bytes(buffer.getvalue())


def test_without_openpyxl_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    data = workbook(("S", [["a"], [1]]))
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingPackage, match=r"pip install openpyxl"):
        read_table_bytes(data)
