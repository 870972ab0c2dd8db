"""One line of `results.jsonl`, and the counts over many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chameleon.budget import Usage
from chameleon.evaluation.benchmark import Problem
from chameleon.state import Failure, State
from chameleon.values import to_json

_LONGEST_REASON, _MOST_REASONS = 300, 1000


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one problem. `answer` and `gold` are JSON values; seconds are those of its steps."""

    id: str
    answer: Any
    declined: bool
    correct: bool
    plan: tuple[str, ...] = ()
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)
    error: Failure | None = None
    gold: Any = None
    columns: tuple[str, ...] = ()
    picture: str = ""
    passed_over: tuple[str, ...] = ()

    @classmethod
    def of(cls, problem: Problem, state: State, correct: bool, dropped: Usage | None = None) -> Result:
        """The result of a run that has ended. What was not answered is never right.

        `dropped` is what was spent on steps that were taken back, for the run to go on before them.
        """
        assert state.ended is not None
        answered = state.ended.reason == "answered"
        return cls(
            id=problem.id,
            answer=to_json(state.answer),
            declined=state.ended.reason == "declined",
            correct=correct and answered,
            plan=state.plan,
            seconds=round(state.seconds, 6),
            usage=state.usage + dropped if dropped else state.usage,
            error=state.ended.error,
            gold=to_json(problem.gold),
            columns=problem.columns,
            picture=str(problem.picture or ""),
            passed_over=tuple(failure.where for failure in state.passed_over) if answered else (),
        )

    @property
    def failed(self) -> bool:
        """Whether the run came to no end of its own: a module or a model failed, or the budget was spent."""
        return self.error is not None and not self.declined

    @property
    def answered(self) -> bool:
        return not self.declined and self.error is None

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "answer": self.answer,
            "declined": self.declined,
            "correct": self.correct,
            "plan": list(self.plan),
            "seconds": self.seconds,
            "usage": self.usage.to_json(),
            "error": self.error.to_json() if self.error else None,
            "gold": self.gold,
            "columns": list(self.columns),
            **({"picture": self.picture} if self.picture else {}),
            **({"passed_over": list(self.passed_over)} if self.passed_over else {}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Result:
        """Raises KeyError, TypeError or ValueError for what is no result."""
        return cls(
            id=str(data["id"]),
            answer=data["answer"],
            declined=bool(data["declined"]),
            correct=bool(data["correct"]),
            plan=tuple(data["plan"]),
            seconds=float(data["seconds"]),
            usage=Usage(**data["usage"]),
            error=Failure(**data["error"]) if data["error"] else None,
            gold=data.get("gold"),
            columns=tuple(data.get("columns", ())),
            picture=data.get("picture", ""),
            passed_over=tuple(data.get("passed_over", ())),
        )


@dataclass
class Count:
    """How many, and how many of them right."""

    n: int = 0
    correct: int = 0

    def add(self, correct: bool) -> None:
        self.n += 1
        self.correct += correct

    @property
    def accuracy(self) -> float | None:
        return self.correct / self.n if self.n else None

    def to_json(self) -> dict[str, Any]:
        return {"n": self.n, "correct": self.correct, "accuracy": self.accuracy}


class Tally:
    """Running counts over results: all, answered, by column, what they spent, and why some failed.

    `reasons` counts what the failures said; of very many different ones, those that came first.
    `passed_over` counts the modules that failed in runs which answered without them.
    """

    def __init__(self, columns: Sequence[str]) -> None:
        self.all, self.answered = Count(), Count()
        self.failed = 0
        self.reasons: Counter[str] = Counter()
        self.passed_over: Counter[str] = Counter()
        self.columns = {column: Count() for column in columns}
        self.usage = Usage()

    def add(self, result: Result) -> None:
        self.all.add(result.correct)
        if result.answered:
            self.answered.add(result.correct)
        if result.failed and result.error is not None:
            self.failed += 1
            reason = result.error.message[:_LONGEST_REASON]
            if reason in self.reasons or len(self.reasons) < _MOST_REASONS:
                self.reasons[reason] += 1
        self.passed_over.update(result.passed_over)
        for column in result.columns:
            self.columns.setdefault(column, Count()).add(result.correct)
        self.usage = self.usage + result.usage

    def to_json(self, benchmark: str) -> dict[str, Any]:
        """The counts; accuracies are fractions, or null. `usage` is that of the results."""
        return {
            "benchmark": benchmark,
            "n": self.all.n,
            "correct": self.all.correct,
            "accuracy": self.all.accuracy,
            "answered": self.answered.n,
            "answered_accuracy": self.answered.accuracy,
            "breakdown": {
                "ALL": self.all.to_json(),
                **{name: count.to_json() for name, count in self.columns.items()},
            },
            "usage": self.usage.to_json(),
        }
