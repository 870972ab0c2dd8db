"""Answer from the text in a picture, without a model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chameleon import Declined, Module, State

_CARRIERS = (
    "sign|label|text|picture|image|photo|poster|caption|note|ticket|receipt|banner|screen|plate|board|page"
)
_ALL_TEXT = re.compile(
    rf"what (?:does|do) the (?:{_CARRIERS})s? (?:say|read)"
    rf"|what (?:is|text is|words? (?:is|are)) (?:written|printed) (?:on|in) the (?:{_CARRIERS})"
    rf"|(?:what|which) (?:text|words?) (?:is|are|stands?) (?:there )?(?:on|in) the (?:{_CARRIERS})"
    rf"|read the text (?:on|in|of) the (?:{_CARRIERS})",
)
_WHICH_STANDS = re.compile(
    r"(?:which|what)(?: of these| of the)?(?: \w+){0,2} (?:is|are|stands?) "
    rf"(?:named|written|printed|labell?ed|listed|mentioned)(?: (?:on|in) the (?:{_CARRIERS}))?",
)
_VALUE_OF = re.compile(
    r"(?P<asked>what|when|how much|how many|how (?:high|large|long|heavy|wide|far|old|tall|deep|fast)) "
    rf"(?:is|are|was) the (?P<key>.+?)(?: (?:on|in) the (?:{_CARRIERS}))?",
)
_WORD = re.compile(r"\w+")
_SMALL = frozenset(("a", "an", "the", "of", "in", "on", "at", "for", "to", "and"))
_NEGATIONS = frozenset(("no", "not", "non", "never", "without", "none", "un", "free"))

# What may stand beside a label, whole: anything else in its place is declined.
_NUMBER = r"[-−–]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[-−–]?\d+(?:\.\d+)?"
_UNIT = (
    r"%|°\s?[CF]"
    r"|(?:[kmµ]?g|lbs?|oz|[kcmµ]?m[²³]?|mi|ft|in|[mc]?l|L|s|min|h|k?J|k?cal|k?Wh?|V|A|km/h|mph)(?!\w)"
)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_CLOCK = r"\d{1,2}[:.]\d{2}(?:\s?[ap]\.?\s?m\.?)?|\d{1,2}\s?[ap]\.?\s?m\.?"
_DATE = rf"\d{{1,2}}\.?\s{_MONTH}(?:\s\d{{4}})?|{_MONTH}\s\d{{1,2}}(?:,?\s\d{{4}})?|\d{{4}}-\d{{2}}-\d{{2}}"
_KINDS: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.IGNORECASE if name in ("clock", "date") else 0)
    for name, pattern in {
        "clock": _CLOCK,
        "date": _DATE,
        "money": rf"[$€£]\s?(?:{_NUMBER})|(?:{_NUMBER})\s?[$€£]",
        "quantity": rf"(?:{_NUMBER})\s?(?:{_UNIT})",
        "number": _NUMBER,
    }.items()
}
_FITTING: Mapping[str, tuple[str, ...]] = {
    "when": ("clock", "date"),
    "how many": ("number",),
    "how much": ("money", "quantity"),
    "what": ("clock", "date", "money", "quantity", "number"),
}


class LexicalReader(Module):
    """Answers from a text, or that in the picture, without a model: what it says, or the value of a label."""

    reads = ("input.question", "input.choices?", "cache.detected_text|input.text")
    writes = ("cache.program_result", "cache.reading")

    def run(self, state: State) -> dict[str, str]:
        """The answer and the line it stands on. Raises `Declined` for what the text alone does not tell."""
        text = state.cache.get("detected_text", state.input.get("text", ""))
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        question = " ".join(state.input["question"].lower().split()).rstrip("?!. ")
        if not lines:
            raise Declined("there is no text to answer from")
        found = _found(question, lines, state.input.get("choices") or ())
        if found is None:
            raise Declined(
                "the text does not answer this by itself",
                hint="Ask what it says, or for a value that stands beside its label.",
            )
        return {"answer": found[0], "line": found[1]}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"program_result": output["answer"], "reading": output["line"]}


def _found(question: str, lines: Sequence[str], choices: Sequence[str]) -> tuple[str, str] | None:
    """The answer and the line that it rests on."""
    if choices:
        standing = list(_standing(question, lines, choices))
        return standing[0] if len(standing) == 1 else None
    if _ALL_TEXT.fullmatch(question):
        return " ".join(lines), lines[0]
    if asked := _VALUE_OF.fullmatch(question):
        beside = list(_values_beside(asked["key"], lines))
        if len(beside) == 1 and _fits(asked["asked"], beside[0][0]):
            return beside[0]
    return None


def _standing(question: str, lines: Sequence[str], choices: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The choices that stand in the text: as a whole line of it, or within one that denies nothing."""
    whole, which = _ALL_TEXT.fullmatch(question), _WHICH_STANDS.fullmatch(question)
    for choice in choices if whole or which else ():
        words = _words(choice)
        for line in [*lines, " ".join(lines)] if whole else lines:
            written = _words(line)
            if words == written or (which and _is_in(words, written) and not _NEGATIONS & set(written)):
                yield choice, line
                break


def _values_beside(key: str, lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What follows the key on each line that begins with it, and with no other word."""
    wanted = [word for word in _words(key) if word not in _SMALL]
    for line in lines:
        ends = [found.end() for found in _WORD.finditer(line)]
        for end in ends:
            label = [word for word in _words(line[:end]) if word not in _SMALL]
            if wanted and label == wanted:
                yield line[end:].lstrip(" :.=\t").strip() or "", line
                break


def _fits(asked: str, value: str) -> bool:
    """Whether a value is, as a whole, of a kind that answers: a time for "when", money for "how much"."""
    kinds = _FITTING.get(asked, ("quantity",))
    return any(_KINDS[kind].fullmatch(value) for kind in kinds)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _is_in(words: Sequence[str], written: Sequence[str]) -> bool:
    """Whether the words stand in the text next to each other."""
    starts = range(len(written) - len(words) + 1)
    return bool(words) and any(list(written[start : start + len(words)]) == list(words) for start in starts)
