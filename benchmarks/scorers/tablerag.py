"""How TableRAG scores: verdicts by the words in a text, answers by exact match.

Source: the repository YuhangWuAI/tablerag, whose figures are comparable under these rules alone; the official
ones are stricter for lists of answers and for verdicts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from chameleon.benchmarks.scorers.predictions import NO, YES, text_of
from chameleon.benchmarks.scorers.squad import same_text
from chameleon.evaluation.benchmark import Problem, Scorer

ENTAILED, REFUTED, UNKNOWN = "1", "0", "2"
_LABELS = {YES: ENTAILED, NO: REFUTED, "SUPPORTS": ENTAILED, "REFUTES": REFUTED, "NOT ENOUGH INFO": UNKNOWN}
_POSITIVE = re.compile(r"\b(?:yes|true)\b", re.IGNORECASE)
_NEGATIVE = re.compile(r"\b(?:no|false)\b", re.IGNORECASE)


def label_in(text: str) -> str:
    """Return "1", "0" or "2": the text where it is just 1 or 0, else what its words say.

    Oddities of the metric: "not true" is 1, "no information" is 0, and " 1", "1." and "Refuted" are 2.
    """
    if text in (ENTAILED, REFUTED):
        return text
    if _POSITIVE.search(text):
        return ENTAILED
    return REFUTED if _NEGATIVE.search(text) else UNKNOWN


class LabelRule(Scorer):
    """TableRAG (YuhangWuAI/tablerag): 1 where the text has yes or true, else 0 for no or false, else 2."""

    def from_value(self, value: Any, problem: Problem) -> Any:
        """Return the value; a label of the benchmark, as runs of ours give it, as TableRAG writes it."""
        return _LABELS.get(value, value) if isinstance(value, str) else value

    def right(self, prediction: Any, problem: Problem) -> bool:
        """Return whether the prediction, as a text, says the label; evidence is not looked at."""
        said = prediction.get("label") if isinstance(prediction, Mapping) else prediction
        return said is not None and label_in(text_of(said)) == _LABELS[problem.gold]


class AnswerRule(Scorer):
    """TableRAG (YuhangWuAI/tablerag): exact match (SQuAD's) with one of the answers."""

    def right(self, prediction: Any, problem: Problem) -> bool:
        """Return whether the prediction is an answer; a list is one text with commas.

        Oddity of the metric: one correct item of a list of answers is enough, and all of them are wrong.
        """
        if prediction is None:
            return False
        golds = [problem.gold] if isinstance(problem.gold, str) else problem.gold
        return any(same_text(text_of(prediction), gold) for gold in golds)
