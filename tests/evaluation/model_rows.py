"""The problems that the rule-based model understands, as rows of TabMWP."""

from __future__ import annotations

from collections.abc import Callable

from tests.e2e.problems import make_problems
from tests.evaluation.rows import Row
from tests.loopback import LoopbackServer

Start = Callable[..., LoopbackServer]


def model_rows(count: int) -> list[Row]:
    """`count` rows with ids from "0" on; the answers are made up: the first choice where there are any."""
    return [
        {
            "pid": str(number),
            "question": problem["question"],
            "table": "\n".join(" | ".join(row) for row in [problem["table"].header, *problem["table"].rows]),
            "table_title": problem["table"].caption,
            "choices": problem.get("choices"),
            "unit": problem.get("unit"),
            "answer": problem.get("choices", ["12"])[0],
        }
        for number, problem in enumerate(make_problems(count))
    ]
