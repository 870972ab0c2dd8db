"""Query tables safely with SQL that a model wrote."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from chameleon.errors import SandboxUnavailable
from chameleon.modules.sql.database import Cell, SqlDatabase, SqlTable
from chameleon.modules.sql.query_faults import fault_of
from chameleon.modules.sql.quoted_names import is_plain, with_quoted_names
from chameleon.sandbox import ExecResult, Sandbox, shared_sandbox
from chameleon.sandbox.result import Status
from chameleon.sandbox.sealed_process import why_unusable
from chameleon.table import Table
from chameleon.text import nearest

_GUARD_FILE = Path(__file__).with_name("guarded_query.py")
_MAX_QUERY_CHARS = 20_000
_NO_COLUMN = re.compile(r"no such column: (?:\w+\.)?(.+)")
_REFUSALS: dict[str, Status] = {"NotAllowed": "refused", "Interrupted": "timeout"}


@dataclass(frozen=True, slots=True)
class SqlResult:
    """The columns and rows of a query, or why it failed.

    Attributes:
        status: "ok"; "error" (with SQLite's message, such as a syntax error or an unknown column); "refused"
            (the query wants more than reading: another statement, a file, an extension); "timeout";
            "too_large" (a value, the result or the query exceeds a limit); "memory"; or "crashed".
        message: the reason.
    """

    status: Status
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    message: str = ""
    wall_ms: float = 0.0

    @classmethod
    def of(cls, outcome: ExecResult) -> "SqlResult":
        """Convert the sandbox's outcome of a query."""
        if outcome.status == "ok":
            columns, rows = outcome.value
            return cls("ok", tuple(columns), tuple(map(tuple, rows)), wall_ms=outcome.wall_ms)
        status = _REFUSALS.get(outcome.error_type, outcome.status)
        message = "the query took too long" if status == "timeout" else outcome.message
        return cls(status, message=message, wall_ms=outcome.wall_ms)

    @property
    def ok(self) -> bool:
        return self.status == "ok"

    @property
    def failure(self) -> str:
        """Why the query failed, as a sentence."""
        return f"the query gave no result ({self.status.replace('_', ' ')}): {self.message}"


def run_sql(
    tables: SqlDatabase | SqlTable | Table,
    sql: str,
    *,
    timeout: float | None = None,
    executor: Sandbox | None = None,
) -> SqlResult:
    """Run one SQLite query in the sandbox; it may only read one or more tables.

        run_sql(table, "SELECT name FROM w ORDER BY points DESC LIMIT 1")

    The query runs in a sealed process with bounded time and memory, in which SQLite can only read these
    tables and call harmless functions. The result has at most 10,000 rows and the executor's bytes (1 MiB).
    Column names of several words need no quotes. Errors in the query are not raised.

    Args:
        tables: typed as `SqlTable.of` describes. Create an `SqlDatabase` to query the same tables often.
        timeout: in seconds, by default the executor's (2).

    Raises:
        SandboxUnavailable: if the sandbox has no SQLite, as when programs run in Monty.
        InputError: for a table that SQL cannot hold.
    """
    source = SqlTable.of(tables) if isinstance(tables, Table) else tables
    base = source.alone if isinstance(source, SqlTable) else source
    runner = executor or shared_sandbox()

    def run(query: str) -> SqlResult:
        database = base.read_by(query)
        if fault := fault_of(query, database.columns, database.texts, base.names):
            return SqlResult("error", message=fault)
        request = {"sql": query, "image": base.image, "tables": base.names}
        result = SqlResult.of(runner.call(_GUARD_FILE, request, timeout=timeout))
        if missing := _NO_COLUMN.fullmatch(result.message):
            return replace(result, message=f"{result.message}. {nearest(missing[1], base.columns)}")
        return result

    if len(sql) > _MAX_QUERY_CHARS:
        return SqlResult("too_large", message=f"the query is longer than {_MAX_QUERY_CHARS:,} characters")
    plain = [name for name in base.columns if is_plain(name)]
    # Quote only unambiguous names first, then none, then all.
    queries = dict.fromkeys((with_quoted_names(sql, plain), sql, with_quoted_names(sql, base.columns)))
    results = list[SqlResult]()
    for query in queries:
        results.append(run(query))
        if results[-1].ok:
            return results[-1]
    return results[0]


def check_sql() -> None:
    """Raise `SandboxUnavailable` if `run_sql` has no sandbox with SQLite, without starting anything."""
    if reason := why_unusable():
        raise SandboxUnavailable(f"SQL runs only in the sealed sandbox: {reason}")
