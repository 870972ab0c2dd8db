"""How replies of all kinds are read, whole and while they come."""

import time
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

from chameleon.errors import EmptyReply, Refused
from chameleon.llm.parse_reply import MAX_REPLY_CHARS, parse_reply
from chameleon.llm.prices import Pricing
from chameleon.llm.reply_stream import ReplyStream
from chameleon.usage import Usage


def read(content: Any, metadata: Any = None, stops: Any = (), **fields: Any) -> Any:
    message = AIMessage(content=content, response_metadata=metadata or {}, **fields)
    return parse_reply(message, Pricing("m"), stops=stops)


def test_a_reply_has_a_bound() -> None:
    tokens = [{"token": "<think>a</think>", "logprob": -9}, {"token": "4 ", "logprob": -1}]
    for end in ("STOP", "STOP</s>", "STOP<think>b</think>"):
        cut = read(f"<think>a</think>4 {end}", {"logprobs": {"content": [*tokens, {"token": end}]}}, ["STOP"])
        assert (cut.text, cut.logprob) == ("4 ", -5), "of all tokens before the stop"
    for length, stops, finish in ((0, (), "stop"), (1, (), "length"), (1, ["a"], "stop")):
        found = read("b" * 9 + "a" * (MAX_REPLY_CHARS - 9 + length), {"finish_reason": "stop"}, stops)
        assert (len(found.text), found.finish) == (9 if stops else MAX_REPLY_CHARS, finish)
    long, thought = {"a": "x" * MAX_REPLY_CHARS}, {"type": "thinking", "thinking": "x" * MAX_REPLY_CHARS}
    for args, number, content in [(long, 1, ""), ({}, 30_000, ""), ({}, 1, [thought])]:
        calls = [{"name": "t", "args": args, "id": str(each)} for each in range(number)]
        found = parse_reply(AIMessage(content, tool_calls=calls), Pricing("m"), has_tools=True)
        assert found.finish == "length" and not found.tool_calls and not found.blocks


def test_blocks_are_joined_without_reasoning_and_a_call_that_was_not_offered_is_its_text() -> None:
    thoughts = [{"type": kind, kind: "hmm"} for kind in ("reasoning", "thinking")]
    said = [{"type": "text", "text": "The answer"}, " is ", {"type": "text", "text": "4"}]
    assert read([*thoughts, *said]).text == "The answer is 4"
    assert read("", tool_calls=[{"name": "t", "args": {"a": "ä"}, "id": "1"}]).text == '{"a": "ä"}'


THOUGHTS = r"""
<think>a\nb</think>\n\n4 => 4;; so it must be 4</think>4 => 4;; \n<think>\n\n</think>\n4 => 4
<think>endless =>;; 4 <think> 5 => 4 <think> 5;; a < b => a < b
Write <think> and </think> as tags => Write <think> and </think> as tags
<THINK>a\nb</THINK>\n4 => 4;; <thinking>a\nb</thinking>\n4 => 4;; <thought>a\nb</thought>\n4 => 4
<reasoning>a\nb</reasoning>\n4 => 4;; [think]a\nb[/think]\n4 => 4;; ◁think▷a\nb◁/think▷\n4 => 4
<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>4 => 4
Sure.\n<think>a</think>4<think>b</think> => 4;; <think>The tag <think> is used.</think>\n4 => 4
4\n<think>endless => 4\n;; <|channel|>analysis<|message|>endless<|end|> =>
4<|im_end|>\n<|im_start|>user\nMore? => 4;; <|im_start|>assistant\n4</s> => 4
"""


def test_thoughts_in_the_text_are_left_out() -> None:
    for row in THOUGHTS.strip().replace("\n", ";; ").split(";; "):
        content, text = (side.replace("\\n", "\n") for side in f"{row} ".split(" =>"))
        assert read(content).text == text[1:].removesuffix(" "), row


ENDS = """
finish_reason STOP stop, finish_reason MAX_TOKENS length, stop_reason max_tokens length
stop_reason end_turn stop, stopReason max_tokens length
done_reason length length, finish_reason SAFETY content_filter
"""


def test_providers_words_for_the_end_are_made_one() -> None:
    for key, word, finish in (row.split() for row in ENDS.strip().replace("\n", ", ").split(", ")):
        assert read("x", {key: word}).finish == finish
    cut = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    assert (read("x", cut).finish, read("x", {}).finish) == ("length", "")
    assert read("x", {"status": "completed", "incomplete_details": None}).finish == "stop"


def test_what_is_of_no_use_is_an_error() -> None:
    cut = ["error", "abort", "insufficient_system_resource", "network_error", "pause_turn"]
    for found, kind in (
        (read("par", {"stop_reason": "refusal"}), Refused),
        (read("", {}, additional_kwargs={"refusal": "no"}), Refused),
        *((read("Nor", {"finish_reason": word}), EmptyReply) for word in cut),  # it did not end by itself
        (read("fine"), type(None)),
        (read("North", {"finish_reason": "null"}), type(None)),
    ):
        assert type(found.error) is kind


@given(st.integers(0, 9), st.integers(0, 9), st.sampled_from(["", "text"]))
def test_unknown_usage_is_never_zero(tokens_in: int, tokens_out: int, text: str) -> None:
    usage = {"input_tokens": tokens_in, "output_tokens": tokens_out, "total_tokens": tokens_in + tokens_out}
    got = read(text, usage_metadata=usage).usage
    assert got.input_tokens == (tokens_in or None)
    assert got.output_tokens != 0 or not text
    assert got.cost is None
    assert read(text).usage == Usage(1, None, None, None, None, None)


SECRET = "sk-0123456789abcdef"
PARTS = ["<think>", "</think>", "<", "think", "END", "EN", "D", " ", "\n\n", "so", SECRET, SECRET[:9]]
PIECES = st.lists(st.sampled_from(PARTS) | st.text("ab<E \n", max_size=4), max_size=12)


def told(pieces: Any, end: str, stops: Any = (), secrets: Any = (SECRET,)) -> list[str | None]:
    heard: list[str | None] = []
    stream = ReplyStream(heard.append, stops, secrets)
    for piece in pieces:
        stream.piece(piece)
    stream.end(end)
    return heard


@given(PIECES, st.sampled_from([(), ("END",), ("\n\n", "END"), (" ",)]))
def test_the_pieces_add_up_to_the_reply(pieces: list[str], stops: tuple[str, ...]) -> None:
    rest = {"response_metadata": {"finish_reason": "stop"}, "usage_metadata": None, "additional_kwargs": {}}
    message = SimpleNamespace(content="".join(pieces), tool_calls=(), **rest)
    reply = parse_reply(message, Pricing("openai:m"), stops=stops, secrets=[SECRET])
    heard = told(pieces, reply.text, stops)
    begun = max((place + 1 for place, piece in enumerate(heard) if piece is None), default=0)
    assert "".join(map(str, heard[begun:])) == reply.text
    assert SECRET not in "".join(map(str, heard))


@given(st.lists(st.text("ab c", min_size=1, max_size=3), max_size=8))
def test_a_plain_reply_is_told_once(pieces: list[str]) -> None:
    assert None not in told(pieces, "".join(pieces))


HELD = {  # the pieces of a reply, and what of it is told at once
    ("<thi", "nk>a", "</think> b", "c"): "b|c",
    ("one E", "ND two"): "one| ",
    ("thoughts", "</think>", "so"): "thoughts|None|so",
    ("Well: <think>", "a", "</think> b"): "Well: | b",
    ("Sure. <tho", "ught>a</thought> b", "c"): "Sure. | bc",
    ("[THINK]a", "[/THINK]b"): "b",
    ("b<|im", "_end|>x"): "b",
}


def test_what_may_become_another_thing_is_held_back() -> None:
    for pieces, heard in HELD.items():
        stops = ("END",) if "END" in "".join(pieces) else ()
        end = heard.rpartition("None|")[2].replace("|", "")
        assert "|".join(map(str, told(pieces, end, stops, ()))) == heard


def test_pieces_of_an_attempt_that_was_given_up_come_too_late() -> None:
    heard: list[str | None] = []
    stream = ReplyStream(heard.append)
    first = stream.begin()
    first("one ")
    second = stream.begin()
    first("late")
    second("two ")
    stream.close()
    second("late")
    assert heard == [None, "one ", None, "two "]


def test_a_long_reply_takes_time_in_proportion() -> None:
    begun, pieces = time.process_time(), ["word "] * 60_000
    assert "".join(map(str, told(pieces, "".join(pieces)))) == "".join(pieces)
    assert time.process_time() - begun < 10
