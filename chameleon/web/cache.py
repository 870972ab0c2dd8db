"""Cache replies from the web in a file, so that the same request is not sent twice."""

import time
from collections.abc import Callable
from pathlib import Path

from chameleon.sqlite_store import Kind, Store, open_default
from chameleon.web.reply import WebReply

_KIND = Kind(
    "web cache",
    "pages",
    "CHAMELEON_WEB_CACHE",
    0x43484D57,  # "CHMW"
    1,
    (
        "CREATE TABLE replies (key TEXT PRIMARY KEY, kept_at REAL NOT NULL, size INTEGER NOT NULL,"
        " url TEXT NOT NULL, host TEXT NOT NULL, type TEXT NOT NULL, cut INTEGER NOT NULL,"
        " body BLOB NOT NULL)",
        "CREATE INDEX replies_by_age ON replies (kept_at, size)",
    ),
)
WEEK = 7 * 24 * 3600.0


class PageCache:
    """OK replies by request, in one private SQLite file that threads and processes may share.

    If the file fails after it was opened, one warning is logged and nothing is cached.

    Args:
        max_age: seconds after which a reply expires.
        max_bytes: of all replies together; beyond it the oldest are deleted.

    Raises:
        StoreError: if the file cannot be opened.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        max_age: float = WEEK,
        max_bytes: int = 200_000_000,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.max_age, self.max_bytes, self._clock = max_age, max_bytes, clock
        self._store = Store(path, _KIND)
        self._store.open()
        self.close = self._store.close

    @classmethod
    def default(cls) -> "PageCache | None":
        """Open the user's own cache, unless CHAMELEON_WEB_CACHE is "off" or no home is writable."""
        return open_default(_KIND, "web.sqlite", cls)

    def get(self, key: str) -> WebReply | None:
        """Return the cached reply for this request, unless it has expired."""
        query = "SELECT url, host, type, body, cut FROM replies WHERE key = ? AND kept_at > ?"
        row = None
        with self._store.tried("read") as connection:
            row = connection.execute(query, (key, self._clock() - self.max_age)).fetchone()
        return None if row is None else WebReply(row[0], row[1], 200, row[2], bytes(row[3]), bool(row[4]))

    def put(self, key: str, reply: WebReply) -> None:
        """Cache an OK reply, and delete expired and excess ones."""
        size = len(reply.body) + len(reply.url) + 200  # about what the rest of a row takes
        if size > self.max_bytes:
            return
        row = (key, self._clock(), size, reply.url, reply.host, reply.content_type, reply.cut, reply.body)
        with self._store.tried("written to") as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
            connection.execute("DELETE FROM replies WHERE kept_at <= ?", (self._clock() - self.max_age,))
            if connection.execute("SELECT total(size) FROM replies").fetchone()[0] > self.max_bytes:
                connection.execute(  # a tenth more than needed, so a full cache is not pruned each time
                    "DELETE FROM replies WHERE rowid IN (SELECT rowid FROM (SELECT rowid, "
                    "sum(size) OVER (ORDER BY kept_at DESC, rowid) AS total FROM replies) WHERE total > ?)",
                    (0.9 * self.max_bytes,),
                )
            connection.execute("COMMIT")

    def __len__(self) -> int:
        with self._store.used("read") as connection:
            return int(connection.execute("SELECT count(*) FROM replies").fetchone()[0])
