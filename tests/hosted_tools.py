"""What the hosted APIs say of tools that they do not take, and of conversations in which calls lack results.

In their words where a client looks for some, else in short.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

Json = dict[str, Any]
SIGNED, SEALED = "c2lnbmVk", "c2VhbGVk"  # a signature of thoughts, and thoughts that nobody can read
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_PATTERN = "string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."


class Called(NamedTuple):
    """A call of a tool as it is served: its arguments are JSON, or a text that is none."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Calls:
    """A reply that calls tools, after a text: pairs of a name and arguments (or a text that is no JSON)."""

    calls: Sequence[tuple[str, Json | str]]
    text: str = ""

    def called(self, before: int) -> tuple[Called, ...]:
        """Return the calls with ids that no call before them has."""
        return tuple(
            Called(f"call_{number}", name, args if isinstance(args, str) else json.dumps(args))
            for number, (name, args) in enumerate(self.calls, before + 1)
        )


def faults_of_chat(asked: Json) -> Iterator[tuple[str, str | None]]:
    """Find what OpenAI's chat completions refuse; with the parameter that they name."""
    if asked.get("tools") == []:
        message = "Expected an array with minimum length 1, but got an empty array instead."
        yield f"Invalid 'tools': empty array. {message}", "tools"
    for number, tool in enumerate(asked.get("tools", ())):
        place = f"tools[{number}]"
        yield from _faults_of_function(tool["function"], f"{place}.function")
    waiting: list[str] = []
    for number, message in enumerate(asked.get("messages", ())):
        place, role = f"messages[{number}]", message.get("role")
        if role not in ("system", "assistant", "user", "function", "tool", "developer"):
            yield f"Invalid value: '{role}'.", f"{place}.role"
        if role == "tool":
            before = asked["messages"][number - 1] if number else {}
            if before.get("role") != "tool" and not before.get("tool_calls"):
                yield "Invalid parameter: a tool message must follow 'tool_calls'.", f"{place}.role"
            if "tool_call_id" not in message:
                yield f"Missing required parameter: '{place}.tool_call_id'.", f"{place}.tool_call_id"
            if (id := message["tool_call_id"]) not in waiting:
                yield f"Invalid parameter: '{id}' not found in 'tool_calls'.", f"{place}.tool_call_id"
            waiting.remove(id)
            continue
        if waiting:
            break
        calls = message.get("tool_calls", ())
        if message.get("content") is None and not calls:
            yield "Invalid value for 'content': expected a string, got null.", f"{place}.content"
        for index, call in enumerate(calls):
            at = f"{place}.tool_calls[{index}]"
            if not isinstance(call["function"].get("arguments"), str):
                yield f"Invalid type for '{at}.function.arguments': expected a string.", at
            if not _NAME.fullmatch(call["function"].get("name", "")):
                yield f"Invalid '{at}.function.name': {_PATTERN}", f"{at}.function.name"
            waiting.append(call["id"])
    if waiting:
        yield f"These tool_call_ids did not have response messages: {', '.join(waiting)}", "messages"


def _faults_of_function(function: Json, place: str) -> Iterator[tuple[str, str | None]]:
    if not _NAME.fullmatch(function.get("name", "")):
        yield f"Invalid '{place}.name': {_PATTERN}", f"{place}.name"
    if (kind := function.get("parameters", {"type": "object"}).get("type")) != "object":
        message = f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{kind}\"'."
        yield f"Invalid schema for function '{function['name']}': {message}", f"{place}.parameters"


def faults_of_responses(asked: Json) -> Iterator[tuple[str, str | None]]:
    """Find what OpenAI's responses refuse; with the parameter that they name."""
    for number, tool in enumerate(asked.get("tools", ())):
        yield from _faults_of_function(tool, f"tools[{number}]")
    items = [] if isinstance(asked["input"], str) else asked["input"]
    called = [item["call_id"] for item in items if item.get("type") == "function_call"]
    given = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    for id in given:
        if id not in called:
            yield f"No tool call found for function call output with call_id {id}.", "input"
    for id in called:
        if id not in given:
            yield f"No tool output found for function call {id}.", "input"
    for item in items:
        if item.get("type") == "reasoning" and item.get("encrypted_content") != SEALED:
            if asked.get("store") is False:
                yield f"Item with id '{item['id']}' not found.", "input"
            elif "encrypted_content" in item:
                yield f"The encrypted content for item {item['id']} could not be verified.", None


def faults_of_messages(asked: Json, is_thinking: bool) -> Iterator[str]:
    """Find what Anthropic's messages refuse."""
    for number, tool in enumerate(asked.get("tools", ())):
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", tool.get("name", "")):
            yield f"tools.{number}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
        if tool.get("input_schema", {}).get("type") != "object":
            yield f"tools.{number}.custom.input_schema.type: Field required"
    waiting: list[str] = []
    seen: set[str] = set()
    for number, message in enumerate(asked.get("messages", ())):
        role, content = message.get("role"), message.get("content")
        if role not in ("user", "assistant"):
            yield f'messages: Unexpected role "{role}". Allowed roles are "user" or "assistant".'
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
        results = [each["tool_use_id"] for each in blocks if each["type"] == "tool_result"]
        if missing := [id for id in waiting if id not in results]:
            yield f"messages.{number - 1}: `tool_use` without `tool_result` blocks after: {missing[0]}."
        if extra := [id for id in results if id not in waiting]:
            yield f"messages.{number}.content.0: unexpected `tool_use_id`: {extra[0]}."
        for place, block in enumerate(blocks):
            at = f"messages.{number}.content.{place}"
            if block["type"] == "text" and not block["text"].strip():
                yield "messages: text content blocks must contain non-whitespace text"
            if block["type"] == "thinking" and block.get("signature") != SIGNED:
                yield f"{at}: Invalid `signature` in `thinking` block"
            if block["type"] == "tool_use" and block["id"] in seen:
                yield "messages: `tool_use` ids must be unique"
            if block["type"] == "tool_use" and not re.fullmatch(r"[a-zA-Z0-9_-]{1,200}", block["name"]):
                yield f"{at}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{{1,200}}$'"
        waiting = [each["id"] for each in blocks if each["type"] == "tool_use"]
        seen.update(waiting)
        if waiting and is_thinking and blocks[0]["type"] not in ("thinking", "redacted_thinking"):
            yield f"messages.{number}.content.0.type: Expected `thinking`, but found `{blocks[0]['type']}`."
        if (waiting or results) and not asked.get("tools"):
            yield "Requests with `tool_use` or `tool_result` blocks must define tools."
    if waiting:
        yield f"messages: `tool_use` without `tool_result` blocks after: {waiting[0]}."


def faults_of_contents(asked: Json, *, needs_signature: bool) -> Iterator[str]:
    """Find what Gemini's generateContent refuses; models that think want their signatures back."""
    named = [each for tool in asked.get("tools", ()) for each in tool.get("functionDeclarations", ())]
    for number, function in enumerate(named):
        if not re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}", function.get("name", "")):
            yield f"* tools[0].function_declarations[{number}].name: Invalid function name.\n"
    before: list[str] = []
    for content in asked.get("contents", ()):
        parts = content.get("parts", ())
        calls = [part["functionCall"]["name"] for part in parts if "functionCall" in part]
        results = [part["functionResponse"]["name"] for part in parts if "functionResponse" in part]
        if len(before) != len(results):
            yield "Please ensure that each function call has a function response."
        if sorted(before) != sorted(results):  # by analogy
            yield "Please ensure that function responses have the names of their function calls."
        signatures = [part.get("thoughtSignature") for part in parts if "functionCall" in part]
        if calls and needs_signature and signatures[0] != SEALED:
            yield f"Function call is missing a thought_signature in functionCall parts: `{calls[0]}`."
        before = calls
    if before:
        yield "Please ensure that function call turn comes immediately before a function response turn."
