"""Chain-of-Table end to end over real HTTP: the paper's worked examples, and how many calls they take.

The tables of the paper's figures are in the data for development; a cyclists' table of our own is here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from chameleon import LLM, Executor, Inventory, Table
from tests.e2e import tables
from tests.e2e.by_cue import ByCue
from tests.loopback import LoopbackServer

# Three operations have prompts that end alike; they are told apart by what their demonstrations call.
CUES = {
    "planner": "Function Chain:",
    "select_row": "explain :",
    "select_column": "similar words link to columns :",
    "table_query": "The answer is:",
    "add_column": "f_add_column(",
    "group_by": "f_group(",
    "sort_by": "f_sort(",
}


@dataclass(frozen=True)
class Example:
    """A question, what the model plans and replies, and the chain and the table that come of it.

    `table` is one of ours or the id of one in the data; `asked` are the calls by module.
    """

    inventory: str
    question: str
    table: Table | str
    plan: str
    replies: Mapping[str, str]
    chain: list[str]
    last: Table
    answer: Any
    asked: Mapping[str, int]


BY_COUNTRY = (
    'We extract the value from column "Cyclist". The datatype is string.\n'
    "Therefore, the answer is: f_add_column(Country). The value: "
)
SORTED = 'The datatype is Numerical.\nTherefore, the answer is: f_sort(Count), the order is "small to large".'
EXAMPLES = {
    "cyclists of ours": Example(
        "wikitq",
        "Which country had the fewest cyclists among the first five?",
        tables.RACE,
        "f_add_column(Country) -> f_select_row(row 1, row 2, row 3, row 4) -> f_select_column(Country) -> "
        "f_group_by(Country) -> f_sort_by(Count) -> <END>",
        {
            "select_column": "The answer is : f_col([Country])",
            "group_by": "Therefore, the answer is: f_group(Country).",
            "add_column": f"{BY_COUNTRY}ITA | ESP | RUS | ITA | ESP | ITA",
            "sort_by": SORTED,
            "select_row": "The answer is : f_row([row 1, row 2, row 3, row 4, row 5])",
            "table_query": "The answer is: RUS",
        },
        [
            "f_add_column(Country)",
            "f_select_row(row 1, row 2, row 3, row 4, row 5)",
            "f_select_column(Country)",
            "f_group_by(Country)",
            "f_sort_by(Count, small to large)",
        ],
        Table(["Country", "Count"], [["RUS", "1"], ["ESP", "2"], ["ITA", "2"]], "A race of ours"),
        ("RUS",),
        # A plan before each operation (after the last, none is left), eight samples for both selections.
        {"planner": 5, "add_column": 1, "select_row": 8, "select_column": 8, "group_by": 1, "sort_by": 1}
        | {"table_query": 1},
    ),
    "the paper's image awards": Example(
        "wikitq",
        tables.AWARDS,
        tables.IMAGE_AWARDS,
        "f_select_column(Supporting Actor) -> f_group_by(Supporting Actor) -> <END>",
        {
            "select_column": "The answer is : f_col([year, supporting actor])",
            "group_by": "Therefore, the answer is: f_group(Supporting Actor).",
            "table_query": "The answer is: Morgan Freeman",
        },
        ["f_select_column(Year, Supporting Actor)", "f_group_by(Supporting Actor)"],
        Table(
            ["Supporting Actor", "Count"],
            [["NOT AWARDED", "19"], ["Morgan Freeman", "4"], ["Denzel Washington", "3"]],
        ),
        ("Morgan Freeman",),
        {"planner": 3, "select_column": 8, "group_by": 1, "table_query": 1},
    ),
    "the statement of the released code": Example(
        "tabfact",
        "the wildcats kept the opposing team scoreless in four games",
        tables.WILDCATS,
        "f_select_row(row 2, row 4, row 5, row 9) -> f_select_column(opponent, opponents) -> <END>",
        {
            "select_row": "The answer is : f_row([row 2, row 4, row 5, row 9])",
            "select_column": "The answer is : f_col([opponent, opponents])",
            "table_query": "YES",
        },
        ["f_select_row(row 2, row 4, row 5, row 9)", "f_select_column(opponent, opponents)"],
        Table(
            ["opponent", "opponents"],
            [["cincinnati", "0"], ["9 georgia", "0"], ["10 vanderbilt", "0"], ["evansville", "0"]],
        ),
        "yes",
        {"planner": 3, "select_row": 8, "select_column": 8, "table_query": 1},
    ),
}


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_a_worked_example(
    example: Example, loopback: Callable[..., LoopbackServer], request: pytest.FixtureRequest
) -> None:
    table = example.table
    if isinstance(table, str):
        table = tables.shared_table(request.getfixturevalue("shared_data"), table)
    replies = {"planner": example.plan, **example.replies}
    model = ByCue({cue: replies[module] for module, cue in CUES.items() if module in replies})
    loopback(model)
    executor = Executor(Inventory.load(example.inventory), LLM.connect("openai:local"))
    state = executor.run({"question": example.question, "table": table})
    assert [link["call"] for link in state.cache["chain"] if "refused" not in link] == example.chain
    last = state.input["table"]
    assert last.header == example.last.header and last.rows[: len(example.last.rows)] == example.last.rows
    assert last.caption == table.caption
    assert state.answer == example.answer
    assert model.asked == {CUES[module]: calls for module, calls in example.asked.items()}
    assert state.usage.calls == sum(example.asked.values())
