"""Keep model replies in a file, so that a run can be repeated without asking again."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, get_args

from chameleon.errors import ReplayMiss, StoreError
from chameleon.llm.message import ModelRequest
from chameleon.llm.replay_miss import describe_miss
from chameleon.sqlite_pool import Connections

Mode = Literal["off", "record", "replay", "auto"]

_log = logging.getLogger("chameleon")

_APPLICATION = 0x43484D4C  # "CHML": tells our files from other programs' databases
_VERSION = 1
# `prompt` is the digest of the messages, under which other settings of one prompt are found; `length` that of
# the messages, since near misses are looked for among prompts of like length.
_LAYOUT = (
    "CREATE TABLE replies (key TEXT PRIMARY KEY, model TEXT NOT NULL, prompt TEXT NOT NULL,"
    " messages TEXT NOT NULL, length INTEGER NOT NULL, settings TEXT NOT NULL, reply TEXT NOT NULL)",
    "CREATE INDEX replies_by_prompt ON replies (prompt)",
    "CREATE INDEX replies_by_length ON replies (length)",
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {_VERSION}",
)
_NEAREST_CANDIDATES = 100


class ResponseStore:
    """Replies by request, in one SQLite file that threads and processes may share.

    Modes: `auto` looks first and records what is new; `record` always asks and records; `replay` never
    asks, and raises `ReplayMiss` where a reply is missing; `off` does nothing. The key is the provider, the
    model, the messages, the parameters, the schema, the sample index, so that the samples of one question
    stay different, and the server's address where it is not the provider's own, so that servers are not
    mixed up. A replay elsewhere works: what is recorded for another address is taken if one alone has it.

    A file that cannot be used raises `StoreError`, when it is opened or later.
    """

    def __init__(self, path: str | Path, mode: Mode = "auto") -> None:
        if mode not in get_args(Mode):
            raise StoreError(
                f"{mode!r} is not a mode of the response store", hint="Modes: off, record, replay, auto."
            )
        self.path = Path(path).expanduser()
        self.mode: Mode = mode
        self._connections = Connections(self.path)
        if mode != "off":
            self._open()

    @classmethod
    def default(cls, mode: Mode = "auto") -> ResponseStore:
        """Open the user's own store: `CHAMELEON_STORE` (a path, or "off"), else `~/.cache/chameleon`.

        Where the latter cannot be written to, a warning is logged and nothing is recorded.
        """
        place = os.environ.get("CHAMELEON_STORE", "").strip()
        if place.lower() == "off":
            return cls(os.devnull, "off")
        try:
            return cls(place or "~/.cache/chameleon/responses.sqlite", mode)
        except StoreError as error:
            # Nobody chose this place, and a container may have no home that can be written to.
            if place or mode != "auto" or not isinstance(error.__cause__, OSError):
                raise
            _log.warning("replies are not recorded: %s", error)
            return cls(os.devnull, "off")

    def __repr__(self) -> str:
        return f"ResponseStore({str(self.path)!r}, {self.mode!r})"

    def get(self, request: ModelRequest) -> dict[str, Any] | None:
        """Return the recorded reply, or None where the model must be asked.

        Raises `ReplayMiss` in replay mode, and `StoreError` for a damaged file.
        """
        if self.mode in ("off", "record"):
            return None
        with self._reading() as connection:
            row = connection.execute("SELECT reply FROM replies WHERE key = ?", (request.key,)).fetchone()
        if row is not None:
            return self._decode(row[0])
        if self.mode != "replay":
            return None
        elsewhere = self._of_other_servers(request)
        if len(elsewhere) != 1:
            raise self._miss(request)
        return self._decode(elsewhere[0])

    def put(self, request: ModelRequest, reply: Mapping[str, Any]) -> None:
        """Record a reply, replacing an earlier one; raise `StoreError` when the file cannot be written."""
        if self.mode in ("off", "replay"):
            return
        messages = json.dumps(request.messages)
        row = (
            request.key,
            request.model,
            _digest(messages),
            messages,
            len(messages),
            json.dumps(request.settings, sort_keys=True),
            json.dumps(reply),
        )
        with self._translated("written to"), self._connections.borrow() as connection:
            connection.execute("INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?)", row)

    def __len__(self) -> int:
        if self.mode == "off":
            return 0
        with self._reading() as connection:
            return int(connection.execute("SELECT count(*) FROM replies").fetchone()[0])

    def latest_model(self, address: str = "") -> str | None:
        """Return the model whose reply was recorded last; None where nothing is recorded.

        Replies of the server at `address` go first, if there are any.
        """
        if self.mode == "off":
            return None
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT model, settings FROM replies GROUP BY model, settings ORDER BY max(rowid) DESC"
            ).fetchall()
        here = (model for model, settings in rows if json.loads(settings).get("base_url", "") == address)
        return next(here, rows[0][0] if rows else None)

    def close(self) -> None:
        """Close the file; it opens again by itself when it is needed."""
        self._connections.close()

    def _open(self) -> None:
        if self.mode == "replay" and not self.path.exists():
            raise StoreError(
                "there is no recording to replay", where=str(self.path), hint="Record one first."
            )
        with self._translated("opened"):
            if self.mode != "replay":
                _create_private(self.path)
            with self._connections.borrow() as connection:
                application = connection.execute("PRAGMA application_id").fetchone()[0]
                version = connection.execute("PRAGMA user_version").fetchone()[0]
                empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
                if application == 0 and empty and self.mode != "replay":
                    _lay_out(connection)
                elif (application, version) != (_APPLICATION, _VERSION):
                    raise StoreError(
                        "this database is not a response store of this version",
                        where=str(self.path),
                        hint="Move it away, or name another file (CHAMELEON_STORE).",
                    )

    def _of_other_servers(self, request: ModelRequest) -> list[str]:
        """Return the replies to the same request that are recorded under other addresses."""
        wanted = _without_address(json.loads(json.dumps(request.settings)))
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT settings, reply FROM replies WHERE prompt = ? AND model = ?",
                (_digest(json.dumps(request.messages)), request.model),
            ).fetchall()
        return [reply for settings, reply in rows if _without_address(json.loads(settings)) == wanted]

    def _miss(self, request: ModelRequest) -> ReplayMiss:
        messages = json.dumps(request.messages)
        with self._reading() as connection:
            same = connection.execute(
                "SELECT model, settings FROM replies WHERE prompt = ? LIMIT ?",
                (_digest(messages), _NEAREST_CANDIDATES),
            ).fetchall()
            near = connection.execute(
                "SELECT messages FROM replies ORDER BY abs(length - ?) LIMIT ?",
                (len(messages), _NEAREST_CANDIDATES),
            ).fetchall()
        return ReplayMiss(
            describe_miss(
                request,
                [(model, json.loads(settings)) for model, settings in same],
                [tuple((role, text) for role, text in json.loads(row)) for (row,) in near],
            ),
            where=str(self.path),
            hint="Record it with the store in mode auto.",
        )

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._translated("read"), self._connections.borrow() as connection:
            yield connection

    @contextmanager
    def _translated(self, done: str) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"the response store cannot be {done}: {error}",
                where=str(self.path),
                hint="Move the file away, name another (CHAMELEON_STORE), or set CHAMELEON_STORE=off.",
            ) from error

    def _decode(self, text: str) -> dict[str, Any]:
        try:
            reply = json.loads(text)
        except ValueError:
            reply = None
        if not isinstance(reply, dict):
            raise StoreError("a recorded reply is damaged", where=str(self.path), hint="Move the file away.")
        return reply


def _create_private(path: Path) -> None:
    """Create the file so that only its owner can read it: it holds prompts and replies."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def _lay_out(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    # Another process may have laid it out while this one waited for the lock.
    if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
        for statement in _LAYOUT:
            connection.execute(statement)
    connection.execute("COMMIT")


def _without_address(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if name != "base_url"}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
