"""The bytes of a file that holds tables, read up to a limit."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from chameleon.errors import InputError
from chameleon.table.cells import printable

LIMIT_VARIABLE = "CHAMELEON_MAX_TABLE_MB"
DEFAULT_LIMIT_MB = 64.0


def read_file(path: Path, limit: int, name: str = "") -> bytes:
    """The bytes of an ordinary file or a pipe, of which no more than the limit is read.

    Raises `InputError`, which calls it by `name`, or else by its path.
    """
    where = name or printable(str(path))
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise InputError("is a folder", where=where, hint="Name a file in it.")
        if not (stat.S_ISREG(status.st_mode) or stat.S_ISFIFO(status.st_mode)):
            raise InputError("is not an ordinary file", where=where, hint="Name a file that holds a table.")
        if status.st_size > limit:
            raise too_large(status.st_size, limit, where)
        with path.open("rb") as file:
            # A pipe has no size, and a file may grow after it was looked at.
            data = file.read(limit + 1)
    except FileNotFoundError:
        raise InputError("there is no such file", where=where, hint="Check the path.") from None
    except PermissionError:
        raise InputError(
            "may not be read", where=where, hint="Ask for permission to read it, or copy it."
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be read ({reason})", where=where, hint="Check the path.") from None
    if len(data) > limit:
        raise too_large(len(data), limit, where)
    return data


def limit_in_bytes(limit_mb: float = DEFAULT_LIMIT_MB) -> int:
    """That many megabytes in bytes, or as CHAMELEON_MAX_TABLE_MB says; raises `InputError` for no number."""
    setting = os.environ.get(LIMIT_VARIABLE, "").strip()
    try:
        megabytes = float(setting) if setting else limit_mb
        return max(0, int(megabytes * 1_000_000))
    except (ValueError, OverflowError):
        raise InputError(
            f"{LIMIT_VARIABLE} is {setting!r}, not a number", hint=f"Write for example {LIMIT_VARIABLE}=200."
        ) from None


def too_large(size: int, limit: int, where: str) -> InputError:
    """The error for a file of that many bytes."""
    return InputError(
        f"has {size / 1e6:,.1f} MB, more than the limit of {limit / 1e6:,.1f} MB",
        where=where,
        hint=f"Set {LIMIT_VARIABLE} to a larger number of megabytes, or use a part of the file.",
    )
