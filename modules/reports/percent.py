"""Whether a question asks for per cent, and not only names some."""

from __future__ import annotations

import re

_COUNTS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|"
    "seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred"
)
_STATED = re.compile(
    rf"(?:(?!\b(?:19|20)\d\d\b)(?<![\d.,])[\d.,]*\d|\b(?:{_COUNTS})\b)[\s-]*"
    r"(?:percent|per cent|%)\w*(?:[\s-]*points?)?",
    re.IGNORECASE,
)
_ASKED = re.compile(r"percent|per cent|%", re.IGNORECASE)
_SHARE = re.compile(
    r"\b(?:growth rates?|rates? of (?:growth|change|increase|decrease|decline)|(?:portion|proportion) of|"
    r"what share of)\b",
    re.IGNORECASE,
)


def asks_percent(question: str) -> bool:
    """Whether it speaks of per cent other than by a number of them: "5% of the units" asks for none.

    "2010 percent of sales" does: it is a year.
    """
    return bool(_ASKED.search(_STATED.sub(" ", question)))


def asks_share(question: str) -> bool:
    """Whether it asks for a portion or a rate of growth, which are told in per cent without the word."""
    return bool(_SHARE.search(question))
