"""An inventory as a LangChain `Runnable`, or as a tool of an agent."""

from __future__ import annotations

import operator
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

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
        state = State()
        for event in executor.stream(_input_of([*inputs])):
            dispatch_custom_event(*_custom_event(event), config=config)
            before, state = state, state.after(event)
            yield from _new_steps(before, state)
        yield _result_of(state)

    async def arun(inputs: AsyncIterator[Given], config: RunnableConfig) -> AsyncIterator[Output]:
        state = State()
        async for event in executor.astream(_input_of([each async for each in inputs])):
            await adispatch_custom_event(*_custom_event(event), config=config)
            before, state = state, state.after(event)
            for steps in _new_steps(before, state):
                yield steps
        yield _result_of(state)

    return RunnableGenerator(run, arun, name=executor.inventory.name)


def _input_of(chunks: Sequence[Given]) -> Mapping[str, Any]:
    """Return the input of a run: what came before in a chain may stream it in chunks."""
    whole: Any = reduce(operator.add, chunks)
    if isinstance(whole, str):
        return {"question": whole}
    if not isinstance(whole, Mapping):
        raise InputError(f"the input is a {type(whole).__name__}", hint="Give a mapping, or the question.")
    return whole


def _custom_event(event: Event) -> tuple[str, dict[str, Any]]:
    """Return the name and data of a custom event."""
    data = event_to_json(event)
    return f"chameleon_{data['event']}", data


def _new_steps(before: State, after: State) -> Iterator[Output]:
    if names := list(after.program[len(before.program) :]):
        yield AddableDict(program=names)


def _result_of(state: State) -> Output:
    """Return the answer and what belongs to it. Raises the error of a run that did not answer."""
    if state.ended is None:
        raise needs_approval(state)
    if state.ended.error is not None:
        raise state.ended.error.exception
    result = AddableDict(answer=in_json(state.answer), ended=state.ended.reason, usage=state.usage.to_json())
    if "sources" in state.cache:
        result["sources"] = in_json(state.cache["sources"])
    if not state.program:
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
