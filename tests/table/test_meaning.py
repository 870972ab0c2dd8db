"""What a column means: one kind with exact values for all cells, or unclear with the cells named."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from chameleon import StepRejected, Table
from chameleon.modules.offline.forms import Fold
from chameleon.modules.offline.rows import Unfit, Where
from chameleon.modules.offline.sheet import Sheet
from chameleon.modules.sql.database import SqlTable
from chameleon.modules.table_ops.aggregate import Aggregate
from chameleon.modules.table_ops.filter_rows import rows_where
from chameleon.table import Meaning
from chameleon.table.amounts import read_amount
from chameleon.table.dates import read_date

N = None


def meaning(cells: str, name: str = "V", hints: tuple[str, ...] = ()) -> Meaning:
    table = Table([name], [[cell.strip()] for cell in cells.split("|")], hints=hints)
    return table.columns[0].meaning


FIGURES = ("number", "money", "percent", "quantity", "duration")
_COLUMNS = """
number: 1203|7||1,203 = 1203|7||1203; −7|+7|-7 = -7|7|-7; .5|12.50|1e3 = .5|12.5|1000; 2nd|1st|3rd = 2|1|3
number: 2.5 million|1 million = 2500000|1000000; 900K|1.2M|850 K = 900000|1200000|850000; (12)|3 = -12|3
number: 5-|300.00-|4 = -5|-300|4; 5 CR|3 DR = 5|-3; 12,34,567|95,000 = 1234567|95000; 3,5|2,1 = 3.5|2.1
number: 1'043'132|37'047 = 1043132|37047; 1 043 132|37 047 = 1043132|37047; 2 dozen|5 = 24|5
number: 1.234,50|2.000,00 = 1234.5|2000; 1,200|TBD|2,300 = 1200||2300; 1 1/2|2|3/4 = 1.5|2|.75
number: 1.2 k|950|3 k = 1200|950|3000
money $: $1,200.00|($1,200.00)|-$5 = 1200|-1200|-5; $(900)|$300 = -900|300
money €: € 4|5 € = 4|5
money $ per lb: $0.96/lb|$1.20 per lb = .96|1.2
money US$: US$5 million|US$ 3.2 million = 5000000|3200000
percent %: 4.0%|(2.5%)|1 % = 4|-2.5|1
quantity kg: 5 kg|800 g = 5|.8
quantity cm: 190 cm|6 ft 11 in|178 cm = 190|210.82|178
quantity m: 12 m (39 ft)|13 m (43 ft) = 12|13
quantity pts: 26 pts|20||7 = 26|20||7
duration s: 2.4 s|85 ms = 2.4|.085; 1:52.33|1:49.10 = 112.33|109.1; 59:12|1:02:03 = 3552|3723
duration min: 2h 5m|2h 31m = 125|151
date: 25/12/2024|31/01/2024 = 2024-12-25|2024-01-31; 25/12/24|14/06/24 = 2024-12-25|2024-06-14
date: May 4, 2024|2024-03-01|15/01/2024 = 2024-05-04|2024-03-01|2024-01-15
datetime: 2024-03-01 23:30|2024-03-01 = 2024-03-01 23:30:00|2024-03-01 00:00:00
datetime: 25/03/2024 7:30 pm|25/03/2024 = 2024-03-25 19:30:00|2024-03-25 00:00:00
time: 9:45 A.M.|14:05 = 09:45|14:05
period month: Jan-24|Dec-23 = 2024-01|2023-12; 03.2024|11.2023 = 2024-03|2023-11
period quarter: Q1 2024|2023 Q4 = 2024-Q1|2023-Q4
period week: 2024-W11|2024-W02 = 2024-W11|2024-W02
period season: 2023/24|2024/25 = 2023/24|2024/25
code: 02116|12207 = 02116|12207; 12A|12B|14C = 12A|12B|14C; 0x1F|0x2A = 0x1F|0x2A
code: +4712345678|+4712345679 = +4712345678|+4712345679
text: 4 Mill Lane|12 High Street = 4 Mill Lane|12 High Street; 12/31|24/7 = 12/31|24/7; NA|ML = NA|ML
text: 3/10|7/10|5 = 3/10|7/10|5; 10-20|30-40 = 10-20|30-40
"""


def _columns() -> Iterator[tuple[str, str, str, list[Any]]]:
    for line in _COLUMNS.strip().splitlines():
        heading, _, columns = line.partition(": ")
        kind, _, unit = heading.partition(" ")
        for column in columns.split("; "):
            cells, values = (side.split("|") for side in column.split(" = "))
            read = float if kind in FIGURES else str
            yield "|".join(cells), kind, unit, [read(value) if value else N for value in values]


COLUMNS = [*_columns()]


@pytest.mark.parametrize(("cells", "kind", "unit", "values"), COLUMNS)
def test_a_column_is_of_one_kind(cells: str, kind: str, unit: str, values: list[Any]) -> None:
    found = meaning(cells)
    assert (found.kind, found.unit, found.plain) == (kind, unit, values)
    assert (meaning("1999|2006").unit, meaning("1999|2006").plain) == ("year", [1999, 2006])
    assert (meaning("true|FALSE|").kind, meaning("true|FALSE|").plain) == ("boolean", [True, False, N])


UNCLEAR = {
    "$100 | €90": "in $ and €", "100 USD | EUR 200": "in USD and EUR", "5 mW | 2 MW": "in mW and MW",
    "5% | 0.04": "0.04 stands without %", "5 kg | 800": "800 stands without kg",
    "20 °C | 300": "300 stands without °C", "5% increase | 3% decrease": "% increase and % decrease",
    "$20 per hour | $800 per week": "$ per hour and $ per week",
    "5.0 | ERR | 6": "cell ERR", "<5 | 2 | 1": "cell <5", "5+ | 2 | ~1 | 4": "cells 5+, ~1",
    "9'58\" | 10'02\"": "cell 9'58\"", "2024-02-30 | 2024-02-28": "cell 2024-02-30",
    "3/4/20 | 5/6/20": "(day first or month first), as in 3/4/20",
    "25/12/2024 | 12/25/2024": "some dates have the day first and some the month",
    "12.500 | 8.750 | 980": "12.500 may mean thousands", "12.500 € | 8.750 €": "12.500 € may mean thousands",
    "1.234 | 12.345 | 987": "1.234 may mean", "EUR 1.234 | EUR 2.345": "EUR 1.234 may mean thousands",
    "Jan-05 | Feb-24": "Jan-05 may be a day or a year", "1:05:12 | 12:40": "12:40 may be hours or minutes",
    "2024-01-01 10:00Z | 2024-01-01 10:30+02:00": "its times are of different zones",
}  # fmt: skip


@pytest.mark.parametrize("cells", UNCLEAR)
def test_a_column_with_a_cell_that_does_not_fit_is_unclear(cells: str) -> None:
    found = meaning(cells)
    assert found.kind == "unclear" and UNCLEAR[cells] in found.why
    assert found.plain == [cell.strip() for cell in cells.split("|")], "it stays text everywhere"
    assert not found.is_ordered and found.odd


NAMED = {
    "code": "invoice_id=5001|5002|5010; InvoiceId=5001|5002|5010; ticket_number=11|22|33; Seat=12B|14B|3B; "
    "Invoice=5001|5002|5010; ZIP=12207|12208|12207; Version=1.9|1.10|1.2; Customer number=11|22|11; "
    "customerid=501|502|507; Order #=11|22|33",
    "date": "Date=20240304|20240305",
    "number": "No.=1|2|3; No. of beds=11|22|33; Customers=120|80|95; Attendance=1850|1920|12",
    "quantity": "Weight (kg)=5|6",
}


@pytest.mark.parametrize(("kind", "columns"), NAMED.items())
def test_a_name_decides_codes_and_units(kind: str, columns: str) -> None:
    for name, cells in (column.split("=") for column in columns.split("; ")):
        assert meaning(cells, name).kind == kind, name


def test_a_hint_decides_and_a_part_of_a_table_is_read_as_the_whole() -> None:
    assert meaning("12.500|8.750|980", hints=(",",)).plain == [12500, 8750, 980]
    assert meaning("12.500|8.750", hints=("?",)).plain == ["12.500", "8.750"]
    assert meaning("12.500|8.750", hints=("",)).plain == [12.5, 8.75]
    assert meaning("03/04/2024", hints=("day first",)).plain == ["2024-04-03"]
    assert meaning("03/04/2024", hints=("month first",)).plain == ["2024-03-04"]
    assert Table(map(str, range(5_000)), [["1"] * 5_000]).columns[0].meaning.kind == "number"
    whole = Table(["Day", "Sum"], [["25/12/2024", "2,50"], ["03/04/2024", "1.310"]])
    part = whole.take_rows([1]).take_columns([1, 0]).with_column("Note", ["x"]).with_caption("c")
    for table in (part, Table.from_json(part.to_json())):
        assert [column.meaning.plain for column in table.columns] == [[1310], ["2024-04-03"], ["x"]]
    unclear = Table(["Umsatz"], [["12.500"], ["8.750"], ["980"]]).take_rows([0])
    for table in (unclear, Table.from_json(unclear.to_json())):
        assert table.columns[0].meaning.plain == ["12.500"]


def test_units_of_a_neighbor_notes_and_data_frames() -> None:
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
    table = Table(["Name", "Price"], [["a", "$5"], ["b", "TBD"], ["c", "7"]])
    taken = "Price: figures without a unit, such as 7, are taken as $"
    assert table.notes == [taken, "Price: 1 × TBD counts as blank"]
    rows = [["25/12/2024", "02116", "$5"], ["14/06/2024", "12207", ""]]
    frame = Table(["Due", "Zip", "Paid"], rows).to_pandas()
    assert [str(kind)[:10] for kind in frame.dtypes] == ["datetime64", "str", "float64"]
    assert frame["Due"].max().month == 12 and frame["Paid"].sum() == 5 and frame["Zip"][0] == "02116"


def of_base(found: Meaning) -> list[Fraction]:
    return sorted(Fraction(value) * found.factor for value in found.values if value is not None)


def meaning_of_cells(cells: list[str]) -> Meaning:
    return Table(["V"], [[cell] for cell in cells]).columns[0].meaning


FORMS = (
    "|5|-7|1,203|$5|€4|5 kg|800 g|5%|12A|02116|25/12/2024|03/04/2024|2024-01-05|9:45|1:52.33|TBD|<5|12.500"
    "|2,50|Ann|Q1 2024|1999|(4)|3-|true"
)
_TEXTS = some.text("0123456789.,\n -$", max_size=8) | some.text(max_size=8)
CELLS = some.sampled_from(FORMS.split("|")) | _TEXTS


@settings(max_examples=200, deadline=None)
@given(some.lists(CELLS, min_size=1, max_size=8), some.randoms())
def test_each_cell_of_a_number_column_counts_in_any_order(cells: list[str], random: Any) -> None:
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


REFUSED = "refused"


def table_of(cells: str, *more: str) -> Table:
    return Table(["V"], [[cell.strip()] for cell in (*cells.split("|"), *more)])


def summed(table: Table) -> Any:
    """The sum by `f_aggregate`, and by the reader, which does not add up times."""
    try:
        (row,) = Aggregate().apply(table, {"function": "sum", "column": "V", "by": None}).rows
    except StepRejected:
        return REFUSED
    return float(row[0])


def met(table: Table) -> Any:
    try:
        above, below = (rows_where(f'V {sign} "{table.rows[0][0]}"', table) for sign in "><")
    except StepRejected:
        return REFUSED
    return "equal" if not above[0] and not below[0] else "differs"


def folded(table: Table) -> Any:
    try:
        result = Fold(Where(), 0, "sum").find(Sheet(table.take_rows([0])))
        Fold(Where(), 0, "max").find(Sheet(table))
    except Unfit:
        return REFUSED
    return None if result.number is None else float(Fraction(result.number))


@pytest.mark.parametrize(("cells", "kind", "unit", "values"), COLUMNS)
def test_a_cell_is_one_value_to_all(cells: str, kind: str, unit: str, values: list[Any]) -> None:
    table = table_of(cells)
    first = table.take_rows([0])
    assert table.to_program_input()["rows"][0][0] == SqlTable.of(table).rows[0][0] == pytest.approx(values[0])
    if kind in FIGURES:
        assert summed(first) == pytest.approx(values[0]) and met(table) == "equal"
        assert ":" in cells or folded(table) == pytest.approx(values[0])
    else:
        assert (summed(first), folded(table)) == (REFUSED, REFUSED) and met(table) in ("equal", REFUSED)


@pytest.mark.parametrize("cells", [cells for cells, kind, *_ in COLUMNS if kind in FIGURES])
@pytest.mark.parametrize("odd", ["<5", "ERR 7", "€90 or so"])
def test_in_a_mixed_column_all_refuse(cells: str, odd: str) -> None:
    table, first = table_of(cells, odd), cells.partition("|")[0].strip()
    assert table.to_program_input()["rows"][0][0] == SqlTable.of(table).rows[0][0] == first
    assert (summed(table), met(table), folded(table)) == (REFUSED, REFUSED, REFUSED)
