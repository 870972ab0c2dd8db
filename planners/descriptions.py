"""Describe any inventory and any input to a planner's model: the rules of plans, and the inputs."""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from chameleon.core.conversation import HISTORY, conversation_text
from chameleon.core.prompt import (
    LONGEST_CELL,
    named_tables,
    output_text,
    paragraph,
    table_text,
    types_in_words,
)
from chameleon.core.state import State
from chameleon.inventory import Inventory
from chameleon.quoting import Quoted, block, untagged
from chameleon.table import Table
from chameleon.text import counted

MAX_ROWS, MAX_TABLE_TOKENS = 10, 1_500
"""How much of a table a planner sees: it only plans, and does not answer from it."""
_PICTURES = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp")


def inputs_of(state: State, max_text_tokens: int) -> Quoted:
    """Write all inputs, each under its name: the question last, data in blocks."""
    conversation = conversation_text(state.input.get(HISTORY))
    excluded = ("question", HISTORY) if conversation else ("question",)
    inputs = {key: value for key, value in state.input.items() if key not in excluded}
    parts = [_text(key, value, max_text_tokens) for key, value in inputs.items() if value not in ("", (), {})]
    parts += [conversation] if conversation else []
    question = state.input.get("question")
    parts += [paragraph("question", question)] if isinstance(question, str) else []
    return Quoted("\n\n".join(parts))


def _text(key: str, value: Any, max_text_tokens: int) -> str:
    """Write one input: a table in its first rows, a text from its beginning, a file by its name."""
    if isinstance(value, Table):
        return _table(key.replace("_", " ").capitalize(), value)
    if key == "tables" and isinstance(value, tuple) and all(isinstance(each, Table) for each in value):
        return "\n\n".join(_table(f"Table {name!r}", table) for name, table in named_tables(value))
    if isinstance(value, PurePath):
        kind = "a picture" if value.suffix.lower() in _PICTURES else "a file"
        return paragraph(key, f"{kind}, {value.name}")
    if isinstance(value, tuple) and all(isinstance(each, str | int | float) for each in value):
        return paragraph(key, " | ".join(" ".join(str(each).split()) for each in value))
    return paragraph(key, output_text(value, max_text_tokens))


def _table(label: str, table: Table) -> str:
    caption = untagged(" ".join(table.caption.split()))
    rows = table_text(
        table, style="pipe", max_rows=MAX_ROWS, max_cell=LONGEST_CELL, max_tokens=MAX_TABLE_TOKENS
    )
    size = f"{counted(len(table.rows), 'row')} of {len(table.header)}"
    text = f"{untagged(label)} ({', '.join(filter(None, (caption, size)))}):\n{block('rows', rows)}"
    return f"{text}\nIts columns hold: {untagged(types_in_words(table))}"


def rules_in_words(inventory: Inventory) -> Iterator[str]:
    """Write the inventory's rules for plans about modules that are present."""
    rules, present = inventory.rules, inventory.present
    yield f"A plan has at most {rules.max_steps} steps."
    if rules.last:
        yield f"A plan ends with {' or '.join(rules.last)}."
    if once := [name for name in rules.once if name in present]:
        yield f"{', '.join(once)} {'runs' if len(once) == 1 else 'each run'} at most once."
    for name, needed in rules.needs.items():
        if needed:
            yield f"Before {name} comes {' and '.join(needed)}."
    for name, follower in rules.next.items():
        yield f"{name} is followed directly by {follower}."
