"""Retrievers by name, and the parts that an index must hold for them.

okapi   BM25 as the package rank_bm25 computes it, over words as they stand: a reference
bm25    BM25 over stems, a table's caption and header weighted
lexical bm25, its first hundred in the order of closer evidence: rows, whole cells, names of columns
auto    the one that the index was built for; where none is told: lexical, which was measured to be best
        where nothing but words is at hand, or else the index's first part
dense   the nearest by embeddings
hybrid  lexical and dense, their rankings fused by reciprocal ranks
blend   lexical and dense, their scores added up
late    token by token: late interaction, for which every document is scored

Of dense, hybrid and blend the embeddings and the store of vectors can be named,
`dense:PROVIDER:MODEL@STORE`, both or one (`dense@hnsw`); the defaults are `minilm` and `flat`. Of late the
token encoder can be named, `late:ENCODER`; the default is `minilm`. After any of these names

+rerank       orders the first hundred by the evidence of `lexical`
+rerank:PART  by the part `dense`, `late`, `late:ENCODER` or another
+rerank:NAME  by a cross-encoder
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from chameleon.errors import InputError
from chameleon.retrieval.embeddings import MINILM, check_name
from chameleon.retrieval.late.encoder import plug
from chameleon.retrieval.part import Part
from chameleon.retrieval.vectors.store import FLAT, is_store, store_named
from chameleon.text import nearest

AUTO, LEXICAL, DENSE, LATE = "auto", "lexical", "dense", "late"
HYBRID, BLEND = "hybrid", "blend"


@dataclass(frozen=True, slots=True)
class Name:
    """A retriever's name, taken apart: the first stage with its model and store, what reranks.

    "" is the default of each; `rerank` is None where nothing reranks.
    """

    first: str
    model: str = ""
    store: str = ""
    rerank: str | None = None


def check_retriever(name: str) -> Name:
    """The name taken apart. Raises `InputError` for one that is no retriever, with the nearest that is."""
    first, plus, second = name.partition("+")
    stage, model, store = _apart(first)
    reranks, colon, reranker = second.partition(":")
    known = stage in _PARTS and (stage in _WITH_MODEL or first == stage)
    if not known or (plus and (reranks != "rerank" or bool(colon) != bool(reranker))):
        raise InputError(f"there is no retriever {name!r}", hint=nearest(stage, _PARTS))
    if model and stage != LATE:
        check_name(model)
    return Name(stage, model, store, reranker if plus else None)


def _apart(first: str) -> tuple[str, str, str]:
    """Stage, model and store of STAGE:MODEL@STORE. Raises `InputError` for a store of no form."""
    stage = re.split("[:@]", first, maxsplit=1)[0]
    model, _, store = first.removeprefix(stage).rpartition("@")
    if stage == LATE or not is_store(store):  # models have names with @ too
        model, store = first.removeprefix(stage), ""
    if model.startswith(":") and len(model) > 1:
        return stage, model[1:], store
    if model.startswith("@") and stage != LATE:
        store_named(model[1:])
    return (stage, "", store) if not model else ("", "", "")


def parts_for(name: str) -> list[Part]:
    """The parts that an index must hold for this retriever. Raises `InputError`, `MissingPackage`."""
    given = check_retriever(name)
    found = {part.name: part for part in _PARTS[given.first](given)}
    if given.rerank is not None and (also := part_that_reranks(given.rerank)):
        if also.first in _OF_VECTORS and given.first in _OF_VECTORS:
            also = replace(also, model=given.model, store=given.store)
        found |= {part.name: part for part in _PARTS[also.first](also) if part.name not in found}
    if LEXICAL in found:
        found.pop("bm25", None)  # it is the first stage of lexical
    return list(found.values())


def part_that_reranks(name: str) -> Name | None:
    """The part that is named after `+rerank:`, lexical where nothing is; None for a cross-encoder."""
    stage, model, _ = _apart(name or LEXICAL)
    return Name(stage, model) if stage in _PARTS and (stage == LATE or not model) else None


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


def _okapi(_: Name) -> list[Part]:
    from chameleon.retrieval.lexical.part import OkapiPart

    return [OkapiPart()]


def _bm25(_: Name) -> list[Part]:
    from chameleon.retrieval.lexical.part import Bm25Part

    return [Bm25Part()]


def _lexical(_: Name) -> list[Part]:
    from chameleon.retrieval.lexical.ranking import LexicalPart

    return [LexicalPart()]


def _dense(given: Name) -> list[Part]:
    from chameleon.retrieval.vectors.part import DensePart, DenseSettings

    settings = DenseSettings(given.model or MINILM, given.store or FLAT)
    part = DensePart(settings, store_named(settings.store, load=True))
    part.check()
    return [part]


def _hybrid(given: Name) -> list[Part]:
    return [*_lexical(given), *_dense(given)]


def _late(given: Name) -> list[Part]:
    from chameleon.retrieval.late.part import LatePart, LateSettings

    plug(given.model)
    part = LatePart(LateSettings(given.model or MINILM))
    part.check()
    return [part]


def _made_dense(settings: Mapping[str, Any]) -> Part:
    from chameleon.retrieval.vectors.part import DensePart, DenseSettings

    return DensePart(DenseSettings(**settings))


def _made_late(settings: Mapping[str, Any]) -> Part:
    from chameleon.retrieval.late.part import LatePart, LateSettings

    return LatePart(LateSettings(**settings))


def _made_lexical(name: str) -> Callable[[Mapping[str, Any]], Part]:
    def make(settings: Mapping[str, Any]) -> Part:
        from chameleon.retrieval.lexical.fields import Bm25Settings
        from chameleon.retrieval.lexical.part import Bm25Part, OkapiPart
        from chameleon.retrieval.lexical.ranking import LexicalPart

        made = {"okapi": OkapiPart, "bm25": Bm25Part, LEXICAL: LexicalPart}[name]
        return made(Bm25Settings(**settings))

    return make


_PARTS: Mapping[str, Callable[[Name], list[Part]]] = {
    "okapi": _okapi,
    "bm25": _bm25,
    LEXICAL: _lexical,
    AUTO: _lexical,
    DENSE: _dense,
    HYBRID: _hybrid,
    BLEND: _hybrid,
    LATE: _late,
}
_MADE: Mapping[str, Callable[[Mapping[str, Any]], Part]] = {
    name: _made_lexical(name) for name in ("okapi", "bm25", LEXICAL)
} | {DENSE: _made_dense, LATE: _made_late}
_OF_VECTORS = (DENSE, HYBRID)
_WITH_MODEL = (DENSE, HYBRID, BLEND, LATE)
