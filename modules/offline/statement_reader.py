"""Tell whether a table bears a statement out, without a model."""

from __future__ import annotations

from chameleon.modules.offline.judge import Answer
from chameleon.modules.offline.sheet import Sheet
from chameleon.modules.offline.table_reader import TableReader


class StatementReader(TableReader):
    """Tells whether the table bears a statement out, without a model: "yes" or "no"; or declines."""

    def read(self, question: str, sheet: Sheet) -> Answer:
        """Return whether the statement holds. Raises `Declined`."""
        from chameleon.modules.offline.verdict import verdict

        return verdict(question, sheet)
