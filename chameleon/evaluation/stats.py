"""Statistics of plans: which modules they call, in which order, and how varied they are."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

START, END = "START", "END"


class PlanStats:
    """Counts over the plans of one run (Chameleon: figures 4, 5, 7, 8 and table 7), the most frequent first.

    `n` counts every problem, `programs` how often each plan was made, `modules` the questions that call a
    module (twice in one plan counts once). `transitions[a][b]` is how often b directly follows a; every plan
    begins after START and is followed by END.
    """

    def __init__(self, plans: Mapping[tuple[str, ...], int]) -> None:
        self.n, self.programs = sum(plans.values()), _most_first(plans)
        modules, steps = Counter[str](), defaultdict[str, Counter[str]](Counter)
        for program, count in self.programs.items():
            modules.update(dict.fromkeys(program, count))
            for before, after in zip((START, *program), (*program, END), strict=True):
                steps[before][after] += count
        self.modules = _most_first(modules)
        self.transitions = {name: _most_first(after) for name, after in steps.items()}

    def share(self, module: str) -> float:
        """Return the share of all questions that call the module."""
        return self.modules.get(module, 0) / self.n if self.n else 0.0

    @property
    def mean_length(self) -> float | None:
        """The mean number of steps in a plan, 0 for an empty one; None without problems."""
        steps = sum(len(program) * count for program, count in self.programs.items())
        return steps / self.n if self.n else None

    @property
    def probabilities(self) -> Mapping[str, Mapping[str, float]]:
        """The probability that b follows a, as `probabilities[a][b]`."""
        return {
            name: {follower: count / sum(after.values()) for follower, count in after.items()}
            for name, after in self.transitions.items()
        }

    def to_json(self, top: int = 10) -> dict[str, Any]:
        """Return the counts as one object; shares and probabilities are fractions."""
        return {
            "n": self.n,
            "without_plan": self.programs.get((), 0),
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
    """Sort by count, ties by name: the order of the file does not matter."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
