"""Whether a case under a statute is judged right: labels, and amounts in dollars with their tolerances.

Sources: Holzenberger et al., 2020 (SARA, and the training script of the repository SgfdDttt/sara), LegalBench
(HazyResearch/legalbench) and Blair-Stanek et al., 2023 (BlairStanek/gpt-statutes).
"""

import math
import re
from collections.abc import Mapping
from typing import Any, ClassVar

from chameleon.benchmarks.scorers.predictions import NO, NO_PUNCTUATION, YES, single, text_of, verdict_of
from chameleon.evaluation.benchmark import GradedScorer, Problem, Scorer

ENTAILMENT, CONTRADICTION = "Entailment", "Contradiction"
LABELS = (ENTAILMENT, CONTRADICTION)
_TOLERANCE, _MIN_DOLLARS = 0.1, 5000.0
_AMOUNT = re.compile(r"[-–]?\s*(?:US)?\$?\s*(?P<number>[0-9][0-9,]*(?:\.[0-9]*)?|\.[0-9]+)\s*(?:dollars)?\.?")
_NEGATIVE = re.compile(r"\s*[-–]")
_LAST_AMOUNT = re.compile(r"\$\s*([0-9][0-9,]*(?:\.[0-9]+)?)[\s.\"'”)]*\Z")  # at the end, before marks only


def dollars(value: Any) -> float | None:
    """Read dollars: 1234.5, "$1,234.50", "-$3", "1234 dollars"; None for anything else."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(value) if math.isfinite(value) else None
        except OverflowError:
            return None
    match = _AMOUNT.fullmatch(value.strip().strip("*")) if isinstance(value, str) else None
    if match is None:
        return None
    number = float(match["number"].replace(",", ""))
    return None if math.isinf(number) else -number if _NEGATIVE.match(value.strip("* ")) else number


class StatutoryRule(Scorer):
    """SARA (Holzenberger et al., 2020): the label; dollars within a tenth of the gold or $5,000."""

    most: ClassVar[float] = 1.0

    def right(self, prediction: Any, problem: Problem) -> bool:
        prediction, gold = single(prediction), dollars(problem.gold)
        if gold is None:
            return verdict_of(prediction) == (YES if problem.gold == ENTAILMENT else NO)
        amount = dollars(prediction)
        return amount is not None and abs(amount - gold) / max(_TOLERANCE * gold, _MIN_DOLLARS) < self.most


class HingeRule(StatutoryRule):
    """SARA's training script: the label; dollars within two tenths of the gold or $10,000."""

    most: ClassVar[float] = 2.0


class LegalbenchRule(GradedScorer):
    """LegalBench: balanced accuracy of labels, and amounts within 10%, digits read without dots."""

    figures: ClassVar[tuple[str, ...]] = ("balanced accuracy", "within 10%")

    def right(self, prediction: Any, problem: Problem) -> bool:
        """Return whether the normalized label is the same, or the amount within a tenth of the gold one.

        Oddities of the metric: commas and dots are deleted before the first run of digits is read, so
        "$1,234.00" is 123,400; a tenth of a dollar is added to the gold amount, and $0 is never right.
        """
        text, gold = text_of(prediction), dollars(problem.gold)
        if gold is None:
            return _normalized(text) == _normalized(problem.gold)
        digits = re.search(r"[0-9]+", text.replace(",", "").replace(".", ""))
        if digits is None or len(digits[0]) > 300:  # too many for a float
            return False
        return abs(float(digits[0]) / (gold + 0.1) - 1) < _TOLERANCE

    def grades(self, prediction: Any, problem: Problem) -> Mapping[str, float]:
        """Count the case by its kind, and whether it is right."""
        kind = str(problem.gold) if problem.gold in LABELS else "amount"
        return {kind: 1.0, f"{kind} right": float(self.right(prediction, problem))}

    def overall(self, sums: Mapping[str, float], n: int) -> Mapping[str, float]:
        """Return the mean share of right labels over the gold labels, 0 without any; likewise for amounts."""
        shares = [_share(sums, label) for label in LABELS if sums.get(label)]
        balanced = sum(shares) / len(shares) if shares else 0.0
        return {"balanced accuracy": balanced, "within 10%": _share(sums, "amount")}


class GptStatutesRule(GradedScorer):
    """gpt-statutes: one of two words in a text; dollars at its very end, else the case does not count."""

    figures: ClassVar[tuple[str, ...]] = ("accuracy", "skipped")

    def from_output(self, text: str, problem: Problem) -> Any:
        """Return the answer of a second reply: the one label that it mentions, or the amount at its end.

        "entail" or "contradict" is enough for a label. Oddity of the metric: a text with both has no label,
        such as "it does not entail but contradicts".
        """
        if problem.gold not in LABELS:
            match = _LAST_AMOUNT.search(text)
            return None if match is None else float(match[1].replace(",", ""))
        low = text.lower()
        entails, contradicts = "entail" in low, "contradict" in low
        return None if entails == contradicts else ENTAILMENT if entails else CONTRADICTION

    def from_value(self, value: Any, problem: Problem) -> Any:
        """Return the value; a text is read like an output."""
        return self.from_output(value, problem) if isinstance(value, str) else value

    def grades(self, prediction: Any, problem: Problem) -> Mapping[str, float]:
        """Return whether the case counts, and whether it is right (by SARA's rule, for amounts).

        Oddity of the metric: a case without an amount does not count; one without a label is wrong.
        """
        counts = problem.gold in LABELS or dollars(prediction) is not None
        right = counts and StatutoryRule().right(prediction, problem)
        return {"counted": float(counts), "right": float(right)}

    def right(self, prediction: Any, problem: Problem) -> bool:
        return bool(self.grades(prediction, problem)["right"])

    def overall(self, sums: Mapping[str, float], n: int) -> Mapping[str, float]:
        """Return the share of right cases among those counted, and the share of cases not counted."""
        counted = sums["counted"]
        return {
            "accuracy": 100 * sums["right"] / counted if counted else 0.0,
            "skipped": 100 * (n - counted) / n,
        }


def _share(sums: Mapping[str, float], kind: str) -> float:
    n = sums.get(kind, 0.0)
    return 100 * sums.get(f"{kind} right", 0.0) / n if n else 0.0


def _normalized(text: str) -> str:
    return text.translate(NO_PUNCTUATION).strip().lower()
