"""What may stand beside a label as its value: a number, a time, a price, a code, a name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from chameleon.modules.offline.grammar.lexicon import word_set

_SIGN = r"[-−–]?"
_NUMBER = rf"{_SIGN}(?:(?:\d{{1,3}}(?:,\d{{3}})+|\d+)(?:\.\d+)?|\d+,\d{{1,2}})"
_UNIT = (
    r"%|°?\s?[CF](?!\w)"
    r"|(?:[kmµ]?g|lbs?|oz|[kcmµ]?m[²³]?|mi|ft|in|[mc]?l|L|s|min|h|k?J|k?cal|[kMG]?Wh?|m?Ah?|k?V"
    r"|k?N|Nm|[kMG]?Hz|[kMGT]B|k?Pa|bar|dB|ha|km/h|mph)(?!\w)"
    r"|(?:percent|degrees|seconds|minutes?|hours?|days?|weeks?|months?|years?|met(?:re|er)s?|miles?|feet|foot"
    r"|inch(?:es)?|kilomet(?:re|er)s|kilograms?|kilos?|grams?|lit(?:re|er)s?|calories)(?!\w)"
)
_CURRENCY = r"(?:euros?|dollars?|pounds?|cents?|francs?|yen|EUR|USD|GBP|CHF)(?!\w)"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY = r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?"
# With a point and nothing else, 12.50 is as likely a price; of two, both are times: "9.00 to 17.30".
_HALF = r"\s?[ap]\.?\s?m\.?"
_CLOCK = rf"(?:[01]?\d|2[0-4]):[0-5]\d(?:{_HALF})?|\d{{1,2}}(?:\.[0-5]\d)?{_HALF}|noon|midnight"
_CLOCKS = rf"{_CLOCK}|(?:[01]?\d|2[0-4])\.[0-5]\d"
_DATE = (
    rf"(?:{_DAY},?\s)?(?:\d{{1,2}}\.?\s{_MONTH}(?:,?\s\d{{4}})?|{_MONTH}\s\d{{1,2}}(?:,?\s\d{{4}})?)"
    r"|\d{4}-\d{2}-\d{2}|\d{1,2}[/.]\d{1,2}[/.]\d{4}"
)
_TO = r"\s?(?:to|until|till|[-–—])\s?"
_WORD = r"[^\W\d_](?:[^\W\d_]|['’.&-](?=[^\W\d_])|\.(?![^\W\d_]))*"
_CAPITAL = rf"(?=[A-Z\u00c0-\u00de]){_WORD}"
_JOINT = r"(?:&|and|de|da|di|la|le|van|von|der|den|bin|al|of|the)"
_SERIAL = r"[\w#+./-]*\d[\w#+./-]*"
_TELEPHONE = r"\+?[\d(](?=(?:\D*\d){6})[\d() -]{5,18}\d"

_PATTERNS: Mapping[str, str] = {
    "clock": _CLOCK,
    "span": rf"(?:{_DAY}(?:{_TO}{_DAY})?,?\s)?(?:from\s)?(?:(?:{_CLOCKS})|\d{{1,2}}){_TO}(?:{_CLOCKS})",
    "date": _DATE,
    "moment": rf"(?:{_DATE}),?\s(?:at\s)?(?:{_CLOCK})",
    "dates": rf"(?:{_DATE}|\d{{1,2}}){_TO}(?:{_DATE})|{_DAY}{_TO}{_DAY}",
    "money": rf"{_SIGN}[$€£¥₹]\s?(?:{_NUMBER})|(?:{_NUMBER})\s?(?:[$€£¥₹]|{_CURRENCY})"
    rf"|(?:EUR|USD|GBP|CHF)\s(?:{_NUMBER})",
    "quantity": rf"(?:{_NUMBER})\s?(?:{_UNIT})",
    "number": _NUMBER,
    "code": rf"{_SERIAL}|[A-Z]{{1,3}}\s\d[\dA-Z]*|{_TELEPHONE}",
    "address": r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?:https?://|www\.)\S+",
    "words": rf"{_WORD}(?:,?\s(?:&\s)?{_WORD}){{0,6}}",
    "name": rf"{_CAPITAL}(?:,?\s(?:{_JOINT}\s)*{_CAPITAL}){{0,6}}",
}
_CASELESS = frozenset({"clock", "span", "date", "dates", "moment"})
_KINDS = {
    name: re.compile(pattern, re.IGNORECASE if name in _CASELESS else 0)
    for name, pattern in _PATTERNS.items()
}
_WORDY = frozenset({"words", "name"})
OPEN = _WORDY | {"span", "dates"}
"""Kinds that may go on in the next line without looking cut off."""

# A name of these words is none, and with them a value is a sentence or has a condition.
_NOTHING = word_set(
    """unknown none nil no not na tbd tba tbc free closed cancelled canceled various several many varies
    unavailable vacant absent empty pending anonymous missing illegible unspecified unnamed
    undecided never without nobody anyone someone somebody everybody nothing see ask call"""
)
_TELLING = word_set(
    """is are was were be been will would has have had do does did can could might must should shall please
    if unless when while until except but only or than then because since after before from about
    approximately around nearly almost probably perhaps maybe possibly formerly previously"""
)
_ANY_WORD = re.compile(r"[^\W\d_]+")
_LONGEST = 60


def kind_of(value: str, among: Iterable[str]) -> str | None:
    """The first of these kinds that the value is as a whole; None where it is more, less or none of them.

    A tab parts what stands apart in a picture: words on both sides of one are no single value.

    Kinds: clock, span (from one time to another), date, dates, moment (a date with a time), money, quantity
    (with its unit), number, code (with a digit, such as a telephone number), address (of mail or the web),
    words, and name (capitalised).
    """
    if len(value) > _LONGEST:
        return None
    for kind in among:
        if _KINDS[kind].fullmatch(value) and not (kind in _WORDY and _tells_nothing(value)):
            return kind
    return None


def _tells_nothing(value: str) -> bool:
    words = {word.lower() for word in _ANY_WORD.findall(value)}
    return "\t" in value or bool(words & (_NOTHING | _TELLING)) or value.replace("/", "").lower() in _NOTHING
