"""What the hosted APIs say, in short, of tools that they do not take and of calls that lack results.

Each function returns rows: whether the fault is there, and its words.
"""

import json
import re
from collections import namedtuple
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
Rows = list[tuple[bool, str]]
SIGNED, SEALED = "c2lnbmVk", "c2VhbGVk"  # a signature of thoughts, and thoughts that nobody can read
UNPAIRED = "Each tool call must be followed by its response, and each response must follow its call."
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


def _misnamed(named: Sequence[Json], pattern: str = r"[a-zA-Z0-9_-]{1,64}") -> bool:
    return any(not re.fullmatch(pattern, each.get("name", "")) for each in named)


def _unpaired(calls: Sequence[Sequence[str]], results: Sequence[Sequence[str]]) -> bool:
    """Tell whether the calls of some turn are not those that the next turn has results of."""
    return [[], *map(sorted, calls)] != [*map(sorted, results), []]


def _faults_of_functions(functions: Sequence[Json]) -> Rows:
    kinds = {each.get("parameters", {"type": "object"}).get("type") for each in functions}
    misnamed = _misnamed(functions), "Invalid 'name' of a tool: string does not match pattern."
    return [misnamed, (not kinds <= {"object"}, "Invalid schema for function")]


def faults_of_chat(asked: Json) -> Rows:
    """Find what OpenAI's chat completions refuse."""
    messages = asked.get("messages", ())
    called = [call["function"] for message in messages for call in message.get("tool_calls", ())]
    calls, results = list[list[str]](), list[list[str]]()
    for message in messages:
        given = [message.get("tool_call_id", "")] if message.get("role") == "tool" else []
        if given and results and results[-1]:
            results[-1] += given  # of one turn
            continue
        results.append(given)
        calls.append([call["id"] for call in message.get("tool_calls", ())])
    empty = any(each.get("content") is None and not each.get("tool_calls") for each in messages)
    arguments = all(isinstance(each.get("arguments"), str) for each in called)
    return [
        *_faults_of_functions([tool["function"] for tool in asked.get("tools", ())]),
        (asked.get("tools") == [], "Invalid 'tools': empty array."),
        (empty, "Invalid value for 'content': expected a string, got null."),
        (not arguments, "Invalid type for 'arguments': expected a string."),
        (_misnamed(called), "Invalid 'name' of a call: string does not match pattern."),
        (_unpaired(calls, results), UNPAIRED),
    ]


def faults_of_responses(asked: Json) -> Rows:
    """Find what OpenAI's responses refuse."""
    items = [] if isinstance(asked["input"], str) else asked["input"]
    called = {item["call_id"] for item in items if item.get("type") == "function_call"}
    given = {item["call_id"] for item in items if item.get("type") == "function_call_output"}
    thoughts = [item for item in items if item.get("type") == "reasoning"]
    kept = [each for each in thoughts if asked.get("store") is False or "encrypted_content" in each]
    unsealed = any(each.get("encrypted_content") != SEALED for each in kept)
    return [
        *_faults_of_functions(asked.get("tools", ())),
        (called != given, UNPAIRED),
        (unsealed, "The encrypted content of an item is not found or could not be verified."),
    ]


def faults_of_messages(asked: Json, is_thinking: bool) -> Rows:
    """Find what Anthropic's messages refuse."""
    contents = [message["content"] for message in asked.get("messages", ())]
    turns = [[{"type": "text", "text": each}] if isinstance(each, str) else each for each in contents]
    blocks, tools = [block for turn in turns for block in turn], asked.get("tools", ())
    uses = [[block for block in turn if block["type"] == "tool_use"] for turn in turns]
    results = [[block["tool_use_id"] for block in turn if block["type"] == "tool_result"] for turn in turns]
    calls, ids = [call for turn in uses for call in turn], [[call["id"] for call in turn] for turn in uses]
    starts = {turn[0]["type"] for turn, used in zip(turns, uses, strict=True) if used}
    empty = any(block["type"] == "text" and not block["text"].strip() for block in blocks)
    forged = any(block["type"] == "thinking" and block.get("signature") != SIGNED for block in blocks)
    schemas = all(tool.get("input_schema", {}).get("type") == "object" for tool in tools)
    return [
        (_misnamed(tools, "[a-zA-Z0-9_-]{1,128}"), "tools.0.custom.name: String should match pattern"),
        (not schemas, "tools.0.custom.input_schema.type: Field required"),
        (_unpaired(ids, results), UNPAIRED),
        (empty, "messages: text content blocks must contain non-whitespace text"),
        (forged, "Invalid `signature` in `thinking` block"),
        (len({call["id"] for call in calls}) < len(calls), "messages: `tool_use` ids must be unique"),
        (_misnamed(calls, "[a-zA-Z0-9_-]{1,200}"), "tool_use.name: String should match pattern"),
        (is_thinking and not starts <= {"thinking", "redacted_thinking"}, "Expected `thinking`"),
        (bool(calls) and not tools, "Requests with `tool_use` or `tool_result` blocks must define tools."),
    ]


def faults_of_contents(asked: Json, *, needs_signature: bool) -> Rows:
    """Find what Gemini's generateContent refuses; models that think want their signatures back."""
    declared = [tool.get("functionDeclarations", ()) for tool in asked.get("tools", ())]
    turns = [content.get("parts", ()) for content in asked.get("contents", ())]
    calls = [[part for part in turn if "functionCall" in part] for turn in turns]
    results = [[p["functionResponse"]["name"] for p in turn if "functionResponse" in p] for turn in turns]
    named = [[call["functionCall"]["name"] for call in turn] for turn in calls]
    unsigned = any(turn and turn[0].get("thoughtSignature") != SEALED for turn in calls)
    misnamed = any(_misnamed(each, "[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}") for each in declared)
    return [
        (misnamed, "Invalid function name."),
        (_unpaired(named, results), UNPAIRED),
        (needs_signature and unsigned, "Function call is missing a thought_signature."),
    ]
