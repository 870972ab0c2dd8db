"""How Program of Thoughts scores TabMWP (Chen et al., 2022).

Source: the repository wenhuchen/Program-of-Thoughts, `tool.py` and `outputs/compute_score.py`.
"""

from __future__ import annotations

from typing import Any

from chameleon.benchmarks.scorers.numeric import floatify, same_number, typed_gold
from chameleon.evaluation.benchmark import Problem, Scorer


class ProgramOfThoughtRule(Scorer):
    """Right is the exact text, or the number to the places of the coarser one; nothing is guessed.

    `relaxed` also accepts a hundredth and the hundredfold of the gold number, `tolerance` a relative
    difference of 0.001. The figures that its authors give use neither.
    """

    about = "Program of Thoughts (Chen et al., 2022): numbers to the places of the coarser, texts exactly"

    def __init__(self, relaxed: bool = False, tolerance: bool = False) -> None:
        self.relaxed = relaxed
        self.tolerance = tolerance

    def from_value(self, value: Any, problem: Problem) -> Any:
        """The value as a float where it can be one, else as a text (see `floatify`)."""
        return floatify(value)

    def right(self, prediction: Any, problem: Problem) -> bool:
        """Whether the prediction equals the gold answer; None never does.

        True stands for the answer "yes" and False for "no". Oddity of the metric: a number and a text are
        never equal, and neither are texts that differ in case.
        """
        gold = typed_gold(problem)
        if prediction is None:
            return False
        if isinstance(prediction, bool):
            return gold == ("yes" if prediction else "no")
        if isinstance(prediction, str) or isinstance(gold, str):
            return bool(prediction == gold)
        return same_number(prediction, gold, relaxed=self.relaxed, tolerance=self.tolerance)
