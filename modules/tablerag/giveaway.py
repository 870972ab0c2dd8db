"""Whether a text that should only explain gives an answer away.

What can be told is how an answer is announced: a verdict on the statement, or "the answer is …". That a
sentence happens to name the right cell cannot be told: whoever checks does not know the answer, and good
descriptions name cells too.
"""

from __future__ import annotations

import re

_JUDGED = r"(?:statement|claim|assertion|hypothesis|sentence|proposition)"
_VERDICTS = (
    r"(?:true|false|correct|incorrect|right|wrong|accurate|inaccurate|supported|refuted|entailed|contradicted|"
    r"confirmed|disproved|disproven|verified|valid|invalid|unsupported|untrue)"
)
_ADVERBS = r"(?:(?:not|therefore|thus|hence|indeed|clearly|in fact|partly|partially|fully)\s+)*"
_PATTERNS = (
    # "The statement is (therefore) false"; not "whether the statement is true", which says what is asked.
    re.compile(
        rf"(?<!whether )(?<!if )\b(?:the|this|that)\s+{_JUDGED}\s+"
        rf"(?:is|was|turns out(?: to be)?|seems|appears(?: to be)?)\s+{_ADVERBS}{_VERDICTS}\b",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:supports?|refutes?|entails?|contradicts?|confirms?|disproves?|verif(?:y|ies))\s+"
        rf"(?:the|this|that)\s+{_JUDGED}\b",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:the|final|correct|right|my)\s+answer(?:\s+to\s+(?:the|this)\s+question)?\s+"
        r"(?:is|was|would be|must be|should be)\b(?!\s+(?:in|found|to be found|given|stated|one of|a|an)\b)",
        re.IGNORECASE,
    ),
    re.compile(r"^\W*(?:final\s+)?(?:answer|verdict|label)\s*:\s*\S", re.IGNORECASE),
    re.compile(r"^\W*(?:yes|no|true|false|supports|refutes|not enough info)\W*$", re.IGNORECASE),
    # "No, there are two", "No. There are two"; not "No. 3" and "No. is the number".
    re.compile(r"^\W*(?:yes|no)\s*(?:[,:;–-]|\.(?=\s*$|\s+(?-i:[A-Z])))", re.IGNORECASE),
    re.compile(r"\b(?:therefore|thus|hence|so)\s*,?\s+(?:it is\s+)?(?:true|false|yes|no)\b", re.IGNORECASE),
)
_SENTENCE = re.compile(r"(?<=[.!?])(?<!\bNo\.)\s+|\n+")


def gives_away(text: str) -> str:
    """The first sentence that announces an answer or a verdict, "" where none does."""
    # A sentence may go over several lines, and a line may be one without a full stop.
    listed = [*sentences(text), *sentences(" ".join(text.split()))]
    return next((sentence for sentence in listed if _announces(sentence)), "")


def kept_back(text: str) -> str:
    """The text without the sentences that announce an answer or a verdict."""
    while gives_away(text):
        text = " ".join(sentence for sentence in sentences(text) if not _announces(sentence))
    return text


def sentences(text: str) -> list[str]:
    return [part.strip() for part in _SENTENCE.split(text) if part.strip()]


def _announces(sentence: str) -> bool:
    return any(pattern.search(sentence) for pattern in _PATTERNS)
