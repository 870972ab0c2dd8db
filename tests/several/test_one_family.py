"""Questions over tables of the same columns, without a model: answered where it is sure what several mean."""

import pytest

from chameleon import Executor, Table

HEADER = ["Branch", "Product", "Units"]
SALES = [
    Table(
        HEADER, [["Oslo", "Lamps", "120"], ["Voss", "Chairs", "30"], ["Tromso", "Lamps", "40"]], "sales 2023"
    ),
    Table(
        HEADER,
        [["Oslo", "Lamps", "100"], ["Hamar", "Chairs", "90"], ["Tromso", "Chairs", "35"]],
        "sales 2024",
    ),
]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many units were sold in both years?", "415"),
        ("Which branch sold the most units in both years?", "Oslo"),
        ("How many fewer units did Tromso sell in 2024 than in 2023?", "5"),
        ("How many more units did Tromso sell in 2024 than in 2023?", None),  # it sold fewer
        ("Who sold more in 2023 than in 2024?", None),
        ("How many branches sold lamps in both years?", None),  # in either, or in each?
        ("How many different products were there in 2023 and 2024?", None),
        ("Which branch sold the least units in both years?", None),  # Voss is in one of them alone
    ],
)
def test_what_several_tables_mean_together(question: str, answer: str | None) -> None:
    state = Executor("tables_offline").run({"question": question, "table": SALES[0], "tables": SALES[1:]})
    assert state.answer == answer and state.status == ("answered" if answer else "declined")
