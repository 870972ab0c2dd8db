"""Arguments of operations as models mangle them: taken as meant or refused, with the place of the fault."""

from __future__ import annotations

import json
import random
from itertools import chain
from typing import Any

import pytest

from chameleon import Inventory, State, StepRejected, Table

TABLE = Table(["Rank", "Team (a, b)", "Points"], [["1", "Red", "9"], ["2", "Blue", "7"], ["3", "Ash", "7"]])
FALLING = {"column": "Points", "order": "large to small", "datatype": "number"}
ARGUMENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "select_row": ("f_row([row 1, row 3])", {"rows": [1, 3]}),
    "select_column": ("f_col([Rank, Team (a, b)])", {"columns": ["Rank", "Team (a, b)"]}),
    "group_by": ("f_group(Points)", {"column": "Points"}),
    "sort_by": ('f_sort(Points), the order is "large to small"', FALLING),
    "filter_rows": ("f_filter_rows(Points > 7 and Rank < 3)", {"condition": "Points > 7 and Rank < 3"}),
    "aggregate": ("f_aggregate(sum of Points)", {"function": "sum", "column": "Points", "by": None}),
}


STATE = State({"question": "Which?", "table": TABLE})
OPERATIONS: dict[str, Any] = dict(Inventory.load("chain_of_table_extended").modules)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_mangled_arguments_are_taken_as_meant_or_refused(name: str) -> None:
    operation, chance, kept = OPERATIONS[name], random.Random(name), 0
    assert operation.structured == "auto" and operation.schema(STATE)["additionalProperties"] is False
    for _ in range(500):
        said, meant = ARGUMENTS[name]
        text = chance.choice([said, *(f"{json.dumps(meant, indent=n)}" for n in (None, 2))])
        text = chance.choice([text, f"Here it is:\n```json\n{text}\n```"])
        place = chance.randrange(len(text))
        text = chance.choice([text, text[:place], text[:place] + chance.choice("[]{},\"'9") + text[place:]])
        try:
            args = operation.interpret(text, STATE)
            table = operation.apply(TABLE, args)
        except StepRejected:
            continue
        kept += 1
        if args == meant:
            continue
        assert table.header and table.rows, text  # another choice that the text states in full
        parts = (part if isinstance(part, list) else [part] for part in args.values())
        for value in chain.from_iterable(parts):
            assert value is None or str(value) in text or value in ("number", "text", "date"), (text, args)
    assert kept > 100


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("select_row", '{"rows": [1, 9]}', "rows.1"),
        ("select_row", '{"rows": []}', "rows"),
        ("select_row", '{"rows": [1], "why": "x"}', "why"),
        ("select_column", '{"columns": ["Rank", "Goals"]}', "columns.1"),
        ("sort_by", '{"column": "Points"}', "order"),
        ("aggregate", '{"function": "sum", "column": null, "by": "Rank"}', "no column"),
        ("filter_rows", '{"condition": "Goals > 3"}', "begins"),
        ("group_by", '{"column": "Points"', "f_group"),
        ("group_by", '{"column": "Points", "column": "Rank"}', "twice"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_with_the_place(name: str, text: str, fault: str) -> None:
    with pytest.raises(StepRejected, match=fault):
        OPERATIONS[name].interpret(text, STATE)
