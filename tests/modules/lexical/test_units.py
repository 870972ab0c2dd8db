"""Columns with cells in different units: their figures are told, but neither ordered nor summed."""

from __future__ import annotations

from functools import cache

import pytest

from chameleon import Executor, Inventory, State
from chameleon.modules.offline.lexical.fields import fields_of
from chameleon.modules.offline.lexical.units import units_of
from tests.modules.lexical.plain_tables import plain_table

GOODS = plain_table(
    "Product | Weight | Price | Wins",
    "Toaster | 950 g | $20 | 1 win",
    "Kettle | 1.2 kg | $15 | 2 wins",
    "Oven | 12 kg | $90 | 4 wins",
)


@cache
def _executor(inventory: str) -> Executor:
    return Executor(Inventory.load(inventory))


def _state(inventory: str, text: str) -> State:
    return _executor(inventory).run({"question": text, "table": GOODS})


@pytest.mark.parametrize(
    ("inventory", "text"),
    [
        ("wikitq_offline", "Which product is the heaviest?"),
        ("wikitq_offline", "Which product has the lowest weight?"),
        ("wikitq_offline", "What is the total weight?"),
        ("wikitq_offline", "How many products have a weight over 5?"),
        ("tabfact_offline", "the highest weight is 950 g"),
        ("tabfact_offline", "the oven has a higher weight than the toaster"),
        ("tabfact_offline", "kettle has a weight of 1.2"),
    ],
)
def test_different_units_are_not_held_against_each_other(inventory: str, text: str) -> None:
    ended = _state(inventory, text).ended
    assert ended is not None and ended.error is not None
    assert (ended.reason, ended.error.message) == (
        "declined",
        "the column Weight has different units: g, kg",
    )


def test_a_figure_in_any_unit_is_told() -> None:
    assert _state("wikitq_offline", "What is the weight of the kettle?").answer == ("1.2 kg",)
    assert _state("tabfact_offline", "the toaster weighs 950 g").answer == "yes"


def test_a_column_in_one_unit_is_ordered() -> None:
    assert _state("wikitq_offline", "Which product has the lowest price?").answer == ("Kettle",)


def test_a_unit_in_the_plural_is_the_same() -> None:
    units = {field.name: units_of(field) for field in fields_of(GOODS)}
    assert units == {"Product": (), "Weight": ("g", "kg"), "Price": ("$",), "Wins": ("win",)}


def test_places_have_no_unit() -> None:
    (field,) = fields_of(plain_table("Place", "1st", "2nd", "3rd"))
    assert units_of(field) == ()
