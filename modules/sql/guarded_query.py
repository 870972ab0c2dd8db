"""Run one SQL query over the tables in a database image; the sandbox loads this file by path.

The query may only read these tables, call harmless functions and recurse: SQLite asks about each step in
advance, and anything not listed here is refused. The list omits functions that reach files, memory or
extensions, create data of any size from nothing, or return another value at every call.
"""

import base64
import json
import math
import re
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

FUNCTIONS = frozenset(
    """
abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling char coalesce concat concat_ws cos cosh count
cume_dist current_date current_time current_timestamp date datetime degrees dense_rank exp first_value floor
format glob group_concat hex if ifnull iif instr julianday lag last_value lead length like ln log log10 log2
lower ltrim max median min mod nth_value ntile nullif octet_length percent_rank percentile pi pow power printf
quote radians rank replace round row_number rtrim sign sin sinh sqrt strftime string_agg substr substring sum
tan tanh time timediff total trim trunc typeof unhex unicode unixepoch upper
""".split()  # noqa: SIM905
)
_STATEMENTS = frozenset(
    """
ALTER ANALYZE ATTACH BEGIN COMMIT CREATE DELETE DETACH DROP END EXPLAIN INSERT PRAGMA REINDEX RELEASE REPLACE
ROLLBACK SAVEPOINT UPDATE VACUUM
""".split()  # noqa: SIM905
)
_FIRST_WORD = re.compile(  # after blanks and comments; possessive, so it cannot backtrack
    r"(?:[ \t\n\f\r;\ufeff]|--[^\n]*+|/\*.*?(?:\*/|\Z))*+([a-z]+)", re.IGNORECASE | re.DOTALL
)

_STEPS_PER_CHECK = 1000  # virtual machine instructions between checks of the time
_MAX_VALUE_BYTES = 4 << 20
# Honest queries stay far below these limits; most of SQLite's defaults are a thousand times higher.
_SQLITE_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: _MAX_VALUE_BYTES,
    sqlite3.SQLITE_LIMIT_COLUMN: 2000,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 64,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 50_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 64,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 500,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_MAX_ROWS = 10_000
_MAX_MESSAGE_CHARS = 500
_RESERVE_BYTES = 4 << 20  # freed to report that memory ran out
_to_json = json.JSONEncoder(ensure_ascii=True).encode


class NotAllowed(ValueError):
    """The query tries to do more than read."""


class ResultTooLarge(Exception):
    """The result exceeds a limit, which the message names."""


class Guard:
    """The authorizer that SQLite calls before each step of a query; `denied` is the first refusal."""

    denied = ""

    def __init__(self, tables: Sequence[str]) -> None:
        self.tables = frozenset(tables)

    def __call__(
        self, action: int, first: str | None, second: str | None, schema: str | None, inner: str | None
    ) -> int:
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ:
            return self._read((first or "").lower(), second or "")
        if action == sqlite3.SQLITE_FUNCTION:
            name = (second or "").lower()
            return sqlite3.SQLITE_OK if name in FUNCTIONS else self._deny(f"call {name}()")
        if (action, first) == (sqlite3.SQLITE_UPDATE, "sqlite_master"):
            # SQLite creates these tables when a query first names them, and records that in its schema.
            return self._deny("read tables that SQLite makes itself")
        return self._deny("change anything, it may only read")

    def _read(self, table: str, column: str) -> int:
        # A name without a column is a subquery or common table whose rows are only counted.
        own = table in self.tables or (not column and not table.startswith("sqlite_"))
        return sqlite3.SQLITE_OK if own else self._deny(f"read {table}")

    def _deny(self, action: str) -> int:
        self.denied = self.denied or f"the query may not {action}"
        return sqlite3.SQLITE_DENY


def run(request: Mapping[str, Any], hidden: Sequence[str] = ()) -> str:
    """Run `request["sql"]` and return a frame, as `sandbox.inside.program.run` does.

    The value is a list of the column names and a list of rows.
    An error of type NotAllowed is a refusal, and one of type Interrupted a timeout.
    The request also has the `image` of the database in base64, the names of its `tables`, and `limits`.
    """
    reserve = bytearray(_RESERVE_BYTES)
    guard = Guard(request["tables"])
    try:
        return _to_json({"s": "ok", "v": _answer(request, guard), "k": "list"})
    except MemoryError:
        reserve.clear()
        return _frame("memory", "MemoryError", "the query needs too much memory")
    except ResultTooLarge as error:
        return _frame("too_large", "ResultTooLarge", str(error))
    except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
        name = getattr(error, "sqlite_errorname", "")
        if guard.denied:
            return _frame("error", "NotAllowed", guard.denied)
        if name == "SQLITE_INTERRUPT":
            return _frame("error", "Interrupted", "the query took too long")
        if name == "SQLITE_TOOBIG" or isinstance(error, sqlite3.DataError):
            return _frame("too_large", "ValueTooLarge", f"a value or the query is too large ({error})")
        refused = isinstance(error, (ValueError, sqlite3.Warning)) or type(error) is sqlite3.ProgrammingError
        return _frame("error", "NotAllowed" if refused else type(error).__name__, str(error))


def warm_up() -> None:
    """Use SQLite once, so that everything it loads lazily is loaded before the process is sealed."""
    with sqlite3.connect(":memory:") as connection:
        connection.execute("SELECT strftime('%Y', 'now'), upper('a'), round(1.5)").fetchall()
    connection.close()


def _answer(request: Mapping[str, Any], guard: Guard) -> list[Any]:
    sql, limits = request["sql"], request["limits"]
    first = _FIRST_WORD.match(sql)
    if first is not None and (statement := first[1].upper()) in _STATEMENTS:
        raise NotAllowed(f"the query may not use {statement}: it may only read")
    with closing(sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)) as connection:
        connection.deserialize(base64.b64decode(request["image"]))
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        # Sorting must not use the disk, and even our schema should not be trusted.
        for pragma in ("temp_store=MEMORY", "trusted_schema=OFF", "query_only=ON", "cell_size_check=ON"):
            connection.execute(f"PRAGMA {pragma}")
        if limits["memory_bytes"]:
            connection.execute(f"PRAGMA hard_heap_limit={int(limits['memory_bytes'])}")
        for category, limit in _SQLITE_LIMITS.items():
            connection.setlimit(category, limit)
        connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, limits["source_bytes"])
        end = time.monotonic() + limits["wall_s"]
        connection.set_progress_handler(lambda: time.monotonic() > end, _STEPS_PER_CHECK)
        connection.set_authorizer(guard)
        cursor = connection.execute(sql)  # raises for NUL and invalid Unicode
        if cursor.description is None:
            raise NotAllowed("there is no query in it")
        return [[name for name, *_ in cursor.description], _rows(cursor, limits["result_bytes"])]


def _rows(cursor: sqlite3.Cursor, max_bytes: int) -> list[Any]:
    rows: list[Any] = []
    budget = max_bytes
    for row in cursor:
        budget -= sum(len(cell) if isinstance(cell, str) else 4 for cell in row) + 2  # roughly its JSON
        if budget < 0:
            raise ResultTooLarge(f"the result is larger than {max_bytes // 1024} KiB")
        if len(rows) == _MAX_ROWS:
            raise ResultTooLarge(f"the result has more than {_MAX_ROWS:,} rows")
        if any(isinstance(cell, bytes) for cell in row):
            raise NotAllowed("the query may not return binary data")
        rows.append([str(cell) if cell in (math.inf, -math.inf) else cell for cell in row])  # not in JSON
    return rows


def _frame(status: str, kind: str, message: str) -> str:
    return _to_json({"s": status, "t": kind, "m": message[:_MAX_MESSAGE_CHARS]})
