"""Private SQLite files shared by threads and processes: replies of models and of the web."""

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
_APP_ID_QUERY = "PRAGMA application_id"
_COUNT_QUERY = "SELECT count(*) FROM sqlite_master"  # tables and indexes


class Kind(NamedTuple):
    """A kind of file: its name, its contents, the variable that sets its path, its number and its layout.

    `application` separates our files from other programs' databases.
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
    """Open the file in the kind's variable (a path, or "off"), else the default file.

    Args:
        file: the name of the default file, in `~/.cache/chameleon`.
        make: opens the file at a path.
        must: raise `StoreError` if the default file is not writable, instead of logging a warning.

    Returns:
        what `make` returns; None for "off", or after that warning.
    """
    place = os.environ.get(kind.variable, "").strip()
    if place.lower() == "off":
        return None
    try:
        return make(place or f"~/.cache/chameleon/{file}")
    except StoreError as error:
        # Nobody chose this path, and a container may have no writable home.
        is_mishap = isinstance(error.__cause__, (OSError, RuntimeError, sqlite3.OperationalError))
        if place or must or not is_mishap:
            raise
        _log.warning("%s are not recorded: %s", kind.holds, error)
        return None


class Store:
    """One file of a kind. Threads borrow a connection and return it, so that none outlives its thread.

    A file that cannot be used raises `StoreError`, when it is opened or later.
    """

    def __init__(self, path: str | Path, kind: Kind) -> None:
        self.kind, self._has_warned = kind, False
        if is_address(str(path)):
            what = f"the {kind.name} is a file, but {str(path).partition(':')[0]}:… is an address"
            raise StoreError(what, hint=f"Use a file ({kind.variable}); each machine has its own.")
        try:
            self.path = Path(path).expanduser()
        except RuntimeError as error:  # the user has no home
            raise self._failure("opened", error, path) from error
        self._begin()

    def _failure(self, action: str, error: Exception, path: str | Path) -> StoreError:
        hint = f"Move the file away, use another ({self.kind.variable}), or set it to off."
        return StoreError(f"the {self.kind.name} cannot be {action}: {error}", where=str(path), hint=hint)

    def open(self, *, may_write: bool = True) -> None:
        """Create the file, readable only by its owner, unless it exists. Raises `StoreError` for another's.

        A file that may not be written to must exist.
        """
        if not may_write and not self.path.exists():
            what = "there is no recording to replay"
            raise StoreError(what, where=str(self.path), hint="Record one first.")
        with self.used("opened", may_write=may_write) as connection:
            if may_write and not _number(connection, _APP_ID_QUERY) and not _number(connection, _COUNT_QUERY):
                _lay_out(connection, self.kind)
            numbers = _number(connection, _APP_ID_QUERY), _number(connection, "PRAGMA user_version")
        if numbers != (self.kind.application, self.kind.version):
            what = f"this database is not a {self.kind.name} of this version"
            hint = f"Move it away, or use another file ({self.kind.variable})."
            raise StoreError(what, where=str(self.path), hint=hint)

    @contextmanager
    def used(self, done: str, *, may_write: bool = False) -> Iterator[sqlite3.Connection]:
        """Lend a connection to one thread at a time; raise SQLite's errors as `StoreError`.

        SQLite releases the interpreter's lock several times in each query, and threads that compete for it
        take twice as long as threads that queue here. SQLite also lets only one connection write: queueing
        here is fair and cheap, while queueing inside SQLite means sleeping and polling.
        """
        try:
            if may_write:
                self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                if not self.path.exists():  # it contains requests: only its owner may read it
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
        except (sqlite3.Error, OSError, UnicodeError) as error:  # UnicodeError for damaged text
            raise self._failure(done, error, self.path) from error

    def rows(self, done: str, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """Run one statement, and return its rows."""
        with self.used(done) as connection:
            return connection.execute(statement, values).fetchall()

    @contextmanager
    def tried(self, done: str) -> Iterator[sqlite3.Connection]:
        """Lend a connection; if the file fails, warn once and skip the operation."""
        try:
            with self.used(done) as connection:
                yield connection
        except StoreError as error:
            if not self._has_warned:
                _log.warning("%s are not recorded: %s", self.kind.holds, error)
            self._has_warned = True

    def close(self) -> None:
        """Close idle connections; the next borrower reconnects."""
        _close_all(self._idle, self._process)

    def _begin(self) -> None:
        self._idle: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        self._process = os.getpid()
        # The last close moves the journal into the file, so that the file holds the whole recording.
        weakref.finalize(self, _close_all, self._idle, self._process)

    def _connect(self) -> sqlite3.Connection:
        writable = os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK)
        # A recording may be shipped read-only: SQLite cannot write a journal there and needs a flag.
        journal = Path(f"{self.path}-wal")
        how = "mode=rw" if writable else "mode=ro" if journal.exists() else "immutable=1"
        address = f"{self.path.absolute().as_uri()}?{how}"
        connection = sqlite3.connect(
            address, uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        # With a write-ahead log, a power cut may then lose the last entries, but not damage the file.
        connection.execute("PRAGMA synchronous = NORMAL")
        return connection


def _lay_out(connection: sqlite3.Connection, kind: Kind) -> None:
    until = time.monotonic() + _BUSY_SECONDS
    while True:  # SQLite does not wait by itself if two processes change the journal
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.02)
    connection.execute("BEGIN IMMEDIATE")
    if not _number(connection, _COUNT_QUERY):  # otherwise another process did it while this one waited
        numbers = {"application_id": kind.application, "user_version": kind.version}
        for statement in (*kind.layout, *(f"PRAGMA {name} = {number}" for name, number in numbers.items())):
            connection.execute(statement)
    connection.execute("COMMIT")


def _number(connection: sqlite3.Connection, statement: str) -> int:
    """Return the number that a query selects."""
    return int(connection.execute(statement).fetchone()[0])


def _close_all(connections: list[sqlite3.Connection], process: int) -> None:
    while connections and process == os.getpid():  # a forked child must leave its parent's open
        connections.pop().close()
