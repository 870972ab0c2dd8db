"""Passages that were read once, kept in the user's cache by the digest of their file."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from chameleon.documents.passages import Passage, passage_from_json, passage_to_json

_log = logging.getLogger("chameleon")

READERS = 2
"""Counted up whenever a reader gives other passages than before: what older ones gave is read anew."""

_PLACE = "~/.cache/chameleon/documents"
_MOST = 200_000_000  # bytes of all that is kept; what was not asked for the longest goes first


def kept(data: bytes, kind: str, read: Callable[[], list[Passage]]) -> list[Passage]:
    """Return what was read of these bytes before, else read it and keep it.

    `CHAMELEON_DOCUMENTS` is the folder, or "off"; else it is in `~/.cache/chameleon`. Where nothing can be
    written a warning is logged; a damaged entry is read as none. A document is not kept as long as a page of
    it could not be read: another time there may be an engine, or time.
    """
    place = os.environ.get("CHAMELEON_DOCUMENTS", "").strip()
    if place.lower() == "off":
        return read()
    try:
        folder = Path(place or _PLACE).expanduser()
    except RuntimeError:  # there is no such home
        return read()
    entry = folder / f"{hashlib.sha256(data).hexdigest()}-{kind}-{READERS}.json"
    try:
        found = [passage_from_json(each) for each in json.loads(entry.read_bytes())]
        os.utime(entry)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        found = []
    if not found:
        found = read()
        if any("is_unread" in passage for passage in found):
            return found
        try:
            _write(entry, found)
        except OSError as problem:
            _log.warning("what is read of documents is not kept: %s", problem)
    return found


def _write(entry: Path, passages: list[Passage]) -> None:
    """Write an entry as a whole, for its owner alone, and take out the oldest beyond the bound."""
    told = json.dumps([passage_to_json(each) for each in passages]).encode()
    if len(told) > _MOST // 4:
        return
    entry.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=entry.parent)  # 0600
    try:
        with os.fdopen(handle, "wb") as opened:
            opened.write(told)
        Path(name).replace(entry)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
    others = sorted(
        ((each.stat(), each) for each in entry.parent.iterdir()), key=lambda each: -each[0].st_mtime
    )
    size = 0
    for status, each in others:
        size += status.st_size
        if size > _MOST:
            with suppress(OSError):
                each.unlink()
