"""Tables with the same columns below each other: by an operation, and asked without a model."""

from typing import Any

import pytest

from chameleon import StepRejected, Table, ask
from chameleon.modules.table_ops.join import Union
from chameleon.modules.table_ops.unions import differences, has_same_columns, union_of

HEADER = ["Team", "Points"]
OF_2023 = Table(HEADER, [["Rovers", "46"], ["Quarry Lane", "30"]], "league 2023")
OF_2024 = Table(["points", "team"], [["41", "Rovers"], ["27", "Quarry Lane"]], "league 2024")
TEAMS = Table(["Team", "Town"], [["Rovers", "Arvik"], ["Quarry Lane", "Colm"]], "teams")


@pytest.mark.parametrize(
    ("names", "apart"),
    [
        (["league 2023", "league 2024"], ["2023", "2024"]),
        (["Sales of May", "Sales of June"], ["May", "June"]),
        (["a", "a b"], ["a", "a b"]),
        (["north", "south"], ["north", "south"]),
    ],
)
def test_names_are_differences(names: list[str], apart: list[str]) -> None:
    assert differences(names) == apart


def test_a_union_has_the_columns_of_the_first_and_what_tells_the_tables_apart() -> None:
    both = union_of([(each.caption, each) for each in (OF_2023, OF_2024)])
    assert both.header == ("Year", "Team", "Points") and both.caption == "league"
    assert both.rows[2:] == (("2024", "Rovers", "41"), ("2024", "Quarry Lane", "27"))
    assert has_same_columns(OF_2023, OF_2024) and not has_same_columns(OF_2023, TEAMS)
    named = union_of([("Year", OF_2023), ("Table", OF_2023.with_caption("x"))])
    assert named.header[0] == "Table"


def test_the_operation_names_tables_and_refuses_other_columns() -> None:
    given: dict[str, Any] = {"table": OF_2023, "tables": [OF_2024, TEAMS]}
    assert len(Union().applied(given, {"tables": ["League 2024"]}).rows) == 4
    with pytest.raises(StepRejected, match="other columns"):
        Union().applied(given, {"tables": ["teams"]})
    with pytest.raises(StepRejected, match="no other table"):
        Union().applied(given, {"tables": ["league 2025"]})


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many points did Quarry Lane get in 2023 and 2024?", "57"),
        ("How many points did Quarry Lane get in both years?", "57"),
        ("How many more points did Quarry Lane get in 2023 than in 2024?", "3"),
        ("Which team has the most points over both seasons?", "Rovers"),
        ("How many points did Quarry Lane get in 2024?", "27"),
        ("In which town is Quarry Lane?", "Colm"),
        ("How many points did Quarry Lane get?", None),  # which year?
        ("How many points did the team from Arvik get in 2023?", None),  # a join
    ],
)
def test_without_a_model(question: str, answer: str | None) -> None:
    state = ask(question, OF_2023, tables=[OF_2024, TEAMS])
    assert state.answer == answer
    if answer in ("57", "3"):
        rows = [(source["table"], list(source["rows"])) for source in state.sources]
        assert rows == [("league 2023", [2]), ("league 2024", [2])]
    if answer is None:
        assert "league 2023" in state.why


def of_years(*years: int, header: tuple[str, str] = ("City", "Visitors")) -> list[Table]:
    return [Table(header, [["Oslo", str(year - 2012)], ["Lone", "1"]], f"visitors {year}") for year in years]


@pytest.mark.parametrize(
    ("question", "tables"),
    [
        ("How many visitors did Oslo have from 2022 to 2024?", of_years(2022, 2023, 2024)),
        ("How many visitors did Oslo have between 2022 and 2024?", of_years(2022, 2023, 2024)),
        ("How many visitors did Oslo have in both years?", of_years(2022, 2023, 2024)),
        ("What is the price of Oslo in 2022 and 2023?", of_years(2022, 2023, header=("City", "Price"))),
        (
            "Which city has the highest price in 2022 and 2023?",
            of_years(2022, 2023, header=("City", "Price")),
        ),
        (
            "How many visitors did Oslo have in all years?",
            [
                *of_years(2022, 2023),
                Table(["City", "Visitors", "Note"], [["Oslo", "9", ""]], "visitors 2021"),
            ],
        ),
        (
            "How many inhabitants did Oslo have in 2021 and 2022?",
            [
                Table(
                    ["City", "Year", "Inhabitants"],
                    [["Oslo", str(n), str(n)] for n in years],
                    f"city {years[1]}",
                )
                for years in ((2020, 2021), (2021, 2022))
            ],
        ),
    ],
)
def test_what_is_not_sure_to_be_a_union_is_declined(question: str, tables: list[Table]) -> None:
    assert ask(question, tables[0], tables=tables[1:]).status == "declined"


def test_years_that_are_all_are_added_up() -> None:
    tables = of_years(2022, 2023, 2024)
    assert ask("How many visitors did Oslo have in all years?", tables[0], tables=tables[1:]).answer == "33"
