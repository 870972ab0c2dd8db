"""Retrievers by name, and the parts that an index must hold for them.

okapi   BM25 as the package rank_bm25 computes it, over words as they stand: a reference
bm25    BM25 over stems, a table's caption and header weighted
lexical bm25, its first hundred in the order of closer evidence: rows, whole cells, names of columns
auto    the one that was measured to be best where nothing but words is at hand: lexical
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from chameleon.errors import InputError
from chameleon.retrieval.index import Index
from chameleon.retrieval.part import Part
from chameleon.retrieval.retriever import Retriever

AUTO, LEXICAL = "auto", "lexical"


@dataclass(frozen=True, slots=True)
class Name:
    """A retriever's name, taken apart: the first stage and its model ("" is the default)."""

    first: str
    model: str = ""


def check_retriever(name: str) -> Name:
    """The name taken apart. Raises `InputError` for one that is no retriever, with the nearest that is."""
    first, plus, _ = name.partition("+")
    stage, colon, model = first.partition(":")
    wrong = stage not in _PARTS or (colon and (stage not in _WITH_MODEL or not model))
    if wrong or plus:
        raise InputError(f"there is no retriever {name!r}", hint=_nearest(stage))
    return Name(stage, model)


def parts_for(name: str) -> list[Part]:
    """The parts that an index must hold for this retriever. Raises `InputError`, `MissingPackage`."""
    given = check_retriever(name)
    return _PARTS[given.first](given.model)


def part_of(name: str, settings: Mapping[str, Any]) -> Part:
    """The part of an index by its name and the settings that it was built with. Raises `InputError`."""
    make = _MADE.get(name)
    try:
        if make is not None:
            return make(settings)
    except (TypeError, KeyError, ValueError) as problem:
        raise InputError(
            f"the part {name!r} has settings that this version does not know: {problem}",
            hint="Bring Chameleon up to date, or build the index again.",
        ) from problem
    raise InputError(
        f"this version knows no part {name!r} of an index",
        hint="Bring Chameleon up to date, or build the index again.",
    )


def retriever(index: Index, name: str = AUTO) -> Retriever:
    """The retriever of that name over an index.

    Raises `InputError` for an unknown name and for an index that lacks the part, `MissingPackage` where a
    package is not installed.
    """
    given = check_retriever(name)
    return _first(index, given)


def _first(index: Index, given: Name) -> Retriever:
    from chameleon.retrieval.index.searching import IndexRetriever

    wanted = LEXICAL if given.first == AUTO else given.first
    if wanted == "bm25" and LEXICAL in index.settings and "bm25" not in index.settings:
        from chameleon.retrieval.lexical.ranking import LexicalSearcher

        searcher = index.searcher(LEXICAL)
        assert isinstance(searcher, LexicalSearcher)
        return IndexRetriever(index, LEXICAL, searcher.first)
    if given.first == AUTO and LEXICAL not in index.settings and "bm25" in index.settings:
        wanted = "bm25"  # built for nothing else
    return IndexRetriever(index, wanted)


def _okapi(_: str = "") -> list[Part]:
    from chameleon.retrieval.lexical.part import OkapiPart

    return [OkapiPart()]


def _bm25(_: str = "") -> list[Part]:
    from chameleon.retrieval.lexical.part import Bm25Part

    return [Bm25Part()]


def _lexical(_: str = "") -> list[Part]:
    from chameleon.retrieval.lexical.ranking import LexicalPart

    return [LexicalPart()]


def _made_lexical(name: str) -> Callable[[Mapping[str, Any]], Part]:
    def make(settings: Mapping[str, Any]) -> Part:
        from chameleon.retrieval.lexical.fields import Bm25Settings
        from chameleon.retrieval.lexical.part import Bm25Part, OkapiPart
        from chameleon.retrieval.lexical.ranking import LexicalPart

        made = {"okapi": OkapiPart, "bm25": Bm25Part, LEXICAL: LexicalPart}[name]
        return made(Bm25Settings(**settings))

    return make


_PARTS: Mapping[str, Callable[[str], list[Part]]] = {
    "okapi": _okapi,
    "bm25": _bm25,
    LEXICAL: _lexical,
    AUTO: _lexical,
}
_MADE: Mapping[str, Callable[[Mapping[str, Any]], Part]] = {
    name: _made_lexical(name) for name in ("okapi", "bm25", LEXICAL)
}
_WITH_MODEL = ("dense", "late")


def _nearest(stage: str) -> str:
    close = get_close_matches(stage, _PARTS, n=1, cutoff=0.5)
    return f"Did you mean {close[0]!r}?" if close else f"There are: {', '.join(_PARTS)}."
