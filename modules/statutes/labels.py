"""Numbering of statutes: what "(a)", "(1)", "(ii)" and "(I)" count, and on which level.

The levels are those of the drafting manuals of the United States Code: section 1, subsection (a),
paragraph (1), subparagraph (A), clause (i), subclause (I), item (aa), subitem (AA).
"""

from __future__ import annotations

import re
from typing import NamedTuple

LEVELS = ("section", "subsection", "paragraph", "subparagraph", "clause", "subclause", "item", "subitem")
LABEL = r"\((?:[0-9]{1,3}[A-Za-z]{0,2}|[A-Za-z]{1,7})(?:[-–][0-9]{1,2})?\)"
"""The pattern of a label in brackets; `readings` says whether it counts anything."""

_TENS, _ONES = ("", "x", "xx", "xxx", "xl"), ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
_ROMAN = {tens + ones: 10 * _TENS.index(tens) + _ONES.index(ones) for tens in _TENS for ones in _ONES}
_LETTERS = {chr(ord("a") + place): place + 1 for place in range(26)}
_DOUBLE = {letter * 2: value for letter, value in _LETTERS.items()}
_AFTER_Z = {letter: 26 + value for letter, value in _DOUBLE.items()}
_KINDS = (  # level in lower case, level in capitals, value of each label
    ("subsection", "subparagraph", _LETTERS),
    ("clause", "subclause", _ROMAN),
    ("item", "subitem", _DOUBLE),
    ("subsection", "subparagraph", _AFTER_Z),
)
_PARTS = re.compile(
    r"\(?(?:(?P<number>[0-9]{1,3})(?P<added>[A-Za-z]{0,2})|(?P<letters>[a-z]{1,7}|[A-Z]{1,7}))"
    r"(?:[-–](?P<after>[0-9]{1,2}))?\)?"
)


class LabelReading(NamedTuple):
    """What a label may count: its level, its number there, and that of an addition ("5A" is 5 and 1)."""

    level: str
    value: int
    added: int = 0


def readings(label: str) -> tuple[LabelReading, ...]:
    """Return all that a label may count, the likelier first; nothing for what is no label, such as "(and)".

    "(i)" is the ninth subsection and the first clause, "(aa)" the first item and the subsection after (z).
    """
    found = _PARTS.fullmatch(label)
    if found is None:
        return ()
    after = int(found["after"] or 0)
    if found["number"]:
        letters = (found["added"] or "").lower()
        added = 26 * (len(letters) - 1) + _LETTERS[letters[-1]] if letters else after
        return (LabelReading("paragraph", int(found["number"]), added),)
    text = found["letters"].lower()
    is_lower = text == found["letters"]
    return tuple(
        LabelReading(lower if is_lower else upper, values[text], after)
        for lower, upper, values in _KINDS
        if text in values
    )


def follows(second: LabelReading, first: LabelReading) -> bool:
    """Return whether a label is the next of its level: "(b)" after "(a)", "(5A)" after "(5)"."""
    step = (second.value - first.value, second.added - first.added)
    return second.level == first.level and (step == (0, 1) or (step[0] == 1 and second.added == 0))
