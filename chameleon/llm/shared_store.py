"""Keep model replies in PostgreSQL, for several machines: what differs from a file of SQLite."""

from __future__ import annotations

import os
import re
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

from chameleon import bridge
from chameleon.errors import StoreError, require
from chameleon.llm.claims import CLAIMS, Claim, Claims
from chameleon.sqlite_store import NOTHING, Kind
from chameleon.table.databases import address_name, error_line

if TYPE_CHECKING:
    import psycopg

T = TypeVar("T")

PATIENCE = 30.0
"""How many seconds a server may be down before that is an error."""

_ADDRESS = re.compile(r"postgres(ql)?(\+psycopg)?://")
_MOST = 4  # connections of a process: those of sixteen machines leave room in PostgreSQL's hundred
_SETTINGS = {  # unless the address says otherwise; a machine that is gone without a word is given up in 20 s
    "application_name": "chameleon",
    "connect_timeout": "10",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "2",
    "tcp_user_timeout": "20000",
    "options": "-c statement_timeout=10000",  # ms: a server that answers nothing is down
}
# The tables are in a schema of their own. `rowid` tells, as SQLite's, which reply was recorded last.
_LAYOUT = (
    "CREATE TABLE chameleon.store (holds TEXT NOT NULL, version INTEGER NOT NULL)",
    "ALTER TABLE chameleon.replies ADD COLUMN rowid BIGSERIAL",
    CLAIMS,
)
_PAUSES = (0.05, 1.0)  # seconds between attempts at a server that is down, the first and the longest


class SharedStore:
    """The tables of a kind on a server. Threads borrow one of a few connections for each statement.

    While the server is down, statements are tried again for `PATIENCE` seconds; then `StoreError` is raised.
    """

    replace = (
        "INSERT INTO replies VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET"
        " (model, prompt, messages, length, settings, reply, rowid) = (excluded.model, excluded.prompt,"
        " excluded.messages, excluded.length, excluded.settings, excluded.reply, excluded.rowid)"
    )

    def __init__(self, address: str, kind: Kind) -> None:
        self.kind, self.path = kind, address_name(address)
        self._address, self._settings = address, dict[str, Any]()
        self._begin()

    def open(self, *, may_write: bool = True) -> None:
        """Make the tables, unless they are there; a server that is down is not waited for.

        Raises `StoreError` for what others have put there, and `MissingPackage` without psycopg.
        """
        require("psycopg", "a store on PostgreSQL needs", "databases", where=self.path, imports=True)
        self._settings = {**_SETTINGS, **self._given()}
        found = self.tried("opened", partial(_lay_out if may_write else _laid_out, kind=self.kind), 0.0)
        if found is None:
            raise StoreError(NOTHING, where=self.path, hint="Record one first.")
        if found != {"holds": self.kind.name, "version": self.kind.version}:
            raise StoreError(
                f"the schema chameleon of this database is not a {self.kind.name} of this version",
                where=self.path,
                hint=f"Name another database ({self.kind.variable}).",
            )

    def _given(self) -> dict[str, Any]:
        """Return what the address says; nothing that is said of a wrong one is repeated."""
        import psycopg
        from psycopg.conninfo import conninfo_to_dict

        if not _ADDRESS.match(self._address):
            hint = "Name a file, or postgresql://USER@HOST/DATABASE."
            raise StoreError(f"the {self.kind.name} cannot be in such a place", where=self.path, hint=hint)
        with suppress(psycopg.Error):
            found = dict(conninfo_to_dict(_ADDRESS.sub("postgresql://", self._address, count=1)))
            if "@" not in str(found.get("host", "")):  # what follows an @ of a password is no host
                return found
        hint = "Write it as postgresql://USER:PASSWORD@HOST/DATABASE, with %40 for @ and %2F for /."
        raise StoreError("is no address of PostgreSQL", where=self.path, hint=hint)

    def rows(
        self, done: str, statement: str, values: Sequence[Any] = (), patience: float | None = None
    ) -> list[Any]:
        """Run one statement, written as for SQLite, and return its rows; no event loop is held up."""
        work = partial(_run, statement=_translated(statement), values=values)
        return bridge.in_thread(partial(self.tried, done, work, PATIENCE if patience is None else patience))

    def tried(self, done: str, work: Callable[[psycopg.Connection], T], patience: float) -> T:
        """Do the work with a connection, again while the server is down. Raises `StoreError` after that."""
        import psycopg

        ends, (pause, longest) = time.monotonic() + patience, _PAUSES
        while True:
            try:
                with self._lent() as connection:
                    return work(connection)
            except (psycopg.Error, OSError, UnicodeError) as error:
                is_down = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
                if not is_down or time.monotonic() >= ends:
                    raise self._failure(done, error) from None
                self.close()  # the others are as dead
            time.sleep(pause)
            pause = min(2 * pause, longest)

    def _failure(self, done: str, error: Exception) -> StoreError:
        said = error_line(error, str(self._settings.get("password") or os.environ.get("PGPASSWORD", "")))
        hint = f"Check the address and whether the server runs, or set {self.kind.variable} to off."
        return StoreError(f"the {self.kind.name} cannot be {done}: {said}", where=self.path, hint=hint)

    def claim(self, keys: Sequence[str]) -> Claim | None:
        """Return the claim to these keys, which is still to be taken; None for who must not wait.

        That is synchronous code which holds up an event loop: the loop may have the claim.
        """
        from asyncio import _get_running_loop

        if _get_running_loop() is not None and not bridge.is_bridged():
            return None
        if self._process != os.getpid():
            self._begin()
        return Claim(self._claims, sorted(set(keys)))

    def close(self) -> None:
        """Close what is idle; the next borrower connects anew."""
        _close_all(self._idle, self._process)

    def _begin(self) -> None:
        self._idle: list[psycopg.Connection] = []
        self._turns = threading.BoundedSemaphore(_MOST)
        self._claims = Claims(self.rows)
        self._process = os.getpid()
        weakref.finalize(self, _close_all, self._idle, self._process)

    @contextmanager
    def _lent(self) -> Iterator[psycopg.Connection]:
        if self._process != os.getpid():  # two processes would talk at once
            self._begin()
        with self._turns:
            try:
                connection = self._idle.pop()
            except IndexError:
                connection = self._connect()
            try:
                yield connection
            except BaseException:
                connection.close()
                raise
            self._idle.append(connection)

    def _connect(self) -> psycopg.Connection:
        import psycopg

        return psycopg.connect(**self._settings, autocommit=True)


@cache
def _translated(statement: str) -> str:
    """Write a statement of SQLite as psycopg takes it."""
    return re.sub(r"\breplies\b", "chameleon.replies", statement).replace("?", "%s")


def _run(connection: psycopg.Connection, statement: str, values: Sequence[Any]) -> list[Any]:
    cursor = connection.execute(statement.encode(), values)
    return cursor.fetchall() if cursor.description else []


def _laid_out(connection: psycopg.Connection, kind: Kind) -> dict[str, Any] | None:
    """Return what the schema says of itself; None where it is empty or not there."""
    found = connection.execute(
        "SELECT to_regclass('chameleon.store') IS NOT NULL,"
        " EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace('chameleon'))"
    ).fetchone()
    if found == (False, False):
        return None
    if found == (False, True):
        return {}
    row = connection.execute("SELECT to_jsonb(store) FROM chameleon.store").fetchone()
    return dict(row[0]) if row else {}


def _lay_out(connection: psycopg.Connection, kind: Kind) -> dict[str, Any] | None:
    """Make the tables where there are none, one machine at a time; return what the schema says then."""
    if (found := _laid_out(connection, kind)) is not None:
        return found
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [kind.application])
        if _laid_out(connection, kind) is None:
            if connection.execute("SELECT to_regnamespace('chameleon')").fetchone() == (None,):
                connection.execute("CREATE SCHEMA chameleon")
            for statement in (*map(_translated, kind.layout), *_LAYOUT):
                connection.execute(statement.encode())
            connection.execute("INSERT INTO chameleon.store VALUES (%s, %s)", [kind.name, kind.version])
    return _laid_out(connection, kind)


def _close_all(connections: list[psycopg.Connection], process: int) -> None:
    while connections and process == os.getpid():
        connections.pop().close()
