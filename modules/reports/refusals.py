"""Questions that have the words of a known form and ask for something else."""

from __future__ import annotations

import re
from collections.abc import Sequence

CHANGE = r"(?:change|increase|decrease|growth|decline|reduction|difference|drop|variation|fluctuation|rise)"
"""The words for a change."""

_SPELLS_OF_TIME = r"(?:years?|quarters?|months?|days?|periods?|dates?|times?)"
_EXTREME = r"(?:highest|greatest|largest|biggest|maximum|lowest|smallest|least|minimum)"
_YES_OR_NO = "the question asks for yes or no"
_REFUSED: Sequence[tuple[str, str]] = (
    (
        rf"\b(?:which|what) (?:\w+ ){{0,2}}{_SPELLS_OF_TIME}\b|\bwhen (?:was|were|is|did|does|do|has|had)\b"
        rf"|\bthe {_SPELLS_OF_TIME} (?:with|when|that|where|in which|of the)\b",
        "the question asks for a time, not for a figure",
    ),
    (
        rf"\bhow (?:many|long|often)(?: \w+){{0,2}} {_SPELLS_OF_TIME}\b|\bhow often\b",
        "the question asks for a count",
    ),
    (
        r"\bwhich\b|\bwho\b|\bwhy\b"
        r"|\bwhat (?!is\b|are\b|was\b|were\b)\w+ (?:had|has|have|saw|showed|experienced)\b",
        "the question asks which one, not for a figure",
    ),
    (
        r"^(?:is|are|was|were|do|does|did|has|have|had|will|would|could|can|should)\b",
        _YES_OR_NO,
    ),
    (
        rf"\b(?:second|third|fourth|fifth|sixth|next|\d+(?:nd|rd|th))[- ](?:{_EXTREME}|most)\b",
        "the question asks for another place than the first",
    ),
    (
        r"\b(?:quarterly|monthly|weekly|daily|hourly|half[- ]yearly|semi-?annual) (?:\w+ ){0,2}"
        rf"(?:{CHANGE}|average|mean|{_EXTREME})\b",
        "the question asks for figures of other times than years",
    ),
    (
        r"\b(?:excluding|excludes?|except|other than|besides|apart from|without|if|assuming|assumes?|would|"
        r"hypothetical|median|standard deviation|variance|compound|compounded|cagr|annualized)\b",
        "the question puts a condition that is not understood without a model",
    ),
)


def refused(question: str, *, comparing: bool = False) -> str:
    """Why a question is none for these forms, though its words may be like theirs; "" where it may be one.

    With `comparing`, yes or no may be asked for.
    """
    text = " ".join(question.lower().split())
    reasons = (reason for pattern, reason in _REFUSED if re.search(pattern, text))
    return next((reason for reason in reasons if not (comparing and reason == _YES_OR_NO)), "")
