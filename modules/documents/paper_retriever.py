"""Keep the passages of a paper that the question needs, or show them if no model reads them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NoReturn

from pydantic import PositiveInt

from chameleon import Declined, Module, State
from chameleon.core.conversation import queries_of
from chameleon.core.module import Traits
from chameleon.errors import MissingPackage, ModelError
from chameleon.retrieval.embeddings import NONE, automatic
from chameleon.retrieval.ranking import similarities
from chameleon.text import estimated_tokens

_MAX_NEAREST = 8  # how many a declined run shows
_COMPARED_CHARS = 400  # characters of a passage that are compared with the question by embeddings
_DENSE_NOTE = "No word of the question is in the document: these passages are near to it by embeddings alone."
_FIRST_NOTE = "No word of the question is in the document: these are its first passages."
_HEADING_WEIGHT = 0.5
_KINDS = (
    "part|item|article|chapter|section|clause|paragraph|schedule|annex|appendix|exhibit|note|table|figure"
)
_NUMBER = r"(?:(?-i:[IVXLC]+|[A-Z])|\d[\w.]*)"
_NUMBERED_PARTS = re.compile(
    rf"\b({_KINDS})(?:s|es)?\s+({_NUMBER}\b(?:(?:\s*,|\s+and|\s+or)\s+{_NUMBER}\b)*)|§+\s*(\d[\w.]*)",
    re.IGNORECASE,
)
_LIST_SEPARATOR = re.compile(r"\s*,\s*|\s+(?:and|or)\s+", re.IGNORECASE)
_EXCERPT_CHARS = 300
_SEPARATOR = " > "


class PaperRetriever(Module):
    """Keeps the passages of a paper that the question needs, by their words, headings and numbers."""

    reads = ("input.question", "input.passages", "input.history?")
    writes = ("input.passages", "cache.retrieved", "cache.nearest", "cache.retrieval_note")
    traits = Traits(non_text=("cache.retrieved", "cache.nearest", "cache.retrieval_note"))

    def __init__(
        self,
        k: PositiveInt = 8,
        max_tokens: PositiveInt = 4000,
        without_words: Literal["nearest", "decline"] = "nearest",
    ) -> None:
        """Take settings, all optional.

        Args:
            k: the number of passages to keep. If fewer contain a word of the question, their neighbors are
                kept as well, so a short paper is shown whole.
            max_tokens: their total length at most, in estimated tokens.
            without_words: what to do if the paper has no word of the question. "nearest" keeps the nearest
                passages by embeddings (`minilm`, if installed, otherwise the first ones) with a note that
                says so; "decline" declines the question.
        """
        self.k, self.max_tokens, self.without_words = k, max_tokens, without_words

    def check(self) -> None:
        """Raise `MissingPackage` if the package that compares words is missing."""
        similarities("paper", ["paper"], "bm25")

    def run(self, state: State) -> dict[str, Any]:
        """Return the passages `kept` and `nearest`, nearest first, the total `of`, and perhaps a `note`.

        Raises `Declined` for a paper without passages, and with `without_words: decline` if none of them
        has a word of the question.
        """
        passages, queries, note = state.input.get("passages") or (), queries_of(state.input), ""
        scores = nearness(queries[0], passages)
        for after in (nearness(query, passages) for query in queries[1:]):  # half or full weight
            share = 0.5 * max(scores, default=0.0) / (max(after, default=0.0) or 1.0) or 1.0
            scores = [alone + share * each for alone, each in zip(scores, after, strict=True)]
        if passages and max(scores) <= 0 and self.without_words == "nearest":
            scores, note = _beyond_words(queries[-1], passages)
        places, budget = list[int](), self.max_tokens
        for place in self._in_order(scores):
            size = estimated_tokens(f"{passages[place].get('title', '')}\n{passages[place]['text']}")
            if len(places) == self.k:
                break
            if size <= budget or not places:
                places.append(place)
                budget -= size
        if not places:
            what = "no passage of the document shares a word with the question"
            raise Declined(what, hint="Use words of the document.")
        hits = [
            {
                "id": f"passage {place + 1}",
                "name": str(passages[place].get("title") or passages[place]["text"])[:80],
                "score": float(scores[place]),
                "source": {"passage": place + 1},
            }
            for place in places
        ]
        positions = sorted(places)
        return {
            "kept": hits,
            "of": len(passages),
            "passages": [passages[place] for place in positions],
            "nearest": [
                passage_source(passages[place], positions.index(place) + 1)
                | {"text": str(passages[place]["text"])}
                for place in places[:_MAX_NEAREST]
            ],
            **({"note": note} if note else {}),
        }

    def _in_order(self, near: Sequence[float]) -> list[int]:
        """Return the passages with words of the question, nearest first, then their neighbors."""
        with_words = [place for place in sorted(range(len(near)), key=lambda n: -near[n]) if near[place] > 0]
        if self.without_words == "decline" or not with_words:
            return with_words
        others = (place for place in range(len(near)) if near[place] <= 0)
        best = with_words[: self.k]
        return with_words + sorted(others, key=lambda place: min(abs(place - kept) for kept in best))

    def update_input(self, input: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"passages": output["passages"]}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {
            "retrieved": output["kept"],
            "nearest": output["nearest"],
            "retrieval_note": output.get("note", ""),
        }


class PassageList(Module):
    """Declines, since no model reads the paper; the passages nearest to the question are shown."""

    reads = ("cache.nearest",)
    writes = ("cache.answer",)
    traits = Traits(non_text=("cache.answer",))

    def run(self, state: State) -> NoReturn:
        count = len(state.cache["nearest"])
        phrase = "the nearest passage is" if count == 1 else f"the {count} nearest passages are"
        raise Declined(f"without a model the document is not read; {phrase} shown")


def nearness(question: str, passages: Sequence[Mapping[str, Any]]) -> list[float]:
    """Return the BM25 score of each passage with its headings, plus half the score of just its headings.

    A passage under a heading that the question names by number ("clause 7.2", "Item 7") ranks above all
    others.
    """
    titles = [str(each.get("title", "")) for each in passages]
    full = similarities(question, [f"{each.get('title', '')}\n{each['text']}" for each in passages], "bm25")
    headed = similarities(question, titles, "bm25")
    scores = [text + _HEADING_WEIGHT * title for text, title in zip(full, headed, strict=True)]
    beyond = 1 + max(scores, default=0.0)  # more than any score
    numbers = numbers_in(question)
    return [
        score + (beyond if any(is_named(title, name) for name in numbers) else 0)
        for score, title in zip(scores, titles, strict=True)
    ]


def numbers_in(question: str) -> list[tuple[str, str]]:
    """Return the parts of a paper that a question names: ("clause", "7.2"), ("item", "7"); § is ("", "7")."""
    return [
        ((match[1] or "").lower(), number.rstrip(".").lower())
        for match in _NUMBERED_PARTS.finditer(question)
        for number in _LIST_SEPARATOR.split(match[2] or match[3])
    ]


def is_named(title: str, name: tuple[str, str]) -> bool:
    """Return whether a heading, or one above it, has that number, after that word or none."""
    kind, number = name
    needed = "?" if number[0].isdigit() else ""  # a heading that begins with "A" may not be lettered
    bears = rf"(?:(?:{kind or '[a-z]+'}|§)\s*){needed}{re.escape(number)}(?![a-z\d])"
    return any(re.match(bears, heading, re.IGNORECASE) for heading in title.split(_SEPARATOR))


def passage_source(passage: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Return a passage as a source of an answer: number, file, heading, page, beginning."""
    source: dict[str, Any] = {"passage": number, "text": str(passage["text"])[:_EXCERPT_CHARS]}
    if passage.get("file"):
        source["file"] = passage["file"]
    if heading := passage.get("heading", passage.get("title")):
        source["heading"] = heading
    if passage.get("page") is not None:
        source["page"] = passage["page"]
    return source


def _beyond_words(question: str, passages: Sequence[Mapping[str, Any]]) -> tuple[list[float], str]:
    """Return scores above 0 for passages without a word of the question, and a note on their basis."""
    if automatic() != NONE:
        texts = [f"{each.get('title', '')}\n{each['text']}"[:_COMPARED_CHARS] for each in passages]
        try:
            # A cosine is at least -1, so these scores are above 0.
            return [2.0 + cosine for cosine in similarities(question, texts, "dense")], _DENSE_NOTE
        except (MissingPackage, ModelError):
            pass  # installed but cannot be loaded: use the first passages
    return [1 - place / len(passages) for place in range(len(passages))], _FIRST_NOTE
