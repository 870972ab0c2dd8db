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
    from chameleon.core.llm_module import LLMModule
    from chameleon.core.log import EventLog
    from chameleon.core.module import Module
    from chameleon.core.planner import Planner
    from chameleon.core.state import Plan, State, Step
    from chameleon.core.tool import tool
    from chameleon.errors import ChameleonError, Declined, StepRejected
    from chameleon.evaluation.frames import results
    from chameleon.inventory import Inventory
    from chameleon.llm import LLM
    from chameleon.run.executor import Executor
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
    **{
        "core.llm_module": "LLMModule",
        "core.log": "EventLog",
        "core.module": "Module",
        "core.planner": "Planner",
        "core.state": "Plan State Step",
        "core.tool": "tool",
        "errors": "ChameleonError Declined StepRejected",
        "evaluation.frames": "results",
        "inventory": "Inventory",
        "llm": "LLM",
        "run.executor": "Executor",
        "table": "Table",
        "usage": "Budget",
    },
)
