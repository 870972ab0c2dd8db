"""What there is to say of one arm of a grid: its evaluation, and what was measured without a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chameleon.evaluation.grid.kept import Kept
from chameleon.evaluation.intervals import Difference, difference, half_width
from chameleon.evaluation.recall import Recall
from chameleon.evaluation.results import Result, Tally
from chameleon.inventory.grid import Arm


@dataclass(frozen=True)
class Evaluated:
    """An arm's evaluation: its counts, and its results in the order in which they came."""

    tally: Tally
    results: Sequence[Result]

    @property
    def figures(self) -> Mapping[str, float | None]:
        """What the benchmark reports over all problems: the accuracy, or a grading rule's figures."""
        return self.tally.figures(self.tally.all)

    @property
    def half_width(self) -> float | None:
        """Half of the 90 % interval of the accuracy; None where the rule grades."""
        accuracy = self.tally.all.accuracy
        return None if self.tally.graded or accuracy is None else half_width(accuracy, self.tally.all.n)

    @property
    def seconds(self) -> float | None:
        """Those of a question's steps, on average."""
        return sum(each.seconds for each in self.results) / len(self.results) if self.results else None

    def less(self, first: Evaluated) -> Difference | None:
        """The difference to the first arm; where the rule grades, that of the leading figure over all."""
        if self.tally.graded is None:
            return difference(_verdicts(self), _verdicts(first))
        ours, theirs = (next(iter(each.figures.values())) for each in (self, first))
        return None if ours is None or theirs is None else Difference(ours - theirs, 0.0, self.tally.all.n)

    def to_json(self, benchmark: str, first: Evaluated | None) -> dict[str, Any]:
        counts = self.tally.to_json(benchmark)
        declined = self.tally.all.n - self.tally.answered.n - self.tally.failed
        less = None if first is None else self.less(first)
        return counts | {
            "half_width_90": self.half_width,
            "difference": None if less is None else less.value,
            "difference_half_width_90": None if less is None or self.tally.graded else less.half_width,
            "declined": declined,
            "failed": self.tally.failed,
            "seconds_per_question": None if self.seconds is None else round(self.seconds, 6),
        }


@dataclass(frozen=True)
class Line:
    """One arm in the comparison.

    `asks` are the modules that ask a model and did not run, the one that answers last. `lacks` says why the
    arm could not run at all, or not to its end. `failed` counts the problems that failed without a model,
    `reason` is what the first of them failed with, and `seconds` are those of the steps of all `n` problems.
    """

    arm: Arm
    n: int = 0
    asks: Sequence[str] = ()
    lacks: str = ""
    failed: int = 0
    reason: str = ""
    seconds: float = 0.0
    recall: Recall | None = None
    kept: Kept = field(default_factory=Kept)
    evaluated: Evaluated | None = None

    def to_json(self, benchmark: str, first: Evaluated | None) -> dict[str, Any]:
        """The figures as JSON; what was not measured is null."""
        evaluated, kept = self.evaluated, self.kept
        return {
            "arm": self.arm.name,
            "about": self.arm.about,
            "changes": list(self.arm.changes),
            "calls_per_question": self.arm.calls,
            "needs_a_model": list(self.asks),
            "lacks": self.lacks or None,
            "problems": self.n,
            "failed": self.failed,
            "failed_first_for": self.reason or None,
            "seconds_per_question": round(self.seconds / self.n, 6) if self.n else None,
            "evaluation": evaluated.to_json(benchmark, first) if evaluated else None,
            "retrieval": self.recall.to_json() if self.recall else None,
            "table": kept.to_json() if kept.n or kept.known else None,
        }


def _verdicts(evaluated: Evaluated) -> dict[str, bool]:
    return {result.id: bool(result.correct) for result in evaluated.results}
