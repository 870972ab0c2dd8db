"""Give what a program computed as an answer about a table (program of thought)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chameleon import Module, State
from chameleon.errors import ModuleError
from chameleon.modules.program.answer_generator import tidy
from chameleon.modules.table_ops.table_query import Answer, Form, verdict_in


class TableAnswer(Module):
    """Gives the program's result as the answer: a list of texts, yes or no, or a text. Always the last."""

    reads = ("cache.program_result",)
    writes = ("cache.answer",)

    def __init__(self, form: Form = "items") -> None:
        """`form`: what the answer is, as for `table_query`."""
        self.form: Form = form

    def run(self, state: State) -> Answer:
        return as_answer(state.cache["program_result"], self.form)


def as_answer(value: Any, form: Form) -> Answer:
    """A value in the form of an answer: 3.0 is ["3"] among items, True and 1 are "yes" as a verdict.

    Raises `ModuleError` for a value that has no such form, such as a mapping or an empty list, and
    `StepRejected` for a text that is no verdict.
    """
    values = list(value) if isinstance(value, list | tuple) else [value]
    if not values or any(each is None or isinstance(each, Mapping | list | tuple) for each in values):
        raise ModuleError(f"the program's result is no answer: {str(value)[:80]}")
    if form == "items":
        return [_text(each) for each in values]
    if form == "verdict":
        return _verdict(values)
    return ", ".join(map(_text, values))


def _verdict(values: list[Any]) -> Answer:
    if len(values) > 1:
        raise ModuleError("the program's result is a list, and should be true or false")
    value = values[0]
    if value in (0, 1):  # True and False are equal to them
        return "yes" if value else "no"
    return verdict_in(str(value))


def _text(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(tidy(value))
