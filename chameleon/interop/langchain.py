"""An inventory as a LangChain `Runnable`, or as a tool of an agent."""

from __future__ import annotations

import operator
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from langchain_core.callbacks import adispatch_custom_event, dispatch_custom_event
from langchain_core.runnables import AddableDict, Runnable, RunnableConfig, RunnableGenerator
from langchain_core.tools import StructuredTool, ToolException

from chameleon.approval import needs_approval
from chameleon.errors import ChameleonError, InputError
from chameleon.executor import Executor
from chameleon.interop.inputs import Inputs, in_json, in_text
from chameleon.log import event_to_json
from chameleon.state import Event, State
from chameleon.text import as_name

Given = Mapping[str, Any] | str
Output = dict[str, Any]


def as_runnable(executor: Executor) -> Runnable[Given, Output]:
    """Return a `Runnable` that runs an inventory: sync and async, one input, a batch, or as a stream.

    The input is a mapping, or the question alone. The output has `answer`, `ended`, `program` (the modules
    that ran), `usage`, and `sources` if there are some; a stream yields the name of each module that ran,
    then the rest. `max_concurrency` of the config bounds a batch; its callbacks see one chain run, and each
    event of the run as a custom event. Raises the `ChameleonError` of a run that fails, `Declined` of one
    that declines, `InputError` for an input that is neither.
    """

    def run(inputs: Iterator[Given], config: RunnableConfig) -> Iterator[Output]:
        parts = RunParts()
        for event in executor.stream(parts.input_of([*inputs])):
            dispatch_custom_event(*parts.custom_event(event), config=config)
            yield from parts.after(event)
        yield parts.last()

    async def arun(inputs: AsyncIterator[Given], config: RunnableConfig) -> AsyncIterator[Output]:
        parts = RunParts()
        async for event in executor.astream(parts.input_of([each async for each in inputs])):
            await adispatch_custom_event(*parts.custom_event(event), config=config)
            for part in parts.after(event):
                yield part
        yield parts.last()

    runnable: Any = RunnableGenerator  # whose annotations leave out `config`
    return cast(Runnable[Given, Output], runnable(run, arun, name=executor.inventory.name))


class RunParts:
    """What a runnable takes and yields in the course of a run; the parts of its output add up."""

    def __init__(self) -> None:
        self.state = State()

    def input_of(self, chunks: Sequence[Given]) -> Mapping[str, Any]:
        """Return the input of the run: what came before in a chain may stream it in chunks."""
        whole: Any = reduce(operator.add, chunks)
        if isinstance(whole, str):
            return {"question": whole}
        if not isinstance(whole, Mapping):
            raise InputError(
                f"the input is a {type(whole).__name__}", hint="Give a mapping, or the question."
            )
        return whole

    def custom_event(self, event: Event) -> tuple[str, dict[str, Any]]:
        """Return the name and data of a custom event."""
        data = event_to_json(event)
        return f"chameleon_{data['event']}", data

    def after(self, event: Event) -> Iterator[Output]:
        """Yield the name of the module that ran with this event, if any."""
        done, self.state = len(self.state.program), self.state.after(event)
        if names := list(self.state.program[done:]):
            yield AddableDict(program=names)

    def last(self) -> Output:
        """Return the answer and what belongs to it. Raises the error of a run that did not answer."""
        ended, cache = self.state.ended, self.state.cache
        if ended is None:
            raise needs_approval(self.state)
        if ended.error is not None:
            raise ended.error.exception
        result = AddableDict(
            answer=in_json(self.state.answer), ended=ended.reason, usage=self.state.usage.to_json()
        )
        if "sources" in cache:
            result["sources"] = in_json(cache["sources"])
        if not self.state.program:
            result["program"] = []
        return result


def as_tool(
    executor: Executor,
    *,
    name: str = "",
    description: str = "",
    given: Mapping[str, Any] | None = None,
    folders: Sequence[str | Path] = (),
) -> StructuredTool:
    """Return a tool for an agent of LangChain, sync and async.

    Its arguments are the `input:` of the inventory: tables as CSV text, pictures as content. A run that
    declines or fails is told to the agent. The artifact of the result is what `as_runnable` returns.

    - `name`, `description`: in place of the inventory's own.
    - `given`: inputs that stay the same, such as the table; the agent does not give them.
    - `folders`: where files may be read by paths that the agent gives; by default none are.
    """
    inventory, runnable = executor.inventory, as_runnable(executor)
    inputs = Inputs(inventory, folders, given)

    def ask(**arguments: Any) -> tuple[str, Output]:
        with TemporaryDirectory(prefix="chameleon-") as scratch:
            try:
                output = runnable.invoke(inputs.read(arguments, Path(scratch)))
            except ChameleonError as problem:
                raise ToolException(str(problem)) from problem
        return in_text(output["answer"]), output

    return StructuredTool(
        name=name or as_name(inventory.name),
        description=description or inventory.about or f"Answers by {', '.join(inventory.present)}.",
        args_schema=inputs.schema,
        func=ask,
        response_format="content_and_artifact",
        handle_tool_error=True,
    )
