"""One cell of a file as text: numbers, dates and truth values spelled plainly, control characters gone."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from typing import Any

from chameleon.text import clean_cell


def cell_text(value: Any) -> str:
    """The text of a JSON or Excel value: 1.0 is "1", True is "true", None is "", dates are ISO.

    Floats that are not whole are written as Python's `repr` does. Raises ValueError, with a reason fit
    for an error's end, for what no cell can hold: NaN, infinity, lists and objects.
    """
    if isinstance(value, list | dict):
        raise ValueError(f"holds {'a list' if isinstance(value, list) else 'an object'}")
    write = next((write for kind, write in _WRITERS if isinstance(value, kind)), None)
    if write is None:
        raise ValueError(f"holds a {type(value).__name__}")
    return write(value)


def shown(text: str, limit: int = 60) -> str:
    """Text from a file, quoted and cut, so that an error that names it stays one harmless line."""
    return repr(text if len(text) <= limit else f"{text[: limit - 1]}…")


def printable(name: str) -> str:
    """A file's name without control characters, which could reach a terminal through an error."""
    return "".join(character if character.isprintable() else "?" for character in name)


def _float_text(value: float) -> str:
    if not math.isfinite(value):
        raise ValueError("holds a number that is not finite (NaN or infinity)")
    return str(int(value)) if value.is_integer() and abs(value) < 1e16 else repr(value)


def _date_text(value: dt.datetime) -> str:
    return value.date().isoformat() if value.time() == dt.time() else value.isoformat(" ")


def _time_text(value: dt.time) -> str:
    return value.isoformat() if value.second or value.microsecond else f"{value:%H:%M}"


# The order matters: a truth value is also a whole number, and a moment is also a date.
_WRITERS: tuple[tuple[type, Callable[[Any], str]], ...] = (
    (type(None), lambda _: ""),
    (str, clean_cell),
    (bool, lambda value: "true" if value else "false"),
    (int, str),
    (float, _float_text),
    (dt.datetime, _date_text),
    (dt.date, dt.date.isoformat),
    (dt.time, _time_text),
    (dt.timedelta, str),
)
