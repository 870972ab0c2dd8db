"""Give the value of a program as the question wants it."""

from __future__ import annotations

import re
from typing import Any

from chameleon import Module, State
from chameleon.modules.program.answer_generator import tidy
from chameleon.modules.reports.percent import (
    Kind,
    asks_percent,
    asks_share,
    kind_of_finqa,
    kind_of_python,
)
from chameleon.modules.reports.report import Report

_POINTS = re.compile(r"(?:percent(?:age)?|%)[\s-]*points?", re.IGNORECASE)
_MOVED = re.compile(
    r"\b(?:change[ds]?|increase[ds]?|decrease[ds]?|growth|grew|grow|decline[ds]?|differences?|drop|rise|rose|fall|fell)\b",
    re.IGNORECASE,
)
_OTHER_POINTS = re.compile(r"\bpoints?\b", re.IGNORECASE)


class ReportAnswer(Module):
    """Gives the final answer: the program's value, in per cent where that is asked for. Always the last.

    The program is one of FinQA's language, or else of Python.
    """

    reads = (
        "input.question",
        "input.table?",
        "input.passages?",
        "cache.finqa_program?",
        "cache.program?",
        "cache.program_result",
    )
    writes = ("cache.answer",)

    def run(self, state: State) -> Any:
        """Return the value as the question wants it."""
        cache, question = state.cache, state.input["question"]
        value, program = cache["program_result"], cache.get("finqa_program")
        if program is None:
            return in_words(value, kind_of_python(cache.get("program", "")), question)
        subtracted = program.rpartition("), ")[2].startswith("subtract")
        return in_words(
            value, kind_of_finqa(program, Report.of(state).every_table), question, subtracted=subtracted
        )


def in_words(value: Any, kind: Kind, question: str, *, subtracted: bool = False) -> Any:
    """Return a value of this kind as the question wants it: "38.89%", the number, "yes" or "no".

    What the program makes of figures that say "%" themselves, such as their average, is per cent whatever is
    asked; their difference (`subtracted`), where a change is asked for, is percentage points. A portion and a
    rate of growth are per cent as well. A question that only names some per cent ("if 5% are free, what is
    the price?") asks for none.
    """
    if isinstance(value, str):
        return value
    asked = asks_percent(question) or asks_share(question)
    if kind == "percent" or (kind == "share" and asked):
        moved = kind == "percent" and subtracted and _MOVED.search(question)
        if _POINTS.search(question) or moved:
            return f"{100 * value:.2f} percentage points"
        return tidy(value) if _OTHER_POINTS.search(question) else _percent(100 * value)
    return _percent(value) if kind == "percentage" and asked else tidy(value)


def _percent(value: float) -> str:
    """Return a percentage with two places; of one below a hundredth, two digits that matter."""
    return f"{value:.2f}%" if abs(value) >= 0.01 or not value else f"{value:.2g}%"
