"""What tells the settings of two evaluations apart."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

# When it began, what a file is called, how far it is to go; packages not there before are another matter.
_NOT_COMPARED = ("started", "data.name", "tables.name", "problems")
_PACKAGES = "versions."
_RESOLVED = "resolved."
_WEIGHTS = ".weights"


def difference(before: Mapping[str, Any], now: Mapping[str, Any], above: str = "") -> str:
    """The first setting that differs, with both its values; empty where none does."""
    for key in [*before, *(key for key in now if key not in before)]:
        name, old, new = f"{above}{key}", before.get(key), now.get(key)
        if name in _NOT_COMPARED or (name.startswith(_PACKAGES) and None in (old, new)):
            continue
        if name.startswith(_RESOLVED) and name.endswith(_WEIGHTS) and old is None:
            continue  # the run itself has downloaded them
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            if found := difference(old, new, f"{name}."):
                return found
        elif old != new:
            decided = ", which this machine decides," if name.startswith(_RESOLVED) else ""
            told = f"{name.removeprefix(_RESOLVED)}{decided}"
            return f"{told} was {json.dumps(old)}, and now is {json.dumps(new)}"
    return ""
