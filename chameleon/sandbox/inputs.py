"""Checks of what a caller hands to a program."""

from __future__ import annotations

import json
import keyword
from collections.abc import Mapping
from typing import Any

from chameleon.errors import InputError


def checked_inputs(inputs: Mapping[str, Any] | None) -> dict[str, Any]:
    """The inputs as a dict, if they are JSON under names that a program can use; raises InputError."""
    named = dict(inputs or {})
    for name in named:
        if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
            raise InputError(f"{name!r} cannot be the name of a program's input", where="inputs")
    try:
        json.dumps(named)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"a program's inputs must be JSON values: {error}", where="inputs") from None
    return named
