"""Private SQLite files that threads and processes share: what models and the web replied."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from chameleon.errors import StoreError
from chameleon.text import is_address

Opened = TypeVar("Opened")

_log = logging.getLogger("chameleon")
_BUSY_SECONDS = 30.0
_APPLICATION = "PRAGMA application_id"
_COUNT = "SELECT count(*) FROM sqlite_master"  # of tables and indexes


class Kind(NamedTuple):
    """What a file is for: its name, what it holds, the variable that names another, its number and layout.

    `application` tells our files from other programs' databases.
    """

    name: str
    holds: str
    variable: str
    application: int
    version: int
    layout: tuple[str, ...]


def open_default(
    kind: Kind, file: str, make: Callable[[str], Opened], *, must: bool = False
) -> Opened | None:
    """Open what the kind's variable names (a path, or "off"), else `file` in `~/.cache/chameleon`.

    Where the latter cannot be written to, log a warning and return None, unless it `must` be there.
    """
    place = os.environ.get(kind.variable, "").strip()
    if place.lower() == "off":
        return None
    try:
        return make(place or f"~/.cache/chameleon/{file}")
    except StoreError as error:
        # Nobody chose this place, and a container may have no home that can be written to.
        is_mishap = isinstance(error.__cause__, (OSError, RuntimeError, sqlite3.OperationalError))
        if place or must or not is_mishap:
            raise
        _log.warning("%s are not recorded: %s", kind.holds, error)
        return None


class Store:
    """One file of a kind. Threads borrow a connection and give it back, so that none outlives its thread.

    A file that cannot be used raises `StoreError`, when it is opened or later.
    """

    def __init__(self, path: str | Path, kind: Kind) -> None:
        self.kind, self._has_warned = kind, False
        if is_address(str(path)):
            what = f"the {kind.name} is a file, and {str(path).partition(':')[0]}:… is an address"
            raise StoreError(what, hint=f"Name a file ({kind.variable}); each machine keeps its own.")
        try:
            self.path = Path(path).expanduser()
        except RuntimeError as error:  # there is no such home
            raise self._failure("opened", error, path) from error
        self._begin()

    def _failure(self, done: str, error: Exception, path: str | Path) -> StoreError:
        hint = f"Move the file away, name another ({self.kind.variable}), or set it to off."
        return StoreError(f"the {self.kind.name} cannot be {done}: {error}", where=str(path), hint=hint)

    def open(self, *, may_write: bool = True) -> None:
        """Make the file, for its owner alone, unless it is there. Raises `StoreError` for another's.

        One that may not be written to must be there.
        """
        if not may_write and not self.path.exists():
            what = "there is no recording to replay"
            raise StoreError(what, where=str(self.path), hint="Record one first.")
        with self.used("opened", may_write=may_write) as connection:
            if may_write and not _number(connection, _APPLICATION) and not _number(connection, _COUNT):
                _lay_out(connection, self.kind)
            numbers = _number(connection, _APPLICATION), _number(connection, "PRAGMA user_version")
        if numbers != (self.kind.application, self.kind.version):
            what = f"this database is not a {self.kind.name} of this version"
            hint = f"Move it away, or name another file ({self.kind.variable})."
            raise StoreError(what, where=str(self.path), hint=hint)

    @contextmanager
    def used(self, done: str, *, may_write: bool = False) -> Iterator[sqlite3.Connection]:
        """Lend a connection, to one thread at a time; tell what SQLite raises as `StoreError`.

        SQLite lets go of the interpreter's lock several times in each query, and threads that fight over that
        lock take twice as long as threads that queue here. It also lets one connection write: queueing here
        is fair and cheap, queueing inside SQLite means sleeping and polling.
        """
        try:
            if may_write:
                self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                if not self.path.exists():  # it tells what was asked: only its owner may read it
                    os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            if self._process != os.getpid():  # SQLite forbids using a connection across a fork
                self._begin()
            with self._lock:
                connection = self._idle.pop() if self._idle else self._connect()
                try:
                    yield connection
                except BaseException:
                    connection.close()
                    raise
                self._idle.append(connection)
        except (sqlite3.Error, OSError, UnicodeError) as error:  # the last where a text is damaged
            raise self._failure(done, error, self.path) from error

    def rows(self, done: str, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """Run one statement, and return its rows."""
        with self.used(done) as connection:
            return connection.execute(statement, values).fetchall()

    @contextmanager
    def tried(self, done: str) -> Iterator[sqlite3.Connection]:
        """Lend a connection; where the file fails, warn once and leave what was to be done."""
        try:
            with self.used(done) as connection:
                yield connection
        except StoreError as error:
            if not self._has_warned:
                _log.warning("%s are not recorded: %s", self.kind.holds, error)
            self._has_warned = True

    def close(self) -> None:
        """Close what is idle; the next borrower connects anew."""
        _close_all(self._idle, self._process)

    def _begin(self) -> None:
        self._idle: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        self._process = os.getpid()
        # The last close moves the journal into the file, so that the file alone is the whole recording.
        weakref.finalize(self, _close_all, self._idle, self._process)

    def _connect(self) -> sqlite3.Connection:
        writable = os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK)
        # A recording may be shipped read-only; SQLite cannot keep its journal beside it and must be told.
        journal = Path(f"{self.path}-wal")
        how = "mode=rw" if writable else "mode=ro" if journal.exists() else "immutable=1"
        address = f"{self.path.absolute().as_uri()}?{how}"
        connection = sqlite3.connect(
            address, uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA synchronous = NORMAL")
        return connection


def _lay_out(connection: sqlite3.Connection, kind: Kind) -> None:
    until = time.monotonic() + _BUSY_SECONDS
    while True:  # SQLite does not wait by itself where two processes change the journal
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.02)
    connection.execute("BEGIN IMMEDIATE")
    if not _number(connection, _COUNT):  # else another process did it while this one waited for the lock
        numbers = {"application_id": kind.application, "user_version": kind.version}
        for statement in (*kind.layout, *(f"PRAGMA {name} = {number}" for name, number in numbers.items())):
            connection.execute(statement)
    connection.execute("COMMIT")


def _number(connection: sqlite3.Connection, statement: str) -> int:
    """Return the number that a statement reads."""
    return int(connection.execute(statement).fetchone()[0])


def _close_all(connections: list[sqlite3.Connection], process: int) -> None:
    while connections and process == os.getpid():
        connections.pop().close()
