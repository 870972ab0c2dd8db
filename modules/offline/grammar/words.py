"""Words of a question: tokens with their place, plain stems, numbers and sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

from chameleon.modules.offline.grammar.lexicon import FRACTION_WORDS, IRREGULAR, NUMBER_WORDS, SMALL_WORDS
from chameleon.table import Value, read_value

_TOKEN = re.compile(
    r"""
    (?P<time> \d{1,2}[:.]\d{2}\s*[AaPp]\.?\s?[Mm]\b\.? | \d{1,2}\s?[AaPp]\.?[Mm]\b\.? | \d{1,2}:\d{2}\b )
  | (?P<date> \d{4}-\d{1,2}-\d{1,2}\b | \d{1,2}/\d{1,2}/\d{4}\b )
  | (?P<number> (?<![^\W_])(?<!\.)(?:-\s?)?[$€£]?(?:-\s?)?
        (?: \d+\s?\+\s?\d+/\d+ | \d+/\d+ | \d{1,3}(?:,\d{3})+(?:\.\d+)? | \d+(?:\.\d+)? | \.\d+ )
        (?![^\W_]) (?:\s?%)? )
  | (?P<word> (?:[A-Za-z]\.){2,} | [^\W_]*[^\W\d_][^\W_]*(?:['’][^\W\d_]+)* )
  | (?P<mark> [,;:?!()"&%] | \.(?!\d) )
    """,
    re.VERBOSE,
)
_BREAK = re.compile(r"(?<=[.?!])[\"”]?\s+(?=[\"“]?[A-Z0-9$])|\n+")
_ABBREVIATION = re.compile(r"(?:^|[\s(])(?:Mrs?|Ms|Dr|St|vs|No|Jr|Sr|Prof|[A-Z])\.$")


@dataclass(frozen=True)
class Word:
    """One token of a text: as written, and where its sentence is."""

    text: str
    kind: str  # word, number, time, date or mark
    sentence: int = 0

    @cached_property
    def stem(self) -> str:
        return stem(self.text) if self.kind == "word" else self.text.lower()

    @cached_property
    def is_name(self) -> bool:
        """Whether it is written with a capital, as names are."""
        return self.kind == "word" and self.text[0].isupper() and self.text != "I"

    @cached_property
    def value(self) -> Value:
        """The number, time or date that it stands for; "2+9/10" is 2 9/10."""
        text = self.text.replace(" ", "") if self.kind == "number" else self.text
        if self.kind == "number":
            text = re.sub(r"^([^\d+]*\d+)\+(\d+/\d+)", r"\1 \2", text)
        if self.kind == "time":
            text = text.replace(".", ":", 1) if re.match(r"\d{1,2}\.\d{2}", text) else text
        return read_value(text)

    @cached_property
    def number(self) -> Fraction | None:
        if self.kind == "number":
            return self.value.number
        return NUMBER_WORDS.get(self.text.lower()) if self.kind == "word" else None


def tokenize(text: str, sentence: int = 0) -> tuple[Word, ...]:
    """The tokens of one sentence, in order; hyphens separate words, other signs vanish."""
    return tuple(Word(match.group(), match.lastgroup or "mark", sentence) for match in _TOKEN.finditer(text))


def sentences(text: str) -> list[str]:
    """The sentences of a text; "Mr. Lee" and "P. E. class" do not end one."""
    parts: list[str] = []
    start = 0
    for match in _BREAK.finditer(text):
        if "\n" not in match.group() and _ABBREVIATION.search(text[start : match.start()]):
            continue
        parts.append(text[start : match.end()].strip())
        start = match.end()
    return [part for part in (*parts, text[start:].strip()) if part]


@lru_cache(maxsize=65_536)
def stems(text: str) -> tuple[str, ...]:
    """The stems that carry meaning, in order: "a pair of blue socks" is pair, blue, sock."""
    return content(tokenize(text))


def agents(name: str) -> frozenset[str]:
    """The stems of what doers in a name do: "own" for "Owner", "supply" for "Supplier"."""
    plain = [word.text.lower() for word in tokenize(name) if word.kind == "word"]
    bases = [word[:-2] for word in plain if len(word) > 4 and word.endswith(("er", "or"))]
    return frozenset(
        form for base in bases for form in (stem(base), stem(base + "e"), stem(base.removesuffix("i") + "y"))
    )


def content(words: Iterable[Word]) -> tuple[str, ...]:
    return tuple(word.stem for word in words if word.kind != "mark" and word.stem not in SMALL_WORDS)


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """A plain stem, the same for "vote", "voted", "voting" and "votes"."""
    plain = word.lower().replace("’", "'").replace(".", "")
    plain = plain.removesuffix("'s").removesuffix("'").replace("'", "")
    if plain in IRREGULAR:
        return IRREGULAR[plain]
    if len(plain) < 4 or not plain.isalpha():
        return plain
    if plain in NUMBER_WORDS or plain in FRACTION_WORDS:
        return plain
    return _without_vowel(_without_tense(_singular(plain)))


def stem_set(text: str) -> frozenset[str]:
    """The stems of the words of `text`."""
    return frozenset(stem(word) for word in text.split())


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-2]
    if word.endswith(("sses", "shes", "ches", "xes", "zes", "oes")):
        return word[:-2]
    return word if word.endswith(("ss", "us", "is")) else word.removesuffix("s")


def _without_tense(word: str) -> str:
    for ending, shortest in (("ing", 3), ("ed", 3), ("ion", 4)):
        base = word.removesuffix(ending)
        if base == word or len(base) < shortest or not re.search("[aeiouy]", base):
            continue
        if ending == "ion" and not base.endswith(("t", "s")):
            continue
        if base[-1] == base[-2] and base[-1] not in "lsz":
            return base[:-1]
        return base
    return word


def _without_vowel(word: str) -> str:
    """Without a last "e", and with "i" for a last "y": "cities" and "city", "cookies" and "cookie"."""
    if word.endswith("y") and len(word) > 3 and word[-2] not in "aeou":
        return word[:-1] + "i"
    return word[:-1] if word.endswith("e") and len(word) > 3 else word
