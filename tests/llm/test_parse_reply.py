"""How replies of all kinds are read."""

from __future__ import annotations

from langchain_core.messages import AIMessage

from chameleon.llm.parse_reply import LONGEST_REPLY, parse_reply
from chameleon.llm.prices import Pricing


def test_a_reply_has_a_bound() -> None:
    for text, finish in [("a" * LONGEST_REPLY, "stop"), ("a" * (LONGEST_REPLY + 1), "length")]:
        message = AIMessage(text, response_metadata={"finish_reason": "stop"})
        found = parse_reply(message, Pricing("m"))
        assert (len(found.text), found.finish) == (LONGEST_REPLY, finish)
    cut = AIMessage("a\n" + "b" * LONGEST_REPLY)
    assert parse_reply(cut, Pricing("m"), cut_at=["\n"]).finish == "stop"
