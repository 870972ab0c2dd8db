"""The rules for your own questions: texts, numbers, dates and lists, compared by value."""

import datetime as dt
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from chameleon.benchmarks.scorers.predictions import NO, YES, text_of, texts_of
from chameleon.benchmarks.scorers.text_overlap import OverlapRule
from chameleon.evaluation.benchmark import Problem, Scorer
from chameleon.table.amounts import Amount, plain_signs, read_amount
from chameleon.table.dates import Span, read_date, read_span_of_time

_EDGE_MARKS = " \t\n.,;:!?\"'“”‘’`*()[]"
_SEMICOLONS = re.compile(r"[;\n|]")
_COMMAS = r",(?!\d{3}\b)(?:\s*and\b)?"  # but not that of "1,234"
_WORDS = tuple(map(re.compile, (_COMMAS, rf"{_COMMAS}|\band\b", r"\band\b")))  # of a list without semicolons
_BULLET = re.compile(r"\s*(?:[-*•–]|\d{1,3}[.)])\s+")  # "- ", "2. "
_REMARK = re.compile(r"(.*\S)\s*\(([^()]*)\)", re.DOTALL)  # "5 (Chelsea)"
_LETTER = re.compile(r"([a-z])(?:[).:]+ (.+))?")  # "b", "b)", "b. two"
_NOISE = Fraction(1, 10**9)  # of floats, as a share of up to 1,000


class ValueRule(Scorer):
    """Equal by value: texts without case and outer punctuation, numbers, dates, lists as sets."""

    def right(self, prediction: Any, problem: Problem) -> bool:
        args = {key: problem.detail[key] for key in ("tolerance", "unit", "choices") if key in problem.detail}
        return prediction is not None and same_answer(prediction, problem.gold, **args)


class TextRule(OverlapRule):
    """BLEU and ROUGE of the answer with the gold one; a list is joined with commas."""

    def grades(self, prediction: Any, problem: Problem) -> Mapping[str, float]:
        return super().grades(prediction, replace(problem, gold=text_of(problem.gold)))


def same_answer(
    answer: Any, gold: Any, tolerance: str = "", unit: str = "", choices: Sequence[str] = ()
) -> bool:
    """Return whether an answer is the gold one; lists may be in any order, or written as a text.

    A remark in brackets after a number or a date may be left out, but not changed: 5 (Chelsea) is 5, not
    5 (Arsenal).

    Args:
        tolerance: how far a number may be off: "0.5", "0.5 kg" or "1%". Without one it is compared at the
            decimal places of the gold number: 67166.6667 is 67,166.67, but 12.4 is not 12.
        unit: of a bare number.
        choices: the letter of one of them is that choice.
    """
    answers, golds = (
        [[_in_unit(_chosen(text, choices), unit) for text in texts] for texts in _lists(value)]
        for value in (answer, gold)
    )
    # The gold list is as written or split at semicolons, only the answer also at commas.
    return any(_same_set(one, each, tolerance) for each in golds[:2] for one in answers)


def read_tolerance(text: str) -> Amount | None:
    """Read the tolerance of a number: "0.5", "±2", "1%", "0.5 kg"; None for anything else."""
    return read_amount(text.strip().lstrip("±+-/ "))


def _lists(value: Any) -> Iterator[list[str]]:
    """Yield a value as it is, then split at semicolons and lines, then split more loosely."""
    yield (items := texts_of(value))
    yield (parts := _parts(items, _SEMICOLONS) or items)
    if len(parts) > 1:
        yield [_BULLET.sub("", text, count=1) for text in parts]
    else:
        yield from (_parts(items, words) for words in _WORDS)


def _parts(texts: Sequence[str], between: re.Pattern[str]) -> list[str]:
    return [part for text in texts for part in between.split(text) if part.strip()]


def _chosen(text: str, choices: Sequence[str]) -> str:
    """Return the choice with this text or letter: "B", "(b)" or "B. two"; else the text."""
    bare, by_text = _bare(text), {_bare(choice): choice for choice in choices}
    if bare not in by_text and (match := _LETTER.fullmatch(bare)):
        place = ord(match[1]) - ord("a")
        if place < len(choices) and match[2] in (None, _bare(choices[place])):
            return choices[place]
    return by_text.get(bare, text)


def _in_unit(text: str, unit: str) -> str:
    """Return a text without marks around it, adding the unit to a bare number."""
    text = text.strip()
    text = text.lstrip("*_`“” ").rstrip("*_`“” .,;:!?") or text
    figure = re.sub(rf"(?<![^\W\d_]){re.escape(unit)}$", "", text, flags=re.IGNORECASE).rstrip()
    amount = read_amount(figure)
    if not unit or amount is None or amount.unit:
        return text
    for name in (unit, unit.lower()):  # "Points" too
        measured = read_amount(f"{figure} {name}")
        if measured and " " not in measured.base:
            return f"{figure} {name}"
    return figure


def _same_set(answers: Sequence[str], golds: Sequence[str], tolerance: str) -> bool:
    """Return whether each side's items are all in the other, and both have as many distinct ones."""
    if len(set(map(_bare, answers))) != len(set(map(_bare, golds))):
        return False
    return all(any(_same_value(one, each, tolerance) for one in answers) for each in golds) and all(
        any(_same_value(one, each, tolerance) for each in golds) for one in answers
    )


def _same_value(answer: str, gold: str, tolerance: str) -> bool:
    """Return whether two texts have the same value: an amount, a date, a duration, or a text."""
    (answer, remark), (gold, gold_remark) = _split(answer), _split(gold)
    if remark and gold_remark and not same_answer(remark, gold_remark):
        return False
    amount, gold_amount = read_amount(answer), read_amount(gold)
    if amount and gold_amount:
        return _same_amount(amount, gold_amount, _margin(gold, gold_amount, tolerance))
    if (days := _dates(answer)) and (gold_days := _dates(gold)):
        return any(_same_date(one, each) for one in days for each in gold_days)
    duration = read_span_of_time(gold)
    return _bare(answer) == _bare(gold) or (duration is not None and duration == read_span_of_time(answer))


def _split(text: str) -> tuple[str, str]:
    """Split off the remark after a number or a date; "May (actress)" has no digits, and is a text."""
    match = _REMARK.fullmatch(text)
    if match and re.search(r"\d", match[1]) and (read_amount(text) or read_date(match[1])):
        return match[1], match[2]
    return text, ""


def _same_amount(amount: Amount, gold: Amount, margin: Fraction) -> bool:
    are_measured = bool(amount.unit and gold.unit)
    if are_measured and amount.base != gold.base:
        return False
    number = Fraction(amount.per(gold.factor) if are_measured else amount.number)
    gold_number = Fraction(gold.number)
    if number.denominator > 1 or gold_number.denominator > 1:
        margin = max(margin, min(abs(gold_number), Fraction(1000)) * _NOISE)
    return abs(number - gold_number) <= margin


def _margin(gold: str, amount: Amount, tolerance: str) -> Fraction:
    """Return how far a number may be from the gold one, in the gold one's unit; by default half a place."""
    if limit := read_tolerance(tolerance):
        if limit.base == "%":
            return abs(Fraction(amount.number) * Fraction(limit.number)) / 100
        return abs(Fraction(limit.per(amount.factor) if limit.base == amount.base else limit.number))
    # "$67,166.67" becomes "$00,000.01", one in the last place.
    zeros = re.sub(r"([eE][-+]?\d+)|\d", lambda match: match[1] or "0", plain_signs(gold))
    place = read_amount(re.sub(r"(\.0*)0", r"\g<1>1", zeros, count=1)) if "." in zeros else None
    return abs(Fraction(place.number)) / 2 if place else Fraction(0)


def _dates(text: str) -> set[Span]:
    """Read a date; 2003-04 may be a month or a season."""
    month, season = read_date(text, has_months=True), read_date(text)
    spans = {month, season} if season and season[0] != season[1] else {month or season}
    return {span for span in spans if span and "(" not in text}


def _same_date(span: Span, gold: Span) -> bool:
    """Return whether a date is the gold one; the time of day counts only if the gold one has one."""
    pairs = zip(span, gold, strict=True)
    return all(a[:3] == b[:3] and (b.at in (None, dt.time()) or a.at == b.at) for a, b in pairs)


def _bare(text: str) -> str:
    """Return a text as it is compared; one with only punctuation is kept."""
    folded = unicodedata.normalize("NFC", " ".join(plain_signs(text).casefold().split()))
    bare = folded.strip(_EDGE_MARKS) or folded
    return {"true": YES, "false": NO}.get(bare, bare)
