"""`@tool` makes a module from a typed function: arguments from its signature, the card from its docstring."""

import dataclasses
import datetime
import functools
import inspect
from collections import OrderedDict
from collections.abc import Callable, Mapping
from decimal import Decimal
from enum import Enum
from pathlib import Path
from types import NoneType
from typing import Any, TypedDict, Unpack, get_args, get_type_hints, overload
from uuid import UUID

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from chameleon.core.arguments import Arguments, output_of, written_as
from chameleon.core.module import Keys, Module, Traits, check_keys
from chameleon.core.state import State
from chameleon.errors import InventoryError
from chameleon.text import nearest, snake_case, type_in_words
from chameleon.values import adopted

_AS_JSON = (BaseModel, datetime.date, datetime.time, datetime.timedelta, Decimal, Enum, UUID, set, frozenset)


class ToolOptions(TypedDict, total=False):
    """The options of `tool`."""

    name: str
    description: str
    when: str
    reads: Keys | None
    writes: Keys | None
    uses: Keys
    requires_approval: bool
    max_runs: int | None


class FunctionModule(Module):
    """A function as a module, which can still be called like the function."""

    def __init__(self, function: Callable[..., Any], **options: Unpack[ToolOptions]) -> None:
        if unknown := [key for key in options if key not in ToolOptions.__annotations__]:
            hint = nearest(unknown[0], ToolOptions.__annotations__)
            raise InventoryError(f"a tool has no option {unknown[0]!r}", hint=hint)
        if inspect.isclass(function):
            hint = "Subclass chameleon.Module, or pass tool(object.method)."
            raise InventoryError(f"{function.__name__} is a class, not a function", hint=hint)
        if next(iter(inspect.signature(function).parameters), "") == "self":
            raise InventoryError(
                f"{function.__qualname__} is a method without its object", hint="Pass tool(object.method)."
            )
        functools.update_wrapper(self, function)
        self.function = function
        source = written_as(function)
        if source.__name__ == "__call__":  # an object: its class has the name and the docstring
            source = type(function)
        self.name = snake_case(source.__name__)
        self.description = " ".join((inspect.getdoc(source) or "").split())
        self._state = _parameter_of_state(function)
        # A function that does not take the state reads none of it, and may run in parallel.
        self.reads = None if self._state else ()  # type: ignore[misc]
        vars(self).update({key: value for key, value in options.items() if value not in (None, "")})
        if not self.name.isidentifier():
            raise InventoryError(f"{function!r} has no name", hint='Give it one: tool(function, name="…").')
        check_keys(self.reads, self.writes, f"tool {self.name}")
        skip = () if self._state is None else (self._state,)
        arguments = Arguments.of(self.name, function, None, skip)
        self.traits = Traits(returns=output_of(function), arguments=arguments)
        self._signature = inspect.signature(function)
        self._shown = f"<tool {self.name}{arguments.signature if arguments else '()'}>"

    def __repr__(self) -> str:
        return self._shown

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self.function(*args, **named)

    def run(self, state: State, /, **args: Any) -> Any:
        if self._state is not None:
            args[self._state] = state
        bound = inspect.BoundArguments(self._signature, OrderedDict(args))
        output = self.function(*bound.args, **bound.kwargs)  # positional-only ones by position
        if not inspect.isawaitable(output):
            return plain(output)

        async def later() -> Any:
            return plain(await output)

        return later()


def _parameter_of_state(function: Callable[..., Any]) -> str | None:
    """Return the parameter for the state: annotated `State`, or called `state` and not annotated."""
    parameters = inspect.signature(function).parameters.values()
    try:
        hints = get_type_hints(written_as(function))
    except Exception:  # annotations are code: names imported only for type checkers are missing
        hints = {each.name: each.annotation for each in parameters}
    annotated = (each.name for each in parameters if _is_state(hints.get(each.name)))
    bare = (each.name for each in parameters if each.name == "state" and each.annotation is each.empty)
    return next(annotated, None) or next(bare, None)


def _is_state(hint: Any) -> bool:
    """Return whether an annotation is `State` or `State | None`, even if it is only text."""
    if isinstance(hint, str):
        kinds = {part.strip().rpartition(".")[2] for part in hint.split("|")}
        return kinds - {"None"} == {"State"}
    return hint is State or set(get_args(hint)) == {State, NoneType}


def plain(output: Any) -> Any:
    """Return an output as a run keeps it: pydantic models, dataclasses, dates and sets become JSON."""
    output = adopted(output)
    if isinstance(output, list | tuple):
        return [plain(each) for each in output]
    if isinstance(output, Mapping):
        return {key: plain(each) for key, each in output.items()}
    is_data = dataclasses.is_dataclass(output) and not hasattr(output, "to_json")
    if isinstance(output, _AS_JSON) or (is_data and not isinstance(output, type)):
        return to_jsonable_python(output, by_alias=False)
    return output


@overload
def tool(function: Callable[..., Any], **options: Unpack[ToolOptions]) -> FunctionModule: ...
@overload
def tool(
    function: None = None, **options: Unpack[ToolOptions]
) -> Callable[[Callable[..., Any]], FunctionModule]: ...
def tool(
    function: Callable[..., Any] | None = None, **options: Any
) -> FunctionModule | Callable[[Callable[..., Any]], FunctionModule]:
    """Make a module from a typed function, sync or async: `@tool`, or `@tool(name=…, when=…)`.

        @tool
        def convert(amount: float, to: Literal["C", "F"] = "F") -> float:
            "Converts a temperature to degrees Celsius or Fahrenheit."

    Its parameters are the arguments in a plan, checked by pydantic. A parameter annotated as `State`, or
    called `state` without an annotation, receives the state; a function without one sees nothing else.

    Args:
        options: a module's: name, description, when, reads, writes, uses, requires_approval (a person must
            approve each step), max_runs (how many times one run may use it).

    Raises:
        InventoryError: for an unknown option, or for a signature that no schema can describe.
    """
    if function is None:
        return functools.partial(tool, **options)
    try:
        return FunctionModule(function, **options)
    except (InventoryError, TypeError) as problem:
        error = problem if isinstance(problem, InventoryError) else InventoryError(str(problem))
        code = getattr(inspect.unwrap(written_as(function)), "__code__", None)
        place = f"{Path(code.co_filename).name}:{code.co_firstlineno}" if code is not None else ""
        raise error.at(place) from problem


def as_module(source: Any) -> Module:
    """Return a module from an instance, a class or a function."""
    if isinstance(source, Module):
        return source
    if inspect.isclass(source) and issubclass(source, Module):
        try:
            inspect.signature(source).bind()
        except TypeError as problem:
            hint = f"Pass an instance: {source.__name__}(…)."
            raise InventoryError(f"{source.__name__} {problem}", hint=hint) from None
        return source()
    if callable(source) and not inspect.isclass(source):
        module: FunctionModule = tool(source)
        return module
    raise InventoryError(
        f"{source!r} is {type_in_words(source)}, not a module",
        hint="Pass a Module or a function (`chameleon.tool`).",
    )
