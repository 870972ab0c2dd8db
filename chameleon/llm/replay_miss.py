"""Say what a missing reply was missed by."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from chameleon.llm.message import ModelRequest
from chameleon.text import shared_start

_WINDOW = 60


def describe_miss(
    request: ModelRequest,
    same_prompt: Sequence[tuple[str, Mapping[str, Any]]],
    other_prompts: Sequence[tuple[tuple[str, str], ...]],
) -> str:
    """Say in one sentence why `request` was not found, and what is nearest of what is recorded.

    Args:
        same_prompt: the (model, settings) under which the same messages are recorded.
        other_prompts: the messages of recorded requests of about the same length.
    """
    if same_prompt:
        model, settings = min(same_prompt, key=lambda found: len(_differences(request, *found)))
        differences = "; ".join(_differences(request, model, settings))
        return f"this prompt is recorded, but with other settings: {differences}"
    asked = _flat(request.messages)
    if not other_prompts:
        return f"no reply is recorded for the prompt {_quote(asked, 0)}"
    nearest = max((_flat(messages) for messages in other_prompts), key=lambda text: _overlap(asked, text))
    position = shared_start(asked, nearest)
    return (
        f"no reply is recorded for the prompt {_quote(asked, position)}; "
        f"the nearest recorded one is {_quote(nearest, position)}"
    )


def _differences(request: ModelRequest, model: str, settings: Mapping[str, Any]) -> list[str]:
    """List what tells the recorded settings from those that were asked for."""
    found = [] if model == request.model else [f"model {model} (asked: {request.model})"]
    for name in sorted({*request.settings, *settings}):
        recorded, asked = (
            json.dumps(each[name]) if name in each else "not set" for each in (settings, request.settings)
        )
        if recorded != asked:
            shown = (text if len(text) <= _WINDOW else text[:_WINDOW] + "…" for text in (recorded, asked))
            found.append("{} {} (asked: {})".format(name, *shown))
    return found


def _flat(messages: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f"{role}: {text}" for role, text in messages)


def _overlap(a: str, b: str) -> int:
    """Count what two prompts share at both ends: those of one template differ in the middle or at the end."""
    start = shared_start(a, b)
    rest = min(len(a), len(b)) - start
    return start + shared_start(a[::-1][:rest], b[::-1][:rest])


def _quote(text: str, position: int) -> str:
    """Quote the part of `text` around the place where two prompts part."""
    start = max(0, min(position - _WINDOW // 2, len(text) - 2 * _WINDOW))
    part = " ".join(text[start : start + 2 * _WINDOW].split())
    return f"“{'…' if start else ''}{part}{'…' if start + 2 * _WINDOW < len(text) else ''}”"
