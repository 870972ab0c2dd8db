"""Tools that a model may call: their descriptions, the model's calls, and the results."""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from chameleon.errors import ModelError

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_NO_PARAMETERS = {"type": "object", "properties": {}}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call.

    Attributes:
        args: its arguments; empty if they are not a JSON object.
        fault: why they are not a JSON object, else "".
    """

    name: str
    args: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    fault: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the call as logs and the response store keep it."""
        fault = {"fault": self.fault} if self.fault else {}
        return {"name": self.name, "args": dict(self.args), "id": self.id, **fault}


class CallingText(str):
    """An assistant's message that calls tools: `("assistant", CallingText("", reply.tool_calls))`.

    As a string it is its text and a line of JSON per call, without their ids, which is how it is logged and
    kept in the response store. `blocks` is data the provider wants back unchanged: thoughts with signatures.
    """

    text: str
    calls: tuple[ToolCall, ...]
    blocks: tuple[Mapping[str, Any], ...]

    # Pickle creates it from the whole text only, and then sets its attributes.
    def __new__(
        cls, text: str, calls: Sequence[ToolCall] = (), blocks: Sequence[Mapping[str, Any]] = ()
    ) -> Self:
        parts = ({name: value for name, value in call.to_json().items() if name != "id"} for call in calls)
        lines = [json.dumps(each, ensure_ascii=False) for each in parts]
        instance = super().__new__(cls, "\n".join([text, *lines] if text else lines))
        instance.text, instance.calls, instance.blocks = text, tuple(calls), tuple(blocks)
        return instance


class ResultText(str):
    """A tool's result, with the call's `id` and the tool's `name`: a message of the role "tool"."""

    text: str
    id: str
    name: str

    def __new__(cls, text: str, id: str = "", name: str = "") -> Self:
        instance = super().__new__(cls, text)
        instance.text, instance.id, instance.name = str(text), id, name
        return instance


def check_tools(tools: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Return the tools in a form that all providers accept. Raises `ModelError` if some would refuse one."""
    checked: dict[str, dict[str, Any]] = {}
    for tool in tools:
        name, description = tool.get("name"), tool.get("description", "")
        parameters = tool.get("parameters") or _NO_PARAMETERS
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            hint = "Use 1 to 64 letters, digits, _ and -."
            raise ModelError(f"{name!r} is not the name of a tool that models can call", hint=hint)
        if name in checked:
            raise ModelError(f"two tools are named {name!r}")
        if not isinstance(parameters, Mapping) or parameters.get("type") != "object":
            hint = 'Use a JSON schema with "type": "object".'
            raise ModelError(f"the parameters of the tool {name} are not the schema of an object", hint=hint)
        checked[name] = {"name": name, "description": description, "parameters": parameters}
        try:
            json.dumps(checked[name])
        except (TypeError, ValueError):
            raise ModelError(f"the tool {name} is not described in JSON") from None
    return tuple(checked.values())


def as_function(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool in OpenAI's form, which every LangChain client accepts."""
    return {"type": "function", "function": dict(tool)}


def wire_name(name: str) -> str:
    """Return a name that servers accept: a model may have called a tool by a name they refuse."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "_"


def each_text(value: Any, change: Callable[[str], str]) -> Any:
    """Apply a change to all texts of a JSON value, including names. Raises `ValueError` if it is not JSON."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {change(str(name)): each_text(each, change) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [each_text(each, change) for each in value]
    if value is None or isinstance(value, (bool, int)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise ValueError(f"{value!r:.40} is not JSON")
