"""Keep what the web replied in a file, so that the same question is not asked twice."""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from chameleon.errors import StoreError
from chameleon.sqlite_pool import Connections
from chameleon.web.reply import WebReply

_log = logging.getLogger("chameleon")

_APPLICATION = 0x43484D57  # "CHMW": tells our files from other programs' databases
_VERSION = 1
_LAYOUT = (
    "CREATE TABLE replies (key TEXT PRIMARY KEY, kept_at REAL NOT NULL, size INTEGER NOT NULL,"
    " url TEXT NOT NULL, host TEXT NOT NULL, type TEXT NOT NULL, cut INTEGER NOT NULL, body BLOB NOT NULL)",
    "CREATE INDEX replies_by_age ON replies (kept_at, size)",
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {_VERSION}",
)
WEEK = 7 * 24 * 3600.0
DEFAULT_PLACE = "~/.cache/chameleon/web.sqlite"


class PageCache:
    """OK replies by request, in one private SQLite file that threads and processes may share.

    A reply is forgotten after `max_age` seconds; when all together pass `max_bytes`, the oldest go. A file
    that cannot be used raises `StoreError`.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        max_age: float = WEEK,
        max_bytes: int = 200_000_000,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.path = Path(path).expanduser()
        self.max_age, self.max_bytes, self._clock = max_age, max_bytes, clock
        self._connections = Connections(self.path)
        with self._translated("opened"):
            _create_private(self.path)
            with self._connections.borrow() as connection:
                self._lay_out(connection)

    @classmethod
    def default(cls) -> PageCache | None:
        """Open the user's own cache: `CHAMELEON_WEB_CACHE` (a path, or "off"), else in `~/.cache/chameleon`.

        Where the latter cannot be written to, a warning is logged and nothing is kept.
        """
        place = os.environ.get("CHAMELEON_WEB_CACHE", "").strip()
        if place.lower() == "off":
            return None
        try:
            return cls(place or DEFAULT_PLACE)
        except StoreError as error:
            # Nobody chose this place, and a container may have no home that can be written to.
            if place or not isinstance(error.__cause__, OSError):
                raise
            _log.warning("web replies are not kept: %s", error)
            return None

    def get(self, key: str) -> WebReply | None:
        """The reply that is kept for this request, unless it is too old."""
        with self._translated("read"), self._connections.borrow() as connection:
            row = connection.execute(
                "SELECT url, host, type, body, cut FROM replies WHERE key = ? AND kept_at > ?",
                (key, self._clock() - self.max_age),
            ).fetchone()
        return None if row is None else WebReply(row[0], row[1], 200, row[2], bytes(row[3]), bool(row[4]))

    def put(self, key: str, reply: WebReply) -> None:
        """Keep an OK reply, and forget what is too old or too much."""
        size = len(reply.body) + len(reply.url) + 200
        if size > self.max_bytes:
            return
        kept = (key, self._clock(), size, reply.url, reply.host, reply.content_type, reply.cut, reply.body)
        with self._translated("written to"), self._connections.borrow() as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?)", kept)
            self._forget(connection)
            connection.execute("COMMIT")

    def __len__(self) -> int:
        with self._translated("read"), self._connections.borrow() as connection:
            return int(connection.execute("SELECT count(*) FROM replies").fetchone()[0])

    def close(self) -> None:
        """Close the file; it opens again by itself when it is needed."""
        self._connections.close()

    def _forget(self, connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM replies WHERE kept_at <= ?", (self._clock() - self.max_age,))
        if connection.execute("SELECT total(size) FROM replies").fetchone()[0] > self.max_bytes:
            connection.execute(  # a tenth more than needed, so that a full cache is not tidied at every reply
                "DELETE FROM replies WHERE rowid IN (SELECT rowid FROM (SELECT rowid, "
                "sum(size) OVER (ORDER BY kept_at DESC, rowid) AS total FROM replies) WHERE total > ?)",
                (0.9 * self.max_bytes,),
            )

    def _lay_out(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN IMMEDIATE")
        # Another process may have laid it out while this one waited for the lock.
        if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
            for statement in _LAYOUT:
                connection.execute(statement)
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        connection.execute("COMMIT")
        if (application, version) != (_APPLICATION, _VERSION):
            raise StoreError(
                "this database is not a web cache of this version",
                where=str(self.path),
                hint="Move it away, or name another file (CHAMELEON_WEB_CACHE).",
            )

    @contextmanager
    def _translated(self, done: str) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"the web cache cannot be {done}: {error}",
                where=str(self.path),
                hint="Move the file away, name another (CHAMELEON_WEB_CACHE), or set it to off.",
            ) from error


def _create_private(path: Path) -> None:
    """Create the file so that only its owner can read it: it tells what was searched for."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
