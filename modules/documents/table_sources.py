"""Say which tables, rows and columns an answer came from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from chameleon import Module, State, Table
from chameleon.core.module import Traits
from chameleon.core.prompt import named_tables
from chameleon.modules.documents.program_reads import reads_of_program
from chameleon.modules.documents.read_rows import parts_read
from chameleon.modules.program.python_text import parsed
from chameleon.modules.sql.database import SqlDatabase, safe_names
from chameleon.modules.tablerag.cell_locator import Cell, located
from chameleon.modules.tablerag.table_retriever import source_of
from chameleon.table.amounts import read_amount
from chameleon.table.replies import positions

_MAX_ROWS = 1_000


@dataclass(frozen=True)
class TableRegion:
    """Positions, from 0, of rows and columns of a table; None means all of them."""

    rows: Sequence[int] | None = None
    columns: Sequence[int] | None = None

    def to_json(self, table: Table, cells: Sequence[Cell] = ()) -> dict[str, Any]:
        """Return it as people count: rows from 1, omitted above a thousand; columns by name or number.

        `of` is the number of rows in the table, `count` the number omitted; `cells` hold the answer.
        """
        names = [name.strip() or f"column {number}" for number, name in enumerate(table.header, 1)]
        rows, columns = self._within(table)
        source: dict[str, Any] = {"of": len(table.rows), "columns": [names[column] for column in columns]}
        if len(rows) <= _MAX_ROWS:
            source["rows"] = sorted(row + 1 for row in rows)
        elif len(rows) < len(table.rows):
            source["count"] = len(rows)
        if cells:
            source["cells"] = [[row + 1, names[column]] for row, column in cells]
        return source

    def answer_cells(self, answer: Any, table: Table, question: str) -> list[Cell]:
        """Return the cells here that contain a textual answer; none for numbers.

        A number may equal any cell by chance; of several rows with the same words, none is returned.
        """
        items = [answer] if isinstance(answer, str) else answer if isinstance(answer, tuple | list) else []
        if not items or not all(isinstance(item, str) and item.strip() for item in items):
            return []
        if any(read_amount(item) for item in items):
            return []
        rows, columns = self._within(table)
        region = {"rows": rows, "columns": columns}
        cells, missing = located(items, table, question, region)
        if missing and len(items) == 1 and ", " in items[0]:
            cells, missing = located(items[0].split(", "), table, question, region)
        is_here = all(row in rows and column in columns for row, column in cells)
        words, known = {table.rows[row][column].strip() for row, column in cells}, {row for row, _ in cells}
        others = (table.rows[row][column] for row in rows if row not in known for column in columns)
        return cells if is_here and not missing and not words & {cell.strip() for cell in others} else []

    def _within(self, table: Table) -> tuple[Sequence[int], Sequence[int]]:
        rows = range(len(table.rows)) if self.rows is None else self.rows
        return rows, range(len(table.header)) if self.columns is None else self.columns


def region_kept(whole: Table, part: Table) -> TableRegion | None:
    """Return the rows and columns of a table that another one keeps; None if it is not a part of it."""
    if (part.header, part.rows) == (whole.header, whole.rows):
        return TableRegion()
    columns = positions([(name,) for name in part.header], [(name,) for name in whole.header])
    if columns is None:
        return None
    rows = positions(part.rows, [tuple(row[column] for column in columns) for row in whole.rows])
    return None if rows is None else TableRegion(rows, columns)


class TableSources(Module):
    """Notes the tables, rows and columns that the answer came from. Follows the answer."""

    reads = (
        "history, input.question, input.index?, input.table, input.tables?, input.choices?, input.unit?, "
        "cache.retrieved?, cache.table_choice?, cache.program?, cache.sql?, cache.chain?, cache.answer"
    )
    writes = ("cache.sources",)
    traits = Traits(non_text=("cache.sources",))

    def run(self, state: State) -> list[dict[str, Any]]:
        """Return the tables that were read: `id` and place if known, `rows` (from 1), `columns`.

        `of` is the number of rows in the table; more than a thousand `rows` are omitted. `cells` has the row
        and column of each cell that contains a textual answer.
        """
        return table_sources(state, state.cache["answer"])


def table_sources(state: State, answer: Any) -> list[dict[str, Any]]:
    """Return the sources of an answer over tables, see `TableSources`."""
    sources = []
    for place, table, part in _parts(state):
        cells = part.answer_cells(answer, table, state.input["question"])
        sources.append({**place, **part.to_json(table, cells)})
    return sources


def _parts(state: State) -> list[tuple[dict[str, Any], Table, TableRegion]]:
    """Return each table that was read: its source, the whole table, and the part that was read."""
    sources = _source_tables(state)
    chain = state.cache.get("chain") or ()
    args = [link.get("args", {}) for link in chain]
    joined = {name for each in args for name in (each.get("table"), *each.get("tables", ()))}
    if chain:
        sources = [each for place, each in enumerate(sources) if not place or each[0]["table"] in joined]
    all_read = [(*each, TableRegion()) for each in sources]
    wholes, tables = [table for _, table in sources], state.tables
    parts = [region_kept(*pair) for pair in zip(wholes, tables, strict=False)]
    if len(sources) == 1 and parts[:1] not in ([None], [TableRegion()]):
        return [(*sources[0], parts[0])] if parts[0] else []
    if len(sources) > 1 and None in parts:  # they were joined, or something was computed from them
        made = [each.input_changes["table"] for each in state.executed if "table" in each.input_changes]
        used = " ".join([*tables[0].header, *(link.get("call", "") for link in chain)])
        sets = [[_region_in(whole, each, used) for whole in wholes] for each in reversed(made or tables[:1])]
        regions = max(sets, key=lambda each: sum(map(bool, each)))  # a sum over a join has lost some
        return [(*each, region) for each, region in zip(sources, regions, strict=True) if region] or all_read
    if state.cache.get("sql"):
        from chameleon.modules.documents.query_reads import reads_of_query

        columns = {name.casefold() for table in wholes for name in safe_names(table.header)}
        reads = reads_of_query(str(state.cache["sql"]), columns)
    elif state.cache.get("program") is not None:
        reads = reads_of_program(parsed(str(state.cache["program"])))
    else:
        return all_read
    pairs = named_tables(wholes, first=1)
    sql_names = SqlDatabase.of(wholes[0], wholes[1:]).names if len(wholes) > 1 else ["w"]
    names = sql_names if state.cache.get("sql") else [name for name, _ in pairs]
    by_name = parts_read(reads, dict(zip(names, wholes, strict=True)), names[0])
    read = [(each, by_name[name]) for each, name in zip(sources, names, strict=True) if name in by_name]
    return [(*each, TableRegion(rows, columns or None)) for each, (rows, columns) in read]


def _source_tables(state: State) -> list[tuple[dict[str, Any], Table]]:
    """Return the tables that the answer may come from, as they were given or found."""
    from chameleon.modules.documents.table_choice import retrieved

    candidates = {each.id: each for each in retrieved(state)[0]} if state.cache.get("retrieved") else {}
    if candidates:
        choice = state.cache.get("table_choice", {})
        ids = [id for id in (choice.get("id"), *choice.get("others", ())) if id in candidates]
        if not ids:  # none was chosen: use the current ones
            ids = list(candidates)[: len(state.tables)]
        return [(source_of(candidates[id].to_json()), candidates[id].table) for id in ids]
    first = state.started.input if state.started else state.input
    wholes = [first.get("table") or state.input["table"], *(first.get("tables") or ())]
    return [({"table": name}, each) for name, each in named_tables(wholes, first=1)]


def _region_in(whole: Table, part: Table, used: str) -> TableRegion | None:
    """Return the rows and columns of a table that are in a table made from it, or None.

    Only columns whose names are in `used` are returned, if any are.
    """
    shared = [index for index, name in enumerate(whole.header) if name in part.header]
    if not shared:
        return None
    places = [part.header.index(whole.header[index]) for index in shared]
    part_rows = {tuple(row[place] for place in places) for row in part.rows}
    rows = [n for n, row in enumerate(whole.rows) if tuple(row[index] for index in shared) in part_rows]
    return TableRegion(rows or None, [n for n in shared if whole.header[n] in used] or shared)
