"""Sort the rows as a question or statement needs them, without a model."""

from __future__ import annotations

from chameleon import State
from chameleon.modules.offline.lexical.arguments import Args, arguments_at
from chameleon.modules.table_ops.sort_by import Sorting


class LexicalSortBy(Sorting):
    """Sort the rows as a question or statement needs them, without a model."""

    name = "lexical_sort_by"
    reads = ("input.table", "cache.reading", "cache.chain?")

    def choose_args(self, state: State) -> Args:
        return arguments_at(state, "sort_by")
