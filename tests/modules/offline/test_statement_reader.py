"""Statements about tables, told true or false without a model."""

from __future__ import annotations

import pytest

from chameleon import Executor, Inventory, Table
from tests.e2e.tables import RACE

pytest.importorskip("chameleon.modules.offline.statement_reader")


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("Lev Orlov scored 25 points", "yes"),
        ("Lev Orlov scored 30 points", "no"),
        ("Ugo Ferri scored more points than Lev Orlov", "yes"),
        ("Ugo Ferri scored fewer points than Lev Orlov", "no"),
        ("the team of Iker Sola is Ruota", "no"),
        ("there are 6 cyclists", "yes"),
    ],
)
def test_a_statement_is_true_false_or_declined(statement: str, expected: str) -> None:
    state = Executor(Inventory.load("tabfact_offline")).run({"question": statement, "table": RACE})
    assert state.answer in (expected, None)
    assert state.ended is not None and state.ended.reason in ("answered", "declined")
    if state.answer is not None:
        assert state.cache["sources"][0]["table"] == "A race of ours" and state.cache["reading"]["means"]


def test_what_the_table_does_not_speak_of_is_declined() -> None:
    table = Table(["City", "Nights"], [["Oslo", "3"], ["Riga", "2"]], "trips")
    for statement in ("the mayor of Oslo is popular", "", "glorp"):
        state = Executor(Inventory.load("tabfact_offline")).run(
            {"question": statement or "x", "table": table}
        )
        assert state.answer is None
