"""How likeness to the question is measured: what a name needs here, and what `auto` comes to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def check_likeness(by: str) -> None:
    """Raise `InputError` for a name that is none, `MissingPackage` where its embeddings cannot be had."""
    from chameleon.retrieval.embeddings import MINILM, require
    from chameleon.retrieval.ranking import similarities

    similarities("", [], by)
    way, _, model = by.partition(":")
    if way == "dense":
        require(model or MINILM)


def resolved_likeness(by: str) -> Mapping[str, Any]:
    """What the name stands for on this machine."""
    from chameleon.retrieval.embeddings import MINILM, NONE, automatic

    if by != "auto":
        return {"by": by}
    return {"by": "bm25" if automatic() == NONE else f"dense:{MINILM}"}
