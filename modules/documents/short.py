"""What may be the answer in a paper: a short value, also "ninety days", "EUR 10 per day", "$5 million"."""

from __future__ import annotations

import re
from collections.abc import Iterable

from chameleon.modules.offline.grammar.lexicon import NUMBER_WORDS
from chameleon.modules.offline.lexical.short_values import kind_of
from chameleon.table.raised import without_marks

TYPED = ("clock", "span", "date", "dates", "moment", "money", "quantity", "number")
"""Kinds that stand beside a label without a colon, or after "is", and are no part of a sentence."""

_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WORDS = "|".join(sorted([*map(re.escape, NUMBER_WORDS), *_TENS], key=len, reverse=True))
_IN_WORDS = re.compile(rf"(?:(?:{_WORDS})(?:[ -](?:{_WORDS}))?|\d+) ?(?:\(\d+\) )?(?=[a-z])", re.IGNORECASE)
_OF_TIME = r"(?:calendar|business|working|banking|consecutive|full|whole) "
_TIME = re.compile(
    rf"(?:{_OF_TIME})?(?:hours?|days?|weeks?|months?|years?)(?: in advance| in writing)?", re.IGNORECASE
)
_PER = re.compile(
    r"(?: (?:per|an?|each|every) (?:calendar |working |business )?[a-z²³]+| ?/ ?[a-z²³]+"
    r"| (?:monthly|yearly|annually|weekly|daily|quarterly))$",
    re.IGNORECASE,
)
_SCALE = re.compile(r"(?<=\d)\s?(?:thousand|million|billion|mn|bn)\b", re.IGNORECASE)
_NEGATIVE = re.compile(r"([$€£¥]?)\s*\(\s*([$€£¥]?)\s*(\d[\d,]*(?:\.\d+)?)\s*\)\s*(%?)")
_MONEY = re.compile(r"[$€£¥]\s?\d|\b(?:EUR|USD|GBP|NOK|SEK|DKK|CHF)\b|\b(?:euros?|dollars?|pounds|crowns)\b")
_LENGTH = re.compile(
    rf"(?:\d|\b(?:{_WORDS}))\)? (?:{_OF_TIME})?(?:hours?|days?|weeks?|months?|years?)\b", re.IGNORECASE
)
_DIGIT = re.compile(r"\d")


def value_kind(value: str, kinds: Iterable[str]) -> str | None:
    """The first of these kinds that the value is as a whole; None where it is more, less or none of them."""
    kinds = tuple(kinds)
    if (kind := kind_of(value, kinds)) is not None:
        return kind
    bare = _PER.sub("", value)
    numbers = _IN_WORDS.match(bare)
    if "quantity" in kinds and numbers is not None and _TIME.fullmatch(bare[numbers.end() :]):
        return "quantity"
    if "money" in kinds and kind_of(_SCALE.sub("", bare, count=1), ("money",)):
        return "money"
    if bare != value and "quantity" in kinds and kind_of(bare, ("quantity",)):
        return "quantity"
    return None


def figure(cell: str) -> str:
    """A cell without marks of footnotes; an amount that stands whole in brackets is below zero."""
    bare = without_marks(" ".join(cell.split()))
    whole = _NEGATIVE.fullmatch(bare)
    return f"-{whole[1]}{whole[2]}{whole[3]}{whole[4]}" if whole else bare


def tells_more(text: str, kind: str) -> bool:
    """Whether a text near a value of a kind has another one of it."""
    if kind == "money":
        return _MONEY.search(text) is not None
    return (_LENGTH if kind == "quantity" else _DIGIT).search(text) is not None
