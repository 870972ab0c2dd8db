"""Connections to one SQLite file, for any thread to borrow."""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_BUSY_SECONDS = 30.0


class Connections:
    """Threads borrow a connection and give it back, so that none outlives its thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._begin()

    @contextmanager
    def borrow(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection, to one thread at a time.

        SQLite lets go of the interpreter's lock several times in each query, and threads that fight over that
        lock take twice as long as threads that queue here. It also lets one connection write: queueing here
        is fair and cheap, queueing inside SQLite means sleeping and polling.
        """
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
        journal = self.path.with_name(self.path.name + "-wal")
        how = "mode=rw" if writable else "mode=ro" if journal.exists() else "immutable=1"
        address = f"{self.path.absolute().as_uri()}?{how}"
        connection = sqlite3.connect(
            address, uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA synchronous = NORMAL")
        return connection


def _close_all(connections: list[sqlite3.Connection], process: int) -> None:
    while connections and process == os.getpid():
        connections.pop().close()
