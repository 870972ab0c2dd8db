"""How replies of all kinds are read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

from chameleon.errors import EmptyReply, Refused
from chameleon.llm.parse_reply import MAX_REPLY_CHARS, parse_reply
from chameleon.llm.prices import Pricing
from chameleon.usage import Usage


def test_a_reply_has_a_bound() -> None:
    for text, finish in [("a" * MAX_REPLY_CHARS, "stop"), ("a" * (MAX_REPLY_CHARS + 1), "length")]:
        message = AIMessage(text, response_metadata={"finish_reason": "stop"})
        found = parse_reply(message, Pricing("m"))
        assert (len(found.text), found.finish) == (MAX_REPLY_CHARS, finish)
    cut = AIMessage("a\n" + "b" * MAX_REPLY_CHARS)
    assert parse_reply(cut, Pricing("m"), stops=["\n"]).finish == "stop"
    long, thought = {"a": "x" * MAX_REPLY_CHARS}, {"type": "thinking", "thinking": "x" * MAX_REPLY_CHARS}
    for args, number, content in [(long, 1, ""), ({}, 30_000, ""), ({}, 1, [thought])]:
        calls = [{"name": "t", "args": args, "id": str(each)} for each in range(number)]
        found = parse_reply(AIMessage(content, tool_calls=calls), Pricing("m"), has_tools=True)
        assert found.finish == "length" and not found.tool_calls and not found.blocks


def read(content: Any, metadata: dict[str, Any] | None = None, **fields: Any) -> Any:
    return parse_reply(AIMessage(content=content, response_metadata=metadata or {}, **fields), Pricing("m"))


def test_arguments_of_a_call_that_was_not_offered_are_its_text() -> None:
    assert read("", tool_calls=[{"name": "t", "args": {"a": "ä"}, "id": "1"}]).text == '{"a": "ä"}'


def test_blocks_are_joined_and_reasoning_is_left_out() -> None:
    blocks = [
        {"type": "reasoning", "reasoning": "hmm"},
        {"type": "thinking", "thinking": "hmm"},
        {"type": "text", "text": "The answer"},
        " is ",
        {"type": "text", "text": "4"},
    ]
    assert read(blocks).text == "The answer is 4"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<think>a\nb</think>\n\n4", "4"),
        ("so it must be 4</think>4", "4"),
        ("\n<think>\n\n</think>\n4", "4"),
        ("<think>endless", ""),
        ("4 <think> 5", "4 <think> 5"),
        ("Write <think> and </think> as tags", "Write <think> and </think> as tags"),
        ("a < b", "a < b"),
        *((f"<{tag}>a\nb</{tag}>\n4", "4") for tag in ("THINK", "thinking", "thought", "reasoning")),
        *((f"{a}think{b}a\nb{a}/think{b}\n4", "4") for a, b in ("[]", "◁▷")),
        ("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>4", "4"),
        ("Sure.\n<think>a</think>4<think>b</think>", "4"),
        ("<think>The tag <think> is used.</think>\n4", "4"),
        ("4\n<think>endless", "4\n"),
        ("<|channel|>analysis<|message|>endless<|end|>", ""),
        ("4<|im_end|>\n<|im_start|>user\nMore?", "4"),
        ("<|im_start|>assistant\n4</s>", "4"),
    ],
)
def test_thoughts_in_the_text_are_left_out(content: str, text: str) -> None:
    assert read(content).text == text


@pytest.mark.parametrize(
    ("metadata", "finish"),
    [
        ({"finish_reason": "stop"}, "stop"),
        ({"finish_reason": "STOP"}, "stop"),
        ({"finish_reason": "MAX_TOKENS"}, "length"),
        ({"stop_reason": "max_tokens"}, "length"),
        ({"stop_reason": "end_turn"}, "stop"),
        ({"stopReason": "max_tokens"}, "length"),
        ({"done_reason": "length"}, "length"),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "length"),
        ({"status": "completed", "incomplete_details": None}, "stop"),
        ({"finish_reason": "SAFETY"}, "content_filter"),
        ({}, ""),
    ],
)
def test_providers_words_for_the_end_are_made_one(metadata: dict[str, Any], finish: str) -> None:
    assert read("x", metadata).finish == finish


def test_refusals_are_faults() -> None:
    assert isinstance(read("par", {"stop_reason": "refusal"}).error, Refused)
    assert isinstance(read("", {}, additional_kwargs={"refusal": "no"}).error, Refused)
    assert read("fine").error is None


@given(st.integers(0, 9), st.integers(0, 9), st.sampled_from(["", "text"]))
def test_unknown_usage_is_never_zero(tokens_in: int, tokens_out: int, text: str) -> None:
    usage = {"input_tokens": tokens_in, "output_tokens": tokens_out, "total_tokens": tokens_in + tokens_out}
    got = read(text, usage_metadata=usage).usage
    assert got.input_tokens == (tokens_in or None)
    assert got.output_tokens != 0 or not text
    assert got.cost is None
    assert read(text).usage == Usage(1, None, None, None, None, None)


@pytest.mark.parametrize(
    "word", ["error", "abort", "insufficient_system_resource", "network_error", "pause_turn"]
)
def test_a_reply_that_did_not_end_by_itself_is_of_no_use(word: str) -> None:
    found = read("Nor", {"finish_reason": word})
    assert isinstance(found.error, EmptyReply) and word in str(found.error)
    assert read("North", {"finish_reason": "null"}).error is None
