"""Numbering of statutes: what "(a)", "(1)", "(ii)" and "(I)" count, and which level they are of.

Levels as the drafting manuals of the United States Code name them: section 1, subsection (a), paragraph (1),
subparagraph (A), clause (i), subclause (I), item (aa), subitem (AA).
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from typing import NamedTuple

LEVELS = (
    "section",
    "subsection",
    "paragraph",
    "subparagraph",
    "clause",
    "subclause",
    "item",
    "subitem",
)
LABEL = r"\((?:[0-9]{1,3}[A-Za-z]{0,2}|[A-Za-z]{1,7})(?:[-–][0-9]{1,2})?\)"
"""A label in brackets, as a pattern; `readings` tells whether it counts anything."""

_PARTS = re.compile(
    r"\(?(?:(?P<number>[0-9]{1,3})(?P<added>[A-Za-z]{0,2})|(?P<letters>[A-Za-z]{1,7}))"
    r"(?:[-–](?P<after>[0-9]{1,2}))?\)?"
)
_ROMAN = re.compile(r"(?=.)m{0,3}(cm|cd|d?c{0,3})(xc|xl|l?x{0,3})(ix|iv|v?i{0,3})")
_DIGITS = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}


class Reading(NamedTuple):
    """What a label may count: its level, its number there, and that of an addition ("5A" is 5 and 1)."""

    level: str
    value: int
    added: int = 0


def readings(label: str) -> tuple[Reading, ...]:
    """All that a label may count, the likelier first; none for what is no label, such as "(and)".

    "(i)" is the ninth subsection and the first clause, "(aa)" the first item and the subsection after (z).
    """
    found = _PARTS.fullmatch(label)
    if found is None:
        return ()
    after = int(found["after"] or 0)
    if found["number"]:
        added = _letters(found["added"].lower()) if found["added"] else after
        return (Reading("paragraph", int(found["number"]), added),)
    letters = found["letters"]
    if not (letters.islower() or letters.isupper()):
        return ()
    lower = letters.islower()
    text, options = letters.lower(), list[Reading]()
    if len(text) == 1:
        options.append(Reading("subsection" if lower else "subparagraph", _letters(text), after))
    if value := _roman(text):
        options.append(Reading("clause" if lower else "subclause", value, after))
    if len(text) == 2 and text[0] == text[1]:
        place = ord(text[0]) - ord("a") + 1
        options.append(Reading("item" if lower else "subitem", place, after))
        options.append(Reading("subsection" if lower else "subparagraph", 26 + place, after))
    return tuple(options)


def chosen(
    label: str,
    before: Reading | None = None,
    later: Sequence[str] = (),
    expected: str = "",
    around: Container[str] = (),
) -> Reading | None:
    """What a label counts in its place; None for what is no label.

    `before` is what the label before it in the same place counts, `later` are those after it, `expected` is
    the level that a first label there has by custom, and `around` has the levels of what it stands in, which
    are unlikely to be its own.
    """
    options = readings(label)
    scores = [_fit(option, before, later, expected) - (option.level in around) for option in options]
    return options[scores.index(max(scores))] if options else None


def _fit(option: Reading, before: Reading | None, later: Sequence[str], expected: str) -> float:
    score = 0.25 * (option.level == expected)
    if before is not None and before.level == option.level:
        score += 4 if follows(option, before) else 2 if option[1:] > before[1:] else -1
    elif option.value == 1:
        score += 1.5
    if later:
        score += 3 * any(follows(next_one, option) for next_one in readings(later[0]))
    return score


def follows(second: Reading, first: Reading) -> bool:
    """Whether a label is the next after another one of its level: "(b)" after "(a)", "(5A)" after "(5)"."""
    if second.level != first.level:
        return False
    step = (second.value - first.value, second.added - first.added)
    return step == (0, 1) or (step[0] == 1 and second.added == 0)


def _letters(text: str) -> int:
    value = 0
    for letter in text:
        value = 26 * value + ord(letter) - ord("a") + 1
    return value


def _roman(text: str) -> int:
    """The value of a Roman number in lower case; 0 for what is none."""
    if not _ROMAN.fullmatch(text):
        return 0
    digits = [_DIGITS[letter] for letter in text]
    return sum(
        -digit if index + 1 < len(digits) and digit < digits[index + 1] else digit
        for index, digit in enumerate(digits)
    )
