"""Columns in different units of measure are neither sorted, compared nor summed."""

from __future__ import annotations

import pytest

from chameleon import StepRejected, Table
from chameleon.modules.table_ops.aggregate import Aggregate
from chameleon.modules.table_ops.filter_rows import condition_in
from chameleon.modules.table_ops.order import refuse_mixed_units
from chameleon.modules.table_ops.sort_by import ASCENDING, Sorting

GOODS = Table(["Product", "Weight"], [["Toaster", "950 g"], ["Kettle", "1.2 kg"], ["Oven", "12 kg"]])
NAMED = "the column 'Weight' has different units: g, kg"


def test_no_operation_takes_grams_for_kilograms() -> None:
    with pytest.raises(StepRejected, match=NAMED):
        Sorting().apply(GOODS, {"column": "Weight", "order": ASCENDING, "datatype": "number"})
    with pytest.raises(StepRejected, match=NAMED):
        Aggregate().apply(GOODS, {"function": "sum", "column": "Weight", "by": None})
    with pytest.raises(StepRejected, match=NAMED):
        condition_in('Weight > "1 kg"', GOODS.header)(GOODS)


def test_the_unit_of_the_value_counts_as_well() -> None:
    kilograms = Table(["Weight"], [["2 kg"], ["0.5 kg"]])
    assert condition_in("Weight > 1", kilograms.header)(kilograms) == [True, False]
    with pytest.raises(StepRejected, match="kg, g"):
        condition_in('Weight > "900 g"', kilograms.header)(kilograms)


@pytest.mark.parametrize(
    "cells", [["9.1 M€", "9,500,000 €"], ["$5", "€4"], ["3 h", "20 min"], ["6 ft", "6 ft 1 in"]]
)
def test_scales_currencies_and_pairs_are_units(cells: list[str]) -> None:
    with pytest.raises(StepRejected):
        refuse_mixed_units("Size", cells)


@pytest.mark.parametrize(
    "cells", [["1 win", "2 wins"], ["1 minute", "3 mins"], ["€ 4", "5 €"], ["4", "5 kg"]]
)
def test_words_spellings_and_bare_numbers_are_in_no_other_unit(cells: list[str]) -> None:
    refuse_mixed_units("Size", cells)
