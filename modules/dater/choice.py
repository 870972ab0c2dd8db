"""Choose a part of the table without cutting it yet, so that the other choice sees the whole table too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from chameleon import State
from chameleon.module import Keys
from chameleon.modules.table_ops.operation import Operation, link_of


class Choice(Operation):
    """An operation whose arguments are chosen and noted in `kept_as`, a key of the cache: the table stays.

    Mixed into a table operation, before it. `TablePart` applies the choice.
    """

    reads: ClassVar[Keys | None] = ("input.question", "input.table")
    kept_as: ClassVar[str]

    def run(self, state: State) -> dict[str, Any]:
        """Return the link alone: the table that it would make is not kept."""
        return link_of(super().run(state))

    def update_input(self, input: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {self.kept_as: output}
