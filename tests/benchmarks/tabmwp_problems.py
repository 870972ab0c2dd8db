"""Problems in the form that TabMWP's rules are given."""

from __future__ import annotations

from collections.abc import Sequence

from chameleon.evaluation.benchmark import Problem


def number(gold: str, unit: str | None = None) -> Problem:
    detail = {"ans_type": "decimal_number", "choices": None, "unit": unit}
    return Problem(id="1", input={}, gold=gold, detail=detail)


def choice(gold: str, choices: Sequence[str], unit: str | None = None) -> Problem:
    detail = {"ans_type": "extractive_text", "choices": list(choices), "unit": unit}
    return Problem(id="2", input={}, gold=gold, detail=detail)


UNKNOWN_CHOICES = Problem(id="3", input={}, gold="red", detail={"ans_type": "other_text"})
WEEKEND = choice("Sunday", ["Saturday", "Sunday"])
YES = choice("yes", ["yes", "no"])
NO = choice("no", ["yes", "no"])
