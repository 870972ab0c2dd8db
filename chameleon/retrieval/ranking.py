"""How near a few texts in memory are to a query: rows or columns of a table, passages."""

from __future__ import annotations

from collections.abc import Sequence

from chameleon.errors import InputError
from chameleon.retrieval.analysis import query_weights, terms
from chameleon.retrieval.bm25 import TextCollection
from chameleon.retrieval.embeddings import NONE, automatic, embedder
from chameleon.retrieval.spec import MINILM


def similarities(query: str, texts: Sequence[str], by: str = "auto") -> list[float]:
    """Return how near each text is to the query; higher is nearer, comparable within one call only.

    - `bm25`: BM25 (Robertson et al., 1995) over English stems, with these texts as the whole collection;
    - `dense` or `dense:NAME`: the cosine of embeddings, by default `minilm`;
    - `late` or `late:NAME`: token by token (MaxSim; Khattab and Zaharia, 2020), by default `minilm`;
    - `auto`: dense where `minilm` is installed, else bm25.

    Raises `InputError` for another `by`, `MissingPackage`, and `ModelError` when a model fails.
    """
    way, colon, model = by.partition(":")
    if way not in ("auto", "bm25", "dense", "late") or (colon and (not model or way in ("auto", "bm25"))):
        hint = "There are: auto, bm25, dense, dense:NAME, late, late:NAME."
        raise InputError(f"texts cannot be compared by {by!r}", hint=hint)
    if way == "auto":
        way = "bm25" if automatic() == NONE else "dense"
    if not texts:
        return []
    if way == "bm25":
        return TextCollection([terms(text) for text in texts]).scores(query_weights(query))
    if way == "dense":
        return embedder(model or MINILM).cosines(query, texts)
    from chameleon.retrieval.sentence_transformer import late_encoder

    return late_encoder(model or MINILM).scores(query, texts)
