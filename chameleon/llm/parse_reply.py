"""Parse the reply of any LangChain chat model: its text, why it stopped, what it consumed."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from chameleon.errors import EmptyReply, ModelError, Refused
from chameleon.llm.message import Reply, encodable
from chameleon.llm.parse_calls import blocks_in, calls_in
from chameleon.llm.prices import Pricing, TokenCounts
from chameleon.llm.thoughts import spoken
from chameleon.text import mask_known, one_line, redact
from chameleon.usage import Usage, is_amount

LONGEST_REPLY = 1_000_000  # characters, thoughts among them

# Providers' words for the same ends.
_FINISH = {
    **dict.fromkeys(("end_turn", "stop_sequence", "tool_use", "tool_calls", "eos", "eos_token"), "stop"),
    **dict.fromkeys(
        ("completed", "complete", "end", "done", "finished", "succeeded", "function_call", "tool_call"),
        "stop",
    ),
    **dict.fromkeys(("end_of_turn", "stop_token", "stop_str", "endoftext", "end_of_text"), "stop"),
    **dict.fromkeys(("null", "none", "unknown", "finish_reason_unspecified", "incomplete"), ""),
    **dict.fromkeys(("max_tokens", "max_output_tokens", "model_length", "limit", "max_length"), "length"),
    "model_context_window_exceeded": "length",
    **dict.fromkeys(("refusal", "safety", "recitation", "blocklist", "spii"), "content_filter"),
    **dict.fromkeys(("prohibited_content", "content_filtered", "guardrail_intervened"), "content_filter"),
}
_GOOD_ENDS = ("", "stop", "length")
_FINISH_KEYS = ("finish_reason", "stop_reason", "done_reason", "stopReason")


def parse_reply(
    message: Any,
    pricing: Pricing,
    *,
    cut_at: Sequence[str] = (),
    dropped: Mapping[str, str] | None = None,
    secrets: Sequence[str] = (),
    has_tools: bool = False,
) -> Reply:
    """Parse an `AIMessage`; a reply that is of no use has an `error`.

    Token counts and costs that are not known stay None. A reply longer than `LONGEST_REPLY` counts as cut off
    there, and so does one whose calls of tools are.

    Args:
        cut_at: stop texts; the reply ends before the first of them, which then is why it stopped.
        secrets: what a server may echo, to be taken out of all that it says.
        has_tools: whether it was given tools: else arguments of a call are its text, where it has no other.
    """

    def clean(text: str) -> str:
        return mask_known(encodable(text), secrets)

    metadata: Mapping[str, Any] = message.response_metadata or {}
    said = text_of(message, or_arguments=not has_tools)
    calls, has_calls = calls_in(message, clean, LONGEST_REPLY) if has_tools else ((), True)
    blocks, has_blocks = blocks_in(message, clean, LONGEST_REPLY) if calls else ((), True)
    whole = spoken(said[:LONGEST_REPLY])
    begun = len(whole) - len(whole.lstrip())  # white space at the start ends no reply
    places = [place for stop in cut_at if stop and (place := whole.find(stop, begun)) >= 0]
    text = whole[: min(places, default=len(whole))]
    is_cut = len(text) < len(whole)
    is_long = not has_calls or not has_blocks or (len(said) > LONGEST_REPLY and not is_cut)
    finish = "length" if is_long else "stop" if is_cut else _finish(metadata)
    if finish not in ("", "stop", "length", "content_filter"):
        finish = one_line(redact(finish, also=secrets), 40)
    text = mask_known(text, secrets)
    refusal = message.additional_kwargs.get("refusal")
    why = one_line(redact(" ".join(refusal.split()), also=secrets)) if isinstance(refusal, str) else ""
    return Reply(
        text,
        finish,
        _usage(message.usage_metadata or {}, metadata, bool(whole or calls), pricing),
        model=pricing.model,
        logprob=_mean_logprob(metadata.get("logprobs"), len(text) if is_cut else None),
        dropped=dropped or {},
        error=fault(
            pricing.model,
            text or " ".join(call.name for call in calls),
            finish,
            why,
            has_thought=bool(said.strip()) and not whole.strip(),
        ),
        tool_calls=calls,
        blocks=blocks,
    )


def fault(
    model: str, text: str, finish: str, refusal: str = "", *, has_thought: bool = False
) -> ModelError | None:
    """Return the error that a reply amounts to, if it is of no use; `has_thought`: it is thoughts alone."""
    if refusal or finish == "content_filter":
        return Refused(f"{model} refused to answer: {refusal or 'its content filter stepped in'}")
    if finish not in _GOOD_ENDS:
        return EmptyReply(f"{model} did not end its reply by itself (finish reason: {finish})")
    if text.strip():
        return None
    hint = "Raise max_tokens: the thinking used them up." if finish == "length" else ""
    if has_thought and not hint:
        hint = "Give its thoughts an end: raise max_tokens, or ask without (reasoning: none)."
        return EmptyReply(f"{model} wrote thoughts and no answer", hint=hint)
    return EmptyReply(f"{model} gave an empty reply (finish reason: {finish or 'unknown'})", hint=hint)


def _mean_logprob(given: Any, length: int | None) -> float | None:
    """Return the mean log-probability of tokens that begin in the first `length` characters, if told."""
    tokens = given.get("content") if isinstance(given, Mapping) else None
    if not isinstance(tokens, list) or not tokens:
        return None
    if length is not None:
        ends = accumulate(len(str(token.get("token", ""))) for token in tokens if isinstance(token, Mapping))
        tokens = tokens[: sum(end <= length for end in ends) or 1]
    found: list[Any] = [token.get("logprob") if isinstance(token, Mapping) else None for token in tokens]
    if not all(map(is_amount, found)):
        return None
    return math.fsum(found) / len(found)


def text_of(message: Any, *, or_arguments: bool = True) -> str:
    """Return the text of a message's blocks; where there is none, perhaps the arguments of its tool calls."""
    content = message.content
    texts = []
    for block in [content] if isinstance(content, str) else content:
        if isinstance(block, str):
            texts.append(block)
        elif isinstance(block, Mapping) and block.get("type") in ("text", "output_text"):
            texts.append(str(block.get("text") or ""))
    if any(texts) or not or_arguments:
        return "".join(texts)
    args = (call["args"] for call in message.tool_calls)
    return "\n".join(each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in args)


def _finish(metadata: Mapping[str, Any]) -> str:
    """Return why the reply stopped, in the words that all providers share."""
    details = metadata.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    for key in _FINISH_KEYS:
        reason = reason or metadata.get(key)
    if not reason and metadata.get("status") in ("completed", "incomplete"):
        reason = metadata["status"]
    word = str(getattr(reason, "name", reason) or "").lower()
    return _FINISH.get(word, word)


def _usage(
    counted: Mapping[str, Any], metadata: Mapping[str, Any], has_text: bool, pricing: Pricing
) -> Usage:
    """Return the tokens that LangChain counted, and the cost: the provider's figure, else by the prices."""
    # Clients write 0 where the server said nothing; no prompt has 0 tokens.
    tokens_in: int | None = counted.get("input_tokens") or None
    tokens_out: int | None = counted.get("output_tokens")
    if not tokens_out and (has_text or tokens_in is None):
        tokens_out = None
    of_input = counted.get("input_token_details") or {}
    of_output = counted.get("output_token_details") or {}
    # Anthropic's client tells what was written to its cache by how long it is kept.
    kept = [of_input.get(name) for name in ("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens")]
    written = sum(filter(None, kept)) or of_input.get("cache_creation")
    tokens = TokenCounts(
        tokens_in, tokens_out, of_input.get("cache_read"), written, of_output.get("reasoning")
    )
    reported = metadata.get("token_usage")
    costs = (reported.get("cost") if isinstance(reported, dict) else None, metadata.get("cost"))
    told = next((each for each in costs if is_amount(each) and each >= 0), None)
    cost = pricing.cost(tokens) if told is None else float(told)
    return Usage(1, tokens.input, tokens.output, cost, tokens.cached, tokens.reasoning)
