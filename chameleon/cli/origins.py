"""Which options of the running command a file of settings has set, for the sentence that says why."""

from __future__ import annotations

from collections.abc import Iterable

from chameleon.errors import ChameleonError

_used: dict[str, str] = {}


def keep_origins(names: Iterable[str], file: str) -> None:
    """Keep which options have their values from a file of this name."""
    _used.clear()
    _used.update(dict.fromkeys(names, file))


def origin(name: str) -> str:
    """Return the name of the file that gave an option its value; "" where that was no file."""
    return _used.get(name, "")


def because(name: str) -> str:
    """Write ", because chameleon.toml names it"; "" where no file does."""
    return f", because {origin(name)} names it" if origin(name) else ""


def told_with_origin(error: ChameleonError, name: str) -> ChameleonError:
    """Return the error with the file that named what it is about, where a file did."""
    if not origin(name):
        return error
    hint = " ".join(filter(None, (error.hint, f"{origin(name)} names it.")))
    return type(error)(error.what, where=error.where, hint=hint)
