"""Questions over tables without a model: answers, sources, readings, declines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chameleon import Executor, Inventory, State, Table
from chameleon.core.sources import sources_in_words
from tests.e2e.commands import Command

ROOT = Path(__file__).parents[3]
LEAGUE = ROOT / "demos" / "data" / "league.csv"
_ROWS = ["Oslo|3|$1,200|Ann", "Riga|2|$300|Bo", "Rome|7|$2,450|Ann", "Total|12|$3,950|"]
TRIPS = Table(["City", "Nights", "Price", "With"], [row.split("|") for row in _ROWS], "trips")


def ask(question: str, table: Table = TRIPS, inventory: str = "tables_offline", **given: Any) -> State:
    return Executor(Inventory.load(inventory)).run({"question": question, "table": table, **given})


def why(state: State) -> str:
    assert state.ended is not None and state.ended.reason == "declined", state.answer
    assert state.ended.error is not None
    return state.ended.error.message


def test_the_answer_with_the_rows_columns_and_cells_that_it_rests_on() -> None:
    state = ask("What is the price of Riga?")
    assert state.answer == "$300" == state.cache["answer"]
    (source,) = state.cache["sources"]
    assert (source["table"], source["of"], source["rows"]) == ("trips", 4, (2,))
    assert (source["columns"], source["cells"]) == (("City", "Price"), ((2, "Price"),))
    assert 0 < state.cache["reading"]["confidence"] <= 1
    assert "cells" not in ask("What is the average price?").cache["sources"][0]


def test_a_row_of_totals_is_left_out_and_said() -> None:
    assert ask("Which city has the highest price?").answer == "Rome"
    assert ask("How much higher is the price of Rome than that of Riga?").answer == "$2,150"
    told = ask("What is the average price?").cache["reading"]["means"]
    assert told == "average Price; rows left out: 1 of totals and notes"


def test_choices_units_and_items() -> None:
    assert ask("Which city has the highest price?", choices=["Oslo", "rome"]).answer == "rome"
    assert "none of the choices" in why(ask("Which city has the highest price?", choices=["Oslo", "Riga"]))
    assert ask("How many nights in total?", unit="nights").answer == 12
    lengths = Table(["Walk", "Length"], [["Ridge", "12 km"], ["Lake", "5 km"]])
    assert ask("What is the total length?", lengths, unit="km").answer == 17
    assert "not in mi" in why(ask("What is the total length?", lengths, unit="mi"))
    assert ask("Which cities have Ann?", inventory="wikitq_offline").answer == ("Oslo", "Rome")
    assert ask("What is the average price?", inventory="wikitq_offline").answer[0].startswith("1316.6")


def test_at_least_bounds_the_confidence(command: Command) -> None:
    data = {"name": "sure", "extends": "tables_offline", "modules": {"table_reader": {"at_least": 1}}}
    state = Executor(Inventory.parse(data)).run({"question": "How many cities are there?", "table": TRIPS})
    assert "confidence of 0." in why(state) and "below 1" in why(state)
    asked = ("ask", "How many points does Harbour Rovers have?", "--table", str(LEAGUE))
    assert command(*asked, "--at-least", "0.1").code == 0
    declined = command(*asked, "--at-least", "1")
    assert declined.code == 3 and declined.err.startswith("Declined: it was read as: ")
    unable = command(*asked, "--at-least", "0.9", "--inventory", "tabmwp")
    assert unable.code == 1 and "no module of the inventory tabmwp takes at_least" in unable.complaint
    assert command(*asked, "--at-least", "2").code == 2


def test_the_command_shows_answer_place_and_reading(command: Command) -> None:
    asked = ("ask", "How many points does Harbour Rovers have?", "--table", str(LEAGUE))
    shown = command(*asked, "--trace")
    page = shown.err
    assert shown.out == "46\n" and "\nFrom: league, row 2, columns Team and Points\n" in page
    assert "\nRead as: Points where Team is Harbour Rovers\n" in page
    told = json.loads(command(*asked, "--json").out)
    assert told["answer"] == "46" and told["sources"][0]["cells"] == [[2, "Points"]]


def test_a_file_gives_its_name_to_the_table_and_may_repeat_a_column(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "ferries.csv"
    file.write_text("Name,Seats,Seats\nAlda,40,12\nBirk,90,30\nCore,60,18\n")
    outcome = command("ask", "How many ferries are there?", "--table", str(file))
    read = "Read as: number of rows\nFrom: ferries, all 3 rows, column Name\n"
    assert outcome.out == "3\n" and outcome.err.startswith(read)


def test_what_is_not_understood_is_declined_in_one_line() -> None:
    for question in ("How many gloops are there in Rome?", "Why?", "x" * 10_001):
        assert "\n" not in why(ask(question))


@pytest.mark.slow
def test_a_long_table_is_answered_and_a_longer_one_declined() -> None:
    cities = ("Leeds", "York", "Hull", "Bath", "Ely")
    rows = [[f"K{i}", cities[i % 5], str(i % 7), f"${i % 1000}.25"] for i in range(30_000)]
    orders = Table(["Order ID", "City", "Quantity", "Price"], rows, "orders")
    state = ask("What is the total quantity in Leeds?", orders)
    assert state.answer == str(sum(i % 7 for i in range(0, 30_000, 5)))
    (told,) = sources_in_words(state.cache["sources"])
    assert told == "orders, 6,000 of 30,000 rows, columns City and Quantity"
    state = ask("How many orders are there?", orders)
    assert state.answer == "30000" and "rows" not in state.cache["sources"][0]
    short = {"name": "short", "extends": "tables_offline", "modules": {"table_reader": {"max_table_rows": 9}}}
    state = Executor(Inventory.parse(short)).run({"question": "How many orders are there?", "table": orders})
    assert "more than 9 rows" in why(state)
