"""Whether a statement is entailed, as scored by TabFact, Chain-of-Table, TabSQLify and TableRAG.

Sources: the repositories wenhuchen/Table-Fact-Checking, google-research/chain-of-table (`utils/evaluate.py`),
mahadi-nahid/TabSQLify and YuhangWuAI/tablerag.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from chameleon.benchmarks.scorers.predictions import NO, YES, single, text_of, verdict_of
from chameleon.evaluation.benchmark import Problem, Scorer

ENTAILED, REFUTED, UNKNOWN = "1", "0", "2"
_LABELS = {YES: ENTAILED, NO: REFUTED, "SUPPORTS": ENTAILED, "REFUTES": REFUTED, "NOT ENOUGH INFO": UNKNOWN}
_POSITIVE = re.compile(r"\b(?:yes|true)\b", re.IGNORECASE)
_NEGATIVE = re.compile(r"\b(?:no|false)\b", re.IGNORECASE)


class VerdictRule(Scorer):
    """TabFact (Chen et al., 2020): yes, true, entailed or 1; no, false, refuted or 0."""

    def right(self, prediction: Any, problem: Problem) -> bool:
        """Compare with the label, ignoring case, a full stop, and a list around a single item."""
        return bool(verdict_of(single(prediction)) == problem.gold)


class StrictVerdictRule(Scorer):
    """Chain-of-Table (Wang et al., 2024): the first response is exactly yes, true, no or false."""

    def right(self, prediction: Any, problem: Problem) -> bool:
        """Compare with the response, or the chosen one of a list. Oddity: "Yes." and "1" are wrong."""
        if prediction is None:
            return False
        responses = list(prediction) if isinstance(prediction, list | tuple) else [prediction]
        verdict = self.chosen([text_of(each).strip() for each in responses]) if responses else ""
        return bool({"true": YES, "false": NO}.get(verdict.lower(), verdict.lower()) == problem.gold)

    def chosen(self, responses: Sequence[str]) -> str:
        """Return the response that counts: the first, which is the most confident one."""
        return responses[0]


class WeightedVerdictRule(StrictVerdictRule):
    """Chain-of-Table's weighted variant: the responses vote, the first ones with more weight."""

    def chosen(self, responses: Sequence[str]) -> str:
        """Return the response of most weight, the first on ties; "YES" and "yes" are different (oddity)."""
        weights: Counter[str] = Counter()
        for place, response in enumerate(responses):
            weights[response] += len(responses) - place
        return max(weights, key=weights.__getitem__)


class MentionedVerdictRule(Scorer):
    """TabSQLify (Nahid and Rafiei, 2024): yes if the text has true, or else support and no false."""

    def from_output(self, text: str, problem: Problem) -> str:
        """Return "yes" or "no". Oddity: "untrue" and "not true" are true, and an empty text is no."""
        text = text.lower()
        if "true" in text:
            return YES
        return YES if "support" in text and "false" not in text else NO

    def from_value(self, value: Any, problem: Problem) -> Any:
        """Return the value if it is a verdict, else the verdict that its text mentions."""
        if isinstance(value, str) and verdict_of(value) is None:
            return self.from_output(value, problem)
        return value

    def right(self, prediction: Any, problem: Problem) -> bool:
        return bool(verdict_of(prediction) == problem.gold)


class TableragLabelRule(Scorer):
    """TableRAG (YuhangWuAI/tablerag): 1 if the text has yes or true, else 0 for no or false, else 2."""

    def from_value(self, value: Any, problem: Problem) -> Any:
        """Return the value; a label of the benchmark, as in our runs, is written as in TableRAG."""
        return _LABELS.get(value, value) if isinstance(value, str) else value

    def right(self, prediction: Any, problem: Problem) -> bool:
        """Return whether the prediction, as a text, has the label; evidence is ignored."""
        label = prediction.get("label") if isinstance(prediction, Mapping) else prediction
        return label is not None and label_in(text_of(label)) == _LABELS[problem.gold]


def label_in(text: str) -> str:
    """Return "1", "0" or "2": the text if it is just 1 or 0, else by its words.

    Oddities of the metric: "not true" is 1, "no information" is 0, and " 1", "1." and "Refuted" are 2.
    """
    if text in (ENTAILED, REFUTED):
        return text
    if _POSITIVE.search(text):
        return ENTAILED
    return REFUTED if _NEGATIVE.search(text) else UNKNOWN
