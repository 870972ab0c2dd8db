"""Plans without a model: the first rule whose conditions hold provides the plan."""

import re
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from chameleon.core.events import Plan, Step
from chameleon.core.planner import Planner, as_steps, planned
from chameleon.core.state import State
from chameleon.errors import Declined, InventoryError
from chameleon.inventory import Inventory
from chameleon.table import Table


class RuleCondition(BaseModel):
    """The condition on one subject; every field that is set must hold."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    present: bool | None = None
    at_least: int | float | None = None
    at_most: int | float | None = None
    matches: re.Pattern[str] | None = None

    def holds(self, value: Any) -> bool:
        """Return whether a value meets the condition."""
        if self.present is not None and self.present != _is_given(value):
            return False
        pattern = self.matches and self.matches.pattern
        if pattern is not None and not (isinstance(value, str) and re.search(pattern, value, re.I)):
            return False
        if self.at_least is None and self.at_most is None:
            return True
        if isinstance(value, bool) or not isinstance(value, int | float):  # a bool is an int in Python
            return False
        low, high = self.at_least, self.at_most
        return (low is None or value >= low) and (high is None or value <= high)

    def __str__(self) -> str:
        tests = self.model_dump(exclude_none=True, mode="json")
        return " ".join(f"{name.replace('_', ' ')} {value}" for name, value in tests.items())


class Rule(BaseModel):
    """`when`: conditions by subject ("question", "table.rows", "choices.length"); `plan`: steps."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    plan: list[str | dict[str, Any]] = Field(min_length=1)
    when: dict[str, RuleCondition] = Field(default_factory=dict)


class Rules(Planner):
    """Proposes the plan of the first rule that holds, once; declines if none does.

    A subject is an input or cache key, with `.rows`, `.columns`, `.cells` for a table and `.length` for a
    list or text. Patterns (`matches`) are regular expressions, found anywhere, ignoring case.
    """

    fixed_plans: Sequence[Sequence[str]] = ()
    fixed_steps: Sequence[Sequence[Step]] = ()

    def __init__(self, rules: list[dict[str, Any]]) -> None:
        try:
            self.rules = [Rule.model_validate(rule) for rule in rules]
        except ValidationError as problem:
            error = problem.errors()[0]
            fault = f"{'.'.join(map(str, error['loc']))}: {error['msg']}"
            raise InventoryError(f"a rule cannot be used: {fault}", where="planner rules") from problem
        self.fixed_steps = [as_steps(rule.plan, "rules", n, "plan") for n, rule in enumerate(self.rules)]
        self.fixed_plans = [[step.module for step in plan] for plan in self.fixed_steps]

    def propose(self, state: State, inventory: Inventory) -> Plan:
        if planned(state):
            return Plan((), self.name)
        for number, rule in enumerate(self.rules, 1):
            if all(test.holds(_subject(subject, state)) for subject, test in rule.when.items()):
                conditions = ", ".join(f"{subject} {test}" for subject, test in rule.when.items())
                note = f"rule {number}: {conditions or 'always'}"
                return Plan(tuple(self.fixed_steps[number - 1]), self.name, note)
        raise self._without_plan(state)

    def _without_plan(self, state: State) -> Declined:
        """Say why no rule holds: an input that the rules need may be missing."""
        awaited = {key: None for rule in self.rules for key, test in rule.when.items() if test.present}
        keys = [key for key in awaited if not _is_given(_subject(key, state))]
        if len(keys) < len(awaited) or not keys:
            return Declined("no rule of the inventory fits this question")
        if empty := [key for key in keys if key in state.input]:
            return Declined(f"the {empty[0]} is empty")
        options = " or ".join(map(repr, keys))
        what, hint = f"there is no {' and no '.join(keys)} to answer from", f"Add {options} to the input."
        return Declined(what, hint=hint, code=f"missing-input:{' or '.join(keys)}")


def _is_given(value: Any) -> bool:
    """Return whether a value is present: not empty, and not only whitespace."""
    return value not in (None, (), "") and not (isinstance(value, str) and value.isspace())


def _subject(subject: str, state: State) -> Any:
    """Return the value of a subject such as "table.rows", or None if it does not exist."""
    key, _, size = subject.partition(".")
    value = state.input.get(key, state.cache.get(key))
    if not size:
        return value
    if isinstance(value, Table):
        sizes = {"rows": len(value.rows), "columns": len(value.header), "cells": value.cells}
        return sizes.get(size)
    return len(value) if size == "length" and isinstance(value, str | tuple) else None
