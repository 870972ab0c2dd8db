"""Late interaction: a vector for every token, compared token by token (Khattab and Zaharia, 2020)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any


def similarities(query: str, texts: Sequence[str], name: str = "") -> list[float]:
    """How near each of a few texts is to the query, by the token encoder of that name, else by `minilm`.

    The texts of the last few calls are remembered. Raises what `encoder` raises.
    """
    from chameleon.retrieval.embeddings import MINILM
    from chameleon.retrieval.late.encoder import asked, plug
    from chameleon.retrieval.late.maxsim import maxsim

    name = name or MINILM
    plug(name)
    scores: list[float] = maxsim(asked(name, query), *_tokens(name, tuple(texts))).tolist()
    return scores


@lru_cache(maxsize=16)
def _tokens(name: str, texts: tuple[str, ...]) -> tuple[Any, Any]:
    """The vectors of all tokens, and where each text's begin."""
    import numpy

    from chameleon.retrieval.late.encoder import encoded

    vectors = encoded(name, texts)
    offsets = numpy.cumsum([0, *map(len, vectors)])
    return numpy.concatenate([numpy.empty((0, vectors[0].shape[1]), numpy.float32), *vectors]), offsets
