"""Keep, of a paper, the passages that the question needs; or show them, where no model reads them."""

from __future__ import annotations

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

_NEAREST = 8  # how many a declined run shows
_COMPARED = 400  # characters of a passage whose meaning is compared with that of the question
_BY_MEANING = (
    "No word of the question stands in the paper: these passages are near to it by embeddings alone."
)
_FIRST = "No word of the question stands in the paper: these are its first passages."
_HEADINGS_WEIGH = 0.5
_KINDS = (
    "part|item|article|chapter|section|clause|paragraph|schedule|annex|appendix|exhibit|note|table|figure"
)
_NUMBER = r"(?:(?-i:[IVXLC]+|[A-Z])|\d[\w.]*)"
_NAMED = re.compile(
    rf"\b({_KINDS})(?:s|es)?\s+({_NUMBER}\b(?:(?:\s*,|\s+and|\s+or)\s+{_NUMBER}\b)*)|§+\s*(\d[\w.]*)",
    re.IGNORECASE,
)
_MORE = re.compile(r"\s*,\s*|\s+(?:and|or)\s+", re.IGNORECASE)
_SHOWN = 300
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
        """Set `k`, how many passages are kept, and `max_tokens`, how long they are together at most.

        Where fewer have a word of the question, those that stand beside them are kept as well: a short paper
        is shown whole.

        `without_words`: what is done where no word of the question stands in the paper: the passages that
        are nearest by embeddings (`minilm`, where it is installed, else the first ones) are kept with a
        note that says so, or the question is declined.
        """
        self.k, self.max_tokens, self.without_words = k, max_tokens, without_words

    def check(self) -> None:
        """Raise `MissingPackage` where words cannot be compared."""
        similarities("paper", ["paper"], "bm25")

    def run(self, state: State) -> dict[str, Any]:
        """Return `kept` and `nearest`, the nearest passages first; `of` how many; a `note` of no words.

        Raises `Declined` for a paper without passages, and with `without_words: decline` where no word of
        the question stands in any of them.
        """
        passages, queries, note = state.input.get("passages") or (), queries_of(state.input), ""
        near = nearness(queries[0], passages)
        for after in (nearness(query, passages) for query in queries[1:]):  # which counts half, or alone
            share = 0.5 * max(near, default=0.0) / (max(after, default=0.0) or 1.0) or 1.0
            near = [alone + share * each for alone, each in zip(near, after, strict=True)]
        if passages and max(near) <= 0 and self.without_words == "nearest":
            near, note = _beyond_words(queries[-1], passages)
        kept, left = list[int](), self.max_tokens
        for place in self._in_order(near):
            size = estimated_tokens(f"{passages[place].get('title', '')}\n{passages[place]['text']}")
            if len(kept) == self.k:
                break
            if size <= left or not kept:
                kept.append(place)
                left -= size
        if not kept:
            what = "no passage of the document has a word of the question"
            raise Declined(what, hint="Ask in the words of the document.")
        told = [
            {
                "id": f"passage {place + 1}",
                "name": str(passages[place].get("title") or passages[place]["text"])[:80],
                "score": float(near[place]),
                "source": {"passage": place + 1},
            }
            for place in kept
        ]
        shown = sorted(kept)
        return {
            "kept": told,
            "of": len(passages),
            "passages": [passages[place] for place in shown],
            "nearest": [
                passage_source(passages[place], shown.index(place) + 1)
                | {"text": str(passages[place]["text"])}
                for place in kept[:_NEAREST]
            ],
            **({"note": note} if note else {}),
        }

    def _in_order(self, near: Sequence[float]) -> list[int]:
        """Return the passages with words of the question, nearest first, then those beside these."""
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
        shown = "the nearest passage is" if count == 1 else f"the {count} nearest passages are"
        raise Declined(f"no model reads the paper; {shown} shown")


def nearness(question: str, passages: Sequence[Mapping[str, Any]]) -> list[float]:
    """Return BM25 of each passage with its headings, and half of that of its headings alone.

    A passage below a heading that the question names by its number ("clause 7.2", "Item 7") is nearer than
    any that is not.
    """
    titles = [str(each.get("title", "")) for each in passages]
    whole = similarities(question, [f"{each.get('title', '')}\n{each['text']}" for each in passages], "bm25")
    headed = similarities(question, titles, "bm25")
    scores = [text + _HEADINGS_WEIGH * title for text, title in zip(whole, headed, strict=True)]
    beyond = 1 + max(scores, default=0.0)
    named = numbers_in(question)
    return [
        score + (beyond if any(is_named(title, name) for name in named) else 0)
        for score, title in zip(scores, titles, strict=True)
    ]


def numbers_in(question: str) -> list[tuple[str, str]]:
    """Return the parts of a paper that a question names: ("clause", "7.2"), ("item", "7"); § is ("", "7")."""
    return [
        ((found[1] or "").lower(), number.rstrip(".").lower())
        for found in _NAMED.finditer(question)
        for number in _MORE.split(found[2] or found[3])
    ]


def is_named(title: str, name: tuple[str, str]) -> bool:
    """Return whether a heading bears that number, with that word before it or none, or lies below it."""
    kind, number = name
    needed = "?" if number[0].isdigit() else ""  # a heading that begins with "A" need not bear that letter
    bears = rf"(?:(?:{kind or '[a-z]+'}|§)\s*){needed}{re.escape(number)}(?![a-z\d])"
    return any(re.match(bears, heading, re.IGNORECASE) for heading in title.split(_SEPARATOR))


def passage_source(passage: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Return a passage as a source of an answer: number among those kept, file, heading, page, beginning."""
    told: dict[str, Any] = {"passage": number, "text": str(passage["text"])[:_SHOWN]}
    if passage.get("file"):
        told["file"] = passage["file"]
    if heading := passage.get("heading", passage.get("title")):
        told["heading"] = heading
    if passage.get("page") is not None:
        told["page"] = passage["page"]
    return told


def _beyond_words(question: str, passages: Sequence[Mapping[str, Any]]) -> tuple[list[float], str]:
    """Return how near passages are where words do not tell, all above 0, and a note of what that rests on."""
    if automatic() != NONE:
        texts = [f"{each.get('title', '')}\n{each['text']}"[:_COMPARED] for each in passages]
        try:
            return [2.0 + cosine for cosine in similarities(question, texts, "dense")], _BY_MEANING
        except (MissingPackage, ModelError):
            pass  # installed, and not to be loaded: what comes first is still there
    return [1 - place / len(passages) for place in range(len(passages))], _FIRST
