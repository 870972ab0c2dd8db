"""What planners did: which modules their plans call, in which order, and how varied the plans are."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

START, END = "START", "END"

Program = tuple[str, ...]


@dataclass(frozen=True)
class PlanStats:
    """Counts over the plans of one run (Chameleon: figures 4, 5, 7, 8 and table 7).

    `n` counts every problem, `without_plan` those whose plan is empty. `modules` counts the questions that
    call a module (twice in one plan is once), the most used first; `programs` how often each plan was made,
    the most frequent first; `transitions[a][b]` how often b follows a directly, where every plan begins
    after START and is followed by END. Transitions are in the order of the most frequent plans.
    """

    n: int
    modules: Mapping[str, int]
    programs: Mapping[Program, int]
    transitions: Mapping[str, Mapping[str, int]]

    @classmethod
    def of(cls, plans: Iterable[Sequence[str]]) -> PlanStats:
        return cls.counted(Counter(tuple(plan) for plan in plans))

    @classmethod
    def counted(cls, plans: Mapping[Program, int]) -> PlanStats:
        """Return the counts over plans of which each was made so many times."""
        programs: dict[Program, int] = _most_first(plans)
        modules: Counter[str] = Counter()
        steps: dict[str, Counter[str]] = defaultdict(Counter)
        for program, count in programs.items():
            for name in dict.fromkeys(program):
                modules[name] += count
            for before, after in zip((START, *program), (*program, END), strict=True):
                steps[before][after] += count
        transitions = {name: _most_first(after) for name, after in steps.items()}
        return cls(sum(programs.values()), _most_first(modules), programs, transitions)

    def share(self, module: str) -> float:
        """Return the part of all questions that call the module."""
        return self.modules.get(module, 0) / self.n if self.n else 0.0

    @property
    def without_plan(self) -> int:
        return self.programs.get((), 0)

    @property
    def mean_length(self) -> float | None:
        """Steps in a plan on average, an empty one counting 0; None without problems."""
        if not self.n:
            return None
        return sum(len(program) * count for program, count in self.programs.items()) / self.n

    @property
    def probabilities(self) -> Mapping[str, Mapping[str, float]]:
        """How probable it is that b follows, after a: `probabilities[a][b]`."""
        return {
            name: {follower: count / sum(after.values()) for follower, count in after.items()}
            for name, after in self.transitions.items()
        }

    def to_json(self, top: int = 10) -> dict[str, Any]:
        """Return the counts as one object; shares and probabilities are fractions."""
        return {
            "n": self.n,
            "without_plan": self.without_plan,
            "modules": {name: self.share(name) for name in self.modules},
            "programs": len(self.programs),
            "mean_length": self.mean_length,
            "transitions": {
                name: {
                    follower: {"count": self.transitions[name][follower], "probability": probability}
                    for follower, probability in after.items()
                }
                for name, after in self.probabilities.items()
            },
            "top_programs": [
                {"program": list(program), "count": count, "share": count / self.n}
                for program, count in list(self.programs.items())[:top]
            ],
        }


def _most_first(counts: Mapping[Any, int]) -> dict[Any, int]:
    """Sort by count; what is equally frequent by its name: the file's order does not matter."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
