"""Retrievers over an index by their names, which `chameleon.retrieval.parts` lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from chameleon.errors import InputError
from chameleon.retrieval.cross_encoder import CrossEncoder
from chameleon.retrieval.fusion import Blend, Hybrid
from chameleon.retrieval.index import Index
from chameleon.retrieval.index.searching import IndexRetriever
from chameleon.retrieval.late.encoder import plug
from chameleon.retrieval.parts import (
    AUTO,
    BLEND,
    DENSE,
    HYBRID,
    LATE,
    LEXICAL,
    Name,
    check_retriever,
    part_that_reranks,
)
from chameleon.retrieval.retriever import Reranked, Reranker, Retriever, Scoring
from chameleon.retrieval.vectors.store import store_named

HYBRID_WEIGHTS, BLEND_WEIGHTS = (10.0, 1.0), (1.0, 0.2)
"""Of words and of vectors, as they were measured to be best with `minilm` (docs/retrieval.md)."""


def retriever(index: Index, name: str = AUTO) -> Retriever:
    """The retriever of that name over an index; by `auto` the one that it was built for.

    Raises `InputError` for an unknown name and for an index that lacks the part, `MissingPackage` where a
    package is not installed.
    """
    given = check_retriever(name)
    if given.first == AUTO:
        given = _built_for(index, given)
    first = _first(index, given)
    if given.rerank is None:
        return first
    return Reranked(first, _reranker(index, given.rerank))


def _built_for(index: Index, given: Name) -> Name:
    """What `auto` comes to. Models and stores are those of the index's settings: its folder names no code
    that is imported.
    """
    built = check_retriever(index.retriever or AUTO)
    rerank = given.rerank
    if rerank is None and built.rerank is not None:
        part = part_that_reranks(built.rerank)
        rerank = part.first if part else built.rerank
    first = built.first if built.first != AUTO else _words(index) or next(iter(index.settings), LEXICAL)
    return Name(first, rerank=rerank)


def _words(index: Index) -> str:
    """`lexical` or `bm25`, whichever the index has; "" for one that has neither."""
    return next((name for name in (LEXICAL, "bm25") if name in index.settings), "")


def _first(index: Index, given: Name) -> Scoring:
    if given.first in (HYBRID, BLEND):
        both = [_first(index, Name(_words(index) or LEXICAL)), _first(index, replace(given, first=DENSE))]
        return Hybrid(both, HYBRID_WEIGHTS) if given.first == HYBRID else Blend(both, BLEND_WEIGHTS)
    if given.first == DENSE:
        _check(index, given, {"embeddings": given.model, "store": given.store})
        if given.store:
            store_named(given.store, load=True)
    if given.first == LATE:
        _check(index, given, {"encoder": given.model})
        plug(given.model)
    wanted = given.first
    if wanted == "bm25" and LEXICAL in index.settings and "bm25" not in index.settings:
        from chameleon.retrieval.lexical.ranking import LexicalSearcher

        searcher = index.searcher(LEXICAL)
        assert isinstance(searcher, LexicalSearcher)
        return IndexRetriever(index, LEXICAL, searcher.first)
    return IndexRetriever(index, wanted)


def _reranker(index: Index, name: str) -> Reranker:
    if part := part_that_reranks(name):
        return _first(index, part)
    return CrossEncoder(index, name)


def _check(index: Index, given: Name, wanted: Mapping[str, str]) -> None:
    """Raise `InputError` unless the index's part has the settings that are named."""
    there = index.settings.get(given.first, wanted)
    for key, value in wanted.items():
        if value and value != there.get(key):
            raise InputError(
                f"the index has the {key} {there.get(key)!r}, not {value!r}",
                where=str(index.path),
                hint=f"Name the retriever {given.first} alone, or build another index.",
            )
