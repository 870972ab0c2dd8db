"""Tables and views of SQLite databases, read without changing anything beside or in them."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from chameleon.documents.database_tables import Patience, database_table, in_words, place_of
from chameleon.documents.found import Found, LeftOut
from chameleon.errors import InputError
from chameleon.table.files import limit_in_bytes
from chameleon.table.records import MAX_COLUMNS, Origin, cell_text, shown
from chameleon.text import clean_cell

MAGIC = b"SQLite format 3\x00"
_STEPS_BETWEEN_CHECKS = 10_000
_BESIDE = ("-wal", "-journal")
_READING = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_RECURSIVE,
    sqlite3.SQLITE_PRAGMA,
}
_FORBIDDEN_FUNCTIONS = {"load_extension", "fts3_tokenizer"}


def sqlite_tables(path: Path, origin: Origin) -> Iterator[Found | LeftOut]:
    """Every table and view with its rows; those that SQLite keeps for itself are not shown.

    Raises `InputError` for a file that is no such database, or a damaged one.
    """
    try:
        with _settled(path) as settled, closing(_connected(settled)) as connection:
            patience = Patience()
            for name in _names(connection):
                yield _read(connection, name, origin, patience)
    except sqlite3.Error as error:
        raise origin.error(f"cannot be read as an SQLite database ({_said(error)})") from None


@contextmanager
def _settled(path: Path) -> Iterator[Path]:
    """The database, or a copy where a program has left changes beside it, which are then taken in."""
    beside = [Path(f"{path}{end}") for end in _BESIDE]
    pending = [file for file in beside if file.is_file() and file.stat().st_size]
    if not pending:
        yield path
        return
    for file in pending:
        if file.stat().st_size > limit_in_bytes():
            raise InputError("is too large to be read", where=str(file), hint="Close the program using it.")
    with tempfile.TemporaryDirectory(prefix="chameleon-") as folder:
        copy = Path(folder, "copy.db")
        shutil.copyfile(path, copy)
        for file in pending:
            shutil.copyfile(file, f"{copy}{file.name.removeprefix(path.name)}")
        with closing(sqlite3.connect(copy)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        yield copy


def _connected(path: Path) -> sqlite3.Connection:
    # Immutable: no lock and no file is made beside a database that may lie in a folder of someone else's.
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(1_000_000, min(limit_in_bytes(), 1_000_000_000)))
    connection.set_authorizer(_authorize)
    return connection


def _authorize(action: int, first: str | None, second: str | None, *_: Any) -> int:
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_DENY if second in _FORBIDDEN_FUNCTIONS else sqlite3.SQLITE_OK
    # A virtual table, such as that of a full-text index, declares its columns by this; nothing is written.
    declares = action == sqlite3.SQLITE_UPDATE and first == "sqlite_master"
    return sqlite3.SQLITE_OK if declares or action in _READING else sqlite3.SQLITE_DENY


def _names(connection: sqlite3.Connection) -> list[str]:
    """The names of tables and views in the order in which they were made."""
    order = [
        str(name)
        for (name,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY rowid"
        )
    ]
    kinds = {str(row[1]): row[2] for row in connection.execute("PRAGMA table_list") if row[0] == "main"}
    return [name for name in order if kinds.get(name) != "shadow" and not name.startswith("sqlite_")]


def _read(connection: sqlite3.Connection, name: str, origin: Origin, patience: Patience) -> Found | LeftOut:
    ends = time.monotonic() + patience.seconds
    connection.set_progress_handler(lambda: time.monotonic() > ends, _STEPS_BETWEEN_CHECKS)
    where = place_of(name, origin)
    quoted = '"' + name.replace('"', '""') + '"'
    try:
        cursor = connection.execute(f"SELECT * FROM {quoted}")  # noqa: S608  (quoted as an identifier)
        header = [clean_cell(column[0]) for column in cursor.description]
        if len(header) > MAX_COLUMNS:
            return LeftOut(where.name, f"has {len(header):,} columns, more than {MAX_COLUMNS:,}")
        return database_table(header, map(_texts, cursor), where, {"table": name}, in_words(name))
    except sqlite3.OperationalError as error:
        if "interrupted" in str(error):
            return patience.exhausted(where)
        return LeftOut(where.name, f"cannot be read ({_said(error)})")
    except sqlite3.Error as error:
        return LeftOut(where.name, f"cannot be read ({_said(error)})")
    finally:
        connection.set_progress_handler(None, 0)


def _texts(row: Sequence[Any]) -> list[str]:
    return [_text(value) for value in row]


def _text(value: Any) -> str:
    """A cell as text; bytes, which have no reading, as how many there are, and no number as "NaN"."""
    if isinstance(value, bytes):
        return f"({len(value):,} bytes)"
    try:
        return cell_text(value)
    except ValueError:
        return str(value)


def _said(error: Exception) -> str:
    return shown(str(error) or type(error).__name__, 100)
