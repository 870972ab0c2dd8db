"""How near the facts of a report are to a question, by any of several ways.

lexical         words, names of rows, years, totals (`evidence`); needs no model
bm25            BM25 alone
dense           embeddings alone: `dense:NAME`, by default `minilm`
hybrid          the measures of lexical with embeddings among them: `hybrid:NAME`
auto            lexical
+rerank:NAME    after any of these: its first facts in the order of a cross-encoder, NAME being that of a
                model of transformers with one score, such as a BERT trained for it
"""

from __future__ import annotations

from collections.abc import Sequence

from chameleon.errors import InputError
from chameleon.modules.reports.evidence import HYBRID_WEIGHTS, WEIGHTS, measures
from chameleon.modules.reports.facts import Fact

_WAYS = ("auto", "lexical", "bm25", "dense", "hybrid")
_DEPTH = 30
"""So many facts a cross-encoder reads."""


def check_way(by: str) -> None:
    """Raise `InputError` for a way that there is not, `MissingPackage` where its packages are not there."""
    way, model, reranker = _apart(by)
    if way in ("dense", "hybrid"):
        from chameleon.retrieval.embeddings import MINILM, require

        require(model or MINILM)
    if reranker:
        _check_reranker(reranker)


def scores(question: str, facts: Sequence[Fact], by: str = "auto") -> list[float]:
    """How near each fact is to the question: higher is nearer, comparable within one call only.

    Raises `InputError` for another `by`, `MissingPackage`, and `ModelError` when a model fails.
    """
    way, model, reranker = _apart(by)
    if not facts:
        return []
    first = _first(question, facts, way, model)
    return _reranked(question, facts, first, reranker) if reranker else first


def _apart(by: str) -> tuple[str, str, str]:
    """The first way, its model, and the cross-encoder; "" for what is not named."""
    first, plus, second = by.partition("+")
    way, colon, model = first.partition(":")
    kind, _, reranker = second.partition(":")
    if way not in _WAYS or (colon and (not model or way not in ("dense", "hybrid"))):
        raise InputError(
            f"facts cannot be found by {by!r}",
            hint=f"There are: {', '.join(_WAYS)}, dense:NAME, hybrid:NAME; +rerank:NAME after any of them.",
        )
    if plus and (kind != "rerank" or not reranker):
        raise InputError(
            f"facts cannot be reranked by {second!r}", hint="Write +rerank:NAME, the name of a cross-encoder."
        )
    return way, model, reranker


def _first(question: str, facts: Sequence[Fact], way: str, model: str) -> list[float]:
    from chameleon.retrieval.ranking import similarities

    texts = [fact.text for fact in facts]
    named = f"dense:{model}" if model else "dense"
    if way in ("bm25", "dense"):
        return similarities(question, texts, named if way == "dense" else way)
    weights = HYBRID_WEIGHTS if way == "hybrid" else WEIGHTS
    found = measures(question, facts)
    words = similarities(question, texts, "bm25")
    best = max(words) or 1.0
    near = similarities(question, texts, named) if way == "hybrid" else [0.0] * len(facts)
    for each, word, cosine in zip(found, words, near, strict=True):
        each |= {"bm25": word / best, "dense": cosine}
    return [sum(weight * each.get(name, 0.0) for name, weight in weights.items()) for each in found]


def _reranked(question: str, facts: Sequence[Fact], first: Sequence[float], name: str) -> list[float]:
    """The scores where the first facts stand in the order of a cross-encoder, before all others."""
    from chameleon.retrieval.cross_encoder import cross_encoder

    _check_reranker(name)
    order = sorted(range(len(facts)), key=lambda place: -first[place])
    looked, rest = order[:_DEPTH], order[_DEPTH:]
    read = cross_encoder(name).scores([(question, facts[place].text) for place in looked])
    found = dict(zip(looked, read, strict=True))
    lowest = min(read)
    found |= {place: lowest - rank for rank, place in enumerate(rest, 1)}
    return [found[place] for place in range(len(facts))]


def _check_reranker(name: str) -> None:
    from importlib.util import find_spec

    from chameleon.errors import MissingPackage

    if missing := [package for package in ("torch", "transformers") if find_spec(package) is None]:
        raise MissingPackage(
            f"the cross-encoder {name} needs packages that are not installed: {', '.join(missing)}",
            hint=f"pip install {' '.join(missing)}, or find facts by words: lexical.",
        )
