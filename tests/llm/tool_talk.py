"""What tests of tools share: tools, replies that call them, and how a conversation goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chameleon.llm import Reply
from chameleon.llm.tools import CallingText, ResultText
from tests.hosted_tools import Calls
from tests.loopback import Reply as Answer

WEATHER = {
    "name": "weather",
    "description": "Tell the weather of a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
TOOLS = [WEATHER, {"name": "now", "description": "Tell the time."}]
QUESTION = ("user", "Is it warmer in Rome or in Oslo?")
TWO = Calls([("weather", {"city": "Rome"}), ("weather", {"city": "Oslo"})], "I look both up.")


def in_turn(*replies: str | Calls) -> Callable[..., str | Calls]:
    left = list(replies)
    return lambda asked: left.pop(0)


def continued(reply: Reply, *texts: str, before: Any = (QUESTION,)) -> list[tuple[str, str]]:
    """Return the conversation after a reply that calls tools, with what the tools gave."""
    results = [
        ("tool", ResultText(text, call.id, call.name))
        for call, text in zip(reply.tool_calls, texts, strict=True)
    ]
    return [*before, ("assistant", CallingText(reply.text, reply.tool_calls, reply.blocks)), *results]


def calling(*calls: tuple[str, Any], text: str | None = None, **message: Any) -> Answer:
    """Return a reply of the loopback server that calls tools."""
    told = [
        {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": args}}
        for number, (name, args) in enumerate(calls)
    ]
    return Answer(text, "tool_calls", message={"tool_calls": told, **message})
