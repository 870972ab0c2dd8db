"""How PromptPG scores TabMWP (Lu et al., 2022).

Source: the repository lupantech/PromptPG, `run_gpt3/`, including the patterns and their order.
"""

import random
import re
from typing import Any

from chameleon.benchmarks.scorers.predictions import written
from chameleon.benchmarks.scorers.tabmwp_rule import known_choices, most_similar
from chameleon.evaluation.benchmark import Problem, Scorer

_LETTERS = "ABCDEF"

# As in the source: it matches "The", but never "the".
_THE = "[Th]he"
_LETTER_PATTERNS = (
    r"^\(([A-Za-z])\)$",
    r"^([A-Za-z])$",
    r"^([A-Za-z]). ",
    rf"{_THE} answer is ([A-Z])",
    r"^\(([A-Za-z])\) [\s\S]+$",
    rf"{_THE} answer is \(([A-Za-z])\) [\s\S]+$",
)

_AMOUNT = r"[\d$.,/:]+"
_SIGNED_AMOUNT = r"[-\d$.,/:]*\d+"
_ANSWER_PATTERNS = (
    rf"{_THE} answer is ([\s\S]+)$",
    rf"{_THE} table shows that ({_AMOUNT}) ",
    rf" = ({_AMOUNT})",
    rf"(?<= be| is) ({_SIGNED_AMOUNT})",
    rf"(?<= are| was) ({_SIGNED_AMOUNT})",
    rf"(?<= were) ({_SIGNED_AMOUNT})",
    rf" ({_AMOUNT} [AP]\.M\.)",
    rf"({_SIGNED_AMOUNT})",
)

_FRACTION = re.compile(r"\$?\\frac\{([\d.,-]+)\}\{([\d.,]+)\}\$?")  # LaTeX
_FINAL_STOP = re.compile(r"(?<![AP]\.M)\.$")  # not that of "P.M."
_TIGHT_EQUALS = re.compile(r"(?<=\d)=(?=[-$\d])")  # "2=-3"
_MINUS_SIGN = "\N{MINUS SIGN}"

_NUMBER = re.compile(r"[-+]?[\d,./]+$")
_INTEGER = re.compile(r"[-+]?\d+$")


class PromptPGRule(Scorer):
    """PromptPG (Lu et al., 2022): patterns find the answer in a text, equality to three places.

    A letter without a choice becomes a random choice. The generator has a fixed seed and belongs to the
    scorer, so the outcome depends on the order of the problems.
    """

    seed = 123

    def __init__(self) -> None:
        self._random = random.Random(self.seed)  # noqa: S311

    def from_output(self, text: str, problem: Problem) -> str:
        """Return the answer in the text: one of the choices if any, else a number or the text itself."""
        text = tidied(text)
        choices = known_choices(problem)
        if not choices:
            return _free_answer(text)
        letter = choice_letter(text)
        if letter is None:
            return most_similar(text, choices)
        index = _LETTERS.index(letter)
        return choices[index] if index < len(choices) else self._random.choice(choices)

    def right(self, prediction: Any, problem: Problem) -> bool:
        """Compare the normalized prediction, as Python writes it, with the gold answer; None is wrong."""
        if prediction is None:
            return False
        unit = problem.detail.get("unit")
        return normalize(written(prediction), unit).lower() == normalize(str(problem.gold), unit).lower()


def choice_letter(text: str) -> str | None:
    """Return the letter of a choice, A to F, in a text, or None.

    Oddities of the metric: "The answer is Friday" gives F, because the word need not end there; "At noon"
    gives A, because the first letter may be followed by the rest of its word.
    """
    for pattern in _LETTER_PATTERNS:
        match = re.search(pattern, text)
        if match and match[1].upper() in _LETTERS:
            return match[1].upper()
    return None


def _free_answer(text: str) -> str:
    """Find the answer in a text without choices: the last match of the first pattern that has any."""
    for pattern in _ANSWER_PATTERNS:
        if matches := re.findall(pattern, text):
            answer: str = matches[-1].strip()
            return answer if ".M." in answer else answer.removesuffix(".")
    return text


def normalize(text: str, unit: str | None) -> str:
    """Return an answer in the form in which it is compared.

    A leading "$" and one trailing comma, stop or slash are dropped. Numbers and quotients are written with at
    most three places; the unit is removed from any other text. A text that only looks like a number ("1.2.3",
    "1/0") makes the source stop; here it remains a text.
    """
    text = re.sub(r"[,./]$", "", text.removeprefix("$"))
    if _NUMBER.match(text):
        try:
            return re.sub(r"\.0+$", "", _number(text.replace(",", "")))
        except (ValueError, ArithmeticError):
            return text
    return text.replace(unit, "").strip() if unit else text


def _number(text: str) -> str:
    if _INTEGER.match(text):
        return str(int(text))
    if "/" in text:
        numerator, denominator = text.split("/")[:2]
        return str(round(float(numerator) / float(denominator), 3))
    return str(round(float(text), 3))


def tidied(text: str) -> str:
    """Return the text with plain fractions and minus signs, spaces around "=", and without its final stop."""
    text = _FRACTION.sub(r"\1/\2", text)
    text = _FINAL_STOP.sub("", text)
    return _TIGHT_EQUALS.sub(" = ", text).replace(_MINUS_SIGN, "-")
