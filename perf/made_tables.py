"""Tables made up for measuring searches: as many as wanted, each the same for the same number.

They are like those of encyclopaedias in what decides the cost of a search: a caption of a few words, 3 to 8
columns, a median of some 14 rows (few have more than 100), cells that are names, places, years, counts,
scores, dates or a few words. Words, names and places are put together from syllables and drawn so that few
are frequent and most are rare (the n-th about as often as 1 / n): vocabularies grow with the number of tables
as real ones do. A question asks for a column of a table by words of its caption and by a cell of a row.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache
from itertools import accumulate

from chameleon.retrieval.document import Document
from chameleon.table import Table

_ONSETS = "b br c ch d dr f g gr h j k l m n p pr r s st t tr v w z"
_VOWELS = "a e i o u ai ea ou"
_ENDS = ("", "n", "r", "l", "s", "nd", "rt", "m", "ck", "th")
_MONTHS = "January February March April May June July August September October November December"
_HEADERS = (
    "name year rank points team country result score date venue club city position total opponent notes "
    "title season time population area height winner record played won lost drawn goals votes party district"
)
_FRAMES = (
    "what is the {column} of {cell} in {caption}",
    "which {column} does {cell} have in the {caption}",
    "{cell} had which {column} for {caption}",
    "how many {column} are there for {cell} and {caption}",
)
_SYLLABLE = _ONSETS.split(), _VOWELS.split(), _ENDS


@cache
def _pool(kind: str, size: int) -> list[str]:
    """Words made of syllables, all different."""
    chance = random.Random(f"{kind} {size}")
    found: dict[str, None] = {}
    while len(found) < size:
        syllables = chance.choice((1, 2, 2, 3))
        word = "".join(map(chance.choice, _SYLLABLE * syllables))
        found[word.title() if kind.istitle() else word] = None
    return list(found)


@cache
def _shares(size: int) -> list[float]:
    """How often each word of a pool is drawn, and those before it."""
    return list(accumulate(1 / rank for rank in range(1, size + 1)))


def _words(chance: random.Random, kind: str, size: int, count: int) -> list[str]:
    return chance.choices(_pool(kind, size), cum_weights=_shares(size), k=count)


def _people(chance: random.Random, count: int) -> list[str]:
    first, last = _words(chance, "First", 2_000, count), _words(chance, "Last", 60_000, count)
    return [f"{one} {other}" for one, other in zip(first, last, strict=True)]


def _places(chance: random.Random, count: int) -> list[str]:
    return _words(chance, "Place", 30_000, count)


def _phrases(chance: random.Random, count: int) -> list[str]:
    words, lengths = _words(chance, "word", 40_000, 3 * count), chance.choices((1, 1, 2, 3), k=count)
    return [" ".join(words[3 * n : 3 * n + length]) for n, length in enumerate(lengths)]


def _dates(chance: random.Random, count: int) -> list[str]:
    months = chance.choices(_MONTHS.split(), k=count)
    return [
        f"{1 + int(chance.random() * 28)} {month} {year}"
        for month, year in zip(months, _years(chance, count), strict=True)
    ]


def _years(chance: random.Random, count: int) -> list[str]:
    return [str(1900 + int(chance.random() * 125)) for _ in range(count)]


def _counts(chance: random.Random, count: int) -> list[str]:
    return [str(int(10 ** (4 * chance.random()))) for _ in range(count)]


def _large(chance: random.Random, count: int) -> list[str]:
    return [f"{int(10 ** (3 + 4 * chance.random())):,}" for _ in range(count)]


def _scores(chance: random.Random, count: int) -> list[str]:
    return [f"{int(chance.random() * 7)}–{int(chance.random() * 7)}" for _ in range(count)]


_COLUMNS: tuple[Callable[[random.Random, int], list[str]], ...] = (
    *(_people, _people, _places, _places, _phrases, _phrases, _dates, _years, _counts, _large, _scores),
)


def made_table(number: int) -> Document:
    """The table with this number."""
    chance = random.Random(number)
    count = min(300, 1 + int(chance.lognormvariate(2.6, 0.7)))
    columns = [fill(chance, count) for fill in chance.choices(_COLUMNS, k=chance.randint(3, 8))]
    header = chance.sample(_HEADERS.split(), len(columns))
    year = chance.choice(("", _years(chance, 1)[0]))
    caption = " ".join([*_words(chance, "word", 40_000, 3), *_places(chance, 1), year]).strip()
    return Document(f"made-{number}", Table(header, list(zip(*columns, strict=True)), caption))


def made_tables(count: int) -> Iterator[Document]:
    """The first so many tables."""
    return map(made_table, range(count))


def question_about(document: Document, seed: int) -> str:
    """A question about a row of a table."""
    chance = random.Random(f"question {seed} {document.id}")
    table = document.table
    if table is None or not table.rows:
        return document.name
    row, frame = chance.choice(table.rows), chance.choice(_FRAMES)
    words = table.caption.lower().split()
    caption = " ".join(words[: chance.randint(2, 5)])
    return frame.format(column=chance.choice(table.header), cell=chance.choice(row), caption=caption)
