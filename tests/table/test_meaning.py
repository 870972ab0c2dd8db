"""What a column means: one kind with exact values for all cells, or unclear with the cells named."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from chameleon import Table
from chameleon.table import Meaning
from chameleon.table.amounts import read_amount
from chameleon.table.dates import read_date

N = None


def meaning(cells: str, name: str = "V", hints: tuple[str, ...] = ()) -> Meaning:
    table = Table([name], [[cell.strip()] for cell in cells.split("|")], hints=hints)
    return table.columns[0].meaning


@pytest.mark.parametrize(
    ("cells", "kind", "unit", "values"),
    [
        ("12 | -7 | | 1,203", "number", "", [12, -7, N, 1203]),
        ("900K | 1.2M | 850 K", "number", "", [900_000, 1_200_000, 850_000]),
        ("5- | 300.00- | 4", "number", "", [-5, -300, 4]),
        ("5 CR | 3 DR", "number", "", [5, -3]),
        ("(12) | 3", "number", "", [-12, 3]),
        ("12,34,567 | 95,000", "number", "", [1_234_567, 95_000]),
        ("1'043'132 | 37'047", "number", "", [1_043_132, 37_047]),
        ("1 043 132 | 37 047", "number", "", [1_043_132, 37_047]),
        ("3,5 | 2,1", "number", "", [3.5, 2.1]),
        ("1.234,50 | 2.000,00", "number", "", [1234.5, 2000]),
        ("1,200 | TBD | 2,300", "number", "", [1200, N, 2300]),
        ("1 1/2 | 2 | 3/4", "number", "", [1.5, 2, 0.75]),
        ("1.2 k | 950 | 3 k", "number", "", [1200, 950, 3000]),
        ("2 dozen | 5", "number", "", [24, 5]),
        ("1st | 2nd | 3rd", "number", "", [1, 2, 3]),
        ("$1,200.00 | ($1,200.00) | -$5", "money", "$", [1200, -1200, -5]),
        ("$(900) | $300", "money", "$", [-900, 300]),
        ("€ 4 | 5 €", "money", "€", [4, 5]),
        ("$0.96/lb | $1.20 per lb", "money", "$ per lb", [0.96, 1.2]),
        ("US$5 million | US$ 3.2 million", "money", "US$", [5_000_000, 3_200_000]),
        ("4.0% | (2.5%) | 1 %", "percent", "%", [4, -2.5, 1]),
        ("5 kg | 800 g", "quantity", "kg", [5, 0.8]),
        ("190 cm | 6 ft 11 in | 178 cm", "quantity", "cm", [190, 210.82, 178]),
        ("12 m (39 ft) | 13 m (43 ft)", "quantity", "m", [12, 13]),
        ("26 pts | 20 | | 7", "quantity", "pts", [26, 20, N, 7]),
        ("2.4 s | 85 ms", "duration", "s", [2.4, 0.085]),
        ("2h 5m | 2h 31m", "duration", "min", [125, 151]),
        ("1:52.33 | 1:49.10", "duration", "s", [112.33, 109.1]),
        ("59:12 | 1:02:03", "duration", "s", [3552, 3723]),
        ("25/12/2024 | 31/01/2024", "date", "", ["2024-12-25", "2024-01-31"]),
        ("25/12/24 | 14/06/24", "date", "", ["2024-12-25", "2024-06-14"]),
        ("May 4, 2024 | 2024-03-01 | 15/01/2024", "date", "", ["2024-05-04", "2024-03-01", "2024-01-15"]),
        ("2024-03-01 23:30 | 2024-03-01", "datetime", "", ["2024-03-01 23:30:00", "2024-03-01 00:00:00"]),
        ("25/03/2024 7:30 pm | 25/03/2024", "datetime", "", ["2024-03-25 19:30:00", "2024-03-25 00:00:00"]),
        ("9:45 A.M. | 14:05", "time", "", ["09:45", "14:05"]),
        ("Jan-24 | Dec-23", "period", "month", ["2024-01", "2023-12"]),
        ("Q1 2024 | 2023 Q4", "period", "quarter", ["2024-Q1", "2023-Q4"]),
        ("2024-W11 | 2024-W02", "period", "week", ["2024-W11", "2024-W02"]),
        ("2023/24 | 2024/25", "period", "season", ["2023/24", "2024/25"]),
        ("1999 | 2006", "period", "year", [1999, 2006]),
        ("02116 | 12207", "code", "", ["02116", "12207"]),
        ("12A | 12B | 14C", "code", "", ["12A", "12B", "14C"]),
        ("0x1F | 0x2A", "code", "", ["0x1F", "0x2A"]),
        ("+4712345678 | +4712345679", "code", "", ["+4712345678", "+4712345679"]),
        ("true | FALSE | ", "boolean", "", [True, False, N]),
        ("4 Mill Lane | 12 High Street", "text", "", ["4 Mill Lane", "12 High Street"]),
        ("12/31 | 24/7", "text", "", ["12/31", "24/7"]),
        ("3/10 | 7/10 | 5", "text", "", ["3/10", "7/10", "5"]),
        ("03.2024 | 11.2023", "period", "month", ["2024-03", "2023-11"]),
        ("10-20 | 30-40", "text", "", ["10-20", "30-40"]),
        ("NA | ML", "text", "", ["NA", "ML"]),
    ],
)
def test_a_column_is_of_one_kind(cells: str, kind: str, unit: str, values: list[Any]) -> None:
    found = meaning(cells)
    assert (found.kind, found.unit, found.plain) == (kind, unit, values)


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ("$100 | €90", "its figures are in $ and €"),
        ("100 USD | EUR 200", "its figures are in USD and EUR"),
        ("5% | 0.04", "0.04 stands without %"),
        ("5 kg | 800", "800 stands without kg"),
        ("5.0 | ERR | 6", "cell ERR cannot be read"),
        ("<5 | 2 | 1", "cell <5 cannot be read"),
        ("5+ | 2 | ~1 | 4", "cells 5+, ~1 cannot be read"),
        ("3/4/20 | 5/6/20", "it does not tell day from month (day first or month first), as in 3/4/20"),
        ("25/12/2024 | 12/25/2024", "some dates have the day first and some the month"),
        ("2024-02-30 | 2024-02-28", "cell 2024-02-30 cannot be read"),
        ("12.500 | 8.750 | 980", "12.500 may mean thousands or decimals"),
        ("12.500 € | 8.750 €", "12.500 € may mean thousands or decimals"),
        ("Jan-05 | Feb-24", "Jan-05 may be a day or a year"),
        ("5% increase | 3% decrease", "its figures are in % increase and % decrease"),
        ("$20 per hour | $800 per week", "its figures are in $ per hour and $ per week"),
        ("5 mW | 2 MW", "its figures are in mW and MW"),
        ("9'58\" | 10'02\"", "cell 9'58\" cannot be read"),
        ("20 °C | 300", "300 stands without °C"),
        ("2024-01-01 10:00Z | 2024-01-01 10:30+02:00", "its times are of different zones"),
        ("1.234 | 12.345 | 987", "1.234 may mean thousands or decimals"),
        ("EUR 1.234 | EUR 2.345", "EUR 1.234 may mean thousands or decimals"),
        ("1:05:12 | 12:40", "12:40 may be hours or minutes, beside times with seconds"),
    ],
)
def test_what_does_not_fit_makes_a_column_unclear(cells: str, why: str) -> None:
    found = meaning(cells)
    assert (found.kind, found.why) == ("unclear", why)
    assert found.plain == [cell.strip() for cell in cells.split("|")], "it stays text everywhere"
    assert not found.is_ordered and found.odd


@pytest.mark.parametrize(
    ("name", "cells", "kind"),
    [
        ("invoice_id", "5001|5002|5010", "code"),
        ("InvoiceId", "5001|5002|5010", "code"),
        ("ticket_number", "11|22|33", "code"),
        ("Invoice", "5001|5002|5010", "code"),
        ("ZIP", "12207|12208|12207", "code"),
        ("Version", "1.9|1.10|1.2", "code"),
        ("Customer number", "11|22|11", "code"),
        ("customerid", "501|502|507", "code"),
        ("Order #", "11|22|33", "code"),
        ("Seat", "12B|14B|3B", "code"),
        ("Date", "20240304|20240305", "date"),
        ("No.", "1|2|3", "number"),
        ("No. of beds", "11|22|33", "number"),
        ("Customers", "120|80|95", "number"),
        ("Weight (kg)", "5|6", "quantity"),
        ("Attendance", "1850|1920|12", "number"),
    ],
)
def test_a_name_tells_codes_and_units(name: str, cells: str, kind: str) -> None:
    assert meaning(cells, name).kind == kind


@pytest.mark.parametrize(
    ("cells", "hint", "values"),
    [
        ("12.500|8.750|980", ",", [12500, 8750, 980]),
        ("12.500|8.750", "?", ["12.500", "8.750"]),
        ("12.500|8.750", "", [12.5, 8.75]),
        ("03/04/2024|05/06/2024", "day first", ["2024-04-03", "2024-06-05"]),
        ("03/04/2024|05/06/2024", "month first", ["2024-03-04", "2024-05-06"]),
    ],
)
def test_a_hint_decides_what_the_cells_leave_open(cells: str, hint: str, values: list[Any]) -> None:
    assert meaning(cells, hints=(hint,)).plain == values


def test_a_part_of_a_table_is_read_as_the_whole_is() -> None:
    whole = Table(["Day", "Sum"], [["25/12/2024", "2,50"], ["03/04/2024", "1.310"]])
    part = whole.take_rows([1]).take_columns([1, 0]).with_column("Note", ["x"]).with_caption("c")
    for table in (part, Table.from_json(part.to_json())):
        assert [column.meaning.plain for column in table.columns] == [[1310], ["2024-04-03"], ["x"]]
    unclear = Table(["Umsatz"], [["12.500"], ["8.750"], ["980"]]).take_rows([0])
    for table in (unclear, Table.from_json(unclear.to_json())):
        assert table.columns[0].meaning.plain == ["12.500"]


def test_a_column_of_units_measures_its_neighbor() -> None:
    parts = Table(["Part", "Weight", "Unit"], [["P-1", "500", "g"], ["P-2", "2", "kg"], ["P-3", "1", "kg"]])
    assert parts.columns[1].meaning.plain == [0.5, 2, 1] and parts.notes == ["Weight: 500 g counts as 0.5 kg"]
    sales = Table(["Ccy", "Amount", "Shop"], [["USD", "5", "A"], ["JPY", "900", "B"]])
    assert sales.columns[1].meaning.why == "its figures are in USD and JPY"
    rows = [["1", "2", "a", "USD", "3"], ["4", "5", "b", "EUR", "6"]]
    net = Table(["Net", "Gross", "By", "Currency", "Users"], rows)
    kinds = [column.meaning.kind for column in net.columns]
    assert kinds == ["unclear", "unclear", "text", "text", "number"]
    assert net.take_columns([0, 2]).columns[0].meaning.why == "its units stand in another column"
    assert parts.take_rows([0, 1]).columns[1].meaning.unit == "g"


def test_what_was_assumed_is_a_note() -> None:
    table = Table(["Name", "Price"], [["a", "$5"], ["b", "TBD"], ["c", "7"]])
    taken = "Price: figures without a unit, such as 7, are taken as $"
    assert table.notes == [taken, "Price: 1 × TBD counts as blank"]


def test_data_frames_have_dates_numbers_and_codes() -> None:
    rows = [["25/12/2024", "02116", "$5"], ["14/06/2024", "12207", ""]]
    frame = Table(["Due", "Zip", "Paid"], rows).to_pandas()
    assert [str(kind)[:10] for kind in frame.dtypes] == ["datetime64", "str", "float64"]
    assert frame["Due"].max().month == 12 and frame["Paid"].sum() == 5 and frame["Zip"][0] == "02116"


FORMS = (
    "|5|-7|1,203|$5|€4|5 kg|800 g|5%|12A|02116|25/12/2024|03/04/2024|2024-01-05|9:45|1:52.33|TBD|<5|12.500"
    "|2,50|Ann|Q1 2024|1999|(4)|3-|true"
)
_TEXTS = some.text("0123456789.,\n -$", max_size=8) | some.text(max_size=8)
CELLS = some.sampled_from(FORMS.split("|")) | _TEXTS


@settings(max_examples=200, deadline=None)
@given(some.lists(CELLS, min_size=1, max_size=8), some.randoms())
def test_each_cell_of_a_number_column_is_counted_and_order_does_not_matter(
    cells: list[str], random: Any
) -> None:
    found = meaning_of_cells(cells)
    assert len(found.values) == len(cells)
    if found.is_number:
        missing = [cell for cell, value in zip(cells, found.values, strict=True) if value is None]
        assert all(read_amount(cell) is None and read_date(cell) is None for cell in missing)
    mixed = random.sample(range(len(cells)), len(cells))
    again = meaning_of_cells([cells[place] for place in mixed])
    assert again.kind == found.kind
    if found.is_number:
        assert of_base(again) == of_base(found)


def of_base(found: Meaning) -> list[Fraction]:
    return sorted(Fraction(value) * found.factor for value in found.values if value is not None)


def meaning_of_cells(cells: list[str]) -> Meaning:
    return Table(["V"], [[cell] for cell in cells]).columns[0].meaning


@settings(max_examples=100, deadline=None)
@given(some.lists(some.decimals(-(10**6), 10**6, places=2), min_size=1, max_size=6))
def test_figures_mean_the_same_in_every_convention(figures: list[Decimal]) -> None:
    plain = [f"{each:,}" for each in figures]
    swapped = [cell.translate(str.maketrans(".,", ",.")) for cell in plain]
    conventions = [plain, swapped, [cell.replace(",", " ") for cell in plain], [f"${cell}" for cell in plain]]
    conventions += [[cell.replace(",", "'") for cell in plain], [str(each) for each in figures]]
    conventions.append([f"({cell[1:]})" if cell.startswith("-") else cell for cell in plain])
    for cells in conventions:
        assert meaning_of_cells(cells).values == figures


def test_a_table_of_thousands_of_figures_in_a_row_is_read() -> None:
    table = Table([f"c{number}" for number in range(5_000)], [["1"] * 5_000])
    assert table.columns[0].meaning.kind == "number"
