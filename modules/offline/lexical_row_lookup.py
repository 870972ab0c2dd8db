"""Keep the rows that a question names, without a model."""

from __future__ import annotations

from chameleon import Module, State, Table
from chameleon.modules.offline.grammar import relevant_rows


class LexicalRowLookup(Module):
    """Keeps the rows that the question names, when it needs no others; else the table stays whole."""

    reads = ("input.question", "input.table")
    writes = ("input.table",)

    def run(self, state: State) -> Table:
        return relevant_rows(state.input["question"], state.input["table"])
