"""A LangChain tool as a module: `use: "package.module:object"`, or `Inventory.of([a_tool])`."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from chameleon.core.arguments import Arguments
from chameleon.core.module import Module, Traits
from chameleon.core.state import State
from chameleon.core.tool import plain
from chameleon.errors import BadArguments, InventoryError, ModuleError, StepRejected
from chameleon.interop.schema_arguments import SchemaArguments
from chameleon.text import as_name


class LangChainTool(Module):
    """Runs a LangChain tool.

    Its name, description and arguments are those of the tool, without what an agent of LangChain injects. An
    async tool runs as a coroutine. A `ToolException` is reported to the model, like a `StepRejected`. The
    output is the tool's text for a model.

    Args:
        tool: the `BaseTool`.
    """

    description = "Runs a LangChain tool."
    reads = ()
    name = "langchain_tool"

    def __init__(self, tool: Any) -> None:
        self.tool = tool
        self.name = as_name(str(tool.name))
        if not self.name.isidentifier():
            raise InventoryError(f"the LangChain tool {tool.name!r} has a name that a plan cannot use")
        self.description = " ".join(str(tool.description or "").split())
        schema = tool.tool_call_schema
        arguments: Arguments | None
        if isinstance(schema, Mapping):
            arguments = SchemaArguments.of_schema(self.name, schema)
        else:
            self._check_injected(tool)
            arguments = Arguments(self.name, schema) if schema.model_fields else None
        self.traits = Traits(arguments=arguments)

    def run(self, state: State, /, *args: Any, **named: Any) -> Any:
        if self._is_async:
            return self._later(named)
        try:
            return self._value_of(self.tool.invoke(named))
        except Exception as problem:
            raise self._error_of(problem) from problem

    async def _later(self, kwargs: Mapping[str, Any]) -> Any:
        import asyncio

        try:
            try:
                result = await self.tool.ainvoke(kwargs)
            except NotImplementedError:  # how a tool says that it is not async
                result = await asyncio.to_thread(self.tool.invoke, kwargs)
            return self._value_of(result)
        except Exception as problem:
            raise self._error_of(problem) from problem

    def _error_of(self, problem: Exception) -> Exception:
        """Return an error that the model may see if the tool raised it on purpose, else the same error."""
        from langchain_core.tools import ToolException

        if isinstance(problem, ToolException):
            return StepRejected(str(problem) or f"{self.name} could not do it")
        if isinstance(problem, ValidationError):
            error = problem.errors(include_url=False)[0]
            place = ".".join(map(str, error["loc"])) or "an argument"
            return BadArguments(f"{place} of {self.name}: {error['msg']}")
        return problem

    def _value_of(self, output: Any) -> Any:
        """Convert the output to a value for the run: content blocks of a message become text or JSON."""
        if type(output).__name__ == "Command" and type(output).__module__.startswith("langgraph."):
            raise ModuleError(
                f"{self.name} returns a Command, which changes the state of a LangGraph",
                hint="Make the tool return a value instead of a Command.",
            )
        blocks = output if isinstance(output, list) else []
        if not any(isinstance(block, Mapping) and block.get("type") == "text" for block in blocks):
            return plain(output)
        texts = (block.get("text") if isinstance(block, Mapping) else block for block in blocks)
        return "\n".join(
            text if isinstance(text, str) else json.dumps(block, ensure_ascii=False, default=str)
            for text, block in zip(texts, blocks, strict=True)
        )

    @property
    def _is_async(self) -> bool:
        """Return whether the tool implements a coroutine."""
        if hasattr(self.tool, "coroutine"):
            return self.tool.coroutine is not None
        from langchain_core.tools import BaseTool

        return type(self.tool)._arun is not BaseTool._arun

    @staticmethod
    def _check_injected(tool: Any) -> None:
        """Raise `InventoryError` for a parameter that only an agent of LangChain can give."""
        fields, call_fields = tool.get_input_schema().model_fields, tool.tool_call_schema.model_fields
        for name in sorted({*fields} - {*call_fields} | {*getattr(tool, "_injected_args_keys", ())}):
            if name not in fields or fields[name].is_required():
                raise InventoryError(
                    f"the LangChain tool {tool.name} needs {name}, which only an agent of LangChain can give",
                    hint="Give it a default there, or wrap the tool in a function: chameleon.tool(function).",
                )
