"""Put the pieces of a streamed reply together, as OpenAI's chat completions and servers like it send them."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

Json = dict[str, Any]
OF_CALLS = "extra_content"
"""What a server tells of a call of a tool besides OpenAI's fields (Gemini's signatures), and wants back."""
THOUGHTS = ("reasoning_content", "reasoning", "reasoning_details")
"""What servers call the thoughts that they tell, and want back."""
_LEAST_SAID = 100


class StreamedReply:
    """One reply, piece by piece."""

    def __init__(self) -> None:
        self._choice = Json()
        self._texts: dict[str, list[str]] = defaultdict(list)
        self._lists: dict[str, list[Any]] = defaultdict(list)
        self._calls: list[Json] = []
        self._places: dict[Any, int] = {}  # of the calls, by their index

    @property
    def has_ended(self) -> bool:
        """Tell whether a piece said why the reply ends."""
        return "finish_reason" in self._choice

    def add(self, choice: Any) -> str:
        """Add a piece, and return its text. Raises `ValueError` for what is none."""
        delta = choice.get("delta") or {} if isinstance(choice, dict) else None
        if not isinstance(delta, dict):
            raise json.JSONDecodeError("a piece of the reply is none", str(choice)[:_LEAST_SAID], 0)
        if choice.get("finish_reason"):
            self._choice["finish_reason"] = choice["finish_reason"]
        of_tokens = choice.get("logprobs")
        if isinstance(of_tokens, dict) and isinstance(told := of_tokens.get("content"), list):
            self._choice.setdefault("logprobs", {"content": []})["content"] += told
        for name in ("content", "refusal", *THOUGHTS):
            if isinstance(piece := delta.get(name), str):
                self._texts[name].append(piece)
            elif isinstance(piece, list) and name in THOUGHTS:
                self._lists[name] += piece
        for call in calls_of(delta.get("tool_calls")):
            self._add_call(call)
        return piece if isinstance(piece := delta.get("content"), str) else ""

    def choice(self) -> Json:
        """Return the reply as it would have come in one piece."""
        said = {name: "".join(pieces) for name, pieces in self._texts.items()}
        message = {"content": "", "refusal": None, "tool_calls": self._calls, **said, **self._lists}
        return {**self._choice, "message": message}

    def _add_call(self, piece: Json) -> None:
        index, id = piece.get("index"), piece.get("id") or ""
        place = self._places.get(index)
        if place is None or (id and self._calls[place]["id"] not in ("", id)):
            # A new call: some servers give all of them the same index.
            place = self._places[index] = len(self._calls)
            self._calls.append({"id": "", "function": {"name": "", "arguments": ""}})
        call, told = self._calls[place], piece.get("function") or {}
        call["id"] = call["id"] or id
        if OF_CALLS in piece:
            call[OF_CALLS] = piece[OF_CALLS]
        for name in ("name", "arguments"):
            if isinstance(given := told.get(name), str):
                call["function"][name] += given


def calls_of(told: Any) -> list[Json]:
    """Return the calls of tools in a message. Raises `ValueError` for what is none."""
    calls = told or []
    if not isinstance(calls, list) or not all(
        isinstance(each, dict) and isinstance(each.get("function") or {}, dict) for each in calls
    ):
        raise json.JSONDecodeError("the calls of tools are none", str(told)[:_LEAST_SAID], 0)
    return calls
