"""Tables and views of databases: SQLite and DuckDB files, Parquet files, and servers by an address.

Nothing is written. A file is shut off from all others; a table is read as a whole or not at all.
"""

from __future__ import annotations

import os
import re
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from chameleon.errors import InputError, MissingPackage
from chameleon.table.found import Finding, Found, LeftOut, Unread, table_of
from chameleon.table.records import (
    MAX_CELLS,
    Origin,
    limit_in_bytes,
    printable,
    read_file,
    shown,
    too_many_cells,
)
from chameleon.table.typed import cell_text
from chameleon.text import redact

SECONDS = 10.0
"""How long the tables of a file may take together, or one of a server: a view may never end."""

Wanted = Callable[[str], bool]

_AT_ONCE = 500  # rows; each may hold millions of characters
_SQLITE_NAMES = (
    "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'view', 'virtual')"
    " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type = 'view',"
    " (SELECT rowid FROM sqlite_master AS m WHERE m.name = pragma_table_list.name)"
)
_READING = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_RECURSIVE,
    sqlite3.SQLITE_PRAGMA,
}
_FORBIDDEN_FUNCTIONS = {"load_extension", "fts3_tokenizer"}
_DUCKDB_NAMES = (
    "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = current_database()"
    " ORDER BY table_type = 'VIEW', table_schema <> 'main', table_schema, table_name"
)
_CLOSED = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "memory_limit": "500MB",
    "threads": "2",
}
_FILES = ("sqlite", "duckdb")
_BY_DRIVER = {"psycopg": "psycopg[binary]", "psycopg2": "psycopg2-binary", "MySQLdb": "mysqlclient"}
_TIMED = ("psycopg", "psycopg2", "pymysql", "mysqldb")  # drivers that take connect_timeout
_PLACE = re.compile(r"([\w.-]*|\[[\da-fA-F:]*\])(:\d+)?(/[\w.$-]*)?")  # a host, a port, a database
_READ_ONLY = {
    "postgresql": ("SET TRANSACTION READ ONLY", f"SET LOCAL statement_timeout = {SECONDS * 1000:.0f}"),
    "mysql": ("SET TRANSACTION READ ONLY", f"SET SESSION max_execution_time = {SECONDS * 1000:.0f}"),
    "mariadb": ("SET TRANSACTION READ ONLY", f"SET SESSION max_statement_time = {SECONDS:.0f}"),
}


def is_address(source: str) -> bool:
    """Tell whether this is the address of a database rather than a path."""
    return re.match(r"[a-z][\w+]+:/", source, re.IGNORECASE) is not None


def sqlite_tables(source: Path | bytes, origin: Origin, wanted: Wanted) -> Iterator[Finding]:
    """Yield the tables and views that are wanted; those that SQLite keeps for itself are not shown.

    Raises `InputError` for a file that is no such database, or a damaged one.
    """
    try:
        with copy_of(source) as path, closing(sqlite3.connect(path)) as connection:
            connection.text_factory = lambda data: data.decode("utf-8", "replace")
            for pragma in ("query_only = ON", "trusted_schema = OFF", "cell_size_check = ON"):
                connection.execute(f"PRAGMA {pragma}")
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(1_000_000, min(limit_in_bytes(), 10**9)))
            connection.set_authorizer(_authorize)
            names = {name: _quoted(name) for (name,) in connection.execute(_SQLITE_NAMES).fetchall()}
            yield from _tables(connection, names, origin, wanted, sqlite3.Error)
    except sqlite3.Error as error:
        raise origin.error(f"cannot be read as an SQLite database ({_said(error)})") from None


def duckdb_tables(
    source: Path | bytes, origin: Origin, wanted: Wanted, *, is_parquet: bool = False
) -> Iterator[Finding]:
    """Yield the tables and views that are wanted, those of other schemas as `schema.table`; or Parquet's one.

    Raises `InputError` for a file that DuckDB cannot open, `MissingPackage` without duckdb.
    """
    try:
        import duckdb
    except ImportError:
        what, hint = "DuckDB databases and Parquet files need the package duckdb", "pip install duckdb"
        raise MissingPackage(what, where=origin.name, hint=hint) from None
    with copy_of(source) as path:
        literal, opened = "'" + str(path).replace("'", "''") + "'", ":memory:" if is_parquet else str(path)
        try:
            with closing(duckdb.connect(opened, config=dict(_CLOSED))) as connection:
                if is_parquet:
                    connection.execute(f"SET allowed_paths = [{literal}]")
                connection.execute("SET enable_external_access = false")
                connection.execute("SET lock_configuration = true")
                if is_parquet:
                    yield _read(connection, f"read_parquet({literal})", origin, {}, SECONDS)
                    return
                names = {
                    name if schema == "main" else f"{schema}.{name}": f"{_quoted(schema)}.{_quoted(name)}"
                    for schema, name in connection.execute(_DUCKDB_NAMES).fetchall()
                }
                yield from _tables(connection, names, origin, wanted, duckdb.Error)
        except duckdb.Error as error:
            raise origin.error(f"cannot be read ({_said(error, [str(path)])})") from None


@contextmanager
def copy_of(source: Path | bytes) -> Iterator[Path]:
    """Yield a copy of a database, with changes that a program has left beside it; the file is not touched."""
    with tempfile.TemporaryDirectory(prefix="chameleon-") as folder:
        copy = Path(os.path.realpath(folder), "data")
        if isinstance(source, bytes):
            copy.write_bytes(source)
        else:
            for end in ("", "-wal", "-journal", ".wal"):
                if (file := Path(f"{source}{end}")).is_file():
                    copy.with_name(f"data{end}").write_bytes(read_file(file))
        yield copy


def server_tables(address: str, sheet: str | None = None, *, first: bool = False) -> Iterator[Finding]:
    """Yield the tables and views at an address of SQLAlchemy: all, the first, or `sheet` ("schema.table").

    Each is read in a transaction that may not write. Raises `InputError` for an address or a server that does
    not work, without the password, and `MissingPackage` for what reads such servers.
    """
    origin = Origin(address_name(address))
    engine = _engine(address, origin)
    from sqlalchemy import exc, inspect

    try:
        listed = inspect(engine)
        names = [*listed.get_table_names(), *listed.get_view_names()]
        other = [sheet] if sheet is not None and sheet not in names and "." in sheet else []
        has_table = False
        for name in [*names, *other]:
            if (sheet is not None and name != sheet) or (first and has_table):
                yield Unread(name)
                continue
            found = _read_server(
                engine, name, name in names, Origin(f"{origin.name}, table {shown(name)}", "row")
            )
            has_table |= isinstance(found, Found)
            yield found
    except exc.SQLAlchemyError as error:
        said = _said(getattr(error, "orig", None) or error, [engine.url.password or ""])
        raise origin.error(
            f"cannot be read ({said})", hint="Check the address, and whether it runs."
        ) from None
    finally:
        engine.dispose()


def _engine(address: str, origin: Origin) -> Any:
    """Return SQLAlchemy's engine for an address; nothing that it says of a wrong one is repeated."""
    try:
        import sqlalchemy

        url = sqlalchemy.make_url(address)
        if url.get_backend_name() in _FILES:
            raise origin.error("is the address of a file", hint="Give the path of the file itself.")
        timed = {"connect_timeout": int(SECONDS)} if url.get_driver_name() in _TIMED else {}
        return sqlalchemy.create_engine(url, connect_args=timed, hide_parameters=True)
    except ImportError as error:
        package = _BY_DRIVER.get(error.name or "", error.name or "of its driver")
        what, hint = f"needs the package {package} to be read", f"pip install '{package}'"
        raise MissingPackage(what, where=origin.name, hint=hint) from None
    except InputError:
        raise
    except Exception:  # classes of SQLAlchemy, and what a driver says of its own part
        hint = "Write it as postgresql://USER:PASSWORD@HOST/DATABASE, with %40 for @ and %2F for /."
        raise origin.error("is no address of a database", hint=hint) from None


def _read_server(engine: Any, name: str, is_listed: bool, where: Origin) -> Found | LeftOut:
    """Return a table of a server, or why it is left out."""
    from sqlalchemy import exc, sql

    schema, _, table = ("", "", name) if is_listed else name.partition(".")
    source = sql.table(sql.quoted_name(table, True), schema=sql.quoted_name(schema, True) if schema else None)
    rows = sql.select(sql.text("*")).select_from(source)
    one: Any = sql.select(sql.literal_column("1")).select_from(source).limit(1)
    try:
        with engine.connect() as connection:
            for statement in _READ_ONLY.get(engine.dialect.name, ()):
                connection.execute(sql.text(statement))
            header = list(connection.execute(rows.limit(0)).keys())
            with suppress(exc.CompileError):  # some know no offset: their rows are counted as they come
                if connection.execute(one.offset(MAX_CELLS // max(len(header), 1))).first():
                    return LeftOut.of(too_many_cells(where))
            found = connection.execution_options(stream_results=True).execute(rows)
            return _table(header, found.fetchmany, where, {"table": name}, time.monotonic() + SECONDS)
    except exc.DBAPIError as error:
        if "timeout" in str(error.orig):
            return LeftOut.of(too_slow(where))
        return LeftOut(
            where.name, f"cannot be read ({_said(error.orig or error, [engine.url.password or ''])})"
        )


def address_name(address: str) -> str:
    """Return what an address may be called in print: its kind, host and database, never who and how."""
    kind, _, rest = address.partition(":")
    rest = rest[2:] if rest.startswith("//") else rest.lstrip("/")
    place = _PLACE.fullmatch(re.split("[?#]", rest.rpartition("@")[2])[0])
    return f"{printable(kind)}://{place[0] if place else '…'}"


def _tables(
    connection: Any, names: Mapping[str, str], origin: Origin, wanted: Wanted, error: type[Exception]
) -> Iterator[Finding]:
    """Yield the tables by their names, each with its source as SQL has it."""
    ends = time.monotonic() + SECONDS
    for name, source in names.items():
        where = Origin(f"{origin.name}, table {shown(name)}", "row")
        if not wanted(name):
            yield Unread(name)
            continue
        try:
            yield _read(connection, source, where, {"table": name}, ends - time.monotonic())
        except error as problem:
            yield LeftOut(where.name, f"cannot be read ({_said(problem)})")


def _read(
    connection: Any, source: str, where: Origin, place: Mapping[str, str], seconds: float
) -> Found | LeftOut:
    """Return the table that a source of SQL, quoted by the caller, gives, or why it is left out."""
    timer = threading.Timer(max(seconds, 0.1), connection.interrupt)
    timer.start()
    try:
        described = connection.execute(f"SELECT * FROM {source} LIMIT 0").description  # noqa: S608
        names = [str(name) for name, *_ in described]
        # DuckDB hands out moments with a time zone only where another package is installed.
        zoned = [
            f"CAST({_quoted(name)} AS VARCHAR)" if "TIME ZONE" in str(kind) else _quoted(name)
            for name, kind, *_ in described
        ]
        columns = ", ".join(zoned) if zoned != list(map(_quoted, names)) else "*"
        most = MAX_CELLS // max(len(names), 1)
        if connection.execute(f"SELECT 1 FROM {source} LIMIT 1 OFFSET {most}").fetchone():  # noqa: S608
            return LeftOut.of(too_many_cells(where))
        found = connection.execute(f"SELECT {columns} FROM {source}")  # noqa: S608
        return _table(names, found.fetchmany, where, place)
    except Exception as error:
        if "interrupt" in f"{type(error).__name__}{error}".lower():
            return LeftOut.of(too_slow(where))
        raise
    finally:
        timer.cancel()


def _table(
    header: Sequence[str],
    fetch: Callable[[int], Sequence[Sequence[Any]]],
    where: Origin,
    place: Mapping[str, str],
    ends: float = float("inf"),
) -> Found | LeftOut:
    """Return the table of rows that are fetched in portions."""

    def records() -> Iterator[tuple[int, list[str]]]:
        yield 0, list(map(cell_text, header))
        number = 0
        while portion := fetch(_AT_ONCE):
            if time.monotonic() > ends:
                raise too_slow(where)
            for row in portion:
                number += 1
                yield number, list(map(cell_text, row))

    return table_of(records(), where, place, " ".join(place.get("table", "").replace("_", " ").split()))


def too_slow(where: Origin) -> InputError:
    """Return the error for a table that is not read in time."""
    return where.error(f"takes more than {SECONDS:.1f} s to be read", hint="Name a smaller table or view.")


def _authorize(action: int, first: str | None, second: str | None, *_: Any) -> int:
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_DENY if second in _FORBIDDEN_FUNCTIONS else sqlite3.SQLITE_OK
    # A virtual table, such as that of a full-text index, declares its columns by this; nothing is written.
    declares = action == sqlite3.SQLITE_UPDATE and first == "sqlite_master"
    return sqlite3.SQLITE_OK if declares or action in _READING else sqlite3.SQLITE_DENY


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _said(error: BaseException, hidden: Sequence[str] = ()) -> str:
    text = str(error)
    for each in filter(None, hidden):
        text = text.replace(each, "***")
    line = " ".join(text.split()).partition(" LINE 1:")[0]
    return shown(redact(line) or type(error).__name__, 200)
