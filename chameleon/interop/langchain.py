"""An inventory as a LangChain `Runnable`, or as a tool of an agent."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import StructuredTool, ToolException

from chameleon.core.conversation import answer_in_text
from chameleon.core.state import State
from chameleon.errors import ChameleonError
from chameleon.interop.inputs import Inputs, outcome_of
from chameleon.run.approval import needs_approval
from chameleon.run.executor import Executor
from chameleon.text import as_name

Given = Mapping[str, Any] | str
Output = dict[str, Any]


def as_runnable(executor: Executor) -> Runnable[Given, Output]:
    """Return a `Runnable` that runs an inventory: sync and async, one input, a batch, or as a stream.

    The input is a mapping, or just the question. The output has `answer`, `ended`, `program` (the modules
    that ran), `usage`, and `sources`, if any; a stream yields it in one piece. `max_concurrency` of
    the config limits a batch; its callbacks see one chain run. Raises the `ChameleonError` of a run that
    fails, `Declined` of one that declines, `InputError` for an input that is neither.
    """

    def run(given: Given) -> Output:
        return _output_of(executor.run({"question": given} if isinstance(given, str) else given))

    async def arun(given: Given) -> Output:
        return _output_of(await executor.arun({"question": given} if isinstance(given, str) else given))

    return RunnableLambda(run, arun, name=executor.inventory.name)


def _output_of(state: State) -> Output:
    """Return the answer and its details. Raises the error of a run that did not answer."""
    if state.ended is None:
        raise needs_approval(state)
    if state.ended.error is not None:
        raise state.ended.error.exception
    return outcome_of(state) | {"program": list(state.executed_names)}


def as_tool(
    executor: Executor,
    *,
    name: str = "",
    description: str = "",
    fixed_inputs: Mapping[str, Any] | None = None,
    folders: Sequence[str | Path] = (),
) -> StructuredTool:
    """Return a tool for a LangChain agent, sync and async.

    Its arguments are the `input:` of the inventory: tables as CSV text, pictures as content. If a run
    declines or fails, the agent gets the reason. The artifact is the output of `as_runnable`.

    Args:
        name, description: used instead of the inventory's own.
        fixed_inputs: inputs that stay the same, such as the table; the agent does not see them.
        folders: where files may be read by path; by default nowhere.
    """
    inventory, runnable = executor.inventory, as_runnable(executor)
    inputs = Inputs(inventory, folders, fixed_inputs)

    def ask(**arguments: Any) -> tuple[str, Output]:
        with TemporaryDirectory(prefix="chameleon-") as scratch:
            try:
                output = runnable.invoke(inputs.read(arguments, Path(scratch)))
            except ChameleonError as problem:
                raise ToolException(str(problem)) from problem
        return answer_in_text(output["answer"], "\n"), output

    return StructuredTool(
        name=name or as_name(inventory.name),
        description=description or inventory.about or f"Answers by {', '.join(inventory.present)}.",
        args_schema=inputs.schema,
        func=ask,
        response_format="content_and_artifact",
        handle_tool_error=True,
    )
