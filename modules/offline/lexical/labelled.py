"""Lines of a text that give a value to a label: "Adult fare: $4.50", "Pages 120"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from chameleon.errors import Declined
from chameleon.modules.offline.lexical.label_questions import Wanted, ordered, same, singular, words_of
from chameleon.modules.offline.lexical.short_values import OPEN, kind_of

_MARK = re.compile(r"[:=：]")
_WORD = re.compile(r"\w+")
_GOES_ON = re.compile(r"[a-z\d$€£¥₹(+&/,;•–-]")
_LEADERS = re.compile(r"^(?:\s|\.(?!\d))+")
_SHOWN = 60
_PRICE = re.compile(r"\d[.,]\d\d(?!\d)")  # two decimals, as prices without a sign have
_WORDS_EACH = 6  # of a line, for each word of a label: articles, "of" and "'s" stand beside it
# Beside a label without a colon, words are more likely to be the rest of a sentence than its value.
_WITHOUT_MARK = frozenset(("clock", "span", "date", "dates", "money", "quantity", "number"))


@dataclass(frozen=True)
class Found:
    """A value, and the line it stands on."""

    value: str
    line: str


@dataclass(frozen=True)
class _Beside:
    """What stands beside a label, and the line below.

    `marked`: a colon parts the two. `as_asked`: singular and plural are those of the question.
    """

    value: str
    line: str
    below: str
    marked: bool
    as_asked: bool


def value_of(wanted: Wanted, lines: Sequence[str]) -> Found:
    """The value of the one line that has the wanted label, and no other line speaks of it.

    `lines` are stripped; empty ones part what does not belong together. Raises `Declined` saying why the text
    does not tell: no such line, several, or a value that does not answer.
    """
    name = f'"{wanted.name[:_SHOWN]}"'
    below = [*lines[1:], ""]
    pairs = dict.fromkeys(zip(lines, below, strict=True))  # a line told twice says no more than once
    found = [beside for pair in pairs if (beside := _beside(wanted, *pair))]
    if not found:
        raise Declined(
            f"no line of the text has the label {name}", hint="Ask with the label as it is written."
        )
    speaking = [line for line in dict.fromkeys(lines) if wanted.content <= set(map(singular, words_of(line)))]
    if len(found) > 1 or len(speaking) > 1:
        raise Declined(
            f"more than one line of the text speaks of {name}", hint="Ask for one of them in full."
        )
    if wanted.against is not None and any(map(wanted.against.search, lines)):
        raise Declined(f"the text does not tell which of its times is that of {name}")
    (beside,) = found
    kinds = [kind for kind in wanted.kinds if beside.marked or kind in _WITHOUT_MARK]
    kind = kind_of(beside.value, kinds)
    if kind is None or (kind == "number" and not beside.as_asked):  # "Page: 5" names one, "Pages: 5" counts
        told = f': "{beside.value[:_SHOWN]}"' if beside.value else ""
        raise Declined(f"what stands beside {name} is not {wanted.needed}{told}")
    if wanted.needed == "a number" and _PRICE.search(beside.value):
        raise Declined(f"what stands beside {name} may be a price: {beside.value[:_SHOWN]!r}")
    if _goes_on(kind, beside.below):
        raise Declined(f"what stands beside {name} may go on in the next line")
    return Found(beside.value, beside.line)


def split_label(line: str) -> tuple[str, str] | None:
    """The label and the value of a line with a colon; that of a time or an address parts nothing."""
    worded = next((place for place, letter in enumerate(line) if letter.isalpha()), len(line))
    for mark in _MARK.finditer(line, worded):
        begin, end = mark.span()
        within_time = mark[0] == ":" and line[begin - 1].isdigit() and line[end : end + 1].isdigit()
        if not within_time and not line.startswith("//", end):
            return line[:begin].rstrip(), line[end:].lstrip()
    return None


def _beside(wanted: Wanted, line: str, below: str) -> _Beside | None:
    """What stands beside the label on a line that has it, before a colon or at its beginning.

    Of a label and a longer one, the longer is meant.
    """
    parted = split_label(line)
    longest = max(map(len, wanted.labels)) * _WORDS_EACH
    ends = [word.end() for word in islice(_WORD.finditer(line), longest)]
    pairs = [parted] if parted else [(line[:end], line[end:]) for end in ends]
    for before, value in reversed(pairs):
        label = tuple(words_of(before)) if wanted.exact else ordered(before)
        for asked in wanted.labels:
            if label == asked or (not wanted.exact and same(asked, label)):
                rest = _LEADERS.sub("", value).rstrip()
                return _Beside(rest, line, below, parted is not None, label[-1] == asked[-1])
    return None


def _goes_on(kind: str, below: str) -> bool:
    """Whether a value of this kind may have its rest in the line below, which has no label of its own."""
    if not below or split_label(below):
        return False
    return kind in OPEN or _GOES_ON.match(below) is not None
