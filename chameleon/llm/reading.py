"""Read the reply of any LangChain chat model: its text, why it stopped, what it consumed."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from chameleon.budget import Usage
from chameleon.errors import EmptyReply, ModelError, Refused
from chameleon.llm.prices import Pricing, Tokens

# Providers' words for the same ends.
_FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "stop",
    "tool_calls": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "completed": "stop",
    "complete": "stop",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "refusal": "content_filter",
    "safety": "content_filter",
    "recitation": "content_filter",
    "blocklist": "content_filter",
    "prohibited_content": "content_filter",
    "spii": "content_filter",
    "content_filtered": "content_filter",
    "guardrail_intervened": "content_filter",
}
LONGEST_REPLY = 1_000_000  # characters, thoughts among them
FINISHES = frozenset({"", "stop", "length", "content_filter"})
_FINISH_KEYS = ("finish_reason", "stop_reason", "done_reason", "stopReason")


@dataclass(frozen=True, slots=True)
class Reading:
    """What one provider reply says."""

    text: str
    finish: str
    usage: Usage
    refusal: str = ""
    logprob: float | None = None

    @property
    def is_cut_off(self) -> bool:
        """Whether the reply hit its limit."""
        return self.finish == "length"

    def fault(self, model: str) -> ModelError | None:
        """The error that this reply amounts to, if it is of no use."""
        if self.refusal or self.finish == "content_filter":
            return Refused(f"{model} refused to answer: {self.refusal or 'its content filter stepped in'}")
        if self.text.strip():
            return None
        hint = "Raise max_tokens: the thinking used them up." if self.is_cut_off else ""
        return EmptyReply(
            f"{model} gave an empty reply (finish reason: {self.finish or 'unknown'})", hint=hint
        )


def read_message(message: Any, pricing: Pricing | None = None, cut_at: Sequence[str] = ()) -> Reading:
    """Read an `AIMessage`; unknown token counts and costs stay None.

    The text ends before the first of `cut_at`, which then is why it stopped. A reply longer than
    `LONGEST_REPLY` counts as cut off there.
    """
    metadata: Mapping[str, Any] = message.response_metadata or {}
    said = _text(message)
    whole = _without_thoughts(said[:LONGEST_REPLY])
    text = whole[: _end(whole, cut_at)]
    refusal = message.additional_kwargs.get("refusal")
    is_cut = len(text) < len(whole)
    return Reading(
        text=text,
        finish="stop" if is_cut else "length" if len(said) > LONGEST_REPLY else _finish(metadata),
        usage=_usage(message.usage_metadata or {}, metadata, bool(whole), pricing),
        refusal=" ".join(refusal.split()) if isinstance(refusal, str) else "",
        logprob=_mean_logprob(metadata.get("logprobs"), len(text) if is_cut else None),
    )


def _end(text: str, cut_at: Sequence[str]) -> int:
    """Where the first of these texts begins, else the end. White space at the start ends no reply."""
    begun = len(text) - len(text.lstrip())
    places = [place for stop in cut_at if stop and (place := text.find(stop, begun)) >= 0]
    return min(places, default=len(text))


def _mean_logprob(given: Any, length: int | None) -> float | None:
    """The mean log-probability of the reply's tokens, where the server was asked for it and tells.

    Of a reply that is cut, the tokens that begin within the first `length` characters count.
    """
    tokens = given.get("content") if isinstance(given, Mapping) else None
    if not isinstance(tokens, list) or not tokens:
        return None
    if length is not None:
        ends = accumulate(len(str(token.get("token", ""))) for token in tokens if isinstance(token, Mapping))
        tokens = tokens[: sum(end <= length for end in ends) or 1]
    found: list[Any] = [token.get("logprob") if isinstance(token, Mapping) else None for token in tokens]
    if not all(isinstance(each, (int, float)) and math.isfinite(each) for each in found):
        return None
    return math.fsum(found) / len(found)


def _text(message: Any) -> str:
    content = message.content
    if isinstance(content, str) and content:
        return content
    parts = [content] if isinstance(content, str) else [_block_text(block) for block in content]
    text = "".join(parts)
    if text or not message.tool_calls:
        return text
    return "\n".join(json.dumps(call["args"], ensure_ascii=False) for call in message.tool_calls)


def _block_text(block: Any) -> str:
    if isinstance(block, str):
        return block
    if isinstance(block, Mapping) and block.get("type") in ("text", "output_text"):
        return str(block.get("text") or "")
    return ""


def _without_thoughts(text: str) -> str:
    """The reply without the thoughts at its beginning, which may be open at either end.

    Servers without a reasoning parser leave them in the text; some templates open them in the prompt.
    """
    begun = text.lstrip()
    thoughts, closed, rest = begun.removeprefix("<think>").partition("</think>")
    if closed:
        return text if "<think>" in thoughts else rest.lstrip()
    return "" if begun.startswith("<think>") else text


def _finish(metadata: Mapping[str, Any]) -> str:
    details = metadata.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    for key in _FINISH_KEYS:
        reason = reason or metadata.get(key)
    if not reason and metadata.get("status") in ("completed", "incomplete"):
        reason = metadata["status"]
    word = str(getattr(reason, "name", reason) or "").lower()
    return _FINISH.get(word, word)


def _usage(
    counted: Mapping[str, Any], metadata: Mapping[str, Any], has_text: bool, pricing: Pricing | None
) -> Usage:
    reported = metadata.get("token_usage")
    raw: dict[str, Any] = reported if isinstance(reported, dict) else {}
    tokens = _tokens(counted, has_text)
    cost = _amount(raw.get("cost"))
    if cost is None:
        cost = _amount(metadata.get("cost"))
    if cost is None and pricing is not None:
        cost = pricing.cost(tokens)
    return Usage(1, tokens.input, tokens.output, cost, tokens.cached, tokens.reasoning)


def _tokens(counted: Mapping[str, Any], has_text: bool) -> Tokens:
    # Clients write 0 where the server said nothing; no prompt has 0 tokens.
    tokens_in: int | None = counted.get("input_tokens") or None
    tokens_out: int | None = counted.get("output_tokens")
    if not tokens_out and (has_text or tokens_in is None):
        tokens_out = None
    of_input = counted.get("input_token_details") or {}
    of_output = counted.get("output_token_details") or {}
    return Tokens(
        tokens_in, tokens_out, of_input.get("cache_read"), _written(of_input), of_output.get("reasoning")
    )


def _written(of_input: Mapping[str, Any]) -> int | None:
    """Tokens written to the provider's cache; Anthropic's client tells them by how long they are kept."""
    kept = [of_input.get(name) for name in ("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens")]
    return sum(filter(None, kept)) or of_input.get("cache_creation")


def _amount(value: Any) -> float | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < math.inf:
        return float(value)
    return None
