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
    rf"(?:which|what)(?: of these| of the)?(?: \w+){{0,2}} (?:is|are|stands?) "
    rf"(?:named|written|printed|labell?ed|listed|mentioned)(?: (?:on|in) the (?:{_CARRIERS}))?",
)
_VALUE_OF = re.compile(
    rf"(?:what|when|how (?:much|high|large|long|heavy|many)) (?:is|are|was) the (?P<key>.+?)"
    rf"(?: (?:on|in) the (?:{_CARRIERS}))?",
)
_NUMBER = re.compile(r"[-+]?[$€£]?\d[\d.,:/]*\s?(?:%|°\s?[CF]?|[A-Za-zµ]{1,4}(?![A-Za-z])(?:/[a-z]{1,3})?)?")
_WORD = re.compile(r"\w+")
_SMALL = frozenset(("a", "an", "the", "of", "in", "on", "at", "for", "to", "and"))


class LexicalReader(Module):
    """Answers from the text in the picture, without a model: what it says, or the value beside a label."""

    reads = ("input.question", "input.choices?", "cache.detected_text")
    writes = ("cache.solution",)

    def run(self, state: State) -> str:
        """The answer in a sentence. Raises `Declined` for what the text alone does not tell."""
        lines = [line.strip() for line in state.cache["detected_text"].splitlines() if line.strip()]
        question = " ".join(state.input["question"].lower().split()).rstrip("?!. ")
        if not lines:
            raise Declined(
                "no text was found in the picture", hint="A model that sees pictures may know more."
            )
        answer = _answer(question, lines, state.input.get("choices") or ())
        if answer is None:
            raise Declined(
                "the text in the picture does not answer this alone",
                hint="Ask what it says, or for a value that stands beside its label.",
            )
        return f"In the picture stands: {answer[1]}\nThe answer is {answer[0]}"

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"solution": output}


def _answer(question: str, lines: Sequence[str], choices: Sequence[str]) -> tuple[str, str] | None:
    """The answer and the line that it rests on."""
    if choices:
        standing = [choice for choice in choices if _stands_in(choice, " ".join(lines))]
        if len(standing) == 1 and (_ALL_TEXT.fullmatch(question) or _WHICH_STANDS.fullmatch(question)):
            return standing[0], standing[0]
        return None
    if _ALL_TEXT.fullmatch(question):
        return " ".join(lines), lines[0]
    if asked := _VALUE_OF.fullmatch(question):
        found = list(_values_beside(asked["key"], lines))
        return found[0] if len(found) == 1 else None
    return None


def _values_beside(key: str, lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The number on each line that has all words of the key and no other number."""
    words = {word for word in _WORD.findall(key) if word not in _SMALL}
    for line in lines:
        if words and words <= set(_WORD.findall(line.lower())):
            numbers = [found[0].strip() for found in _NUMBER.finditer(line) if found[0].lower() not in words]
            if len(numbers) == 1:
                yield numbers[0], line


def _stands_in(choice: str, text: str) -> bool:
    words = r"\W+".join(map(re.escape, _WORD.findall(choice.lower())))
    return bool(words) and re.search(rf"\b{words}\b", text.lower()) is not None
