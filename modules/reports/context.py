"""What stands around the lines of a table and explains their names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from chameleon.modules.reports.naming import content, total

_PARTS = re.compile(r">|[,;:()]|\bby\b")
_NUMBERING = re.compile(r"^\W*(?:\d+\.?)+\s+")
_STRUCTURE = (
    "item items segment segments statement statements report table note notes summary data selected "
    "consolidated annual division information details part results overview schedule"
)
_INTRODUCES = re.compile(
    r"\b(?:following|below|as follows|table|schedule|summari[sz]es?|sets? forth)\b|:\s*$"
)
_SHOWING = re.compile(
    r"\b(?:the|our|its|this|these|an?|following|follows|below|above|in|as|at|by|for|on|from|with|during|were|"
    r"was|is|are|table|schedule|shows?|showing|presents?|summari[sz]es?|sets? forth|provides?|"
    r"consist(?:s|ed)?|compris(?:es|ed)|includ(?:es|ed)|summary|details?|components?|breakdown|composition|company(?:'s)?)\b"
    r"(?: of\b)?|[,;:.()]"
)
_ENDS = re.compile(r"(?<=[.!?])\s+(?=[A-Za-z])|\n\s*\n")


class Context(NamedTuple):
    """What stands around the lines of a table: the words that explain their names, and its other names.

    `above` are the phrases of headings, caption and corner, each as words; `introduced` those of the sentence
    before the table that tells what it shows, of which a total may be; `years` are those of the headings and
    of all names, `dated` those of names of lines; `section` is the name of the line without figures above.
    """

    above: tuple[frozenset[str], ...]
    introduced: tuple[frozenset[str], ...]
    names: frozenset[frozenset[str]]
    years: frozenset[str]
    dated: frozenset[str]
    section: frozenset[str] = frozenset()

    def explaining(self, name: frozenset[str], asked: frozenset[str]) -> frozenset[str]:
        """The words of what is asked that need not be in this name: those above that are said in full.

        What joins words ("per") only where no word of it is in the name.
        """
        rest = asked - name
        above = [words for words in (*self.above, self.section) if words <= asked]
        if name == total():
            above += [words for words in self.introduced if words == rest - name]
        told = [words for words in above if words <= rest or not any("+" in word for word in words)]
        return frozenset().union(*told, content(_STRUCTURE) if told else ())


def phrases(text: str) -> Iterator[frozenset[str]]:
    """The phrases of a heading or a caption: "Skerry Port > 2 Revenue by pier" has three."""
    for part in _PARTS.split(text):
        if words := telling(_NUMBERING.sub("", part)):
            yield words


def telling(text: str) -> frozenset[str]:
    """The words of a heading without "statement", "table" and the like."""
    return content(text) - content(_STRUCTURE)


def introduced(text: str) -> Iterator[frozenset[str]]:
    """What the last sentence before a table says that it shows: "the inventories", "the cost of revenue"."""
    last = _ENDS.split(text.strip())[-1].lower()
    if _INTRODUCES.search(last):
        yield from (words - total() for part in _SHOWING.split(last) if (words := telling(part)))
