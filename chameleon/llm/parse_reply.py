"""Parse a reply of any LangChain chat model: text, tool calls, why it stopped, and its usage."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import accumulate
from typing import Any

from chameleon.errors import EmptyReply, ModelError, Refused
from chameleon.llm.message import Reply, encodable
from chameleon.llm.prices import Pricing
from chameleon.llm.reply_stream import cut_at
from chameleon.llm.thoughts import spoken
from chameleon.llm.tools import ToolCall, each_text
from chameleon.text import mask_known, one_line, redact
from chameleon.usage import Usage, is_amount

MAX_REPLY_CHARS = 1_000_000  # thoughts included

# Providers' names for the same finish reasons.
_ENDS: Mapping[str, str] = {
    "stop": "end_turn stop_sequence tool_use tool_calls tool_call function_call eos eos_token completed"
    " complete end done finished succeeded end_of_turn stop_token stop_str endoftext end_of_text",
    "": "null none unknown finish_reason_unspecified incomplete",
    "length": "max_tokens max_output_tokens model_length limit max_length model_context_window_exceeded",
    "content_filter": "refusal safety recitation blocklist spii prohibited_content content_filtered"
    " guardrail_intervened",
}
_FINISH = {word: end for end, words in _ENDS.items() for word in words.split()}
_GOOD_ENDS = ("", "stop", "length")
_REST = "additional_kwargs"
_NO_REST = frozenset({"refusal", "function_call", "tool_calls"})  # kept elsewhere in a message
_PLAIN_TYPES = frozenset({"text", "output_text", "tool_use", "function_call"})  # blocks that are rebuilt
_FINISH_KEYS = ("finish_reason", "stop_reason", "done_reason", "stopReason")

Clean = Callable[[str], str]


def parse_reply(
    message: Any,
    pricing: Pricing,
    *,
    stops: Sequence[str] = (),
    dropped: Mapping[str, str] | None = None,
    secrets: Sequence[str] = (),
    has_tools: bool = False,
) -> Reply:
    """Parse an `AIMessage`; an unusable reply has an `error`.

    Unknown token counts and costs stay None. A reply longer than `MAX_REPLY_CHARS` counts as cut off there;
    longer calls are left out, with the thoughts that go back with them.

    Args:
        stops: texts that end a reply; the reply ends before the first of them, with `finish` "stop".
        secrets: texts that a server may echo, to remove from everything it sends.
        has_tools: whether the request had tools; if not, a reply without text is the arguments of its calls.
    """

    def clean(text: str) -> str:
        return mask_known(encodable(text), secrets)

    metadata: Mapping[str, Any] = message.response_metadata or {}
    content = text_of(message)
    if not (content or has_tools):
        content = "\n".join(json.dumps(call["args"], ensure_ascii=False) for call in message.tool_calls)
    calls = calls_in(message, clean) if has_tools else ()
    blocks = blocks_in(message, clean) if calls else ()
    if has_long := len(json.dumps([[call.to_json() for call in calls], blocks])) > MAX_REPLY_CHARS:
        calls, blocks = (), ()
    answer = spoken(content[:MAX_REPLY_CHARS])
    text, is_cut = cut_at(answer, stops)
    # The tokens include thoughts, so search for the text with the character that follows it.
    length = max(0, content.find(answer[: len(text) + 1])) + len(text) if is_cut else None
    text = mask_known(text, secrets)
    is_long = has_long or (len(content) > MAX_REPLY_CHARS and not is_cut)
    finish = "length" if is_long else "stop" if is_cut else _finish(metadata)
    if finish not in ("", "stop", "length", "content_filter"):
        finish = one_line(redact(finish, also=secrets), 40)
    refusal = message.additional_kwargs.get("refusal")
    why = one_line(redact(" ".join(refusal.split()), also=secrets)) if isinstance(refusal, str) else ""
    has_thought = bool(content.strip()) and not answer.strip()
    anything = text or " ".join(call.name for call in calls)
    return Reply(
        text,
        finish,
        _usage(message.usage_metadata or {}, metadata, bool(answer or calls), pricing),
        model=pricing.model,
        logprob=_mean_logprob(metadata.get("logprobs"), length),
        dropped=dropped or {},
        error=fault(pricing.model, anything, finish, why, has_thought=has_thought),
        tool_calls=calls,
        blocks=blocks,
    )


def fault(
    model: str, text: str, finish: str, refusal: str = "", *, has_thought: bool = False
) -> ModelError | None:
    """Return the error of an unusable reply, or None; `has_thought`: the reply is only thoughts."""
    if refusal or finish == "content_filter":
        return Refused(f"{model} refused to answer: {refusal or 'its content filter stepped in'}")
    if finish not in _GOOD_ENDS:
        return EmptyReply(f"{model} did not finish its reply (finish reason: {finish})")
    if text.strip():
        return None
    hint = "Raise max_tokens: thinking used them up." if finish == "length" else ""
    if has_thought and not hint:
        hint = "Let it finish thinking: raise max_tokens, or turn thinking off (reasoning: none)."
        return EmptyReply(f"{model} wrote thoughts but no answer", hint=hint)
    return EmptyReply(f"{model} gave an empty reply (finish reason: {finish or 'unknown'})", hint=hint)


def _mean_logprob(data: Any, length: int | None) -> float | None:
    """Return the mean log-probability of the tokens in the first `length` characters, if known."""
    tokens = data.get("content") if isinstance(data, Mapping) else None
    if not isinstance(tokens, list) or not tokens:
        return None
    if length is not None:
        ends = accumulate(len(str(token.get("token", ""))) for token in tokens if isinstance(token, Mapping))
        tokens = tokens[: sum(end <= length for end in ends) or 1]
    logprobs: list[Any] = [token.get("logprob") if isinstance(token, Mapping) else None for token in tokens]
    if not all(map(is_amount, logprobs)):
        return None
    return math.fsum(logprobs) / len(logprobs)


def text_of(message: Any) -> str:
    """Return the text of a message's blocks."""
    content = message.content
    texts = []
    for block in [content] if isinstance(content, str) else content:
        if isinstance(block, str):
            texts.append(block)
        elif isinstance(block, Mapping) and block.get("type") in ("text", "output_text"):
            texts.append(str(block.get("text") or ""))
    return "".join(texts)


def _finish(metadata: Mapping[str, Any]) -> str:
    """Return why the reply stopped, in terms common to all providers."""
    details = metadata.get("incomplete_details")  # of OpenAI's Responses API, as `status` is
    reason = details.get("reason") if isinstance(details, dict) else None
    for key in _FINISH_KEYS:
        reason = reason or metadata.get(key)
    if not reason and metadata.get("status") in ("completed", "incomplete"):
        reason = metadata["status"]
    word = str(getattr(reason, "name", reason) or "").lower()
    return _FINISH.get(word, word)


def _usage(counted: Mapping[str, Any], metadata: Mapping[str, Any], has_text: bool, prices: Pricing) -> Usage:
    """Return the tokens that LangChain counted, and the cost: the provider's figure, else from the prices."""
    # Clients write 0 if the server reported nothing; no prompt has 0 tokens.
    tokens_in: int | None = counted.get("input_tokens") or None
    tokens_out: int | None = counted.get("output_tokens")
    if not tokens_out and (has_text or tokens_in is None):
        tokens_out = None
    of_input = counted.get("input_token_details") or {}
    of_output = counted.get("output_token_details") or {}
    # Anthropic's client counts tokens written to its cache by how long they are kept.
    counts = [of_input.get(name) for name in ("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens")]
    cache_writes = sum(filter(None, counts)) or of_input.get("cache_creation")
    usage = Usage(1, tokens_in, tokens_out, None, of_input.get("cache_read"), of_output.get("reasoning"))
    reported = metadata.get("token_usage")
    costs = (reported.get("cost") if isinstance(reported, dict) else None, metadata.get("cost"))
    cost = next((float(each) for each in costs if is_amount(each) and each >= 0), None)
    return replace(usage, cost=prices.cost(usage, cache_writes) if cost is None else cost)


def calls_in(message: Any, clean: Clean) -> tuple[ToolCall, ...]:
    """Return a message's calls, with each text cleaned."""
    calls: dict[str, ToolCall] = {}
    invalid = getattr(message, "invalid_tool_calls", ())
    for number, call in enumerate([*message.tool_calls, *invalid]):
        args, why = _arguments_of(call.get("args"), clean)
        if not why and number >= len(message.tool_calls) > 0:  # LangChain lists invalid calls last
            why = "it has no arguments and no index among the calls"
        name = clean(str(call.get("name") or ""))
        # Some servers send no id, or the same one for all.
        id = clean(str(call.get("id") or ""))
        id = id if id and id not in calls else f"call_{len(calls) + 1}"
        calls[id] = ToolCall(name, args, id, why)
    return tuple(calls.values())


def _arguments_of(arguments: Any, clean: Clean) -> tuple[Mapping[str, Any], str]:
    """Return the arguments of a call, and what is wrong with them; an empty text means no arguments."""
    try:
        is_none = arguments is None or (isinstance(arguments, str) and not arguments.strip())
        args = {} if is_none else json.loads(arguments) if isinstance(arguments, str) else arguments
        if isinstance(args, Mapping):
            return each_text(args, clean), ""
        why = "they are not an object"
    except RecursionError:
        why = "they are nested too deeply"
    except ValueError as error:
        why = str(error)
    text = arguments if isinstance(arguments, str) else f"{arguments!r:.1000}"
    return {}, clean(f"its arguments are not a JSON object ({why}): {one_line(text, 200)}")


def blocks_in(message: Any, clean: Clean) -> tuple[Mapping[str, Any], ...]:
    """Return the data that a provider wants back with calls: thoughts and its own fields."""
    content = message.content if isinstance(message.content, list) else []
    blocks = [each for each in content if isinstance(each, Mapping)]
    is_plain = all(each.get("type") in _PLAIN_TYPES and "extras" not in each for each in blocks)
    own = {name: value for name, value in message.additional_kwargs.items() if name not in _NO_REST and value}
    extra = [{"type": _REST, "value": own}] if own else []
    with suppress(ValueError, RecursionError):  # only JSON can be sent back
        return tuple(each_text([*([] if is_plain else blocks), *extra], clean))
    return ()


def from_blocks(blocks: Sequence[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the content and extra fields of a message that `blocks_in` kept."""
    content = each_text(blocks, str)
    fields = [each["value"] for each in content if each.get("type") == _REST]
    return [each for each in content if each.get("type") != _REST], fields[0] if fields else {}
