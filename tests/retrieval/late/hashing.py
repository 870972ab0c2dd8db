"""A token encoder for tests: every word has a vector of its own, the same in every run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy

from chameleon.retrieval.late.token_encoder import TokenEncoder

NAME = f"{__name__}:Hashing"


class Hashing(TokenEncoder):
    """Lower-cased words as random unit vectors of 16 numbers."""

    size = 16

    def query(self, text: str) -> Any:
        return self.documents([text])[0]

    def documents(self, texts: Sequence[str]) -> list[Any]:
        return [self._vectors(re.findall(r"\w+", text.lower())) for text in texts]

    def _vectors(self, words: Sequence[str]) -> Any:
        rows = [self._vector(word) for word in words]
        return numpy.array(rows, numpy.float32).reshape(-1, self.size)

    def _vector(self, word: str) -> Any:
        seed = int.from_bytes(blake2b(word.encode(), digest_size=8).digest())
        vector = numpy.random.default_rng(seed).standard_normal(self.size)
        return vector / numpy.linalg.norm(vector)


class Wider(Hashing):
    size = 24


class Failing(Hashing):
    def documents(self, texts: Sequence[str]) -> list[Any]:
        raise RuntimeError("out of memory")


class Uneven(Hashing):
    def documents(self, texts: Sequence[str]) -> list[Any]:
        return [numpy.ones((1, 1 + number)) for number in range(len(texts))]


class NoEncoder:
    pass
