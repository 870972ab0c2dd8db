"""Parse the calls of tools in a reply of any LangChain chat model, and what goes back to it with them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from chameleon.llm.tools import ToolCall, each_text
from chameleon.text import one_line

_LEAST_OF_CALL = 50  # characters that a call counts for at least
_REST = "additional_kwargs"
_NO_REST = frozenset({"refusal", "function_call", "tool_calls"})  # told elsewhere in a message
_PLAIN = frozenset({"text", "output_text", "tool_use", "function_call"})  # blocks that are made again

Clean = Callable[[str], str]
Blocks = tuple[Mapping[str, Any], ...]


def calls_in(message: Any, clean: Clean, longest: int) -> tuple[tuple[ToolCall, ...], bool]:
    """Return a message's calls up to `longest` characters, each text cleaned, and if these are all."""
    found: dict[str, ToolCall] = {}
    apart = getattr(message, "invalid_tool_calls", ())
    for number, call in enumerate([*message.tool_calls, *apart]):
        given = call.get("args")
        args, why = _arguments_of(given, clean)
        if not why and number >= len(message.tool_calls) > 0:  # LangChain lists it behind all others
            why = "it has no arguments, and its place among the calls is not known"
        name = clean(str(call.get("name") or ""))
        length = len(given) if isinstance(given, str) else len(json.dumps(args))
        longest -= max(_LEAST_OF_CALL, length + len(name))
        if longest < 0:
            return tuple(found.values()), False
        # Some servers give no id, or the same one to all.
        id = clean(str(call.get("id") or ""))
        id = id if id and id not in found else f"call_{len(found) + 1}"
        found[id] = ToolCall(name, args, id, why)
    return tuple(found.values()), True


def _arguments_of(given: Any, clean: Clean) -> tuple[Mapping[str, Any], str]:
    """Return the arguments of a call, and what is wrong with them; nothing is no arguments."""
    try:
        is_none = given is None or (isinstance(given, str) and not given.strip())
        args = {} if is_none else json.loads(given) if isinstance(given, str) else given
        if isinstance(args, Mapping):
            return each_text(args, clean), ""
        why = "they are another value"
    except RecursionError:
        why = "they go down too far"
    except ValueError as error:
        why = str(error)
    shown = given if isinstance(given, str) else f"{given!r:.1000}"
    return {}, clean(f"its arguments are no JSON object ({why}): {one_line(shown, 200)}")


def blocks_in(message: Any, clean: Clean, longest: int) -> tuple[Blocks, bool]:
    """Return what a provider wants back with calls (thoughts, fields of its own), and whether it is all."""
    content = message.content if isinstance(message.content, list) else []
    blocks = [each for each in content if isinstance(each, Mapping)]
    is_plain = all(each.get("type") in _PLAIN and "extras" not in each for each in blocks)
    own = {name: value for name, value in message.additional_kwargs.items() if name not in _NO_REST and value}
    try:
        found = each_text(
            [*([] if is_plain else blocks), *([{"type": _REST, "value": own}] if own else [])], clean
        )
        return (tuple(found), True) if len(json.dumps(found)) <= longest else ((), False)
    except (ValueError, RecursionError):
        return (), False


def from_blocks(blocks: Sequence[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the content and the further fields of a message that `blocks_in` kept."""
    found = each_text(blocks, str)
    own = [each["value"] for each in found if each.get("type") == _REST]
    return [each for each in found if each.get("type") != _REST], own[0] if own else {}
