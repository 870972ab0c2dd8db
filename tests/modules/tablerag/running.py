"""How the tests of TableRAG's modules run one: alone, with a model that replies from a script."""

from collections.abc import Mapping, Sequence
from typing import Any

from chameleon import LLM, Executor, Inventory, Module, State, Table
from chameleon.llm import ScriptedModel
from chameleon.planners.fixed import Fixed

_ROWS = ["1|Otters|SEL|1,200", "2|Herons|OST|980", "3|Pikes|SEL|870", "4|Swans|VAR|"]
_HEADER = ["Rank", "Crew", "Country", "Points"]
REGATTA = Table(_HEADER, [row.split("|") for row in _ROWS], "Varn Lake Regatta")


def run(modules: Module | Sequence[Module], replies: Any = (), **given: Any) -> tuple[State, ScriptedModel]:
    """The end of a run of these modules in their order, and the model that they asked."""
    several = [modules] if isinstance(modules, Module) else list(modules)
    client = ScriptedModel(replies)
    named = {each.name: each for each in several}
    inventory = Inventory("mine", Fixed([*named]), named)
    input: Mapping[str, Any] = {"question": "Which crews are from SEL?", "table": REGATTA} | given
    return Executor(inventory, LLM.connect(client)).run(input), client


def output(state: State, name: str) -> Any:
    """What a module returned; the run must have come to it without an error."""
    record = next(record for record in state.history if record.step.module == name)
    assert record.error is None, record.error
    return record.output
