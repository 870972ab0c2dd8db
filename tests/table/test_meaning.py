"""What a column means: one kind with exact values for all cells, or unclear with the cells named."""

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
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


def meaning(cells: str, name: str = "V", hints: tuple[str, ...] = ()) -> Meaning:
    table = Table([name], [[cell.strip()] for cell in cells.split("|")], hints=hints)
    return table.columns[0].meaning


TEXT = Path(__file__).with_name("columns.txt").read_text("utf-8")
OF_ONE_KIND, UNCLEAR, NAMED = (part.strip().splitlines()[1:] for part in TEXT.split("\n\n"))
FIGURES = ("number", "money", "percent", "quantity", "duration")


def _columns() -> Iterator[tuple[str, str, str, list[Any]]]:
    for line in OF_ONE_KIND:
        heading, _, columns = line.partition(": ")
        kind, _, unit = heading.partition(" ")
        for column in columns.split("; "):
            cells, values = (side.split("|") for side in column.split(" = "))
            read = float if kind in FIGURES else str
            yield "|".join(cells), kind, unit, [read(value) if value else None for value in values]


COLUMNS = [*_columns()]


@pytest.mark.parametrize(("cells", "kind", "unit", "values"), COLUMNS)
def test_a_column_is_of_one_kind(cells: str, kind: str, unit: str, values: list[Any]) -> None:
    found = meaning(cells)
    assert (found.kind, found.unit, found.plain) == (kind, unit, values)
    assert (meaning("1999|2006").unit, meaning("1999|2006").plain) == ("year", [1999, 2006])
    assert (meaning("true|FALSE|").kind, meaning("true|FALSE|").plain) == ("boolean", [True, False, None])


@pytest.mark.parametrize("line", UNCLEAR)
def test_a_column_with_a_cell_that_does_not_fit_is_unclear(line: str) -> None:
    cells, why = line.split(" = ")
    found = meaning(cells)
    assert found.kind == "unclear" and why in found.why
    assert found.plain == [cell.strip() for cell in cells.split("|")], "it stays text everywhere"
    assert not found.is_ordered and found.odd


@pytest.mark.parametrize("line", NAMED)
def test_a_name_decides_codes_and_units(line: str) -> None:
    kind, _, column = line.partition(": ")
    name, cells = column.split("=")
    assert meaning(cells, name).kind == kind


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
    assert net.take_columns([0, 2]).columns[0].meaning.why == "its units are in another column"
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
