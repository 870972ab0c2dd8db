"""How near a few texts in memory are to a query: rows or columns of a table, passages."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from chameleon.errors import InputError
from chameleon.retrieval.embeddings import MINILM, NONE, automatic, dense
from chameleon.retrieval.lexical.analysis import terms
from chameleon.retrieval.lexical.fields import Bm25Settings, query_weights

_K1, _B = 1.5, 0.75


def similarities(query: str, texts: Sequence[str], by: str = "auto") -> list[float]:
    """How near each text is to the query; higher is nearer, comparable within one call only.

    - `bm25`: BM25 (Robertson et al., 1995) over English stems, with these texts as the whole collection;
    - `dense` or `dense:NAME`: the cosine of embeddings, by default `minilm`;
    - `late` or `late:NAME`: token by token (MaxSim; Khattab and Zaharia, 2020);
    - `auto`: dense where `minilm` is installed, else bm25.

    Raises `InputError` for another `by`, `MissingPackage`, and `ModelError` when a model fails.
    """
    way, colon, model = by.partition(":")
    if way not in ("auto", "bm25", "dense", "late") or (colon and (not model or way in ("auto", "bm25"))):
        raise InputError(
            f"texts cannot be compared by {by!r}",
            hint="There are: auto, bm25, dense, dense:NAME, late, late:NAME.",
        )
    if way == "auto":
        way = "bm25" if automatic() == NONE else "dense"
    if not texts:
        return []
    if way == "bm25":
        return _bm25(query, texts)
    if way == "dense":
        return dense(model or MINILM).cosines(query, texts)
    from chameleon.retrieval.late import similarities as late

    return late(query, texts, model)


def _bm25(query: str, texts: Sequence[str]) -> list[float]:
    """BM25 with Lucene's idf, log(1 + (N - n + 0.5) / (n + 0.5))."""
    counts = [Counter(terms(text)) for text in texts]
    lengths = [count.total() for count in counts]
    mean = sum(lengths) / len(lengths) or 1.0
    found = [0.0] * len(texts)
    for term, said in query_weights(query, Bm25Settings()).items():
        having = sum(term in count for count in counts)
        idf = math.log1p((len(texts) - having + 0.5) / (having + 0.5))
        for place, (count, length) in enumerate(zip(counts, lengths, strict=True)):
            if often := count[term]:
                norm = _K1 * (1 - _B + _B * length / mean)
                found[place] += said * idf * often * (_K1 + 1) / (often + norm)
    return found
