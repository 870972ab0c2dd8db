"""What the hosted APIs say, in short, of tools that they do not take and of calls that lack results."""

from __future__ import annotations

import json
import re
from collections import namedtuple
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
SIGNED, SEALED = "c2lnbmVk", "c2VhbGVk"  # a signature of thoughts, and thoughts that nobody can read
_ROLES = ("system", "assistant", "user", "function", "tool", "developer")


Called = namedtuple("Called", "id name arguments")
"""A call of a tool as it is served: its arguments are JSON, or a text that is none."""


@dataclass(frozen=True)
class Calls:
    """A reply that calls tools, after a text: pairs of a name and arguments (or a text that is no JSON)."""

    calls: Sequence[tuple[str, Json | str]]
    text: str = ""

    def called(self, before: int) -> list[Called]:
        """Return the calls with ids that no call before them has."""
        told = [(name, args if isinstance(args, str) else json.dumps(args)) for name, args in self.calls]
        return [Called(f"call_{number}", *each) for number, each in enumerate(told, before + 1)]


def _named(name: str, most: int = 64) -> bool:
    return bool(re.fullmatch(rf"[a-zA-Z0-9_-]{{1,{most}}}", name))


def faults_of_chat(asked: Json) -> Iterator[str]:
    """Find what OpenAI's chat completions refuse."""
    if asked.get("tools") == []:
        yield "Invalid 'tools': empty array."
    yield from _faults_of_functions([tool["function"] for tool in asked.get("tools", ())])
    waiting: list[str] = []
    before: Json = {}
    for message in asked.get("messages", ()):
        role, calls = message.get("role"), message.get("tool_calls", ())
        if role not in _ROLES:
            yield f"Invalid value: '{role}'."
        if role == "tool":
            if before.get("role") != "tool" and not before.get("tool_calls"):
                yield "A tool message must follow 'tool_calls'."
            if (id := message.get("tool_call_id")) not in waiting:
                yield f"'{id}' not found in 'tool_calls'."
            waiting.remove(id)
        elif waiting:
            break
        elif message.get("content") is None and not calls:
            yield "Invalid value for 'content': expected a string, got null."
        for call in calls:
            if not isinstance(call["function"].get("arguments"), str):
                yield "Invalid type for 'arguments': expected a string."
            if not _named(call["function"].get("name", "")):
                yield "Invalid 'name' of a call: string does not match pattern."
            waiting.append(call["id"])
        before = message
    if waiting:
        yield f"These tool_call_ids did not have response messages: {', '.join(waiting)}"


def _faults_of_functions(functions: Sequence[Json]) -> Iterator[str]:
    for function in functions:
        if not _named(function.get("name", "")):
            yield "Invalid 'name' of a tool: string does not match pattern."
        if function.get("parameters", {"type": "object"}).get("type") != "object":
            yield f"Invalid schema for function '{function['name']}'"


def faults_of_responses(asked: Json) -> Iterator[str]:
    """Find what OpenAI's responses refuse."""
    yield from _faults_of_functions(asked.get("tools", ()))
    items = [] if isinstance(asked["input"], str) else asked["input"]
    called = {item["call_id"] for item in items if item.get("type") == "function_call"}
    given = {item["call_id"] for item in items if item.get("type") == "function_call_output"}
    if called != given:
        yield f"No tool call or no output found for function call {called ^ given}."
    for item in items:
        if item.get("type") == "reasoning" and item.get("encrypted_content") != SEALED:
            if asked.get("store") is False:
                yield f"Item with id '{item['id']}' not found."
            elif "encrypted_content" in item:
                yield f"The encrypted content for item {item['id']} could not be verified."


def faults_of_messages(asked: Json, is_thinking: bool) -> Iterator[str]:
    """Find what Anthropic's messages refuse."""
    for tool in asked.get("tools", ()):
        if not _named(tool.get("name", ""), 128):
            yield "tools.0.custom.name: String should match pattern"
        if tool.get("input_schema", {}).get("type") != "object":
            yield "tools.0.custom.input_schema.type: Field required"
    waiting: list[str] = []
    seen: set[str] = set()
    for message in (*asked.get("messages", ()), {"role": "user", "content": []}):
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        results = [each["tool_use_id"] for each in blocks if each["type"] == "tool_result"]
        calls = [each for each in blocks if each["type"] == "tool_use"]
        if {*waiting} - {*results}:
            yield "messages: `tool_use` without `tool_result` blocks after."
        if {*results} - {*waiting}:
            yield "messages: unexpected `tool_use_id`."
        for block in blocks:
            if block["type"] == "text" and not block["text"].strip():
                yield "messages: text content blocks must contain non-whitespace text"
            if block["type"] == "thinking" and block.get("signature") != SIGNED:
                yield "Invalid `signature` in `thinking` block"
        for call in calls:
            if call["id"] in seen:
                yield "messages: `tool_use` ids must be unique"
            if not _named(call["name"], 200):
                yield "tool_use.name: String should match pattern"
        waiting = [call["id"] for call in calls]
        seen.update(waiting)
        if waiting and is_thinking and blocks[0]["type"] not in ("thinking", "redacted_thinking"):
            yield f"Expected `thinking`, but found `{blocks[0]['type']}`."
        if (waiting or results) and not asked.get("tools"):
            yield "Requests with `tool_use` or `tool_result` blocks must define tools."


def faults_of_contents(asked: Json, *, needs_signature: bool) -> Iterator[str]:
    """Find what Gemini's generateContent refuses; models that think want their signatures back."""
    declared = [tool.get("functionDeclarations", ()) for tool in asked.get("tools", ())]
    for function in [function for each in declared for function in each]:
        if not re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}", function.get("name", "")):
            yield "Invalid function name."
    before: list[str] = []
    for content in (*asked.get("contents", ()), {}):
        parts = content.get("parts", ())
        calls = [part for part in parts if "functionCall" in part]
        results = [part["functionResponse"]["name"] for part in parts if "functionResponse" in part]
        if sorted(before) != sorted(results):
            yield "Please ensure that each function call has a function response."
        if calls and needs_signature and calls[0].get("thoughtSignature") != SEALED:
            yield "Function call is missing a thought_signature."
        before = [call["functionCall"]["name"] for call in calls]
