"""Programs, SQL, operations, conditions and the reader without a model see one value in a cell, or none."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from chameleon import StepRejected, Table
from chameleon.modules.offline.forms import Fold
from chameleon.modules.offline.rows import Unfit, Where
from chameleon.modules.offline.sheet import Sheet
from chameleon.modules.sql.database import SqlTable
from chameleon.modules.table_ops.aggregate import Aggregate
from chameleon.modules.table_ops.filter_rows import rows_where

REFUSED = "refused"
# A form, another cell of its kind, and the value of the form as a program has it; None where it is no number.
NUMBERS: dict[str, tuple[str, float]] = {
    "1203": ("7", 1203), "1,203": ("7", 1203), "-7": ("1", -7), "−7": ("1", -7), "+7": ("1", 7),
    "12.50": ("1", 12.5), ".5": ("1", 0.5), "(12)": ("3", -12), "5-": ("3", -5), "300.00-": ("1", -300),
    "5 CR": ("3 DR", 5), "3 DR": ("5 CR", -3), "900K": ("1.2M", 900_000), "1.2M": ("900K", 1_200_000),
    "2.5 million": ("1 million", 2_500_000), "1e3": ("2", 1000), "12,34,567": ("95,000", 1_234_567),
    "1'043'132": ("37'047", 1_043_132), "1 043 132": ("37 047", 1_043_132), "3,5": ("2,1", 3.5),
    "1.234,50": ("2,00", 1234.5), "1 1/2": ("2", 1.5), "2nd": ("1st", 2), "$1,200.50": ("$3", 1200.5),
    "$(900)": ("$3", -900), "($1,200.00)": ("$3", -1200), "5 €": ("€ 4", 5), "US$ 3": ("US$5", 3),
    "$0.96/lb": ("$1.20/lb", 0.96), "4.0%": ("1 %", 4), "(2.5%)": ("1%", -2.5), "5 kg": ("2 kg", 5),
    "800 g": ("950 g", 800), "12 m (39 ft)": ("13 m (43 ft)", 12), "26 pts": ("7 pts", 26),
    "85 ms": ("90 ms", 85), "3 days": ("2 days", 3), "2h 5m": ("2h 31m", 125), "1:52.33": ("1:49.10", 112.33),
}  # fmt: skip
OTHERS: dict[str, tuple[str, str]] = {
    "25/12/2024": ("14/06/2024", "2024-12-25"), "2024-03-01 08:15": ("2024-03-01", "2024-03-01 08:15:00"),
    "May 4, 2024": ("June 1, 2024", "2024-05-04"), "9:45 A.M.": ("14:05", "09:45"),
    "Jan-24": ("Dec-23", "2024-01"), "Q1 2024": ("Q4 2023", "2024-Q1"), "02116": ("12207", "02116"),
    "12A": ("12B", "12A"), "+4712345678": ("+4712345679", "+4712345678"), "10-20": ("30-40", "10-20"),
    "12/31": ("24/7", "12/31"), "4 Mill Lane": ("12 High St", "4 Mill Lane"), "NA": ("ML", "NA"),
}  # fmt: skip
MIXED = ("<5", "ERR 7", "€90 or so")


def readings(cells: list[str]) -> dict[str, Any]:
    """What each consumer makes of the first cell: its number or text, or that it refuses the column."""
    table = Table(["V"], [[cell] for cell in cells])
    first = table.take_rows([0])
    return {
        "program": table.to_program_input()["rows"][0][0],
        "SQL": SqlTable.of(table).rows[0][0],
        "f_aggregate": _summed(first),
        "condition": _met(table, cells[0]),
        "reader": _folded(table),
    }


def _summed(table: Table) -> Any:
    try:
        rows = Aggregate().apply(table, {"function": "sum", "column": "V", "by": None}).rows
    except StepRejected:
        return REFUSED
    return float(rows[0][0])


def _met(table: Table, cell: str) -> Any:
    """The cell is the only one that is neither above nor below itself."""
    try:
        above, below = (rows_where(f'V {sign} "{cell}"', table) for sign in "><")
    except StepRejected:
        return REFUSED
    return "equal" if not above[0] and not below[0] else "differs"


def _folded(table: Table) -> Any:
    sheet = Sheet(table)
    try:
        result = Fold(Where(), 0, "sum").find(Sheet(table.take_rows([0])))
        Fold(Where(), 0, "max").find(sheet)
    except Unfit:
        return REFUSED
    return None if result.number is None else float(Fraction(result.number))


@pytest.mark.parametrize("cell", NUMBERS)
def test_a_figure_is_one_number_to_all(cell: str) -> None:
    other, value = NUMBERS[cell]
    found = readings([cell, other])
    told = {name: found[name] for name in ("program", "SQL", "f_aggregate", "reader")}
    if ":" in cell:
        told.pop("reader")  # it does not add up times
    assert told == dict.fromkeys(told, pytest.approx(value)) and found["condition"] == "equal"


@pytest.mark.parametrize("cell", OTHERS)
def test_what_is_no_figure_is_one_text_to_all_and_never_added_up(cell: str) -> None:
    other, value = OTHERS[cell]
    found = readings([cell, other])
    assert (found["program"], found["SQL"]) == (value, value)
    assert (found["f_aggregate"], found["reader"]) == (REFUSED, REFUSED)
    assert found["condition"] in ("equal", REFUSED)


@pytest.mark.parametrize("cell", NUMBERS)
@pytest.mark.parametrize("odd", MIXED)
def test_in_a_mixed_column_all_refuse(cell: str, odd: str) -> None:
    other, _ = NUMBERS[cell]
    table = Table(["V"], [[cell], [other], [odd]])
    assert (table.to_program_input()["rows"][0][0], SqlTable.of(table).rows[0][0]) == (cell, cell)
    assert (_summed(table), _met(table, cell), _folded(table)) == (REFUSED, REFUSED, REFUSED)
