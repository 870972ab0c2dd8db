"""Tables of DuckDB databases and of Parquet files, both read by DuckDB, shut off from everything else.

DuckDB reads Parquet as well as the packages for it alone, so that one package serves both.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from chameleon.documents.database_tables import SECONDS, Patience, database_table, in_words, place_of
from chameleon.documents.found import NOWHERE, Found, LeftOut
from chameleon.errors import MissingPackage
from chameleon.table.records import MAX_COLUMNS, Origin, shown
from chameleon.text import clean_cell

_CLOSED = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "memory_limit": "1GB",
    "threads": "2",
}
_ROWS_AT_ONCE = 10_000
_FLOATS = ("FLOAT", "DOUBLE")
_MIDNIGHT = " 00:00:00"
_LIST = (
    "SELECT table_schema, table_name FROM information_schema.tables"
    " WHERE table_catalog = current_database() ORDER BY table_schema <> 'main', table_schema, table_name"
)


def is_duckdb(start: bytes) -> bool:
    """Whether a file that begins like this is a DuckDB database."""
    return start[8:12] == b"DUCK"


def duckdb_tables(path: Path, origin: Origin) -> Iterator[Found | LeftOut]:
    """Every table and view with its rows, those of other schemas as `schema.table`.

    Raises `InputError` for a file that DuckDB cannot open, `MissingPackage` without duckdb.
    """
    duckdb = _duckdb(origin)
    settings = {**_CLOSED, "enable_external_access": "false", "lock_configuration": "true"}
    with (
        _explained(duckdb, origin),
        closing(duckdb.connect(str(path), read_only=True, config=settings)) as connection,
    ):
        patience = Patience()
        for schema, name in connection.execute(_LIST).fetchall():
            called = name if schema == "main" else f"{schema}.{name}"
            where, place = place_of(called, origin), {"table": called}
            try:
                source = f"{_quoted(schema)}.{_quoted(name)}"
                yield _read(connection, source, where, place, in_words(called), seconds=patience.seconds)
            except duckdb.InterruptException:
                yield patience.exhausted(where)
            except duckdb.Error as error:
                yield LeftOut(where.name, f"cannot be read ({_said(error)})")


def parquet_tables(path: Path, origin: Origin) -> Iterator[Found | LeftOut]:
    """The table of a Parquet file. Raises `InputError` for a broken one, `MissingPackage` without duckdb."""
    duckdb = _duckdb(origin)
    with (
        # Under a plain name: characters such as * in the file's own would stand for other files.
        tempfile.TemporaryDirectory(prefix="chameleon-") as folder,
        _explained(duckdb, origin, os.path.realpath(folder)),
        closing(duckdb.connect(":memory:", config=dict(_CLOSED))) as connection,
    ):
        link = os.path.join(os.path.realpath(folder), "table.parquet")  # noqa: PTH118  (text for SQL)
        Path(link).symlink_to(path.resolve())
        text = "'" + link.replace("'", "''") + "'"
        connection.execute(f"SET allowed_paths = [{text}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        yield _read(connection, f"read_parquet({text})", origin, NOWHERE)


def _read(
    connection: Any,
    source: str,
    where: Origin,
    place: Mapping[str, str],
    caption: str = "",
    *,
    seconds: float = SECONDS,
) -> Found | LeftOut:
    """The table that a source of SQL, quoted by the caller, gives; DuckDB casts its values to text."""
    timer = threading.Timer(seconds, connection.interrupt)
    timer.start()
    try:
        described = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()  # noqa: S608
        if len(described) > MAX_COLUMNS:
            return LeftOut(where.name, f"has {len(described):,} columns, more than {MAX_COLUMNS:,}")
        header = [clean_cell(column[0]) for column in described]
        tidy = [_tidy(str(column[1])) for column in described]
        connection.execute(f"SELECT COLUMNS(*)::VARCHAR FROM {source}")  # noqa: S608
        return database_table(header, _rows(connection, tidy), where, place, caption)
    finally:
        timer.cancel()


def _rows(connection: Any, tidy: Sequence[Callable[[str], str]]) -> Iterator[list[str]]:
    while rows := connection.fetchmany(_ROWS_AT_ONCE):
        for row in rows:
            yield ["" if cell is None else write(cell) for write, cell in zip(tidy, row, strict=True)]


def _tidy(kind: str) -> Callable[[str], str]:
    """How a value of that type is written: whole floats without ".0", midnight without its time."""
    if kind in _FLOATS:
        return lambda cell: cell.removesuffix(".0")
    if kind.startswith("TIMESTAMP"):
        return lambda cell: cell.removesuffix(_MIDNIGHT)
    if kind == "BLOB":
        return lambda cell: "(bytes)"
    return clean_cell


def _duckdb(origin: Origin) -> Any:
    try:
        import duckdb
    except ImportError:
        raise MissingPackage(
            "DuckDB databases and Parquet files need the package duckdb",
            where=origin.name,
            hint='pip install "chameleon-compose[corpus]"',
        ) from None
    return duckdb


@contextmanager
def _explained(duckdb: Any, origin: Origin, hidden: str = "\n") -> Iterator[None]:
    """Tell errors of DuckDB as ours, without the path of a folder that is nobody's business."""
    try:
        yield
    except duckdb.Error as error:
        raise origin.error(f"cannot be read ({_said(error, hidden)})") from None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _said(error: Exception, hidden: str = "\n") -> str:
    return shown(" ".join(str(error).replace(f"{hidden}/", "").split()) or type(error).__name__, 200)
