"""Keep the rows that a question or statement is about, without a model."""

from __future__ import annotations

from chameleon import State
from chameleon.modules.offline.lexical.arguments import Args, arguments_at
from chameleon.modules.table_ops.selection import RowSelection


class LexicalSelectRow(RowSelection):
    """Keep the rows that a question or statement is about, without a model."""

    name = "lexical_select_row"
    reads = ("input.table", "cache.reading", "cache.chain?")

    def choose_args(self, state: State) -> Args:
        return arguments_at(state, "select_row")
