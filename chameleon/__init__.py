"""Chameleon composes tools to answer questions: a planner picks modules, an executor runs them.

    from chameleon import ask

    print(ask("What is the total price?", [["fruit", "price"], ["apple", "$2"], ["pear", "$3"]]).answer)

In order of need; `help(chameleon.NAME)` says more:

    ask, read_table            answer one question; read a table from a file
    Executor, State            run an inventory (run, batch, map, stream); what a run returns
    tool, Module, LLMModule    your own tools: a function, a class, a class that asks a model
    Inventory, Planner         the tools that may run, and the part that chooses them
    Plan, Step, Budget         a planner's proposal, and the limits of a run
    LLM, Table, EventLog       a model, a table, the log of a run
    evaluate, compare          your own questions: how many answers are right, in one way or several
    results                    kept evaluations as a DataFrame
    ChameleonError, Declined, StepRejected    errors
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chameleon.lazy import lazy as _lazy

if TYPE_CHECKING:  # each "as" makes the name public for type checkers
    from chameleon.core.events import Plan as Plan
    from chameleon.core.events import Step as Step
    from chameleon.core.llm_module import LLMModule as LLMModule
    from chameleon.core.log import EventLog as EventLog
    from chameleon.core.module import Module as Module
    from chameleon.core.planner import Planner as Planner
    from chameleon.core.state import State as State
    from chameleon.core.tool import tool as tool
    from chameleon.errors import ChameleonError as ChameleonError
    from chameleon.errors import Declined as Declined
    from chameleon.errors import StepRejected as StepRejected
    from chameleon.evaluation.frames import results as results
    from chameleon.evaluation.own import compare as compare
    from chameleon.evaluation.own import evaluate as evaluate
    from chameleon.inventory import Inventory as Inventory
    from chameleon.llm import LLM as LLM
    from chameleon.run.ask import ask as ask
    from chameleon.run.executor import Executor as Executor
    from chameleon.table import Table as Table
    from chameleon.table import read_table as read_table
    from chameleon.usage import Budget as Budget

_HOMES = {
    "core.llm_module": "LLMModule",
    "core.log": "EventLog",
    "core.module": "Module",
    "core.planner": "Planner",
    "core.events": "Plan Step",
    "core.state": "State",
    "core.tool": "tool",
    "errors": "ChameleonError Declined StepRejected",
    "evaluation.frames": "results",
    "evaluation.own": "compare evaluate",
    "inventory": "Inventory",
    "llm": "LLM",
    "run.ask": "ask",
    "run.executor": "Executor",
    "table": "Table read_table",
    "usage": "Budget",
}
# No `__all__`: `help(chameleon)` would print every member of every class.
_PUBLIC = sorted(" ".join(_HOMES.values()).split())


def __dir__() -> list[str]:
    return sorted([*_PUBLIC, *(name for name in globals() if name.startswith("__"))])


if not TYPE_CHECKING:  # type checkers reject unlisted names
    __getattr__ = _lazy("chameleon", **_HOMES)
