"""Lists of texts that a release keeps as Python literals: `['(0, 1)', '(2, 1)']`. Nothing is evaluated."""

from __future__ import annotations

import ast


def texts_in(literal: str) -> list[str] | None:
    """The texts of a literal list; None for anything else."""
    try:
        value = ast.literal_eval(literal.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, list) and all(isinstance(item, str) for item in value) else None
