"""How Binder scores WikiTableQuestions (Cheng et al., 2023): more lenient than the official rule.

Source: the repository xlang-ai/Binder, `utils/evaluator.py` and `utils/normalizer.py`. It finds some 1.5
points more than the official rule on the same answers: never compare the two. What the docstrings call an
oddity is a part of the metric: its figures depend on it.
"""

from __future__ import annotations

import re
from typing import Any

from chameleon.benchmarks.scorers.denotation import answers, items, same_denotation
from chameleon.benchmarks.scorers.recogniser import check_packages, recognised
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem, Scorer

_DURATION = re.compile(r"PT?(\d+)[YMDHS]")
_NUMBER_WITH_UNIT = re.compile(r"\$*[+-]?([0-9]*[.])?[0-9]+(\s*%*|\s+\w+)$")
_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}")


class BinderRule(Scorer):
    """Right is the same set of answers once dates and numbers in them are recognised, units aside."""

    about = "Binder (Cheng et al., 2023): lenient: dates and numbers are recognised, and units may be missing"

    def check(self) -> None:
        """Raise `MissingPackage` without the recogniser."""
        check_packages()

    def from_value(self, value: Any, problem: Problem) -> list[Any]:
        """The value as a list of answers."""
        return list(value) if isinstance(value, list | tuple) else [value]

    def right(self, prediction: Any, problem: Problem) -> bool:
        """Whether the answers, recognised, are those of the problem.

        A single answer is also right where 1 or 0 stands for "yes" or "no", or for the word before or after
        "or" in the question, and where the words of a number with a unit, or the parts of a date, are
        among those of the other side. Canonical values are not looked at. Raises `InputError` where the
        question is not known, `MissingPackage` without the recogniser.

        Oddities of the metric: a prediction that is no list is never right, for it is compared with the
        gold list as one text; "14" is not "14 weeks", although it is "14 days".
        """
        question = problem.detail.get("question")
        if not isinstance(question, str):
            raise InputError("Binder's rule needs the question", where=f"problem {problem.id}")
        if not isinstance(prediction, list | tuple):
            return False
        said = sorted({recognised(item.lower().strip()) for item in items(prediction)})
        gold = sorted({recognised(item.lower().strip()) for item in problem.gold})
        if len(said) == len(gold) == 1 and (
            _stands_for(said[0], gold[0], question) or _is_part(said[0], gold[0])
        ):
            return True
        # The sides are swapped in the original, too: here it is the predicted answers that must all match.
        return same_denotation(answers(said), answers(gold))


def _stands_for(said: str, gold: str, question: str) -> bool:
    """Whether 1 stands for "yes" or the word before the first "or", and 0 for "no" or the word after it.

    Oddity of the metric: where the question begins with "or", the word before it is the last one.
    """
    meant = {"1": {"yes"}, "0": {"no"}}
    words = question.lower().split()
    if "or" in words[:-1]:
        place = words.index("or")
        meant["1"].add(words[place - 1])
        meant["0"].add(words[place + 1])
    return gold in meant.get(said, ())


def _is_part(said: str, gold: str) -> bool:
    """Whether one side is a number or a date whose words are all on the other side."""
    said, gold = (found[1] if (found := _DURATION.match(text)) else text for text in (said, gold))
    pairs = []
    if _NUMBER_WITH_UNIT.match(said) or _NUMBER_WITH_UNIT.match(gold):
        pairs.append((set(said.split()), set(gold.split())))
    if _DATE.match(said) or _DATE.match(gold):
        pairs.append((set(said.replace("-", " ").split()), set(gold.replace("-", " ").split())))
    return any(one <= other or other <= one for one, other in pairs)
