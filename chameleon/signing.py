"""Seals of this user: an approval in a log counts only with a seal, so that nobody else can have written it.

A seal is an HMAC with a key in the user's configuration directory, created when first needed.
"""

import hashlib
import hmac
import os
import secrets
from contextlib import suppress
from pathlib import Path

_KEY_FILE = "seal.key"
_KEY_BYTES = 32


def config_dir() -> Path:
    """Return the user's own configuration directory; it may not exist."""
    try:
        home = Path.home()
    except RuntimeError:  # the user has no home
        home = Path("/")
    return Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "chameleon"


def sealed(content: bytes) -> str:
    """Return the seal of a content, or "" if no key can be stored."""
    key = _key() or _new_key()
    return hmac.new(key, content, hashlib.sha256).hexdigest() if key else ""


def is_sealed(content: bytes, seal: str) -> bool:
    """Return whether this user sealed exactly this content."""
    if (key := _key()) is None:
        return False
    expected = hmac.new(key, content, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), seal.encode("utf-8", "replace"))  # a str must be ASCII


def _key() -> bytes | None:
    with suppress(OSError):
        key = (config_dir() / _KEY_FILE).read_bytes()
        if len(key) == _KEY_BYTES:
            return key
    return None


def _new_key() -> bytes | None:
    """Create the key, readable only by this user; if another process creates it first, use that one."""
    folder = config_dir()
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = folder / f"{_KEY_FILE}.{secrets.token_hex(4)}"
        with open(draft, "wb", opener=lambda path, flags: os.open(path, flags | os.O_EXCL, 0o600)) as file:
            file.write(secrets.token_bytes(_KEY_BYTES))
        with suppress(FileExistsError):
            os.link(draft, folder / _KEY_FILE)  # fails if another process was first
        if _key() is None:  # the existing file is empty or cut off, so it cannot seal
            draft.replace(folder / _KEY_FILE)
        draft.unlink(missing_ok=True)
    return _key()
