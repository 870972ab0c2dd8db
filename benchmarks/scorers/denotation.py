"""Denotation accuracy, as WikiTableQuestions scores lists of answers (Pasupat and Liang, 2015); TableCoT.

Sources: the repositories ppasupat/WikiTableQuestions, `evaluator.py` 1.0.2, which runs under Python 2, and
wenhuchen/TableCoT, `wikitableqa/outputs/`, whose rule is looser than the official one.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from chameleon.benchmarks.scorers.predictions import NO_PUNCTUATION, texts_of
from chameleon.evaluation.benchmark import Problem, Scorer

Date = tuple[int, int, int]

_ASCII_SIGNS = str.maketrans(
    dict.fromkeys("\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}`", "'")
    | dict.fromkeys("\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\N{MINUS SIGN}", "-")
)
# Endings of a text, matched backward without backtracking: citations, footnote marks; details in brackets.
_CITATIONS = re.compile(r"(?:[•♦†‡*#+]|\][0-9]+\[\Z|\][^\]]*\[(?!\Z))*+")
_DETAILS = re.compile(r"(?:\)[^)]*\( )*+")
_WHOLE_NUMBER = re.compile(r"\s*[+-]?\d+\s*")
_OUTER_QUOTES = re.compile(r'"([^"]*)"')
_TOLERANCE = 1e-6
_UNKNOWN = -1
_MAX_DIGITS = 300  # digits: longer numbers are not amounts and do not fit a float
_ANSWER = re.compile(r"[Tt]he answer is ([^.]+)\.$")
_ARTICLE = re.compile(r"\b(a|an|the)\b")
_FLOAT = re.compile(r"(?:[+-][0-9]+[.]?[0-9]*|[0-9]*[.]?[0-9]*)\n?")
_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)


class DenotationRule(Scorer):
    """WikiTableQuestions (Pasupat and Liang, 2015): the same set of texts, numbers and dates."""

    def from_output(self, text: str, problem: Problem) -> list[str]:
        """Return the text as a list of answers, split at bars as in the release."""
        return [item.strip() for item in text.split("|")]

    def from_value(self, value: Any, problem: Problem) -> Any:
        """Return the value as a list of answers; a text is split at bars."""
        if isinstance(value, list | tuple):
            return list(value)
        return self.from_output(value, problem) if isinstance(value, str) else value

    def right(self, prediction: Any, problem: Problem) -> bool:
        """Compare the answers with the problem's; any value but a list is one answer, None is no answer.

        True and False mean "yes" and "no". If the canonical values of the gold answers are known
        (`detail["canon"]`), they decide which are numbers or dates. Oddity of the metric: a prediction has no
        canonical values, so "12,467" is a text and not the number 12467.
        """
        if prediction is None:
            return False
        targets = answers(problem.gold, problem.detail.get("canon"))
        return same_denotation(targets, answers(texts_of(prediction)))


@dataclass(frozen=True)
class DenotedAnswer:
    """One answer: its normalized text, and its number or date, if any."""

    text: str
    meant: float | Date | None = None

    @property
    def identity(self) -> tuple[bool, Any]:
        """Return the value that identifies an answer within its side: its number or date, else its text."""
        return self.meant is None, self.text if self.meant is None else self.meant

    def matches(self, other: "DenotedAnswer") -> bool:
        """Compare the texts, the numbers to within a millionth, or the dates with their gaps."""
        if self.text == other.text:
            return True
        if self.meant is None or other.meant is None:
            return False
        if isinstance(self.meant, tuple) or isinstance(other.meant, tuple):
            return self.meant == other.meant
        return self.meant == other.meant or abs(self.meant - other.meant) < _TOLERANCE


def answers(texts: Iterable[str], canon: Sequence[str] | None = None) -> list[DenotedAnswer]:
    """Return the distinct answers among these texts, with their canonical values if given."""
    originals = list(texts)
    pairs = zip(originals, canon if canon is not None else originals, strict=True)
    by_identity: dict[tuple[bool, Any], DenotedAnswer] = {}
    for original, canonical in pairs:
        value = canonical or original
        number = _number(value)
        answer = DenotedAnswer(normal_form(original), _date(value) if number is None else number)
        by_identity.setdefault(answer.identity, answer)
    return list(by_identity.values())


def same_denotation(targets: Sequence[DenotedAnswer], predicted: Sequence[DenotedAnswer]) -> bool:
    """Return whether each target matches one of as many predictions: one may match several (oddity)."""
    return len(targets) == len(predicted) and all(any(map(target.matches, predicted)) for target in targets)


def normal_form(text: str) -> str:
    """Drop accents, citations, details in brackets, outer quotes, one final stop, and case.

    Oddities of the metric: digits in brackets are a citation even with nothing else, a stop after a
    bracket keeps both, and a standalone acute accent becomes a space.
    """
    text = "".join(
        character
        for character in unicodedata.normalize("NFKD", text)
        if unicodedata.category(character) != "Mn"
    ).translate(_ASCII_SIGNS)
    before = None
    while text != before:
        before = text
        for ending in (_CITATIONS, _DETAILS):
            text = text.strip()
            if match := ending.match(text[::-1]):
                text = text[: len(text) - match.end()]
        text = text.strip()
        if quoted := _OUTER_QUOTES.fullmatch(text):
            text = quoted[1]
    return re.sub(r"\s+", " ", text.removesuffix(".")).lower().strip()


def _number(text: str) -> float | None:
    """Return the number in a text as Python 2 reads it: no underscores, no infinity, no separators.

    Oddity of the metric: a number within a millionth of a whole one is cut to the whole number below.
    """
    if "_" in text or len(text) > _MAX_DIGITS:
        return None
    if _WHOLE_NUMBER.fullmatch(text):
        return int(text)
    try:
        number = float(text)
    except ValueError:
        return None
    if not isfinite(number):
        return None
    return int(number) if abs(number - round(number)) < _TOLERANCE else number


def _date(text: str) -> float | Date | None:
    """Read year, month and day between dashes, "xx" if unknown; a year without them is a number."""
    parts = text.lower().split("-")
    if len(parts) != 3:
        return None
    numbers = [
        _UNKNOWN if part == "xx" or (part == "xxxx" and not place) else _part(part)
        for place, part in enumerate(parts)
    ]
    year, month, day = numbers
    if year is None or month is None or day is None or {year, month, day} == {_UNKNOWN}:
        return None
    if month not in (_UNKNOWN, *range(1, 13)) or day not in (_UNKNOWN, *range(1, 32)):
        return None
    return year if month == day == _UNKNOWN else (year, month, day)


def _part(text: str) -> int | None:
    return int(text) if _WHOLE_NUMBER.fullmatch(text) and len(text) < _MAX_DIGITS else None


class TableCotRule(Scorer):
    """TableCoT (Chen, 2023): spans without articles and punctuation, numbers and number words alike."""

    def from_output(self, text: str, problem: Problem) -> str:
        """Return the first line's text after "the answer is", up to a stop that ends it; else that line.

        The original asks a model for the answer of a text that states none; this rule does not.
        """
        line = text.strip("\n").partition("\n")[0]
        match = _ANSWER.search(line, line.rfind(".", 0, -1) + 1)  # a match has no stop in it
        return match[1].strip('"') if match else line

    def right(self, prediction: Any, problem: Problem) -> bool:
        """Return whether the spans match the gold answers; a list is joined with commas.

        Oddities of the metric: punctuation is removed before numbers are read, so "3.5" is "35" and "-5" is
        "5"; a single gold answer with ", " in it is split, too.
        """
        if prediction is None:
            return False
        answer, gold = ", ".join(texts_of(prediction)).lower(), "|".join(problem.gold).lower()
        several = "|" in gold
        if several:
            answer = answer.replace(" and ", ", ")
        return _spans(answer, ", ") == _spans(gold, "|" if several else ", ")


def _spans(text: str, separator: str) -> list[str]:
    return sorted(map(_plain, text.split(separator)))


def _plain(span: str) -> str:
    """Write a number, or the word for one up to nineteen, as Python writes a float; leave other spans."""
    span = _ARTICLE.sub(" ", span.strip()).translate(NO_PUNCTUATION)
    if span in _WORDS:
        return str(float(_WORDS.index(span)))
    is_number = span.strip() and len(span) < _MAX_DIGITS and _FLOAT.fullmatch(span)
    return str(float(span)) if is_number else span
