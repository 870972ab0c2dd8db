"""A reply of a model in a loop has a bound."""

from __future__ import annotations

from langchain_core.messages import AIMessage

from chameleon.llm import reading


def test_a_reply_has_a_bound() -> None:
    longest, read_message = reading.LONGEST_REPLY, reading.read_message

    def length_and_finish(text: str, **metadata: str) -> tuple[int, str]:
        found = read_message(AIMessage(text, response_metadata={"finish_reason": "stop", **metadata}))
        return len(found.text), found.finish

    assert length_and_finish("a" * longest) == (longest, "stop")
    assert length_and_finish("a" * (longest + 1)) == (longest, "length")
    assert read_message(AIMessage("a\n" + "b" * longest), cut_at=["\n"]).finish == "stop"
