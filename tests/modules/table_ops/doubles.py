"""What the tests of operations share: a table, and a run of one operation that a script answers."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from chameleon import State, Table
from chameleon.llm import LLM, ScriptedModel

Messages = Sequence[tuple[str, str]]
TABLE = Table(
    ["Rank", "Team", "Won, lost", "Drawn and lost", "Count (all)"],
    [[str(row), "x", "y", "z", str(row)] for row in range(1, 13)],
)
VIEW = {"max_rows": "max_rows", "max_cell": "max_cell", "max_table_tokens": "max_tokens"}


def column(cells: str) -> Table:
    """Return a table of one column V, whose cells have bars between them."""
    return Table(["V"], [[cell.strip()] for cell in cells.split("|")])


def rows_in(messages: Messages) -> dict[int, str]:
    """The rows, by their number, of the table that is asked about."""
    return {int(number): row for number, row in re.findall(r"^row (\d+) : (.*)$", case_in(messages), re.M)}


def case_in(messages: Messages) -> str:
    """What stands after the demonstrations: the table that is asked about, and the question."""
    return messages[-1][1].rpartition("/*\n")[2]


def run(operation: Any, table: Table, reply: Any, **settings: Any) -> tuple[dict[str, Any], ScriptedModel]:
    """The link, and the model that was asked."""
    for name, value in settings.items():
        if name in VIEW:
            operation.table_view = replace(operation.table_view, **{VIEW[name]: value})
        else:
            setattr(operation, name, value)
    client = ScriptedModel(reply)
    state = State(input={"question": "which row is meant?", "table": table})
    return operation.with_llm(LLM.connect(client)).run(state), client
