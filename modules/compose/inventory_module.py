"""An inventory as a module: `modules: {rules: {inventory: tables_offline}}`."""

import copy
from collections.abc import Generator, Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, create_model

from chameleon.core.arguments import Arguments
from chameleon.core.conversation import HISTORY
from chameleon.core.events import Event, Nested
from chameleon.core.llm_module import Asking, asking_of, configure, connected
from chameleon.core.module import InnerRun, Keys, Traits
from chameleon.core.state import State
from chameleon.errors import InnerBudget, InnerDeclined
from chameleon.inventory import Inventory
from chameleon.inventory.obstacles import all_of
from chameleon.run.executor import Executor
from chameleon.run.steps import Outcome, RunContext

_PLAN_TYPES: Mapping[str, Any] = {"str": str, "number": float, "bool": bool, "list": list[Any], "any": Any}
Confidence = Annotated[float, Field(ge=0, le=1)]


class InventoryModule(InnerRun):
    """Answers with another inventory, on what that takes of this run's input.

    A plan may give it a question of its own, and other inputs that can be written down, as arguments. Its
    steps stand in the log of this run and count for its budget, which ends the run. It asks the model of the
    run, or that of its `llm`, or the one that its own file names. Where that inventory declines, fails or
    reaches a budget of its own, so does the step: `on_error` says what then.
    """

    description = "Answers with another inventory, on what that takes of this run's input."
    reads = ("input.*",)
    leaves = ("sources", "reading")  # the evidence for an answer

    def __init__(self, inventory: Any = "tables_offline", at_least: Confidence | None = None) -> None:
        """`at_least`: the confidence, from 0 to 1, below which its readers decline, by default their own."""
        self.inner: Inventory = Inventory.of(inventory)
        if at_least is not None:
            self.inner = self.inner.with_setting("at_least", at_least)
        settings = self.inner.llm
        if settings.model:
            configure(self, Asking(model=settings.model, connection=settings.connection()))
        self.name, self.description = self.inner.name, self.inner.about
        self.executor: Executor | None = None
        takes = self.inner.input_types or {"question": "str"}
        self.traits = Traits(arguments=Arguments(self.name, _model(takes)))
        self.reads = _reads(self.inner.input_types)  # type: ignore[misc, assignment]

    def with_llm(self, llm: Any) -> Self:
        """Return the module, ready to run with this model or its own. Raises the errors of `LLM.connect`."""
        if self.inner.needs_model:
            llm = connected(self.name, asking_of(self), llm)
        bound = copy.copy(self)
        bound.executor = Executor(self.inner, llm)
        bound.inner = bound.executor.inventory
        return bound

    def check(self) -> None:
        """Raise an error if anything keeps the inventory from working here."""
        if obstacles := [each for each in self.inner.obstacles() if each.stops]:
            raise all_of(obstacles, self.inner.name)

    def runtime_info(self) -> Mapping[str, Any]:
        info = {name: module.runtime_info() for name, module in self.inner.present.items()}
        info["planner"] = self.inner.planner.runtime_info(self.inner)
        return {name: each for name, each in info.items() if each}

    def run_inside(
        self, state: State, events: Sequence[Event], context: RunContext, /, **args: Any
    ) -> Generator[Nested, None, Outcome | None]:
        executor = self.executor or Executor(self.inner)
        takes = {**self.inner.input_types, HISTORY: "list?"} if self.inner.input_types else {}
        inputs = {key: value for key, value in state.input.items() if not takes or key in takes}
        inputs |= {key: value for key, value in args.items() if value is not None}
        reached = State.fold(events)
        for event, after in executor.states(inputs, events, within=context):
            reached = after
            yield Nested(self.name, event)
        if reached.ended is None:
            return None
        if reached.ended.error is not None:
            problem = reached.ended.error.exception
            if reached.ended.reason == "declined":
                where, hint, code = problem.where, problem.hint, problem.code
                raise InnerDeclined(problem.what, where=where, hint=hint, code=code) from problem
            place = context.meter.place_of(self.inner.name)
            if reached.ended.reason == "budget" and f": {problem.where}".endswith(f": {place}"):
                where = problem.where.removesuffix(place).removesuffix(": ")
                raise InnerBudget(problem.what, where=where, hint=problem.hint) from problem
            raise problem
        changes = {key: reached.cache[key] for key in self.leaves if key in reached.cache}
        return Outcome(reached.answer, changes)


def _model(takes: Mapping[str, str]) -> type[BaseModel]:
    """Return the model of the arguments: each input that a plan can write, by default the run's."""
    kinds = {key: _PLAN_TYPES.get(kind.removesuffix("?")) for key, kind in takes.items()}
    fields: dict[str, Any] = {
        f"argument_{place}": (kind | None, Field(None, alias=key, description=f"instead of the run's {key}"))
        for place, (key, kind) in enumerate(kinds.items())
        if kind is not None
    }
    return create_model("arguments", __config__=ConfigDict(extra="forbid"), **fields)


def _reads(takes: Mapping[str, str]) -> Keys:
    """Return the input keys that an inventory takes; keys that a plan can write are optional."""
    if not takes:
        return ("input.*",)
    optional = (kind.endswith("?") or kind in _PLAN_TYPES for kind in takes.values())
    return tuple(f"input.{key}{'?' if may else ''}" for key, may in zip(takes, optional, strict=True))
