"""Write messages as clients take them: those of LangChain, and OpenAI's JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from chameleon.llm.message import MultimodalText
from chameleon.llm.openai_stream import OF_CALLS
from chameleon.llm.parse_calls import from_blocks
from chameleon.llm.tools import CallingText, ResultText, wire_name

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage


def for_langchain(role: str, text: str) -> BaseMessage:
    """Return a message as LangChain has it."""
    kind = _message_kinds()[role]
    if isinstance(text, ResultText):
        return kind(content=text.text, tool_call_id=text.id, name=wire_name(text.name))
    if isinstance(text, CallingText):
        content, own = from_blocks(text.blocks)
        calls = [{"name": wire_name(each.name), "args": each.args, "id": each.id} for each in text.calls]
        return kind(content=content or text.text, tool_calls=calls, additional_kwargs=own)
    if isinstance(text, MultimodalText):
        pictures = ({"type": "image", "base64": p.base64, "mime_type": p.mime_type} for p in text.pictures)
        return kind(content=[{"type": "text", "text": text.text}, *pictures])
    return kind(content=text)


def for_openai(role: str, text: str) -> dict[str, Any]:
    """Return a message as OpenAI takes it; with it what its server told besides, such as thoughts."""
    if isinstance(text, ResultText):
        return {"role": role, "content": text.text, "tool_call_id": text.id}
    if isinstance(text, CallingText):
        _, own = from_blocks(text.blocks)
        of_calls, calls = own.pop(OF_CALLS, {}), list[dict[str, Any]]()
        for call in text.calls:
            args = json.dumps(call.args, ensure_ascii=False)
            called = {"type": "function", "id": call.id, **of_calls.get(call.id, {})}
            calls.append({**called, "function": {"name": wire_name(call.name), "arguments": args}})
        return {"role": role, "content": text.text or None, "tool_calls": calls, **own}
    if isinstance(text, MultimodalText):
        urls = (f"data:{p.mime_type};base64,{p.base64}" for p in text.pictures)
        pictures = ({"type": "image_url", "image_url": {"url": url}} for url in urls)
        return {"role": role, "content": [{"type": "text", "text": text.text}, *pictures]}
    return {"role": role, "content": text}


@cache
def _message_kinds() -> Mapping[str, Callable[..., BaseMessage]]:
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

    return {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage, "tool": ToolMessage}
