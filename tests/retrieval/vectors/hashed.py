"""Embeddings for tests: a vector of words, each by its digest; the same everywhere, without a model."""

from __future__ import annotations

import re
import threading
from hashlib import blake2b

import pytest
from langchain_core.embeddings import Embeddings

from chameleon.retrieval import embeddings as by_name

NAME = "hashed:words"


class Hashed(Embeddings):
    """Counts words in `size` places; remembers what it was asked to embed."""

    def __init__(self, size: int = 64) -> None:
        self.size = size
        self.seen: list[str] = []
        self.asked: list[str] = []
        self.most_at_once = 0
        self._lock = threading.Lock()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        with self._lock:
            self.seen += texts
            self.most_at_once = max(self.most_at_once, len(texts))
        return [self._counted(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        self.asked.append(text)
        return self._counted(text)

    def _counted(self, text: str) -> list[float]:
        found = [0.0] * self.size
        for word in re.findall(r"\w+", text.lower()):
            digest = blake2b(word.encode(), digest_size=4).digest()
            found[int.from_bytes(digest, "little") % self.size] += 1.0
        return found


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> Hashed:
    """The embeddings named `NAME`."""
    model = Hashed()
    monkeypatch.setitem(by_name._loaded, NAME, model)
    return model
