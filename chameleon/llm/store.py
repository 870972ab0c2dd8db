"""Cache model replies in a file, so that a run can be repeated without asking again."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, Self, TypeVar, get_args

from chameleon.errors import ReplayMiss, StoreError
from chameleon.llm.message import ModelRequest
from chameleon.sqlite_store import Kind, Store, open_default
from chameleon.text import one_line, shared_start

Mode = Literal["off", "record", "replay", "auto"]
T = TypeVar("T")

# `prompt` is a digest of the messages, to find other settings for one prompt; `length` is their length,
# because near misses are searched among prompts of similar length.
_KIND = Kind(
    "response store",
    "replies",
    "CHAMELEON_STORE",
    0x43484D4C,  # "CHML"
    1,
    (
        "CREATE TABLE replies (key TEXT PRIMARY KEY, model TEXT NOT NULL, prompt TEXT NOT NULL,"
        " messages TEXT NOT NULL, length INTEGER NOT NULL, settings TEXT NOT NULL, reply TEXT NOT NULL)",
        "CREATE INDEX replies_by_prompt ON replies (prompt)",
        "CREATE INDEX replies_by_length ON replies (length)",
    ),
)
_REPLACE = "INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?)"
_MAX_NEAR_PROMPTS = 100
_WINDOW_CHARS = 60
_UNSET = object()


class ResponseStore:
    """Replies by request, in one SQLite file that threads and processes may share.

    Modes: `auto` looks first and records new replies; `record` always asks and records; `replay` never asks,
    and raises `ReplayMiss` if a reply is missing; `off` does nothing. The key is the provider, the model, the
    messages, the parameters, the schema, the sample index (so that samples of one question stay different),
    and the server's address unless it is the provider's own. A replay elsewhere works: a reply recorded for
    another address is used if only one address has it.

    `place` is its absolute path, or None for the user's own store, which `default` opens. A file that cannot
    be used raises `StoreError`, when it is opened or later.
    """

    def __init__(self, path: str | Path, mode: Mode = "auto") -> None:
        if mode not in get_args(Mode):
            hint = "Modes: off, record, replay, auto."
            raise StoreError(f"{mode!r} is not a mode of the response store", hint=hint)
        self.mode: Mode = mode
        self._store = Store(path, _KIND)
        self.path, self.close = self._store.path, self._store.close
        self.place: str | None = str(self.path.absolute())
        if mode != "off":
            self._store.open(may_write=mode != "replay")

    @classmethod
    def default(cls, mode: Mode = "auto") -> Self:
        """Open the user's own store: `CHAMELEON_STORE`, else a file in `~/.cache/chameleon`.

        The variable is a path or "off". If the file cannot be written to, a warning is logged and nothing is
        recorded.
        """
        opened = open_default(_KIND, "responses.sqlite", lambda place: cls(place, mode), must=mode != "auto")
        store = cls(os.devnull, "off") if opened is None else opened
        store.place = None
        return store

    def get(self, request: ModelRequest) -> dict[str, Any] | None:
        """Return the recorded reply, or None to ask. Raises `ReplayMiss` in replays, `StoreError`."""
        if self.mode in ("off", "record"):
            return None
        rows = self._store.rows("read", "SELECT reply FROM replies WHERE key = ?", (request.key,))
        if rows:
            reply = self._read(rows[0][0], dict)
            return None if self.mode == "auto" and reply.get("doubted") else reply
        if self.mode != "replay":
            return None
        messages = json.dumps(request.messages)
        of_prompt = "SELECT model, settings, reply FROM replies WHERE prompt = ?"
        same = self._store.rows("read", of_prompt, (_digest(messages),))
        recorded = [({"model": name, **self._read(settings, dict)}, reply) for name, settings, reply in same]
        target = json.loads(json.dumps({"model": request.model, **request.settings}))  # as rows are read
        elsewhere = [reply for other, reply in recorded if not _differences(target, other) - {"base_url"}]
        if len(elsewhere) == 1:
            return self._read(elsewhere[0], dict)
        if recorded:
            what = _other_settings(target, [other for other, _ in recorded])
        else:
            like = "SELECT messages FROM replies ORDER BY abs(length - ?) LIMIT ?"
            pool = self._store.rows("read", like, (len(messages), _MAX_NEAR_PROMPTS))
            what = _other_prompt(_flat(request.messages), [_flat(self._read(row, list)) for (row,) in pool])
        hint = "Record it with the store in mode auto."
        raise ReplayMiss(what, where=str(self.path), hint=hint, code="no-replay")

    def put(self, request: ModelRequest, reply: Mapping[str, Any]) -> None:
        """Record a reply, replacing an earlier one. Raises `StoreError` if it cannot be written."""
        if self.mode in ("off", "replay"):
            return
        messages, settings = json.dumps(request.messages), json.dumps(request.settings, sort_keys=True)
        prompt = (_digest(messages), messages, len(messages))
        row = (request.key, request.model, *prompt, settings, json.dumps(reply))
        self._store.rows("written to", _REPLACE, row)

    def doubt(self, request: ModelRequest) -> None:
        """Mark this reply so that it is requested again, except in replays, because it was of no use."""
        for (reply,) in self._store.rows("read", "SELECT reply FROM replies WHERE key = ?", (request.key,)):
            self.put(request, {**self._read(reply, dict), "doubted": True})

    def __len__(self) -> int:
        if self.mode == "off":
            return 0
        return int(self._store.rows("read", "SELECT count(*) FROM replies")[0][0])

    def latest_model(self, address: str = "") -> str | None:
        """Return the model recorded last, at this address if possible; None for an empty store."""
        if self.mode == "off":
            return None
        latest = "SELECT model, settings FROM replies GROUP BY model, settings ORDER BY max(rowid) DESC"
        rows = self._store.rows("read", latest)
        pairs = ((model, self._read(settings, dict)) for model, settings in rows)
        here = (model for model, settings in pairs if settings.get("base_url", "") == address)
        return next(here, rows[0][0] if rows else None)

    def _read(self, text: Any, kind: type[T]) -> T:
        """Parse the JSON of a row. Raises `StoreError` if it is damaged."""
        with suppress(ValueError, TypeError, RecursionError):
            if isinstance(value := json.loads(text), kind):
                return value
        hint = f"Use another store ({_KIND.variable})."
        raise StoreError("a recorded reply is damaged", where=str(self.path), hint=hint)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _other_settings(settings: Mapping[str, Any], recorded: Sequence[Mapping[str, Any]]) -> str:
    """Say in which settings a request differs from the nearest one recorded for its prompt."""
    nearest = min(recorded, key=lambda other: len(_differences(settings, other)))
    names = sorted(_differences(settings, nearest))
    each = (f"{name} {_value_text(nearest, name)} (asked: {_value_text(settings, name)})" for name in names)
    return f"this prompt is recorded, but with other settings: {'; '.join(each)}"


def _other_prompt(prompt: str, recorded: Sequence[str]) -> str:
    """Say that nothing is recorded for a prompt, and where it differs from the nearest recorded one."""
    nearest = max(recorded, key=lambda text: shared_start(prompt, text), default="")
    start = max(0, shared_start(prompt, nearest) - _WINDOW_CHARS // 2)
    quote, nearest_quote = (
        f"“{'…' if start else ''}{one_line(text[start:], 2 * _WINDOW_CHARS)}”" for text in (prompt, nearest)
    )
    what = f"no reply is recorded for the prompt {quote}"
    return f"{what}; the nearest recorded one is {nearest_quote}" if recorded else what


def _differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> set[str]:
    """Return the names of the settings in which two requests differ."""
    return {name for name in {*one, *other} if one.get(name, _UNSET) != other.get(name, _UNSET)}


def _value_text(settings: Mapping[str, Any], name: str) -> str:
    return one_line(json.dumps(settings[name]).strip('"'), _WINDOW_CHARS) if name in settings else "not set"


def _flat(messages: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f"{role}: {text}" for role, text in messages)
