"""Say which part of a table an answer came from, by what the grammar has read of the question."""

from __future__ import annotations

from chameleon import State, Table
from chameleon.errors import Declined
from chameleon.modules.documents.table_sources import TableRegion, TableSources
from chameleon.modules.offline.grammar import named_rows, write_program
from chameleon.modules.program.programs import run_code


class LexicalTableSources(TableSources):
    """Notes the table, rows and columns that the grammar's program reads. Follows the answer."""

    def part(self, state: State, table: Table) -> TableRegion:
        """The columns that the program reads, and the rows that the question names, if they are enough.

        They are if the same question has the same answer over that part alone.
        """
        try:
            program = write_program(*_asked(state, table))
        except Declined:
            return TableRegion()
        columns = sorted(program.columns) or None
        rows = named_rows(state.input["question"], table)
        for part in (TableRegion(rows, columns), TableRegion(None, columns)):
            if _is_enough(part, state, table):
                return part
        return TableRegion()


def _is_enough(part: TableRegion, state: State, table: Table) -> bool:
    """Whether the part alone has the same answer."""
    cut = table if part.rows is None else table.take_rows(part.rows)
    cut = cut if part.columns is None else cut.take_columns(part.columns)
    try:
        found = run_code(write_program(*_asked(state, cut)).code, cut)
    except Declined:
        return False
    return found.status == "ok" and found.plain == state.cache["program_result"]


def _asked(state: State, table: Table) -> tuple[str, Table, tuple[str, ...], str]:
    given = state.input
    return given["question"], table, tuple(given.get("choices") or ()), given.get("unit") or ""
