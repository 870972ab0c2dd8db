"""Mask secrets where an event is made, so that the log, later steps, spans and pages all see the same."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from itertools import chain
from typing import Any

from chameleon.table import Table
from chameleon.text import mask_known
from chameleon.values import ReadOnly


def masked(value: Any, secrets: Sequence[str]) -> Any:
    """Return an event, or a part of one, without these secrets; the same object if it holds none.

    Secrets of fewer than 12 characters stay, because an answer may contain the same word (`mask_known`).
    """
    if isinstance(value, str):
        return mask_known(value, secrets)
    if not secrets or value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, Table):  # search all cells at once: a loop over many is slow
        text = "\n".join(chain([value.caption], value.header, chain.from_iterable(value.rows)))
        if not any(secret in text for secret in secrets):
            return value
    if isinstance(value, (tuple, list)):
        items = [masked(item, secrets) for item in value]
        is_same = all(new is old for new, old in zip(items, value, strict=True))  # spares a copy
        return value if is_same else type(value)(items)
    if isinstance(value, Mapping):
        entries = {mask_known(key, secrets): masked(item, secrets) for key, item in value.items()}
        is_same = entries.keys() == value.keys() and all(entries[key] is value[key] for key in entries)
        return value if is_same else ReadOnly(entries)
    if is_dataclass(value) and not isinstance(value, type):
        parts = {each.name: getattr(value, each.name) for each in fields(value) if each.init}
        changes = {name: new for name, part in parts.items() if (new := masked(part, secrets)) is not part}
        return replace(value, **changes) if changes else value
    return value
