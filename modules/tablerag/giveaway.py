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
    r"confirmed|disproved|disproven|verified|valid|invalid|unsupported|untrue|consistent|inconsistent|"
    r"at odds with|in line with)"
)
_ADVERBS = (
    r"(?:,?\s*\b(?:not|never|therefore|thus|hence|indeed|clearly|actually|also|only|certainly|definitely|"
    r"in fact|partly|partially|fully|entirely)\b,?\s*)*"
)
# "whether the statement is true" says what is asked.
_ASKED = r"(?<!whether )(?<!if )(?<!how )"
_IS = (
    r"(?:(?:is|was|are|were)(?:n[\u0027\u2019]t)?|(?:must|can|could|should|would|will|may|might)(?:not|\s+not)?\s+be|"
    r"turns out(?: to be)?|proves?(?: to be)?|seems(?: to be)?|appears(?: to be)?|has been)"
)
_PATTERNS = (
    # "The statement (that …) is (therefore) false"
    re.compile(
        rf"{_ASKED}\b(?:the|this|that)\s+{_JUDGED}\b"
        rf"(?:(?!\b(?:whether|if|about)\b)[^.!?;:]){{0,90}}?\s{_IS}\s*{_ADVERBS}\b{_VERDICTS}\b",
        re.IGNORECASE,
    ),
    # "It is true that …"
    re.compile(
        rf"{_ASKED}\bit(?:[\u0027\u2019]s|\s+is|\s+was)(?:n[\u0027\u2019]t)?\s+{_ADVERBS}"
        r"(?:true|false|correct|incorrect|untrue)\s+that\b",
        re.IGNORECASE,
    ),
    # "The claim holds", "does not hold"; not "the claim holds that …", which says what it claims.
    re.compile(
        rf"{_ASKED}\b(?:the|this|that)\s+{_JUDGED}\s+(?:(?:does|do|did)(?:\s+not|n[\u0027\u2019]t)\s+hold|holds?|fails?)"
        r"\b(?!\s+(?:that|to)\b)",
        re.IGNORECASE,
    ),
    # "This makes the statement false"
    re.compile(
        rf"\b(?:makes?|making|renders?|rendering|proves?|proving|shows?|showing|finds?)\s+(?:the|this|that)\s+"
        rf"{_JUDGED}\s+(?:to\s+be\s+)?{_ADVERBS}\b{_VERDICTS}\b",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:supports?|refutes?|entails?|contradicts?|confirms?|disproves?|verif(?:y|ies))\s+"
        rf"(?:the|this|that)\s+{_JUDGED}\b",
        re.IGNORECASE,
    ),
    # "The correct label is REFUTES"; not "the label is the company that made the record".
    re.compile(
        r"\b(?:label|verdict|judg(?:e)?ment)\s+(?:is|was|would be|must be|should be)\W+(?:\w+\W+)?"
        r"(?:supports|supported|refutes|refuted|not enough info\w*|true|false|yes|no|entailed)\b",
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
