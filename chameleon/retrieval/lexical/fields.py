"""What the first stage of a search by words counts: the terms of a document, weighted by their fields."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from chameleon.retrieval.document import Document
from chameleon.retrieval.lexical.analysis import Analysis, terms


@dataclass(frozen=True)
class Bm25Settings:
    """How BM25 (Robertson et al., 1995) reads documents; a term counts as often as its field's weight says.

    `idf` is Lucene's log(1 + (N - n + 0.5) / (n + 0.5)) or Okapi's log((N - n + 0.5) / (n + 0.5)), where a
    negative one becomes a quarter of the mean.
    """

    analysis: Analysis = "english"
    caption: int = 3
    header: int = 2
    cells: int = 1
    text: int = 1
    k1: float = 1.5
    b: float = 0.75
    idf: Literal["lucene", "okapi"] = "lucene"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def term_counts(document: Document, settings: Bm25Settings) -> tuple[dict[str, int | float], float]:
    """How often each term stands in the document, by the weights of its fields, and the sum of it: its length.

    A document's title is a caption; where the table's caption says the same, it counts once.
    """
    counts: Counter[str] = Counter()
    for weight, text in _fields(document, settings):
        if weight:
            for term in terms(text, settings.analysis):
                counts[term] += weight
    return dict(counts), float(counts.total())


def query_terms(query: str, settings: Bm25Settings) -> list[str]:
    """The terms of a query in their order; one that is said twice counts twice."""
    return terms(query, settings.analysis)


def _fields(document: Document, settings: Bm25Settings) -> Iterator[tuple[int, str]]:
    caption = document.table.caption if document.table else ""
    for title in dict.fromkeys((document.title, caption)):
        yield settings.caption, title
    if document.table:
        yield settings.header, " ".join(document.table.header)
        for row in document.table.rows:
            yield settings.cells, " ".join(row)
    yield settings.text, document.text
