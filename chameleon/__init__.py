"""Chameleon composes tools to answer questions: a planner picks modules, an executor runs them.

from chameleon import Executor, Inventory, Table

executor = Executor(Inventory.load("tables_offline"))
table = Table(["fruit", "price"], [["apple", "$2"], ["pear", "$3"]])
state = executor.run({"question": "What is the total price?", "table": table})
print(state.answer)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chameleon.lazy import lazy

if TYPE_CHECKING:
    from chameleon.errors import ChameleonError, Declined, StepRejected
    from chameleon.evaluation.frames import results
    from chameleon.executor import Executor
    from chameleon.function_module import tool
    from chameleon.inventory import Inventory
    from chameleon.llm import LLM
    from chameleon.llm_module import LLMModule
    from chameleon.log import EventLog
    from chameleon.module import Module
    from chameleon.planner import Planner
    from chameleon.state import Plan, State, Step
    from chameleon.table import Table
    from chameleon.usage import Budget

__all__ = [
    "LLM",
    "Budget",
    "ChameleonError",
    "Declined",
    "EventLog",
    "Executor",
    "Inventory",
    "LLMModule",
    "Module",
    "Plan",
    "Planner",
    "State",
    "Step",
    "StepRejected",
    "Table",
    "results",
    "tool",
]


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])


__getattr__ = lazy(
    "chameleon",
    errors="ChameleonError Declined StepRejected",
    executor="Executor",
    function_module="tool",
    inventory="Inventory",
    llm="LLM",
    llm_module="LLMModule",
    log="EventLog",
    module="Module",
    planner="Planner",
    state="Plan State Step",
    table="Table",
    usage="Budget",
    **{"evaluation.frames": "results"},
)
