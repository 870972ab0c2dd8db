"""Helpers of the rules: predictions as texts, items and verdicts, and required details of problems."""

import string
from contextlib import suppress
from typing import Any

from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem

YES, NO = "yes", "no"
NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_WORDS = {
    **dict.fromkeys(("yes", "true", "1", "1.0", "entailed", "entails", "entailment"), YES),
    **dict.fromkeys(("no", "false", "0", "0.0", "refuted", "not entailed"), NO),
    **dict.fromkeys(("contradicted", "contradicts", "contradiction"), NO),
}


def required(problem: Problem, key: str, reason: str, hint: str = "") -> Any:
    """Return a value of the problem's `detail`. Raises `InputError` if it is unknown."""
    if (value := problem.detail.get(key)) is None:
        raise InputError(reason, where=f"problem {problem.id}", hint=hint)
    return value


def single(prediction: Any) -> Any:
    """Return a prediction, or the item of a list with only one."""
    return prediction[0] if isinstance(prediction, list | tuple) and len(prediction) == 1 else prediction


def text_of(prediction: Any) -> str:
    """Return a prediction as one text: a list joined with commas, None as ""."""
    if prediction is None:
        return ""
    if isinstance(prediction, list | tuple):
        with suppress(RecursionError):
            return ", ".join(map(text_of, prediction))
        return ""
    return written(prediction)


def texts_of(prediction: Any) -> list[str]:
    """Return a prediction as a list of texts, with "yes" and "no" for True and False."""
    items = prediction if isinstance(prediction, list | tuple) else [prediction]
    return [(YES if item else NO) if isinstance(item, bool) else written(item) for item in items]


def written(item: Any) -> str:
    """Return an item as a text, "" if Python cannot write it."""
    try:
        return str(item)
    except (ValueError, RecursionError):  # Python does not write integers of thousands of digits
        return ""


def verdict_of(value: Any) -> str | None:
    """Return "yes" or "no", whichever a value means by one of its words or as 1 or 0; None for neither.

    Case, a full stop at the end and quotes or stars around the word do not matter.
    """
    if isinstance(value, int | float):
        return YES if value == 1 else NO if value == 0 else None
    if not isinstance(value, str):
        return None
    return _WORDS.get(value.strip().removesuffix(".").strip("*\"' ").lower())
