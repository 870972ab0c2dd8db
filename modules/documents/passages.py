"""How near the passages of a paper are to a question, and how a source is told."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from chameleon.retrieval.ranking import similarities

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


def nearness(
    question: str, passages: Sequence[Mapping[str, Any]], headings: float = _HEADINGS_WEIGH
) -> list[float]:
    """Return BM25 of each passage with its headings, and `headings` times that of its headings alone.

    A passage below a heading that the question names by its number ("clause 7.2", "Item 7") is nearer than
    any that is not.
    """
    titles = [str(each.get("title", "")) for each in passages]
    whole = similarities(question, [f"{each.get('title', '')}\n{each['text']}" for each in passages], "bm25")
    headed = similarities(question, titles, "bm25")
    scores = [text + headings * title for text, title in zip(whole, headed, strict=True)]
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
    bears = re.compile(
        rf"(?:(?:{kind or '[a-z]+'}|§)\s*){needed}{re.escape(number)}(?![a-z\d])", re.IGNORECASE
    )
    return any(bears.match(heading) for heading in title.split(_SEPARATOR))


def passage_source(passage: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Return a passage as a source of an answer: number among those kept, file, heading, page, beginning."""
    told: dict[str, Any] = {"passage": number, "text": str(passage["text"])[:_SHOWN]}
    if passage.get("file"):
        told["file"] = passage["file"]
    if passage.get("title"):
        told["heading"] = passage["title"]
    if passage.get("page") is not None:
        told["page"] = passage["page"]
    return told
