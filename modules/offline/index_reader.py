"""Answer from the tables that a search found, without a model."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, PositiveInt

from chameleon import State
from chameleon.core.module import Traits
from chameleon.modules.documents.table_choice import retrieved
from chameleon.modules.offline.among import among
from chameleon.modules.offline.table_reader import TableReader


class IndexReader(TableReader):
    """Answers from the found table that has the question's words, without a model, or declines."""

    reads = ("input.question", "input.choices?", "input.unit?", "input.index", "cache.retrieved")
    writes = (*TableReader.writes, "input.table", "input.tables", "cache.table_choice")
    traits = Traits(non_text=(*TableReader.traits.non_text, "cache.table_choice"))

    def __init__(
        self,
        ahead: float = 1.5,
        at_least: Annotated[float, Field(ge=0, le=1)] = 0.0,
        max_table_rows: PositiveInt = 200_000,
    ) -> None:
        """Take settings, all optional.

        Args:
            ahead: the first table has no rivals at more than this many times their score.
            at_least, max_table_rows: as for `table_reader`.
        """
        super().__init__(at_least, "text", max_table_rows)
        self.ahead = ahead

    def run(self, state: State) -> dict[str, Any]:
        """Return the output of the table that answers, see `among`. Raises `Declined`."""
        return among(self.answered, state, *retrieved(state), self.ahead)

    def update_input(self, input: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"table": output["table"], "tables": []}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {**super().update_cache(cache, output), "table_choice": output["table_choice"]}
