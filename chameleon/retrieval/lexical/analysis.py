"""Text as terms: what of a question and of a table is compared."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Literal

Analysis = Literal["words", "english"]

_WORD = re.compile(r"\w+")
# Words that say nothing of what a question or a table is about.
_STOP_WORDS = (
    "a an the and or of in on at by for from to with as is are was were be been being am do does did done "
    "has have had having that this these those it its he she him his her hers they them their theirs we us "
    "our i me my you your who whom whose which what when where why how than then there here if but so not no "
    "nor can could will would shall should may might must into onto about between during per also any each "
    "both such own same just only too very s t"
)
_STOP = frozenset(_STOP_WORDS.split())


def terms(text: str, analysis: Analysis = "english") -> list[str]:
    """The terms of a text in their order.

    `words` are lower-cased runs of letters, digits and underscores, as they stand. `english` are the stems of
    these (Porter's second stemmer) without stop words.
    """
    words = _WORD.findall(text.lower())
    if analysis == "words":
        return words
    return [_stem(word) for word in words if word not in _STOP]


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english", 0)


@lru_cache(maxsize=1 << 16)
def _stem(word: str) -> str:
    stem: str = _stemmer().stemWord(word)
    return stem
