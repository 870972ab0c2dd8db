"""Choose the form in which the answering prompt shows the table (TableRAG's formatter)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from chameleon import Module, State, Table
from chameleon.prompt import table_text
from chameleon.quoting import unframed
from chameleon.table.formats import Style, excerpt, places

Format = Literal["string", "markdown", "html"] | Style
NUMBER = "row"
_GAP = "  "


class TableFormatter(Module):
    """Sets whether the answering prompt shows the table in aligned columns, as Markdown or as HTML."""

    reads = ("input.table", "cache.kept?")
    writes = ("cache.table_format",)
    wordless = ("cache.table_format",)

    def __init__(self, format: Format = "markdown", *, numbers: bool = False) -> None:
        """`format`: "string" (aligned columns), "markdown" or "html", as published, or another table style.

        `numbers`: a first column counts the rows as they stand in the whole table, from 1; without it no
        index column is shown, where the published formats all keep that of pandas.
        """
        self.format: Format = format
        self.numbers = numbers

    def run(self, state: State) -> dict[str, Any]:
        """The table in that form, for people to look at; prompts are written when they are sent."""
        kept = state.cache.get("kept")
        chosen = {"format": self.format, "numbers": self.numbers}
        return chosen | {"text": str(formatted(state.input["table"], chosen, kept))}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"table_format": {"format": output["format"], "numbers": output["numbers"]}}


def formatted(
    table: Table, chosen: Mapping[str, Any], kept: Mapping[str, Any] | None = None, **limits: Any
) -> str:
    """The table in a chosen form (`cache.table_format`), within the limits of `to_text`.

    `kept` (`cache.kept`) tells which rows of the whole table these are. No cell can end the block that a
    prompt shows the table in: the text is as `chameleon.prompt.table_text` makes it.
    """
    if chosen.get("numbers"):
        table = _numbered(table, kept)
    if chosen["format"] == "string":
        return aligned(table, **limits)
    return table_text(table, style=chosen["format"], **limits)


def aligned(table: Table, **limits: Any) -> str:
    """The table in columns with two spaces between them, as wide as their widest cells; numbers to the right.

    As pandas' `to_string`, without the index. A note of what the limits left out stands in a last line.
    """
    shown = excerpt(table, **limits)
    lines = [shown.header, *shown.rows]
    widths = [max(map(places, cells)) for cells in zip(*lines, strict=True)]
    right = [column.kind == "number" for column in table.columns]
    text = [_GAP.join(map(_padded, line, widths, right)).rstrip() for line in lines]
    return unframed("\n".join([*text, *([shown.note] if shown.note else [])]))


def _padded(cell: str, width: int, to_right: bool) -> str:
    space = " " * (width - places(cell))
    return space + cell if to_right else cell + space


def _numbered(table: Table, kept: Mapping[str, Any] | None) -> Table:
    rows: Sequence[int] = kept["rows"] if kept else range(len(table.rows))
    cells = [[str(number + 1), *row] for number, row in zip(rows, table.rows, strict=True)]
    return Table([NUMBER, *table.header], cells, table.caption)
