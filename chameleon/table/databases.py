"""Tables and views of databases: SQLite and DuckDB files, Parquet files, and servers by address.

Nothing is written. A file has no access to others; a table is read completely or not at all.
"""

import os
import re
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from chameleon.errors import MissingPackage, require
from chameleon.table.found import Finding, Found, LeftOut, Unread, table_of
from chameleon.table.records import (
    MAX_CELLS,
    Origin,
    cell_text,
    limit_in_bytes,
    read_file,
    shown,
    too_many_cells,
)
from chameleon.text import redact

SECONDS = 10.0
"""The time limit for all tables of a file, or one of a server: a view may never finish."""

Wanted = Callable[[str], bool]  # whether to read the table of that name
_Fetch = Callable[[int], Sequence[Sequence[Any]]]

_BATCH_ROWS = 500  # rows; each can hold millions of characters
_SQLITE_NAMES = (  # tables before views, in order of creation
    "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'view', 'virtual')"
    " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type = 'view',"
    " (SELECT rowid FROM sqlite_master AS m WHERE m.name = pragma_table_list.name)"
)
_DUCKDB_NAMES = (  # tables before views, those of the schema main first
    "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = current_database()"
    " ORDER BY table_type = 'VIEW', table_schema <> 'main', table_schema, table_name"
)
_OFF_SETTINGS = ("autoinstall_known_extensions", "autoload_known_extensions", "allow_community_extensions")
_DUCKDB_CONFIG = {**dict.fromkeys(_OFF_SETTINGS, "false"), "memory_limit": "500MB", "threads": "2"}
_FILE_BACKENDS = ("sqlite", "duckdb")
_DRIVER_PACKAGES = {"psycopg": "psycopg[binary]", "psycopg2": "psycopg2-binary", "MySQLdb": "mysqlclient"}
_TIMEOUT_DRIVERS = ("psycopg", "psycopg2", "pymysql", "mysqldb")  # drivers that take connect_timeout
_PLACE = re.compile(r"([\w.-]*|\[[\da-fA-F:]*\])(:\d+)?(/[\w.$-]*)?")  # a host, a port, a database
_READ_ONLY = {
    "postgresql": ("SET TRANSACTION READ ONLY", f"SET LOCAL statement_timeout = {SECONDS * 1000:.0f}"),
    "mysql": ("SET TRANSACTION READ ONLY", f"SET SESSION max_execution_time = {SECONDS * 1000:.0f}"),
    "mariadb": ("SET TRANSACTION READ ONLY", f"SET SESSION max_statement_time = {SECONDS:.0f}"),
}


class _Database(NamedTuple):
    """An open database: `run` returns the column names of a query, and a function that fetches some rows."""

    run: Callable[[str], tuple[list[str], _Fetch]]
    error: type[Exception]
    interrupt: Callable[[], object] | None = None
    secret: str = ""


def sqlite_tables(source: Path | bytes, origin: Origin, is_wanted: Wanted) -> Iterator[Finding]:
    """Yield the requested tables and views, without SQLite's internal ones.

    Raises `InputError` for a damaged file or one that is not an SQLite database.
    """

    def run(query: str) -> Any:
        cursor = connection.execute(query)
        return [name for name, *_ in cursor.description], cursor.fetchmany

    try:
        with copy_of(source) as path, closing(sqlite3.connect(path)) as connection:
            connection.text_factory = lambda data: data.decode("utf-8", "replace")
            # The file may be hostile: no view may call unsafe functions, and the sizes of cells are checked.
            for pragma in ("query_only = ON", "trusted_schema = OFF", "cell_size_check = ON"):
                connection.execute(f"PRAGMA {pragma}")
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(1_000_000, min(limit_in_bytes(), 10**9)))
            names = {name: _quote(name) for (name,) in connection.execute(_SQLITE_NAMES).fetchall()}
            opened = _Database(run, sqlite3.Error, connection.interrupt)
            yield from _tables(opened, names, origin, is_wanted)
    except sqlite3.Error as error:
        raise origin.error(f"cannot be read as an SQLite database ({_error_line(error)})") from None


def duckdb_tables(
    source: Path | bytes, origin: Origin, is_wanted: Wanted, *, is_parquet: bool = False
) -> Iterator[Finding]:
    """Yield the requested tables and views, `schema.table` in other schemas; or the one table of Parquet.

    Args:
        is_wanted: whether to read the table of that name; the others are yielded as `Unread`.
        is_parquet: whether the file is Parquet; its table has no name.

    Raises:
        InputError: if DuckDB cannot open the file.
        MissingPackage: without duckdb.
    """
    require("duckdb", "DuckDB databases and Parquet files need", "corpus", where=origin.name, imports=True)
    import duckdb

    def run(query: str) -> Any:
        # DuckDB returns times with a time zone only if another package is installed.
        described = connection.execute(f"DESCRIBE {query}").fetchall()
        moments = [_quote(name) for name, kind, *_ in described if "TIME ZONE" in kind]
        texts = ", ".join(f"CAST({name} AS VARCHAR) AS {name}" for name in moments)
        cursor = connection.execute(f"SELECT * REPLACE ({texts}) FROM ({query})" if texts else query)  # noqa: S608
        return [name for name, *_ in cursor.description], cursor.fetchmany

    with copy_of(source) as path:
        literal, place = "'" + str(path).replace("'", "''") + "'", ":memory:" if is_parquet else str(path)
        try:
            with closing(duckdb.connect(place, config=_DUCKDB_CONFIG)) as connection:
                if is_parquet:
                    connection.execute(f"SET allowed_paths = [{literal}]")
                connection.execute("SET enable_external_access = false")
                connection.execute("SET lock_configuration = true")  # no view can undo this
                opened = _Database(run, duckdb.Error, connection.interrupt, str(path))
                if is_parquet:
                    yield _read(opened, f"read_parquet({literal})", origin, "", SECONDS)
                    return
                names = {
                    name if schema == "main" else f"{schema}.{name}": f"{_quote(schema)}.{_quote(name)}"
                    for schema, name in connection.execute(_DUCKDB_NAMES).fetchall()
                }
                yield from _tables(opened, names, origin, is_wanted)
        except duckdb.Error as error:
            raise origin.error(f"cannot be read ({_error_line(error, str(path))})") from None


@contextmanager
def copy_of(source: Path | bytes) -> Iterator[Path]:
    """Yield a copy of a database, including changes that a program left next to it; never touch the file."""
    with tempfile.TemporaryDirectory(prefix="chameleon-") as folder:
        copy = Path(os.path.realpath(folder), "data")
        if isinstance(source, bytes):
            copy.write_bytes(source)
        else:
            for end in ("", "-wal", "-journal", ".wal"):  # the file, SQLite's logs, DuckDB's log
                if (file := Path(f"{source}{end}")).is_file():
                    copy.with_name(f"data{end}").write_bytes(read_file(file))
        yield copy


def server_tables(address: str, sheet: str | None = None) -> Iterator[Finding]:
    """Yield the first readable table or view at an SQLAlchemy address, or `sheet`; name the others.

    A table in another schema is `schema.table`; each is read in a read-only transaction.

    Raises:
        InputError: without the password, if the address or server does not work.
        MissingPackage: if the driver is not installed.
    """
    origin = Origin(address_name(address))
    engine = _engine(address, origin)
    from sqlalchemy import exc, inspect

    def run(query: str) -> Any:
        result = connection.exec_driver_sql(query, execution_options=streamed)
        stack.callback(result.close)
        return list(result.keys()), result.fetchmany

    streamed = {"stream_results": True, "no_parameters": True}  # "%" in a name is not a parameter
    quoted = engine.dialect.identifier_preparer.quote_identifier
    opened = _Database(run, exc.DBAPIError, secret=engine.url.password or "")
    has_table = False
    try:
        inspector = inspect(engine)
        names = {name: quoted(name) for name in (*inspector.get_table_names(), *inspector.get_view_names())}
        if sheet is not None and sheet not in names and "." in sheet:
            names[sheet] = ".".join(map(quoted, sheet.split(".", 1)))
        for name, source in names.items():
            if has_table if sheet is None else name != sheet:
                yield Unread(name)
                continue
            with ExitStack() as stack:
                connection = stack.enter_context(engine.connect())
                for statement in _READ_ONLY.get(engine.dialect.name, ()):
                    connection.exec_driver_sql(statement)
                finding = _read(opened, source, origin, name, SECONDS)
            has_table |= isinstance(finding, Found)
            yield finding
    except exc.SQLAlchemyError as error:
        hint = "Check the address, and that the server is running."
        raise origin.error(f"cannot be read ({_error_line(error, opened.secret)})", hint=hint) from None
    finally:
        engine.dispose()


def _engine(address: str, origin: Origin) -> Any:
    """Return SQLAlchemy's engine for an address; its errors about a wrong address are not repeated."""
    try:
        import sqlalchemy

        url = sqlalchemy.make_url(address)
        timed = {"connect_timeout": int(SECONDS)} if url.get_driver_name() in _TIMEOUT_DRIVERS else {}
        if url.get_backend_name() not in _FILE_BACKENDS:
            return sqlalchemy.create_engine(url, connect_args=timed, hide_parameters=True)
    except ImportError as error:
        package = _DRIVER_PACKAGES.get(error.name or "", error.name or "of its driver")
        what, hint = f"needs the package {package} to be read", f"pip install '{package}'"
        raise MissingPackage(what, where=origin.name, hint=hint) from None
    except Exception:  # SQLAlchemy's own errors, and others from drivers
        if address.lower().startswith("http"):
            hint = "Download the file and give its path."
            raise origin.error("is a web address, and tables are not read from the web", hint=hint) from None
        hint = "Write it as postgresql://USER:PASSWORD@HOST/DATABASE, with %40 for @ and %2F for /."
        raise origin.error("is not the address of a database", hint=hint) from None
    raise origin.error("is the address of a file", hint="Give the path of the file itself.")


def address_name(address: str) -> str:
    """Return a printable name of an address: its kind, host and database, without user and options."""
    kind, _, rest = address.partition(":")
    rest = rest[2:] if rest.startswith("//") else rest.lstrip("/")
    place = _PLACE.fullmatch(re.split("[?#]", rest.rpartition("@")[2])[0])
    return f"{kind}://{place[0] if place else '…'}"


def _tables(
    database: _Database, sources: Mapping[str, str], origin: Origin, is_wanted: Wanted
) -> Iterator[Finding]:
    """Yield the tables by name; `sources` has each name quoted for SQL."""
    deadline = time.monotonic() + SECONDS
    for name, source in sources.items():
        seconds = deadline - time.monotonic()
        yield _read(database, source, origin, name, seconds) if is_wanted(name) else Unread(name)


def _read(database: _Database, source: str, origin: Origin, name: str, seconds: float) -> Found | LeftOut:
    """Return a table, or why it is left out; a table that may be too large is counted before fetching."""
    where = Origin(f"{origin.name}, table {shown(name)}", "row") if name else origin
    hint = "Name a smaller table or view."
    too_slow = where.error(f"takes more than {SECONDS:.1f} s to be read", hint=hint)
    seconds = max(seconds, 0.1)
    deadline = time.monotonic() + seconds
    timer = threading.Timer(seconds, database.interrupt or bool)  # bool() does nothing
    timer.start()

    def rows_of(fetch: _Fetch) -> Iterator[Sequence[Any]]:
        while portion := fetch(_BATCH_ROWS):
            if time.monotonic() > deadline:
                raise too_slow
            yield from portion

    try:
        _, fetch = database.run(f"SELECT COUNT(*) FROM {source}")  # noqa: S608
        ((rows,),) = fetch(2)  # streaming drivers must be read to the end
        header, fetch = database.run(f"SELECT * FROM {source}")  # noqa: S608
        if rows * len(header) > MAX_CELLS:
            return LeftOut.of(too_many_cells(where))
        records = ([*map(cell_text, row)] for row in chain([header], rows_of(fetch)))
        place = {"table": name} if name else {}
        return table_of(enumerate(records), where, place, " ".join(name.replace("_", " ").split()))
    except database.error as error:
        if re.search("interrupt|timeout", f"{type(error).__name__}{error}", re.IGNORECASE):
            return LeftOut.of(too_slow)
        return LeftOut(where.name, f"cannot be read ({_error_line(error, database.secret)})")
    finally:
        timer.cancel()


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _error_line(error: BaseException, secret: str = "") -> str:
    """Return a database's error message on one line, without the secret."""
    text = str(getattr(error, "orig", None) or error)
    line = " ".join((text.replace(secret, "***") if secret else text).split()).partition(" LINE 1:")[0]
    return shown(redact(line) or type(error).__name__, 200)
