"""What is told of a reply while it comes adds up to the reply, whatever pieces it comes in."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.llm.parse_reply import parse_reply
from chameleon.llm.prices import Pricing
from chameleon.llm.reply_stream import ReplyStream
from chameleon.text import MASK

SECRET = "sk-0123456789abcdef"
PARTS = ["<think>", "</think>", "<", "think", "END", "EN", "D", " ", "\n\n", "so", SECRET, SECRET[:9]]
PIECES = st.lists(st.sampled_from(PARTS) | st.text("ab<E \n", max_size=4), max_size=12)


def told(pieces: list[str], end: str, stops: tuple[str, ...] = ()) -> list[str | None]:
    heard: list[str | None] = []
    stream = ReplyStream(heard.append, stops, [SECRET])
    for piece in pieces:
        stream.piece(piece)
    stream.end(end)
    return heard


def since_last(heard: list[str | None]) -> str:
    begun = max((place + 1 for place, piece in enumerate(heard) if piece is None), default=0)
    return "".join(map(str, heard[begun:]))


@given(PIECES, st.sampled_from([(), ("END",), ("\n\n", "END"), (" ",)]))
def test_the_pieces_add_up_to_the_reply(pieces: list[str], stops: tuple[str, ...]) -> None:
    rest = {"response_metadata": {"finish_reason": "stop"}, "usage_metadata": None, "additional_kwargs": {}}
    message = SimpleNamespace(content="".join(pieces), tool_calls=(), **rest)
    reply = parse_reply(message, Pricing("openai:m"), stops=stops, secrets=[SECRET])
    heard = told(pieces, reply.text, stops)
    assert since_last(heard) == reply.text
    assert SECRET not in "".join(map(str, heard))


@given(st.lists(st.text("ab c", min_size=1, max_size=3), max_size=8))
def test_a_plain_reply_is_told_once(pieces: list[str]) -> None:
    assert None not in told(pieces, "".join(pieces))


@pytest.mark.parametrize(
    ("pieces", "end", "heard"),
    [
        (["<thi", "nk>a", "</think> b", "c"], "bc", "b|c"),
        (["one E", "ND two"], "one ", "one| "),
        (["thoughts", "</think>", "so"], "so", "thoughts|None|so"),
        (["Well: <think>", "a", "</think> b"], "Well:  b", "Well: | b"),
        (["Sure. <tho", "ught>a</thought> b", "c"], "Sure.  bc", "Sure. | bc"),
        (["[THINK]a", "[/THINK]b"], "b", "b"),
        (["b<|im", "_end|>x"], "b", "b"),
    ],
)
def test_what_may_become_another_thing_is_held_back(pieces: list[str], end: str, heard: str) -> None:
    made: list[str | None] = []
    stream = ReplyStream(made.append, ["END"] if "END" in "".join(pieces) else [])
    for piece in pieces:
        stream.piece(piece)
    stream.end(end)
    assert "|".join(map(str, made)) == heard


def test_a_secret_is_masked_in_pieces() -> None:
    heard = told(["see ", SECRET[:5], SECRET[5:], " ok"], f"see {MASK} ok")
    assert "".join(map(str, heard)) == f"see {MASK} ok"


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
