"""Give the value of a program as the question wants it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from chameleon import Module, State
from chameleon.modules.answer_generator import tidy
from chameleon.table.calculation import tokens_of

_PERCENT = re.compile(r"percent|%", re.IGNORECASE)
_POINTS = re.compile(r"percentage points?|points?\b", re.IGNORECASE)
_HUNDRED = ("const_100", "100", "100.0")


class ReportAnswer(Module):
    """Gives the final answer: the program's value, in per cent where that is asked for. Always the last."""

    reads = ("input.question", "cache.finqa_program", "cache.program_result")
    writes = ("cache.answer",)

    def run(self, state: State) -> Any:
        cache = state.cache
        return as_asked(cache["program_result"], cache["finqa_program"], state.input["question"])

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"answer": output}


def as_asked(value: Any, program: str, question: str) -> Any:
    """ "38.89%" for a share of 0.38889 where the question asks for per cent; else the number, "yes" or "no".

    A share is what a division comes to whose divisor is a value of the report, and the sum or difference of
    shares, or of a share and 1. What a program multiplies by a hundred itself is a percentage already.
    """
    if isinstance(value, str) or not _PERCENT.search(question):
        return tidy(value)
    kind = _kinds(program)[-1]
    if kind == "share" and not _POINTS.search(question):
        return _percent(100 * value)
    return _percent(value) if kind == "percentage" else tidy(value)


def _kinds(program: str) -> list[str]:
    """Of each step, whether it is a "share", a "percentage", or neither ("")."""
    tokens = tokens_of(program)[:-1]
    kinds: list[str] = []
    for place in range(0, len(tokens), 4):
        operation, first, second = tokens[place].rstrip("("), *tokens[place + 1 : place + 3]
        one, other = (_kind(each, kinds) for each in (first, second))
        if operation == "divide" and not second.startswith("const_") and not one:
            kinds.append("share")
        elif operation == "multiply" and (second in _HUNDRED or first in _HUNDRED):
            kinds.append("percentage" if "share" in (one, other) else "")
        elif operation in ("add", "subtract"):
            ones = [each for each in (one, other) if each]
            is_share = ones and {*ones} == {"share"} and (len(ones) == 2 or _is_one(first) or _is_one(second))
            kinds.append("share" if is_share else "")
        else:
            kinds.append("")
    return kinds


def _kind(argument: str, kinds: Sequence[str]) -> str:
    return kinds[int(argument[1:])] if argument.startswith("#") else ""


def _is_one(argument: str) -> bool:
    return argument in ("1", "1.0", "const_1")


def _percent(value: float) -> str:
    """A percentage with two places; of one below a hundredth, two digits that matter."""
    return f"{value:.2f}%" if abs(value) >= 0.01 or not value else f"{value:.2g}%"
