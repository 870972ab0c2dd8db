"""Write a value of a file or database as the cell of a table."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

from chameleon.text import clean_cell


def cell_text(value: Any) -> str:
    """Write a value as a cell: 1.0 is "1", True is "true", None is "", dates are ISO, lists are JSON."""
    # The order matters: a truth value is also a whole number, and a moment is also a date.
    match value:
        case None:
            return ""
        case str():
            return clean_cell(value)
        case bool():
            return "true" if value else "false"
        case float():
            return str(int(value)) if value.is_integer() and abs(value) < 1e16 else repr(value)
        case dt.datetime():
            return value.date().isoformat() if value.time() == dt.time() else value.isoformat(" ")
        case dt.date():
            return value.isoformat()
        case dt.time():
            return value.isoformat() if value.second or value.microsecond else f"{value:%H:%M}"
        case bytes() | bytearray() | memoryview():
            return f"({len(value):,} bytes)"
        case list() | dict():
            return clean_cell(json.dumps(value, ensure_ascii=False, default=str))
    return clean_cell(str(value))
