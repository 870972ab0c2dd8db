"""A table operation whose arguments a model chooses, by vote where it is asked more than once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from chameleon import LLMModule, State, Table
from chameleon.llm_module import Weights, votes, weights_of
from chameleon.modules.table_ops.operation import Args, Operation
from chameleon.table.formats import Style, excerpt
from chameleon.text import clean_cell


class TableOperation(Operation, LLMModule):
    """Asks a model for the arguments of an operation, and changes the table with them.

    A further operation is a file with a subclass and a prompt: the docstring is its card, `read_args` reads
    a reply (`interpret` where that takes more of the state than the table), `apply` and `written` are those
    of `Operation`; then the planner's `follows` names it.

    With several `samples` the arguments are voted on: `weights` says what each reply counts (`weights_of`).
    """

    table_style: Style = "numbered"
    max_rows: int | None = 100

    def __init__(self, weights: Weights = "given") -> None:
        self.weights = weights

    @abstractmethod
    def read_args(self, text: str, table: Table) -> Args:
        """The arguments in a reply. Raises `StepRejected` for a reply that names none."""

    def elected(self, candidates: Sequence[tuple[Args, float]]) -> Args:
        """The arguments of choice, from those voted for with their votes: the most first, ties as met."""
        return candidates[0][0]

    def choose_args(self, state: State) -> Args:
        replies = self.ask(state)
        read = [self._value_or_rejection(reply, state) for reply in replies]
        candidates = votes(read, weights_of(replies, self.weights))
        if not candidates:
            raise read[0]
        return self.elected(candidates)

    @property
    def limits(self) -> dict[str, int | None]:
        """How much of a table a prompt shows, by the names that `to_text` and `excerpt` have for it."""
        return {"max_rows": self.max_rows, "max_cell": self.max_cell, "max_tokens": self.max_table_tokens}

    def blocks(self, table: Table, sizes: Iterable[int]) -> list[range]:
        """The rows that each of several prompts shows, in order: its size at most, and within `limits`.

        It ends with the table, with the sizes, or before a row that is too long to be shown.
        """
        found: list[range] = []
        start = 0
        for size in sizes:
            part = table.take_rows(range(start, min(start + size, len(table.rows))))
            shown = len(excerpt(part, **self.limits).rows)
            if not shown:
                break
            found.append(range(start, start + shown))
            start += shown
        return found

    def interpret(self, text: str, state: State) -> Args:
        return self.read_args(text, state.input["table"])

    def slots(self, state: State) -> dict[str, Any]:
        table: Table = state.input["table"]
        return super().slots(state) | {"columns": ", ".join(map(clean_cell, table.header))}
