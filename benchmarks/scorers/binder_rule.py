"""How Binder scores WikiTableQuestions (Cheng et al., 2023): more lenient than the official rule.

Source: the repository xlang-ai/Binder, `utils/evaluator.py` and `utils/normalizer.py`. It gives about 1.5
points more than the official rule on the same answers: never compare the two.
"""

import re
import warnings
from collections.abc import Callable, Iterable
from decimal import localcontext
from functools import lru_cache
from typing import Any

from chameleon.benchmarks.scorers.denotation import answers, same_denotation
from chameleon.benchmarks.scorers.predictions import required, texts_of
from chameleon.errors import require
from chameleon.evaluation.benchmark import Problem, ValueScorer

_DURATION = re.compile(r"PT?(\d+)[YMDHS]")  # in TIMEX: "P3Y", "PT5M"
_NUMBER_WITH_UNIT = re.compile(r"\$*[+-]?([0-9]*[.])?[0-9]+(\s*%*|\s+\w+)$")  # "$5", "3.5%", "14 weeks"
_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}")

_SEASON = re.compile(r"\d+/\d+")  # "1991/92"
_MAX_CHARS = 1_000
_PRECISION = 15  # the recognizer sets this for the whole process on import
_MIDNIGHT = re.compile(r".*-.*-.* 00:00:00")  # "1995-01-26 00:00:00"

Recognize = Callable[[str, str], list[Any]]


class BinderRule(ValueScorer):
    """Binder (Cheng et al., 2023): lenient: dates and numbers are recognized, and units may be missing."""

    def check(self) -> None:
        _recognizers()

    def from_value(self, value: Any, problem: Problem) -> list[Any]:
        return list(value) if isinstance(value, list | tuple) else [value]

    def right(self, prediction: Any, problem: Problem) -> bool:
        """Return whether the recognized answers match the problem's.

        A single answer is also right if it is 1 or 0 for "yes" or "no", or for the word before or after "or"
        in the question, and if the words of a number with a unit, or the parts of a date, are among those of
        the other side. Canonical values are ignored. Raises `InputError` if the question is unknown,
        `MissingPackage` without the recognizer.

        Oddities of the metric: a prediction that is not a list is never right, because it is compared with
        the gold list as one text; "14" is not "14 weeks", although it is "14 days".
        """
        question = required(problem, "question", "Binder's rule needs the question")
        if not isinstance(prediction, list | tuple):
            return False
        sides = (texts_of(prediction), problem.gold)
        texts, gold_texts = ({item.lower().strip() for item in side} for side in sides)
        if texts == gold_texts:  # skip the slow recognizer
            return True
        predicted, gold = (sorted(set(map(recognized, side))) for side in (texts, gold_texts))
        if len(predicted) == len(gold) == 1 and (
            _stands_for(predicted[0], gold[0], question) or _is_part(predicted[0], gold[0])
        ):
            return True
        # The original also swaps the sides: here all predicted answers must match.
        return same_denotation(answers(predicted), answers(gold))


def _stands_for(answer: str, gold: str, question: str) -> bool:
    """Accept 1 for "yes" or the word before the first "or", and 0 for "no" or the word after it.

    Oddity of the metric: if the question begins with "or", the word before it is the last one.
    """
    meanings = {"1": {"yes"}, "0": {"no"}}
    words = question.lower().split()
    if "or" in words[:-1]:
        place = words.index("or")
        meanings["1"].add(words[place - 1])
        meanings["0"].add(words[place + 1])
    return gold in meanings.get(answer, ())


def _is_part(answer: str, gold: str) -> bool:
    """Return whether one side is a number or a date whose words are all on the other side."""
    answer, gold = (match[1] if (match := _DURATION.match(text)) else text for text in (answer, gold))
    pairs = []
    if _NUMBER_WITH_UNIT.match(answer) or _NUMBER_WITH_UNIT.match(gold):
        pairs.append((set(answer.split()), set(gold.split())))
    if _DATE.match(answer) or _DATE.match(gold):
        pairs.append((set(answer.replace("-", " ").split()), set(gold.replace("-", " ").split())))
    return any(one <= other or other <= one for one, other in pairs)


@lru_cache(maxsize=65_536)
def recognized(text: str) -> str:
    """Return a text with its dates and durations as TIMEX ("1995-01-26", "P3Y") and its numbers in digits.

    A text that begins like "1991/92" is unchanged, as is one of more than 1,000 characters, on which the
    recognizer would take seconds; midnight after a date is dropped. Source: Binder's normalizer. Raises
    `MissingPackage` without the recognizer.
    """
    if len(text) > _MAX_CHARS:
        return text
    text = text.replace("\\n", "; ")  # a backslash and an n
    dates, numbers, culture = _recognizers()
    for recognize, to_text in ((dates, _timex), (numbers, _number)):
        if not _SEASON.match(text):
            with localcontext(prec=_PRECISION):
                spans = [(each.start, each.end + 1, to_text(each)) for each in recognize(text, culture)]
            text = _replace(text, spans)
    return text[: -len(" 00:00:00")] if _MIDNIGHT.match(text) else text


def _replace(text: str, spans: Iterable[tuple[int, int, str | None]]) -> str:
    parts: list[str] = []
    end = 0
    for start, stop, new in spans:
        if new is not None:
            parts += [text[end:start], new]
            end = stop
    return "".join([*parts, text[end:]])


def _timex(finding: Any) -> str | None:
    """Return a finding as TIMEX, or None if it may mean several times."""
    values: list[Any] = (finding.resolution or {}).get("values") or []
    return values[0]["timex"] if len(values) == 1 else None


def _number(finding: Any) -> str | None:
    value = (finding.resolution or {}).get("value")
    return None if value is None else str(value)


@lru_cache(maxsize=1)
def _recognizers() -> tuple[Recognize, Recognize, str]:
    use = "Binder's rule needs"
    with warnings.catch_warnings(), localcontext():  # the recognizer sets the precision of all decimals
        warnings.simplefilter("ignore")  # its patterns are written for older Pythons
        require("recognizers-text-number", use, "binder-metric", module="recognizers_number", imports=True)
        require(
            "recognizers-text-date-time", use, "binder-metric", module="recognizers_date_time", imports=True
        )
        from recognizers_date_time import recognize_datetime
        from recognizers_number import Culture, recognize_number
    return recognize_datetime, recognize_number, Culture.English
