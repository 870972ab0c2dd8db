"""Read replies of OpenAI's chat completions and compatible servers, either whole or from a stream."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

Json = dict[str, Any]
OF_CALLS = "extra_content"
"""Extra data in a tool call beyond OpenAI's fields (Gemini's signatures), which the server wants back."""
THOUGHTS = ("reasoning_content", "reasoning", "reasoning_details")
"""Servers' names for the thoughts that they show and want back."""
_MAX_QUOTED_CHARS = 100


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A reply with the fields of LangChain's `AIMessage` that we read."""

    content: Any
    response_metadata: Json
    usage_metadata: Json
    additional_kwargs: Json = field(default_factory=dict)
    tool_calls: Sequence[Json] = ()


class StatusError(Exception):
    """The server replied with an HTTP error status; `failures.py` reads its `response`."""

    def __init__(self, status_code: int, text: str, headers: Mapping[str, str]) -> None:
        super().__init__(f"the server replied with {status_code}: {text[:_MAX_QUOTED_CHARS]}")
        self.response = SimpleNamespace(status_code=status_code, text=text, headers=headers)


class StreamedReply:
    """One reply, put together from the events of its stream."""

    def __init__(self) -> None:
        self.has_ended = False  # a piece has given the finish reason
        self._whole, self._choice = Json(), Json()
        self._texts: dict[str, list[str]] = defaultdict(list)
        self._lists: dict[str, list[Any]] = defaultdict(list)
        self._calls: list[Json] = []
        self._places: dict[Any, int] = {}  # positions of the calls, by their index

    def add(self, event: Any) -> str:
        """Add an event and return its text. Raises `StatusError` for an error in it, or `ValueError`."""
        _raise_error_in(event)
        choices = event.pop("choices", None) or []
        self._whole |= {key: value for key, value in event.items() if value is not None}
        return "".join(map(self._add_choice, choices if isinstance(choices, list) else [None]))

    def whole(self) -> Json:
        """Return the reply as if it had come in one piece."""
        texts = {name: "".join(pieces) for name, pieces in self._texts.items()}
        message = {"content": "", "refusal": None, "tool_calls": self._calls, **texts, **self._lists}
        return {**self._whole, "choices": [{**self._choice, "message": message}]}

    def _add_choice(self, choice: Any) -> str:
        delta = choice.get("delta") or {} if isinstance(choice, dict) else None
        if not isinstance(delta, dict):
            raise _unreadable("a piece of the reply cannot be read", choice)
        if choice.get("finish_reason"):
            self._choice["finish_reason"] = choice["finish_reason"]
            self.has_ended = True
        of_tokens = choice.get("logprobs")
        if isinstance(of_tokens, dict) and isinstance(logprobs := of_tokens.get("content"), list):
            self._choice.setdefault("logprobs", {"content": []})["content"] += logprobs
        for name in ("content", "refusal", *THOUGHTS):
            if isinstance(piece := delta.get(name), str):
                self._texts[name].append(piece)
            elif isinstance(piece, list) and name in THOUGHTS:  # reasoning_details
                self._lists[name] += piece
        for call in _calls_of(delta.get("tool_calls")):
            self._add_call(call)
        return piece if isinstance(piece := delta.get("content"), str) else ""

    def _add_call(self, piece: Json) -> None:
        index, id = piece.get("index"), piece.get("id") or ""
        place = self._places.get(index)
        if place is None or (id and self._calls[place]["id"] not in ("", id)):
            # A new call: some servers give all of them the same index.
            place = self._places[index] = len(self._calls)
            self._calls.append({"id": "", "function": {"name": "", "arguments": ""}})
        call, function = self._calls[place], piece.get("function") or {}
        call["id"] = call["id"] or id
        if OF_CALLS in piece:
            call[OF_CALLS] = piece[OF_CALLS]
        for name in ("name", "arguments"):
            if isinstance(text := function.get(name), str):
                call["function"][name] += text


def messages_in(data: Any) -> list[ChatMessage]:
    """Read the samples of a reply. Raises `ValueError` if it is not a reply, `StatusError` for an error."""
    _raise_error_in(data)
    choices = data.get("choices")
    if (
        not isinstance(choices, list)
        or not choices
        or not all(isinstance(each, dict) and isinstance(each.get("message"), dict) for each in choices)
    ):
        raise _unreadable("the reply has no choices", data)
    usage = data.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    thinking = _count(usage.get("completion_tokens_details"), "reasoning_tokens")
    counted = {
        "input_tokens": _count(usage, "prompt_tokens"),
        "output_tokens": _count(usage, "completion_tokens"),
        "input_token_details": {"cache_read": _count(usage.get("prompt_tokens_details"), "cached_tokens")},
        "output_token_details": {"reasoning": thinking},
    }
    return [_message(choice, usage, counted) for choice in choices]


def _message(choice: Json, usage: Json, counted: Json) -> ChatMessage:
    message = choice["message"]
    if not isinstance(content := message.get("content") or "", (str, list)):
        raise _unreadable("the reply has no text", choice)
    metadata = {"finish_reason": choice.get("finish_reason"), "logprobs": choice.get("logprobs")}
    calls = _calls_of(message.get("tool_calls"))
    further = {name: message[name] for name in ("refusal", *THOUGHTS) if message.get(name)}
    if of_calls := {str(each.get("id")): {OF_CALLS: each[OF_CALLS]} for each in calls if each.get(OF_CALLS)}:
        further[OF_CALLS] = of_calls
    functions = [(each.get("id"), each.get("function") or {}) for each in calls]
    tools = [{"name": each.get("name"), "args": each.get("arguments"), "id": id} for id, each in functions]
    return ChatMessage(content, {**metadata, "token_usage": usage}, counted, further, tools)


def _calls_of(calls: Any) -> list[Json]:
    """Return the tool calls in a message. Raises `ValueError` for anything else."""
    calls = calls or []
    if not isinstance(calls, list) or not all(
        isinstance(each, dict) and isinstance(each.get("function") or {}, dict) for each in calls
    ):
        raise _unreadable("the tool calls cannot be read", calls)
    return calls


def _count(counts: Any, name: str) -> int | None:
    number = counts.get(name) if isinstance(counts, dict) else None
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def _raise_error_in(data: Any) -> None:
    """Raise a `StatusError` for an error in a reply, with its status if given (OpenRouter's `code`)."""
    if not isinstance(data, dict):
        raise _unreadable("the reply has no choices", data)
    if error := data.get("error"):
        code = error.get("code") if isinstance(error, dict) else None
        status = code if isinstance(code, int) and 400 <= code < 600 else 400
        raise StatusError(status, json.dumps(data), {})


def _unreadable(what: str, data: Any) -> json.JSONDecodeError:
    return json.JSONDecodeError(what, str(data)[:_MAX_QUOTED_CHARS], 0)
