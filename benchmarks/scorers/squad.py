"""Exact match and F1 of texts: SQuAD's (Rajpurkar et al., 2016), as in HybridQA's script and TableRAG.

TableRAG's figures (repository YuhangWuAI/tablerag) are comparable only under its rules; the official ones are
stricter for lists of answers.
"""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar

from chameleon.benchmarks.scorers.predictions import NO_PUNCTUATION, text_of
from chameleon.evaluation.benchmark import GradedScorer, Problem, Scorer

_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


def normalized(text: str) -> str:
    """Drop case, ASCII punctuation and articles; separate words by single spaces.

    Oddity of the metric: curly quotes and dashes are kept, and "9.110" equals "9,110".
    """
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(NO_PUNCTUATION)).split())


def same_text(text: str, gold: str) -> bool:
    """Return whether two texts are the same after normalization."""
    return normalized(text) == normalized(gold)


def f1(text: str, gold: str) -> float:
    """Return the harmonic mean of precision and recall over words, counting repetitions.

    If a side has no words it is 1 if both have none, else 0.
    """
    words, gold_words = normalized(text).split(), normalized(gold).split()
    if not (words and gold_words):
        return float(words == gold_words)
    common = (Counter(words) & Counter(gold_words)).total()
    return 2 * common / (len(words) + len(gold_words))  # = 2pr / (p + r)


class ExactAndF1(GradedScorer):
    """HybridQA (Chen et al., 2020): exact match and F1 of the words (SQuAD's), 0 to 100."""

    figures: ClassVar[tuple[str, ...]] = ("EM", "F1")

    def grades(self, prediction: Any, problem: Problem) -> Mapping[str, float]:
        """Return exact match and F1 from 0 to 1, both 0 for None; a list is joined with commas."""
        if prediction is None:
            return dict.fromkeys(self.figures, 0.0)
        text = text_of(prediction)
        return {"EM": float(same_text(text, problem.gold)), "F1": f1(text, problem.gold)}

    def overall(self, sums: Mapping[str, float], n: int) -> Mapping[str, float]:
        return {name: 100 * sums[name] / n for name in self.figures}


class TableragAnswerRule(Scorer):
    """TableRAG (YuhangWuAI/tablerag): exact match (SQuAD's) with one of the answers."""

    def right(self, prediction: Any, problem: Problem) -> bool:
        """Return whether the prediction is an answer; a list is joined with commas.

        Oddity of the metric: one correct item of a list of answers is enough, and all of them are wrong.
        """
        if prediction is None:
            return False
        golds = [problem.gold] if isinstance(problem.gold, str) else problem.gold
        return any(same_text(text_of(prediction), gold) for gold in golds)
