"""Workbooks, and which rows of a file are its header, its data, or set apart."""

import datetime as dt
import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import Executor
from chameleon.errors import InputError
from chameleon.table import Table, choose_table, read_table, workbooks
from chameleon.table.found import Found, LeftOut
from chameleon.table.readers import tables_in
from chameleon.table.totals import set_apart
from tests.engine.files import pieces
from tests.table.strategies import lines, read_text

openpyxl = pytest.importorskip("openpyxl")

A: list[list[Any]] = [["a"], [1]]


def workbook(change: Callable[[Any], None] | None = None, **sheets: list[list[Any]]) -> bytes:
    book, buffer = openpyxl.Workbook(), io.BytesIO()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    if change:
        change(sheet)
    book.save(buffer)
    return buffer.getvalue()


def test_values_are_plain_text_merged_cells_filled_and_formats_kept() -> None:
    values = [
        ["Day", "Start", "Units", "Share", "Open"],
        [dt.date(2025, 5, 4), dt.time(9, 45), 3.0, 0.125, True],
        [dt.datetime(2025, 5, 5, 10, 30), dt.time(9, 45, 7), 12, None, False],
    ]
    assert lines(read_table(workbook(May=values))) == [
        ["Day", "Start", "Units", "Share", "Open"],
        ["2025-05-04", "09:45", "3", "0.125", "true"],
        ["2025-05-05 10:30:00", "09:45:07", "12", "", "false"],
    ]
    apart = [[], [None, "a", None, "b"], [], [None, 1, None, "x\ny"], [None, None, None, 2]]
    assert read_table(workbook(S=apart)) == Table(["a", "b"], [["1", "x y"], ["", "2"]])

    def merge(sheet: Any) -> None:
        for cells in ("A1:C1", "A2:A3", "B2:C2", "A4:A5", "B6:C6"):
            sheet.merge_cells(cells)

    def format(sheet: Any) -> None:
        for cell, code in {"B2": "0%", "B3": "0.0%;[Red]-0.0%", "C2": "00000", "D2": "000-00-0000"}.items():
            sheet[cell].number_format = code
        sheet["D3"].number_format = "0000"

    head = [["Sales", None, None], ["Land", "2023", None], [None, "Q1", "Q2"]]
    table = read_table(workbook(merge, S=[*head, ["North", 1, 2], [None, 3, 4], ["S", 5, 5]]))
    assert (table.caption, table.header) == ("Sales", ("Land", "2023 Q1", "2023 Q2"))
    assert table.rows == (("North", "1", "2"), ("North", "3", "4"), ("S", "5", ""))
    assert "merged cells are filled: Land, 2023, North" in table.notes
    assert "a figure of merged cells counts once: 5" in table.notes
    rows = [["Item", "Share", "ZIP", "SSN"], ["Pen", 0.125, 2116, 12345678], ["Cup", -1.2, "x", 1.5]]
    table = read_table(workbook(format, S=rows))
    assert table.rows == (("Pen", "12.5%", "02116", "012-34-5678"), ("Cup", "-120%", "x", "1.5"))
    assert table.columns[1].meaning.kind == "percent"


def test_open_document_spreadsheets_are_read() -> None:
    odf = pytest.importorskip("odf.opendocument")
    from odf import table, text

    book, sheet, buffer = odf.OpenDocumentSpreadsheet(), table.Table(name="May"), io.BytesIO()
    for row in (["Item", "Cost"], ["Rent", "90"]):
        sheet.addElement(line := table.TableRow())
        for cell in row:
            line.addElement(made := table.TableCell(valuetype="string"))
            made.addElement(text.P(text=cell))
    book.spreadsheet.addElement(sheet)
    book.save(buffer)
    assert choose_table(buffer.getvalue(), name="x.ods").table == Table(["Item", "Cost"], [["Rent", "90"]])


def test_sheets_are_chosen_by_name_or_number_and_may_hold_two_tables() -> None:
    notes = [["Lots of people"], ["Never mind"], [], ["Name", "Age"], ["Ann", 3], ["Bob", 5]]
    data = workbook(Empty=[], arts=notes, other=[["b"], [2]])
    chosen = choose_table(data)
    assert (chosen.name, chosen.others) == ("arts", ["other"])
    assert chosen.table == Table(["Name", "Age"], [["Ann", "3"], ["Bob", "5"]], "Lots of people: Never mind")
    assert choose_table(data, sheet="Other").table == choose_table(data, sheet="2").table
    for sheet, why in (("Three", "no sheet or table named 'Three'"), ("Empty", "sheet 'Empty': is empty")):
        with pytest.raises(InputError, match=rf"{why}\. There are: .*'arts'"):
            read_table(data, sheet=sheet)
    with pytest.raises(InputError, match=r"has no table \(is empty\)"):
        choose_table(workbook(Empty=[]))
    two = [["Spending"], [], ["Item", "Cost"], ["Rent", 1], ["Note: net"]]
    two += [[], ["Income"], ["From", "Sum"], ["Fees", 5]]
    data = workbook(Both=two, Sums=[["a", "b"], [1, "=A2*2"]])
    spending, income, fault = tables_in(data, "x.xlsx")
    assert isinstance(spending, Found) and isinstance(income, Found) and isinstance(fault, LeftOut)
    assert (spending.table.caption, income.table.caption) == ("Spending", "Income")
    assert spending.notes == "Note: net" and income.place == {"sheet": "Both"}
    assert fault.where == "x.xlsx, sheet 'Sums'" and "B2 has a formula without a saved value" in fault.why


@pytest.mark.usefixtures("in_this_process")
def test_a_workbook_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbooks, "MAX_UNPACKED_BYTES", 10_000_000)
    buffer = io.BytesIO(workbook(S=A))
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/x", bytes(11_000_000))
    with pytest.raises(InputError, match=r"unpacks to 11 MB, more than 10 MB"):
        read_table(buffer.getvalue())


def test_a_workbook_with_another_suffix_is_read_and_a_cut_or_changed_one_refused(tmp_path: Path) -> None:
    good = workbook(S=[["a", "b"], [1, "x"]])
    page = b"<table><tr><th>a<tr><td>1</table>"
    for name, data in (("a.csv", good), ("b.xls", b"a\tb\n1\t2\n"), ("c.xls", page)):
        (tmp_path / name).write_bytes(data)
        assert read_table(tmp_path / name).header[0] == "a"
    with pytest.raises(InputError, match=r"d\.xlsx: cannot be read as a spreadsheet"):
        read_table(good[: len(good) // 2], name="d.xlsx")
    for place in range(0, len(good), 97):
        for bad in (good[:place], good[:place] + bytes([good[place] ^ 0x55]) + good[place + 1 :]):
            try:
                read_table(bad, name="bad.xlsx")
            except InputError as error:
                assert "\n" not in str(error)


@pytest.mark.parametrize("state", ["hidden", "veryHidden"])
def test_hidden_sheets_wait_for_their_name_and_hidden_rows_are_noted(state: str) -> None:
    def hide(sheet: Any) -> None:
        sheet.row_dimensions[3].hidden = True
        sheet.parent.worksheets[0].sheet_state = state

    data = workbook(hide, Inner=[["secret", "x"]], Sheet=[["Item", "Cost"], ["Pen", 2], ["Draft", 1000]])
    found = choose_table(data, name="/some/where/x.xlsx")
    assert (found.name, found.others) == ("Sheet", ["Inner"])
    assert found.table.notes[0].startswith("x.xlsx, sheet 'Inner' is ") and "hidden" in found.table.notes[0]
    assert found.table.notes[1] == "1 row hidden in the workbook, and read all the same"
    with pytest.raises(InputError, match="header but no rows"):
        read_table(data, sheet="Inner")


def test_formulas_that_a_writer_left_at_zero_are_refused() -> None:
    xlsxwriter = pytest.importorskip("xlsxwriter")

    def saved_as(value: int) -> bytes:
        buffer = io.BytesIO()
        with xlsxwriter.Workbook(buffer) as made:
            made.add_worksheet().write_row(0, 0, ["Item", "Cost"])
            made.worksheets()[0].write_row(1, 0, ["Pen"])
            made.worksheets()[0].write_formula(1, 1, "=2*3", None, value)
        return buffer.getvalue()

    assert read_table(saved_as(6)).rows == (("Pen", "6"),)
    with pytest.raises(InputError, match=r"cell B2 has a formula without a saved value.*save it"):
        read_table(saved_as(0))


TOTALS = """TOTAL:|Sum|Subtotal|YTD|Σ|Summe|Gesamt|Zwischensumme|Sous-total|Total général|Suma|Totale|Soma|\
Totaal|合计|总计|総計|Total (2)|"""


# What is kept of the first column, and the table.
APART = [f"Pen | Cup\nItem,Amount\nPen,6\nCup,20\n{label},26" for label in TOTALS.split("|")]


@pytest.mark.parametrize("piece", [*APART, *pieces(__file__, "rows_apart.txt")])
def test_rows_that_are_no_data_are_set_apart(piece: str) -> None:
    kept, _, text = piece.partition("\n")
    assert [row[0] for row in read_text(text, "csv").rows] == kept.split(" | ")
    assert len(read_text(text, "csv", keep_totals=True).rows) == len(text.splitlines()) - 1


ASSETS = """Line,2023,2024\nCash,100,120\nStock,50,80\nTotal assets,150,200\nLoans,90,150\nEquity,60,50
Total debt,150,200\n"""
GROWTH = "Region,Growth\nNorth,0.05\nSouth,-0.02\nEast,1.2\n"


def test_totals_in_answers() -> None:
    for table, question, answer in (
        (ASSETS, "What is the 2023 of Total assets?", "150"),
        (ASSETS, "What is the 2024 of the row Total debt?", "200"),
        (ASSETS, "What is the total of 2024?", "400"),
        (ASSETS, "How many lines are there?", "4"),
        (GROWTH, "How many regions have growth under 5%?", None),
        (GROWTH, "What is the growth of East in percent?", None),
    ):
        state = Executor("tables_offline").run({"question": question, "table": read_text(table, "csv")})
        assert state.answer == answer and state.ended is not None
        assert state.ended.reason == ("answered" if answer else "declined")


def test_rows_set_apart_stay_with_the_table_and_groups_are_filled() -> None:
    table = read_text("Ort,Umsatz\nA,10\nB,27\nSumme,37\n", "csv")
    assert table.notes == ["the row 'Summe | 37' is the sum of the 2 rows above and is left out"]
    again = Table.from_json(table.to_json()).with_caption("x")
    assert (again.apart, again.notes) == (table.apart, table.notes)
    assert again.whole.rows[2] == ("Summe", "37") and set_apart(again) is again
    assert table.take_rows([0]).notes == []
    filled = read_text("Team,Player,Goals\nReds,Al,1\n,Bo,2\nBlues,Cy,5\n,Di,1\n", "csv")
    assert [row[0] for row in filled.rows] == ["Reds", "Reds", "Blues", "Blues"]
    assert filled.notes == ["Team: blanks are filled with the name above"]
    two = read_text("Land,Team,Player,Goals\nX,Reds,Al,1\n,,Bo,2\n,Blues,Cy,5\nY,Pinks,Di,1\n", "csv")
    assert [row[:2] for row in two.rows] == [("X", "Reds"), ("X", "Reds"), ("X", "Blues"), ("Y", "Pinks")]
    figures = read_text("Team,Goals\nReds,1\n,2\nBlues,5\n,1\n", "csv")
    assert figures.columns[0].meaning.kind == "unclear" and figures.rows[1] == ("", "2")
    missing = "Name,City,Age\nAnn,Rome,3\n,Oslo,4\nBob,Bern,5\nCy,Genf,6\nDi,Lyon,7\n"
    assert read_text(missing, "csv").rows[1][0] == ""


NAMES = st.sampled_from(["", "a", "Total", "b Total", "Max", "小计"])


@given(st.lists(st.tuples(NAMES, st.sampled_from("0123456789")), min_size=1))
def test_no_row_is_lost(rows: list[tuple[str, str]]) -> None:
    table = set_apart(Table(["Name", "Count"], rows))
    assert table.whole.rows == tuple(rows) and table.apart is not None
    assert len(table.rows) + len(table.apart) == len(rows) and table.rows


def test_rows_of_names_are_one_header_where_the_caller_says() -> None:
    for piece in pieces(__file__, "headers.txt"):  # the header and the number of rows; the text
        expected, _, text = piece.partition("\n")
        table = read_text(text, "csv")
        assert f"{','.join(table.header)} {len(table.rows)}" == expected
    text = "Made by Ann,,\nName,Q,Q\nof it,1,2\nPen,3,4\n"
    assert read_text(text, "csv", header="2-3").header == ("Name of it", "Q 1", "Q 2")
    assert read_text(text, "csv", header="3").rows == (("Pen", "3", "4"),)
    assert read_text("Pen,3\nCup,4\n", "csv", header="0").header == ("column 1", "column 2")
    for wrong in ("x", "9"):
        with pytest.raises(InputError, match=r"header|not a row of this file"):
            read_text(text, "csv", header=wrong)
    with pytest.raises(InputError, match="no header rows"):
        read_table(b'[{"a": 1}]', name="x.json", header="1")
