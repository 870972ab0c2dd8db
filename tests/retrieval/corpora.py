"""Small collections of tables, written for the tests."""

from __future__ import annotations

import random
from types import MappingProxyType

from chameleon.retrieval.document import Document
from chameleon.table import Table

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
