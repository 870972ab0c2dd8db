"""Keep the columns that a question names, without a model."""

from __future__ import annotations

from chameleon import State, Table
from chameleon.modules.offline.grammar import relevant_columns
from chameleon.modules.offline.lexical_row_lookup import LexicalRowLookup


class LexicalColumnLookup(LexicalRowLookup):
    """Keeps the columns that the question needs, when it names them; else the table stays whole."""

    def run(self, state: State) -> Table:
        return relevant_columns(state.input["question"], state.input["table"])
