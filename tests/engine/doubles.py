"""Small modules and planners that do what a function says, and runs of them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from chameleon import LLM, Executor, Inventory, LLMModule, Module, Plan, State, Step, StepRejected
from chameleon.core.planner import Planner
from chameleon.core.prompt import Prompt
from chameleon.llm import ScriptedModel
from chameleon.planners.fixed import Fixed

QUESTION = {"question": "How many?"}


class Does(Module):
    """Does what its function says."""

    def __init__(self, run: Callable[[State], Any], **declared: Any) -> None:
        self.function = run
        for name, value in declared.items():
            setattr(self, name, value)

    def run(self, state: State) -> Any:
        return self.function(state)


class Takes(Does):
    """Does what its function says, and may be given arguments, which are in the step."""

    def run(self, state: State, what: Any = None, level: Any = None) -> Any:
        return self.function(state)


class Ask(LLMModule):
    """Asks the model the question."""

    _template = Prompt.parse("---\nslots: [question]\n---\n# user\n{{ question }} {{ context }}")  # type: ignore[assignment]

    def parse(self, text: str) -> Any:
        if text.startswith("bad"):
            raise StepRejected("the reply is bad")
        return text


class Proposes(Planner):
    """A planner that does what its function says."""

    def __init__(self, propose: Callable[[State], Any]) -> None:
        self.function = propose

    def propose(self, state: State, inventory: Inventory) -> Sequence[Step] | Plan:
        result: Sequence[Step] | Plan = self.function(state)
        return result


def inventory_of(modules: Mapping[str, Any], planner: Any = None, **options: Any) -> Inventory:
    ready = (Module, Inventory)
    made = {name: each if isinstance(each, ready) else Does(each) for name, each in modules.items()}
    return Inventory("mine", planner or Fixed(list(made)), made, **options)


def executor(modules: Mapping[str, Any], planner: Any = None, **options: Any) -> Executor:
    return Executor(inventory_of(modules, planner, **options))


def run(modules: Mapping[str, Any], planner: Any = None, **options: Any) -> State:
    return executor(modules, planner, **options).run(QUESTION)


def asking(modules: Mapping[str, Any], replies: Any, planner: Any = None, **options: Any) -> State:
    """Run the modules with a model that gives these replies."""
    model = LLM.connect(ScriptedModel(replies))
    return Executor(inventory_of(modules, planner, **options), model).run(QUESTION)


def failing(problem: BaseException) -> Callable[[State], Any]:
    def fail(state: State) -> Any:
        raise problem

    return fail


def why(state: State) -> str:
    assert state.ended is not None and state.ended.error is not None
    return str(state.ended.error)
