"""Count the rows of each kind as a question or statement needs it, without a model."""

from __future__ import annotations

from chameleon import State
from chameleon.modules.offline.lexical.arguments import Args, arguments_at
from chameleon.modules.table_ops.aggregate import Grouping


class LexicalGroupBy(Grouping):
    """Counts the rows of each kind as a question or statement needs it, without a model."""

    name = "lexical_group_by"
    reads = ("input.table", "cache.reading", "cache.chain?")
    most_distinct = 1.0  # "which club has most players" may well have one player for most clubs

    def choose_args(self, state: State) -> Args:
        return arguments_at(state, "group_by")
