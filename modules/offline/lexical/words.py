"""Words of a statement and of a cell, in one form: "3rd" and "third", "1,203" and "1203" are the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from chameleon.modules.offline.grammar.lexicon import NUMBER_WORDS, word_set
from chameleon.modules.offline.grammar.words import stem
from chameleon.modules.offline.lexical.calendar import Date, date_at

_TOKEN = re.compile(
    r"""
    \d+(?::\d+)+(?:\.\d+)?
  | \d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\w)
  | (?:(?<=\s)|(?<=^))-\d+(?:\.\d+)?(?!\w)
  | \d+\.\d+(?!\w)
  | [^\W_]+(?:['’][^\W_]+)*
  | [^\s\w]
    """,
    re.VERBOSE,
)
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_CLOCK = re.compile(r"\d+(?::\d+)+(?:\.\d+)?")
_TENTHS = """twenty thirty forty fifty sixty seventy eighty ninety"""
_TENS = {word: 10 * place for place, word in enumerate(_TENTHS.split(), 2)}
_PLACES = """zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"""
ORDINAL_WORDS = {word: place for place, word in enumerate(_PLACES.split()) if place}
ARTICLES = word_set("a an the of s")


@dataclass(frozen=True)
class Token:
    """One token: as written, the form that it is compared by, and the number, place or date it means."""

    text: str
    form: str
    number: Fraction | None = None
    place: int | None = None
    date: Date | None = None

    @property
    def is_mark(self) -> bool:
        return not any(character.isalnum() for character in self.text)


@lru_cache(maxsize=65_536)
def tokens_of(text: str) -> tuple[Token, ...]:
    """The tokens of a text, dates of several words taken as one."""
    raw = [match.group() for match in _TOKEN.finditer(text.lower().replace("’", "'").replace("−", "-"))]
    raw = _with_signs([part for part in raw if part not in _CURRENCIES])
    found: list[Token] = []
    place = 0
    while place < len(raw):
        if (dated := date_at(raw, place)) is not None:
            date, length = dated
            found.append(Token(" ".join(raw[place : place + length]), f"date {date}", date=date))
            place += length
            continue
        found.append(_token(raw[place]))
        place += 1
    return tuple(_joined(found))


def _with_signs(raw: list[str]) -> list[str]:
    """The parts with a minus sign that stands apart put to its number: "was - 2", and not "3 - 1"."""
    parts: list[str] = []
    for place, part in enumerate(raw):
        before = parts[-2] if len(parts) > 1 else ""
        is_signed = parts[-1:] == ["-"] and (not before or before in _BEFORE_SIGN)
        if is_signed and part[0].isdecimal() and "-" not in raw[place + 1 : place + 2]:
            parts[-1] = f"-{part}"
        else:
            parts.append(part)
    return parts


_BEFORE_SIGN = word_set("is was are were be been of at than below above under over to by only exactly")
_CURRENCIES = word_set("$ £ € ¥")


def _token(text: str) -> Token:
    if (ordinal := _ORDINAL.fullmatch(text)) is not None or text in ORDINAL_WORDS:
        place = int(ordinal[1]) if ordinal else ORDINAL_WORDS[text]
        return Token(text, f"#{place}", place=place)
    if _CLOCK.fullmatch(text):
        return Token(text, text, number=clock_seconds(text))
    number = number_of(text)
    if number is not None:
        return Token(text, _plain(number), number=number)
    return Token(text, stem(text))


def _joined(tokens: Sequence[Token]) -> Iterable[Token]:
    """The tokens with "seventy - one" and "thirty six" as one number, and "5 million" multiplied."""
    place = 0
    while place < len(tokens):
        token, rest = tokens[place], tokens[place + 1 : place + 3]
        unit = next((other for other in rest if other.text != "-"), None)
        if (
            token.text in _TENS
            and unit is not None
            and unit.number
            and unit.number < 10
            and unit.text.isalpha()
        ):
            total = (token.number or 0) + unit.number
            place += 2 + (rest[0].text == "-")
            yield Token(f"{token.text} {unit.text}", _plain(total), number=total)
            continue
        yield token
        place += 1


def clock_seconds(text: str) -> Fraction:
    """ "1:32:46.309" in its smallest unit: 60 of each make one of the next."""
    total = Fraction(0)
    for part in text.split(":"):
        total = total * 60 + Fraction(part)
    return total


def number_of(word: str) -> Fraction | None:
    """The number that a word is: "1,203", "-5", "2.50", "three", "twenty"."""
    if re.fullmatch(r"-?\d+(?:,\d{3})*(?:\.\d+)?", word):
        return Fraction(word.replace(",", ""))
    if word in _TENS:
        return Fraction(_TENS[word])
    return NUMBER_WORDS.get(word)


def _plain(number: Fraction) -> str:
    return str(number.numerator) if number.denominator == 1 else f"{float(number):.10g}"


@lru_cache(maxsize=65_536)
def key_of(text: str) -> tuple[str, ...]:
    """The forms that name a cell or a column: marks and articles do not count."""
    return key_of_tokens(tokens_of(text))


def key_of_tokens(tokens: Iterable[Token]) -> tuple[str, ...]:
    forms = [(token.text, token.form) for token in tokens if not token.is_mark]
    telling = tuple(form for text, form in forms if text not in ARTICLES)
    return telling or tuple(form for _, form in forms)  # a grade "A" is no article
