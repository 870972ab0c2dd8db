"""Read data from a possibly hostile program: every type, size and level is checked."""

import json
import math
from typing import Any

# A table at the deepest level has its rows and cells below it.
_LEVELS_OF_TABLES = 3


class BadFrame(ValueError):
    """Bytes that an honest child process never sends."""


def read_frame(data: bytes, depth: int, digits: int) -> dict[str, Any]:
    """Return the frame's fields under their names in `ExecResult`. Raises `BadFrame`."""
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadFrame(f"not JSON: {type(error).__name__}") from None
    if not isinstance(fields, dict):
        raise BadFrame("not an object")
    frame = {
        "status": _text(fields.get("s")),
        "error_type": _text(fields.get("t", ""))[:100],
        "message": _text(fields.get("m", ""))[:500],
        "line": fields.get("line") if type(fields.get("line")) is int else None,
        "stdout": _text(fields.get("out", "")),
        "stdout_truncated": fields.get("cut") is True,
    }
    if frame["status"] == "ok":
        frame["value"] = checked(fields.get("v"), depth + _LEVELS_OF_TABLES, digits)
        frame["value_type"] = kind = _text(fields.get("k", ""))[:100]
        if not kind.isidentifier():
            raise BadFrame("not a type name")
    return frame


def checked(value: Any, depth: int, digits: int) -> Any:
    """Return a JSON value, with the invalid parts of any text replaced.

    Args:
        depth: how many levels it may have.
        digits: how many digits an integer may have.

    Raises:
        BadFrame: for a value beyond these, or a non-finite number.
    """
    if depth < 0:
        raise BadFrame("nested too deep")
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return [checked(item, depth - 1, digits) for item in value]
    if isinstance(value, dict):
        return {_text(key): checked(item, depth - 1, digits) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        raise BadFrame("not a finite number")
    if isinstance(value, int) and abs(value) >= 10**digits:
        raise BadFrame("not an integer within the limit")
    return value


def _text(value: Any) -> str:
    if type(value) is not str:
        raise BadFrame("a text is missing")
    return value.encode("utf-8", "replace").decode()
