"""`ask`: one question in one line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chameleon.core.state import State
from chameleon.inventories import DEFAULTS
from chameleon.run.executor import Executor, Tools
from chameleon.table import Table, read_table

if TYPE_CHECKING:
    from chameleon.run.executor import ChatModel


def ask(
    question: str,
    table: Table | str | bytes | Path | Iterable[Any] | None = None,
    *,
    llm: ChatModel | None = None,
    inventory: Tools | None = None,
    **inputs: Any,
) -> State:
    """Answer a question, about a table if given; `print` the result, or read its `answer` and `why`.

        ask("Which team has the most points?", "league.csv").answer

    Args:
        table: a DataFrame, a `Table`, a file's path or bytes, columns by name, or records (mappings or rows).
        llm: a model or its name, such as "openai:gpt-6-luna"; without one, a reader that needs no model.
        inventory: the tools to use instead of the default for the inputs: see `Executor`.
        inputs: other inputs, such as `text`, `passages`, `image` or `choices`.

    Raises:
        InputError: for a file that cannot be read, or inputs that the inventory does not take.
    """
    input = {"question": question, **inputs}
    if table is not None:
        input["table"] = as_table(table)
    if inventory is None:
        names = next((names for key, names in DEFAULTS.items() if key in input), DEFAULTS["table"])
        inventory = names[llm is None]
    return Executor(inventory, llm).run(input)


def as_table(table: Any) -> Any:
    """Return a caller's table as a `Table`, except that a DataFrame stays as it is."""
    rows: Any = read_table(table) if isinstance(table, str | bytes | Path) else table
    return rows if hasattr(rows, "columns") else Table.from_records(rows)
