"""How TableCoT scores WikiTableQuestions (Chen, 2023): looser than the official rule, and not it.

Source: the repository wenhuchen/TableCoT, `wikitableqa/outputs/`.
"""

from __future__ import annotations

import re
import string
from typing import Any

from chameleon.benchmarks.scorers.predictions import texts_of
from chameleon.evaluation.benchmark import Problem, Scorer

_STATED = re.compile(r"[Tt]he answer is ([^.]+)\.$")
_ARTICLE = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_NUMBER = re.compile(r"(?:[+-][0-9]+[.]?[0-9]*|[0-9]*[.]?[0-9]*)\n?")
_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_LONGEST_NUMBER = 300


class TableCotRule(Scorer):
    """TableCoT (Chen, 2023): spans without articles and punctuation, numbers and number words alike."""

    def from_output(self, text: str, problem: Problem) -> str:
        """Return what the first line states after "the answer is", up to a stop that ends it; else that line.

        The original asks a model for the answer of a text that states none; this rule does not.
        """
        line = text.strip("\n").partition("\n")[0]
        stated = _STATED.search(line)
        return stated[1].strip('"') if stated else line

    def right(self, prediction: Any, problem: Problem) -> bool:
        """Return whether the spans are those of the gold answers; a list is read as one text with commas.

        Oddities of the metric: punctuation goes before numbers are read, so "3.5" is "35" and "-5" is "5";
        a single gold answer with ", " in it is parted, too.
        """
        if prediction is None:
            return False
        said, gold = ", ".join(texts_of(prediction)).lower(), "|".join(problem.gold).lower()
        several = "|" in gold
        if several:
            said = said.replace(" and ", ", ")
        return _spans(said, ", ") == _spans(gold, "|" if several else ", ")


def _spans(text: str, separator: str) -> list[str]:
    return sorted(map(_plain, text.split(separator)))


def _plain(span: str) -> str:
    """Write a number, or the word for one up to nineteen, as Python writes a float; leave other spans."""
    span = _ARTICLE.sub(" ", span.strip()).translate(_NO_PUNCTUATION)
    if span in _WORDS:
        return str(float(_WORDS.index(span)))
    is_number = span.strip() and len(span) < _LONGEST_NUMBER and _NUMBER.fullmatch(span)
    return str(float(span)) if is_number else span
