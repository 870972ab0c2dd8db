"""Answer from the table that a chain of operations has left, without a model."""

from __future__ import annotations

from typing import Any

from chameleon import Module, State
from chameleon.modules.offline.lexical.answers import answer_of
from chameleon.modules.offline.lexical.reading import Reading


class LexicalTableQuery(Module):
    """Answers from the table as the operations have left it: a list of texts, yes or no. Always the last."""

    reads = ("input.table", "cache.reading")
    writes = ("cache.answer",)

    def run(self, state: State) -> Any:
        """The answer. Raises `Declined` where the last table does not tell."""
        return answer_of(Reading.from_json(state.cache["reading"]), state.input["table"])
