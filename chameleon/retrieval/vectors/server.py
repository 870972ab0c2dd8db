"""A PostgreSQL server: connections that come back, and errors that keep its address secret."""

from __future__ import annotations

import os
import re
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, TypeVar

from chameleon.errors import ChameleonError, InputError, MissingPackage
from chameleon.retrieval.index.files import AGAIN
from chameleon.text import MASK, one_line

VARIABLE = "CHAMELEON_PGVECTOR"
_TIMEOUT = 10  # seconds to connect
_NO_TABLE = "42P01"  # as PostgreSQL numbers its errors
Answer = TypeVar("Answer")


def check() -> None:
    """Raise `MissingPackage`, or `InputError` where no server is named."""
    if find_spec("psycopg") is None:
        raise MissingPackage(
            "vectors in PostgreSQL (pgvector) need the package psycopg",
            hint="pip install 'chameleon-compose[pgvector]'",
        )
    _address()


class Server:
    """The server that the environment names. One serves all threads, each with a connection of its own."""

    def __init__(self) -> None:
        self._idle: list[Any] = []
        self._lock = threading.Lock()
        weakref.finalize(self, _close, self._idle)

    @contextmanager
    def transaction(self) -> Iterator[Run]:
        """A transaction; errors of the server are told as `InputError`, `Unreachable` if it went away."""
        import psycopg

        connection = self._taken()
        try:
            with connection.transaction():
                yield Run(connection)
        except psycopg.Error as problem:
            gone = connection.broken or isinstance(problem, psycopg.OperationalError)
            raise _told(problem, Unreachable if gone else InputError) from None
        finally:
            self._give_back(connection)

    def again(self, ask: Callable[[], Answer]) -> Answer:
        """What a question without effects is answered, asked once more if the server had gone away."""
        try:
            return ask()
        except Unreachable:
            self.close()
            return ask()

    def close(self) -> None:
        """Close the connections that are not in use."""
        with self._lock:
            _close(self._idle)

    def _taken(self) -> Any:
        import psycopg

        with self._lock:
            if self._idle:
                return self._idle.pop()
        try:
            return psycopg.connect(_address(), autocommit=True, connect_timeout=_TIMEOUT)
        except psycopg.Error as problem:
            raise _told(problem, Unreachable) from None

    def _give_back(self, connection: Any) -> None:
        if connection.closed or connection.broken:
            connection.close()
            return
        with self._lock:
            self._idle.append(connection)


class Unreachable(InputError):
    """The server does not answer."""


class Run:
    """Runs statements in a transaction. `{names}` stand for identifiers, and are put in quoted."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def __call__(self, statement: str, values: Sequence[Any] = (), **names: str) -> list[Any]:
        """The rows of the answer."""
        cursor = self._connection.execute(_composed(statement, names), values or None)
        return cursor.fetchall() if cursor.description else []

    def many(self, statement: str, values: Iterable[Sequence[Any]], **names: str) -> list[list[Any]]:
        """The rows of each answer, of one statement with many values, sent together."""
        composed = _composed(statement, names)
        with self._connection.pipeline():
            cursors = [self._connection.execute(composed, some) for some in values]
            return [cursor.fetchall() for cursor in cursors]

    def copy(self, statement: str, pieces: Iterable[bytes], **names: str) -> None:
        """Send the pieces to COPY … FROM STDIN."""
        with self._connection.cursor() as cursor, cursor.copy(_composed(statement, names)) as copy:
            for piece in pieces:
                copy.write(piece)


def _close(connections: list[Any]) -> None:
    while connections:
        connections.pop().close()


def _composed(statement: str, names: dict[str, str]) -> Any:
    """The statement with its names; `said` is a text, which a comment takes no parameter for."""
    from psycopg import sql

    made = {key: (sql.Literal if key == "said" else sql.Identifier)(name) for key, name in names.items()}
    return sql.SQL(statement).format(**made)


def _address() -> str:
    address = os.environ.get(VARIABLE, "").strip()
    if not address:
        raise InputError(
            "no PostgreSQL server is named for the vectors",
            hint=f"Set the environment variable {VARIABLE}, such as postgresql://user:password@host/database.",
        )
    return address


def _told(problem: Exception, kind: type[ChameleonError]) -> ChameleonError:
    """The server's error, without what the address says."""
    what = "does not answer" if kind is Unreachable else "refuses"
    said = one_line(_without_address(str(problem)), 200)
    hint = AGAIN if getattr(problem, "sqlstate", None) == _NO_TABLE else ""
    return kind(f"the PostgreSQL server of {VARIABLE} {what}: {said}", hint=hint)


def _without_address(text: str) -> str:
    from psycopg.conninfo import conninfo_to_dict

    address = os.environ.get(VARIABLE, "")
    try:
        values = [str(value) for value in conninfo_to_dict(address).values() if value]
    except Exception:  # the address is of no form, and the message would quote it
        return "the variable holds no connection string"
    for value in sorted({address, *values}, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", MASK, text)
    return text
