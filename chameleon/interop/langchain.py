"""An inventory as a LangChain `Runnable`, or as a tool of an agent."""

from __future__ import annotations

import operator
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from langchain_core.callbacks import adispatch_custom_event, dispatch_custom_event
from langchain_core.runnables import AddableDict, Runnable, RunnableConfig, patch_config
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


class InventoryRunnable(Runnable[Given, Output]):
    """Runs an inventory; see `as_runnable`."""

    def __init__(self, executor: Executor) -> None:
        self.executor = executor
        self.name = executor.inventory.name

    def invoke(self, input: Given, config: RunnableConfig | None = None, **kwargs: Any) -> Output:
        """Return what the run came to. Raises as `as_runnable` says."""
        return self._call_with_config(self._whole, input, config, run_type="chain")

    async def ainvoke(self, input: Given, config: RunnableConfig | None = None, **kwargs: Any) -> Output:
        """Return what the run came to, in the caller's event loop."""
        return await self._acall_with_config(self._awhole, input, config, run_type="chain")

    def stream(self, input: Given, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Output]:
        """Yield the name of each module that ran, then the rest: together what `invoke` returns."""
        yield from self._transform_stream_with_config(iter([input]), self._parts, config, run_type="chain")

    async def astream(
        self, input: Given, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Output]:
        """Yield as `stream` does, in the caller's event loop."""

        async def inputs() -> AsyncIterator[Given]:
            yield input

        parts = self._atransform_stream_with_config(inputs(), self._aparts, config, run_type="chain")
        async for part in parts:
            yield part

    def _whole(self, input: Given, run_manager: Any, config: RunnableConfig) -> Output:
        parts = self._parts(iter([input]), run_manager, config)
        return dict(reduce(operator.add, parts, AddableDict(program=[])))

    async def _awhole(self, input: Given, run_manager: Any, config: RunnableConfig) -> Output:
        async def inputs() -> AsyncIterator[Given]:
            yield input

        parts = [part async for part in self._aparts(inputs(), run_manager, config)]
        return dict(reduce(operator.add, parts, AddableDict(program=[])))

    def _parts(self, inputs: Iterator[Given], run_manager: Any, config: RunnableConfig) -> Iterator[Output]:
        state, within = State(), patch_config(config, callbacks=run_manager.get_child())
        for event in self.executor.stream(self._input_of(list(inputs))):
            dispatch_custom_event(*self._told(event), config=within)
            before, state = state, state.after(event)
            if new := list(state.program[len(before.program) :]):
                yield AddableDict(program=new)
        yield self._end_of(state)

    async def _aparts(
        self, inputs: AsyncIterator[Given], run_manager: Any, config: RunnableConfig
    ) -> AsyncIterator[Output]:
        state, within = State(), patch_config(config, callbacks=run_manager.get_child())
        given = self._input_of([each async for each in inputs])
        async for event in self.executor.astream(given):
            await adispatch_custom_event(*self._told(event), config=within)
            before, state = state, state.after(event)
            if new := list(state.program[len(before.program) :]):
                yield AddableDict(program=new)
        yield self._end_of(state)

    @staticmethod
    def _input_of(given: Sequence[Given]) -> Mapping[str, Any]:
        (one,) = given
        if isinstance(one, str):
            return {"question": one}
        if not isinstance(one, Mapping):
            raise InputError(f"the input is a {type(one).__name__}", hint="Give a mapping, or the question.")
        return one

    @staticmethod
    def _told(event: Event) -> tuple[str, dict[str, Any]]:
        """Return the name and data of a custom event."""
        told = event_to_json(event)
        return f"chameleon_{told['event']}", told

    @staticmethod
    def _end_of(state: State) -> Output:
        """Return the answer and what belongs to it. Raises the error of a run that did not answer."""
        if state.ended is None:
            raise needs_approval(state)
        if state.ended.error is not None:
            raise state.ended.error.exception
        told = {"answer": in_json(state.answer), "ended": state.ended.reason, "usage": state.usage.to_json()}
        if "sources" in state.cache:
            told["sources"] = in_json(state.cache["sources"])
        return AddableDict(told)


def as_runnable(executor: Executor) -> InventoryRunnable:
    """Return a `Runnable` that runs an inventory: sync and async, one input, a batch, or as a stream.

    The input is a mapping, or the question alone. The output has `answer`, `ended`, `program` (the modules
    that ran), `usage`, and `sources` where there are some. `max_concurrency` of the config bounds a batch;
    its callbacks see one chain run, and each event of the run as a custom event. Raises the `ChameleonError`
    of a run that fails, `Declined` of one that declines, `InputError` for an input that is not taken.
    """
    return InventoryRunnable(executor)


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

    async def ask_later(**arguments: Any) -> tuple[str, Output]:
        import asyncio

        with TemporaryDirectory(prefix="chameleon-") as scratch:
            try:
                read = await asyncio.to_thread(inputs.read, arguments, Path(scratch))
                output = await runnable.ainvoke(read)
            except ChameleonError as problem:
                raise ToolException(str(problem)) from problem
        return in_text(output["answer"]), output

    return StructuredTool(
        name=name or as_name(inventory.name),
        description=description or inventory.about or f"Answers by {', '.join(inventory.present)}.",
        args_schema=inputs.schema,
        func=ask,
        coroutine=ask_later,
        response_format="content_and_artifact",
        handle_tool_error=True,
    )
