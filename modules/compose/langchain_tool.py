"""A LangChain tool as a module: `use: "package.module:object"`, or `Inventory.of([a_tool])`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from chameleon.arguments import Arguments
from chameleon.errors import BadArguments, InventoryError, ModuleError, StepRejected
from chameleon.function_module import plain
from chameleon.interop.schema_arguments import SchemaArguments
from chameleon.module import Module
from chameleon.state import State
from chameleon.table import Table
from chameleon.text import as_name
from chameleon.values import adopted


class LangChainTool(Module):
    """Runs a LangChain tool.

    Its name, description and arguments are those of the tool, without what an agent of LangChain injects. An
    async tool runs as a coroutine. A `ToolException` is told to the model, as `StepRejected` is. The output
    is what the tool says to a model, or the table that it gives as its artifact.

    - `tool`: the `BaseTool`.
    """

    description = "Runs a LangChain tool."
    reads = ()
    name = "langchain_tool"

    def __init__(self, tool: Any) -> None:
        self.tool = tool
        self.name = as_name(str(tool.name))
        if not self.name.isidentifier():
            raise InventoryError(f"the LangChain tool {tool.name!r} has no name that a plan could write")
        self.description = " ".join(str(tool.description or "").split())
        shown, injected = tool.tool_call_schema, _injected(tool)
        self._needs_call = any(injected.values()) or tool.response_format == "content_and_artifact"
        self._arguments: Arguments | None
        if isinstance(shown, type) and issubclass(shown, BaseModel):
            self._arguments = Arguments(self.name, shown) if shown.model_fields else None
        else:  # a schema, or a model of pydantic 1
            schema = shown if isinstance(shown, Mapping) else shown.schema()
            self._arguments = SchemaArguments.of_schema(self.name, schema)

    @property
    def arguments(self) -> Arguments | None:
        """Return what a plan gives it: the tool's arguments but for injected ones."""
        return self._arguments

    def run(self, state: State, /, *args: Any, **named: Any) -> Any:
        given: Any = named
        if self._needs_call:
            given = {"type": "tool_call", "id": self.name, "name": self.tool.name, "args": given}
        if self._is_async:
            return self._later(given)
        try:
            return self._held(self.tool.invoke(given))
        except Exception as problem:
            raise self._told(problem) from problem

    async def _later(self, given: Any) -> Any:
        import asyncio

        try:
            try:
                found = await self.tool.ainvoke(given)
            except NotImplementedError:  # a tool's way to say that it is not async
                found = await asyncio.to_thread(self.tool.invoke, given)
            return self._held(found)
        except Exception as problem:
            raise self._told(problem) from problem

    def _told(self, problem: Exception) -> Exception:
        """Return what a model is told of, where the tool means it to be."""
        from langchain_core.tools import ToolException

        if isinstance(problem, ToolException):
            return StepRejected(str(problem) or f"{self.name} could not do it")
        if isinstance(problem, ValidationError):
            error = problem.errors(include_url=False)[0]
            place = ".".join(map(str, error["loc"])) or "an argument"
            return BadArguments(f"{place} of {self.name}: {error['msg']}")
        return problem

    def _held(self, found: Any) -> Any:
        """Return the output as a run holds it. Raises `StepRejected` for a message that tells of an error."""
        if getattr(found, "type", "") == "tool" and hasattr(found, "tool_call_id"):  # a ToolMessage
            if found.status == "error":
                raise StepRejected(self._text(found.content))
            artifact = adopted(found.artifact)
            return artifact if isinstance(artifact, Table) else self._held(found.content)
        if type(found).__name__ == "Command" and type(found).__module__.startswith("langgraph."):
            raise ModuleError(
                f"{self.name} returns a Command, which changes the state of a LangGraph",
                hint="Let it return a value.",
            )
        if self._is_content(found):
            return self._text(found)
        return plain(found)

    @property
    def _is_async(self) -> bool:
        """Tell whether the tool has a coroutine of its own."""
        if hasattr(self.tool, "coroutine"):
            return self.tool.coroutine is not None
        from langchain_core.tools import BaseTool

        return type(self.tool)._arun is not BaseTool._arun

    @staticmethod
    def _is_content(found: Any) -> bool:
        """Tell whether these are the content blocks of a message."""
        return (
            isinstance(found, list)
            and bool(found)
            and all(isinstance(each, Mapping) and isinstance(each.get("type"), str) for each in found)
            and any(each["type"] == "text" and isinstance(each.get("text"), str) for each in found)
        )

    @staticmethod
    def _text(content: Any) -> str:
        """Write the content of a message as text: what is no text as JSON."""
        if isinstance(content, str):
            return content
        parts = [content] if isinstance(content, Mapping) else content
        return "\n".join(
            each
            if isinstance(each, str)
            else each["text"]
            if each.get("type") == "text"
            else json.dumps(each, ensure_ascii=False, default=str)
            for each in parts
        )


def _injected(tool: Any) -> Mapping[str, bool]:
    """Return the parameters that an agent would give, and which of them are the id of the call.

    Raises `InventoryError` for one that only an agent of LangChain can give.
    """
    from langchain_core.tools import InjectedToolCallId

    if isinstance(tool.args_schema, Mapping):
        return {}
    fields, seen = (
        kind.model_fields if issubclass(kind, BaseModel) else kind.__fields__  # of pydantic 1
        for kind in (tool.get_input_schema(), tool.tool_call_schema)
    )
    hidden = {name: field for name, field in fields.items() if name not in seen}
    found = {}
    for name in {**hidden, **dict.fromkeys(getattr(tool, "_injected_args_keys", ()))}:
        field = hidden.get(name)
        marks = getattr(field, "metadata", ())
        found[name] = any(
            each is InjectedToolCallId or isinstance(each, InjectedToolCallId) for each in marks
        )
        if not found[name] and (
            field is None or (field.is_required() if hasattr(field, "is_required") else field.required)
        ):
            raise InventoryError(
                f"the LangChain tool {tool.name} needs {name}, which only an agent of LangChain can give",
                hint="Give the tool a default for it, or wrap it in a function: chameleon.tool(function).",
            )
    return found
