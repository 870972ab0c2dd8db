"""Text as terms: the units in which questions and documents are compared."""

import re
import threading
import unicodedata
from functools import lru_cache
from typing import Any

from chameleon.errors import require
from chameleon.retrieval.wordlists import IRREGULAR, MONTH_NAMES, NUMBERS, STOP_WORDS, WEAK_WORDS
from chameleon.table.dates import MONTHS

WEAK = 0.3
"""The weight of a weak word in a query."""

# `re` does not count vowel signs as letters, but they belong to words in South and South-East Asian scripts.
_WORD = re.compile(r"(?:[^\W_]|[\u0900-\u0963\u0966-\u0dff\u0e31-\u0e3a\u0e47-\u0e4e\u1000-\u109f])+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")
_DIGIT = re.compile(r"\d")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:(?:,\d{3})+|(?: , \d{3})+)(?!\d)")  # "1,234", "1 , 234"
_YEAR_FIRST = re.compile(r"(?<!\d)(\d{4}) ?([-/]) ?(\d{1,2}) ?\2 ?(\d{1,2})(?!\d)")
_MONTH_FIRST = re.compile(r"(?<!\d)(\d{1,2})/(\d{1,2})/(\d{4})(?!\d)")  # with slashes, the American order
_DAY_FIRST = re.compile(r"(?<!\d)(\d{1,2})\.(\d{1,2})\.(\d{4})(?!\d)")
_PAIR = re.compile(r"(?<!\d)(\d++)\s*[-–:./]\s*(\d+)")
_HIGHEST_SIGN = 9  # combining classes up to here change letters; higher ones are accents and points
_MAX_CACHED_CHARS = 80  # characters of a text to remember
_stemming = threading.Lock()


def terms(text: str) -> tuple[str, ...]:
    """Return the terms of a text in order: words without accents, stop words and English endings.

    Numbers and dates have one form each: "1,234" and "1234", "three" and "3", "2004-03-16" and "16 March
    2004". Two numbers with a sign between them, such as a score or a decimal fraction, add another term after
    the others ("3-1" and "3 – 1": `3_1`). In Chinese and Japanese, pairs of neighboring characters are terms.
    No term contains white space. Raises `MissingPackage`.
    """
    return _read_cached(text) if len(text) <= _MAX_CACHED_CHARS else _read(text)


def _read(text: str) -> tuple[str, ...]:
    text = folded(text)
    pairs: list[str] = []
    if _DIGIT.search(text):
        text = _dated(_THOUSANDS.sub(lambda run: re.sub("[ ,]", "", run[0]), text))
        pairs = [f"{each[1]}_{each[2]}" for each in _PAIR.finditer(text)]
    words = _WORD.findall(text)
    if _UNSPACED.search(text):
        words = [piece for word in words for piece in ((word,) if word.isascii() else _pieces(word))]
    return (*filter(None, map(_term, words)), *pairs)


_read_cached = lru_cache(maxsize=1 << 17)(_read)  # cells of tables often repeat


def query_weights(query: str) -> dict[str, float]:
    """Return the weight of each term of a query: its count, times `WEAK` for a weak term."""
    weights: dict[str, float] = {}
    for term in terms(query):
        weights[term] = weights.get(term, 0.0) + (WEAK if term in weak_terms() else 1.0)
    return weights


@lru_cache(maxsize=1)
def weak_terms() -> frozenset[str]:
    """Return the terms of `WEAK_WORDS`."""
    return frozenset(terms(" ".join(sorted(WEAK_WORDS))))


def folded(text: str) -> str:
    """Return the text in lower case, without accents, with full-width and other forms of a letter unified."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(character for character in apart if unicodedata.combining(character) <= _HIGHEST_SIGN)
    return unicodedata.normalize("NFKC", bare.casefold())


def _dated(text: str) -> str:
    """Rewrite numeric dates as day, month and year."""
    if "/" in text or "-" in text:
        text = _YEAR_FIRST.sub(lambda date: _date(date, date[1], date[3], date[4]), text)
        text = _MONTH_FIRST.sub(lambda date: _date(date, date[3], date[1], date[2]), text)
    return _DAY_FIRST.sub(lambda date: _date(date, date[3], date[2], date[1]), text) if "." in text else text


def _date(match: re.Match[str], year: str, month: str, day: str) -> str:
    is_date = 1 <= int(month) <= 12 and 1 <= int(day) <= 31
    return f" {int(day)} {MONTHS[int(month) - 1]} {year} " if is_date else match[0]


def _pieces(word: str) -> list[str]:
    """Cut the parts of a word in scripts without spaces between words into pairs of characters."""
    pieces, end = [], 0
    for run in _UNSPACED.finditer(word):
        pieces.append(word[end : run.start()])
        signs, end = run[0], run.end()
        pieces += [signs[n : n + 2] for n in range(max(1, len(signs) - 1))]
    return [piece for piece in (*pieces, word[end:]) if piece]


@lru_cache(maxsize=1 << 17)
def _term(word: str) -> str:
    """Return the term of a word, "" for a stop word."""
    if word in STOP_WORDS:
        return ""
    if word.isdecimal():
        return word[1:] if len(word) == 2 and word[0] == "0" else word
    word = NUMBERS.get(word) or IRREGULAR.get(word) or MONTH_NAMES.get(word) or word
    with _stemming:  # a stemmer takes one caller at a time
        stem: str = _stemmer().stemWord(word)
    return stem


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    purpose = "finding documents by English words needs"
    require("PyStemmer", purpose, "retrieval", module="Stemmer", imports=True)
    import Stemmer

    return Stemmer.Stemmer("english", 0)
