"""Ask each request once across machines: who asks it has a claim in the database, the others wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

from chameleon.errors import StoreError

CLAIMS = (
    "CREATE TABLE chameleon.claims (key TEXT PRIMARY KEY, owner TEXT NOT NULL, until TIMESTAMPTZ NOT NULL)"
)
LEASE = 60.0
"""Seconds for which a claim stands without a sign of life: as long do others wait for a machine that died."""

_RENEWED = 10.0  # seconds; a claim outlives a server that is down for the rest of its lease
_RELEASING = 2.0  # seconds; what cannot be released lapses
_TAKE = (
    "INSERT INTO chameleon.claims AS held SELECT key, ?, now() + make_interval(secs => ?)"
    " FROM unnest(?::text[]) AS key ON CONFLICT (key) DO UPDATE SET owner = excluded.owner,"
    " until = excluded.until WHERE held.until < now() OR held.owner = excluded.owner RETURNING key"
)
_RENEW = "UPDATE chameleon.claims SET until = now() + make_interval(secs => ?) WHERE owner = ANY(?)"
_TIDY = "DELETE FROM chameleon.claims WHERE until < now() - interval '1 hour'"
_RELEASE = "DELETE FROM chameleon.claims WHERE key = ANY(?) AND owner = ?"


class Claims:
    """The claims that this process holds. A thread renews them; `rows` runs a statement in the database."""

    def __init__(self, rows: Callable[..., list[Any]]) -> None:
        self.rows = rows
        self._owners: set[str] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def hold(self, owner: str) -> None:
        """Renew the claims of this owner from now on."""
        with self._lock:
            self._owners.add(owner)
            if self._thread is None:
                self._thread = threading.Thread(target=self._renew, name="chameleon-claims", daemon=True)
                self._thread.start()

    def let_go(self, owner: str) -> None:
        """Renew them no more."""
        with self._lock:
            self._owners.discard(owner)

    def _renew(self) -> None:
        while True:
            time.sleep(_RENEWED)
            with self._lock:
                owners = list(self._owners)
                if not owners:
                    self._thread = None
                    return
            with suppress(StoreError):
                self.rows("written to", _RENEW, (LEASE, owners))
                self.rows("written to", _TIDY)


class Claim:
    """The right to ask some requests, all or none of them, until the end of a `with` block."""

    def __init__(self, claims: Claims, keys: Sequence[str]) -> None:
        self._claims, self._keys, self._owner = claims, list(keys), uuid4().hex
        self.is_held = self._may_be_held = False

    def take(self) -> bool:
        """Take it, and tell whether that worked. Raises `StoreError` where the database cannot be used."""
        self._may_be_held = True
        taken = self._claims.rows("written to", _TAKE, (self._owner, LEASE, self._keys))
        self.is_held = len(taken) == len(self._keys)
        if self.is_held:
            self._claims.hold(self._owner)
        elif taken:
            self._release()
        else:
            self._may_be_held = False
        return self.is_held

    def _release(self) -> None:
        with suppress(StoreError):
            self._claims.rows("written to", _RELEASE, (self._keys, self._owner), _RELEASING)
            self._may_be_held = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._claims.let_go(self._owner)
        if self._may_be_held:
            self._release()
