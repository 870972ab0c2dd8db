"""Seals of this user: a yes in a log counts where it bears one, so nobody else can have written it.

A seal is an HMAC under a key in the user's configuration directory, made when it is first needed.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from contextlib import suppress
from pathlib import Path

_KEY = "seal.key"
_KEY_BYTES = 32


def config_dir() -> Path:
    """Return the user's own configuration directory; it need not exist."""
    try:
        home = Path.home()
    except RuntimeError:  # there is no such user
        home = Path("/")
    return Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "chameleon"


def sealed(content: bytes) -> str:
    """Return the seal of a content; "" where no key can be kept, and nothing can be sealed."""
    key = _key() or _new_key()
    return hmac.new(key, content, hashlib.sha256).hexdigest() if key else ""


def is_sealed(content: bytes, seal: str) -> bool:
    """Tell whether this user sealed exactly this content."""
    if (key := _key()) is None:
        return False
    own = hmac.new(key, content, hashlib.sha256).hexdigest()
    return hmac.compare_digest(own.encode(), seal.encode("utf-8", "replace"))


def _key() -> bytes | None:
    with suppress(OSError):
        key = (config_dir() / _KEY).read_bytes()
        if len(key) == _KEY_BYTES:
            return key
    return None


def _new_key() -> bytes | None:
    """Make the key, for this user alone; another process may make it at the same time, and then has."""
    folder = config_dir()
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        own = folder / f"{_KEY}.{secrets.token_hex(4)}"
        with open(own, "wb", opener=lambda path, flags: os.open(path, flags | os.O_EXCL, 0o600)) as file:
            file.write(secrets.token_bytes(_KEY_BYTES))
        with suppress(FileExistsError):
            os.link(own, folder / _KEY)
        if _key() is None:  # the file that exists is empty or cut: it seals nothing
            own.replace(folder / _KEY)
        own.unlink(missing_ok=True)
    return _key()
