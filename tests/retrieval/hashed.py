"""Embeddings without a model, a vector of words each, and small collections of tables."""

import random
import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from types import MappingProxyType
from typing import Any

import numpy
import pytest
from langchain_core.embeddings import Embeddings

from chameleon.retrieval import embeddings
from chameleon.retrieval.document import Document
from chameleon.retrieval.models import once
from chameleon.retrieval.texts import all_texts
from chameleon.table import Table

_known: dict[str, "Hashed"] = {}


class Hashed(Embeddings):
    """Counts words in `size` places; remembers what it has embedded."""

    def __init__(self, size: int = 64) -> None:
        self.size, self.name = size, f"hashed:{len(_known)}"
        _known[self.name] = self
        self.passages, self.queries = list[str](), list[str]()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.passages += texts
        return [self.counted(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        self.queries.append(text)
        return self.counted(text)

    def spec(self, **more: Any) -> dict[str, Any]:
        return {"first": "dense", "embeddings": self.name} | more

    def counted(self, text: str) -> list[float]:
        found = [0.0] * self.size
        for word in re.findall(r"\w+", text.lower()):
            found[int.from_bytes(blake2b(word.encode(), digest_size=4).digest()) % self.size] += 1.0
        return found

    def cosine(self, one: str, other: str) -> float:
        a, b = (numpy.array(self.counted(text)) for text in (one, other))
        return float(a @ b) / (float(numpy.linalg.norm(a) * numpy.linalg.norm(b)) or 1.0)

    def nearness(self, query: str, documents: Iterable[Document]) -> dict[str, float]:
        return {each.id: max(self.cosine(query, text) for text in all_texts(each)) for each in documents}


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "_embedder", once(embeddings._embedder.__wrapped__))


@pytest.fixture(scope="package")
def by_name() -> Iterator[None]:
    import langchain.embeddings as langchain

    theirs = langchain.init_embeddings
    with pytest.MonkeyPatch.context() as patch:
        ours = lambda name: _known.get(name.split("/")[0]) or theirs(name)  # noqa: E731
        patch.setattr(langchain, "init_embeddings", ours)
        yield


@pytest.fixture
def hashed(by_name: None) -> Hashed:
    return Hashed()


_WORDS = (
    "river bridge harbour lighthouse festival museum orchard railway castle garden mountain valley island "
    "market school library theatre stadium airport hospital winter summer autumn spring north south east "
    "west record champion season driver team goal match league cup final race crew captain voyage survey"
)
WORDS = _WORDS.split()


def table_document(number: int, seed: int = 0, *, id: str | None = None) -> Document:
    chance = random.Random(number * 1009 + seed)
    columns = chance.randint(1, 4)
    rows = [
        [" ".join(chance.choices(WORDS, k=chance.randint(1, 3))) for _ in range(columns)]
        for _ in range(chance.randint(0, 6))
    ]
    header = [chance.choice(WORDS) for _ in range(columns)]
    caption = " ".join(chance.choices(WORDS, k=3))
    source = MappingProxyType({"file": f"tables/{number}.csv"})
    return Document(id or f"table {number}", Table(header, rows, caption), source=source)


def tables(count: int, seed: int = 0, first: int = 0) -> list[Document]:
    return [table_document(number, seed) for number in range(first, first + count)]


def questions(count: int, seed: int = 0) -> list[str]:
    chance = random.Random(seed)
    words = [*WORDS, "unheard", "which", "the", "river river"]
    return [" ".join(chance.choices(words, k=chance.randint(1, 6))) for _ in range(count)]
