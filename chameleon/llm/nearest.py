"""Say what a missing reply was missed by."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from chameleon.llm.message import Request

_WINDOW = 60


def describe_miss(
    request: Request,
    same_prompt: Sequence[tuple[str, Mapping[str, Any]]],
    other_prompts: Sequence[tuple[tuple[str, str], ...]],
) -> str:
    """One sentence on why `request` was not found, and on the nearest thing that is recorded.

    `same_prompt` are the (model, settings) under which the same messages are recorded, `other_prompts` the
    messages of recorded requests of about the same length.
    """
    if same_prompt:
        model, settings = min(same_prompt, key=lambda found: len(_differences(request, *found)))
        differences = "; ".join(_differences(request, model, settings))
        return f"this prompt is recorded, but with other settings: {differences}"
    asked = _flat(request.messages)
    if not other_prompts:
        return f"no reply is recorded for the prompt {_shortened(asked, 0)}"
    nearest = max((_flat(messages) for messages in other_prompts), key=lambda text: _overlap(asked, text))
    position = shared_start(asked, nearest)
    return (
        f"no reply is recorded for the prompt {_shortened(asked, position)}; "
        f"the nearest recorded one is {_shortened(nearest, position)}"
    )


def _differences(request: Request, model: str, settings: Mapping[str, Any]) -> list[str]:
    found = [] if model == request.model else [f"model {model} (asked: {request.model})"]
    asked = request.settings
    for name in sorted({*asked, *settings}):
        if asked.get(name) != settings.get(name):
            found.append(f"{name} {_value(settings, name)} (asked: {_value(asked, name)})")
    return found


def _value(settings: Mapping[str, Any], name: str) -> str:
    text = json.dumps(settings[name]) if name in settings else "not set"
    return text if len(text) <= _WINDOW else text[:_WINDOW] + "…"


def _flat(messages: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f"{role}: {text}" for role, text in messages)


def _overlap(a: str, b: str) -> int:
    """Prompts of one template differ in the middle or at the end: count what they share at both ends."""
    start = shared_start(a, b)
    rest = min(len(a), len(b)) - start
    return start + shared_start(a[::-1][:rest], b[::-1][:rest])


def shared_start(a: str, b: str) -> int:
    """Length of the common prefix, by bisection: prompts are long, and comparing slices is fast."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _shortened(text: str, position: int) -> str:
    """Quote the part of `text` around the place where two prompts part."""
    start = max(0, min(position - _WINDOW // 2, len(text) - 2 * _WINDOW))
    part = " ".join(text[start : start + 2 * _WINDOW].split())
    return f"“{'…' if start else ''}{part}{'…' if start + 2 * _WINDOW < len(text) else ''}”"
