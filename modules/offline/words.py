"""Words: tokens and stems of a text, and what `words.yaml` says of a language."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from importlib import resources
from itertools import product
from typing import Any, NamedTuple

from chameleon.cached import cached_property
from chameleon.table.dates import MONTHS
from chameleon.table.units import UNITS
from chameleon.yaml_text import read_yaml

Stems = tuple[str, ...]
_TOKEN = re.compile(
    r"\d{1,2}:\d{2}(?!\s?[AaPp]\.?[Mm]|[\d:])|\d{1,2}[:.]\d{2}\s?[AaPp]\.?[Mm]\b\.?|(?<![\d/])\d+/\d+(?![\d/])|\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|[^\W_]+|[%$€£¥°#?]"
)
_CLOCK = re.compile(r"(\d{1,2})[:.](\d{2})\s?([AaPp])\.?[Mm]\.?")
_LONGEST_FIGURE = 40
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?|\d+/[1-9]\d*")
_FIGURE_WITH = re.compile(r"(\d[\d,]*(?:\.\d+)?)([^\W\d_]+)")


class Token(NamedTuple):
    """A word, figure or sign: as it is written, folded, and its stem; figures with their number."""

    text: str
    low: str
    stem: str
    number: Fraction | None = None
    listed: bool = False  # whether a comma stands before it


class Degree(NamedTuple):
    """An adjective's way (1 up, -1 down) with the ideas that it goes that way by; "any" fits any number."""

    ways: tuple[tuple[int, Stems], ...]


def folded(text: str) -> str:
    """Return a text in lower case without accents, with plain quotes and dashes."""
    return text.lower() if text.isascii() else _plain(text)


@lru_cache(maxsize=65_536)
def _plain(text: str) -> str:
    parts = unicodedata.normalize("NFKD", text.replace("²", "2").replace("ß", "ss"))
    return "".join(c for c in parts if not unicodedata.combining(c)).casefold()


def _cut(word: str) -> str:
    """Cut what spelling adds to a word: plurals, -ed, -ing, a last e."""
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-3] + "y" if word.endswith("ies") and len(word) > 4 else word[:-1]
    for end in ("ing", "ed"):
        base = word.removesuffix(end)
        if len(base) >= 3 and base != word and re.search("[aeiouy]", base):
            word = base[:-1] if base[-1] == base[-2] and base[-1] not in "lsz" else base
            break
    if len(word) > 3 and word.endswith("e"):
        word = word[:-1]
    return word[:-1] + "i" if len(word) > 2 and word.endswith("y") else word


class Language:
    """The data of one language, read once. `phrases` maps folded words to what they may be: (kind, value)."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data
        self.name: str = data["language"]
        self.forms = dict(pair.split("=") for pair in data["forms"].split())
        self.filler = frozenset(data["filler"].split())
        self.suffixes = frozenset(data["suffixes"].split())
        self.request = frozenset(data["request"].split())
        self.neutral = self.listed("neutral")

    def stem(self, low: str) -> str:
        return _cut(self.forms.get(low, low))

    def tokens(self, text: str) -> list[Token]:
        """Cut a text into tokens; a figure that a unit or scale follows without space is two."""
        found: list[Token] = []
        end = 0
        for match in _TOKEN.finditer(text):
            for part in self._parts(match[0]):
                low = folded(part)
                if clock := _CLOCK.fullmatch(part):
                    low = f"{int(clock[1])}:{clock[2]}{clock[3].lower()}m"
                is_number = _NUMBER.fullmatch(low) is not None and low.isascii()
                is_number = is_number and len(low) < _LONGEST_FIGURE
                number = Fraction(low.replace(",", "")) if is_number else None
                listed = "," in text[end : match.start()]
                found.append(Token(part, low, low if is_number else self.stem(low), number, listed))
                end = match.end()
        return found

    def _parts(self, text: str) -> Iterable[str]:
        joined = _FIGURE_WITH.fullmatch(text)
        if joined and (joined[2].lower() in self.units or joined[2].lower() in self.data["scales"]):
            return joined.groups()
        return (text,)

    def stems(self, text: str) -> Stems:
        """Return the stems of a text; those of unit_price are told apart."""
        return tuple(token.stem for token in self.tokens(text.replace("_", " ")))

    units = UNITS

    @cached_property
    def written(self) -> Mapping[str, tuple[str, ...]]:
        """Map a stem to the irregular forms of its word: "win" to "won"."""
        found: dict[str, tuple[str, ...]] = {}
        for form, word in self.forms.items():
            stem = self.stem(word)
            found[stem] = (*found.get(stem, (word,)), form)
        return found

    @cached_property
    def ideas(self) -> Mapping[str, frozenset[str]]:
        """Map a stem to the stems that share an idea with it."""
        return self._groups(self.data["ideas"])

    @cached_property
    def things(self) -> Mapping[str, frozenset[str]]:
        """Map a stem to the sorts of thing that it is a word for."""
        found = defaultdict(set)
        for sort, words in self.data["things"].items():
            for word in words.split():
                found[self.stem(word)].add(sort)
        return {stem: frozenset(sorts) for stem, sorts in found.items()}

    @cached_property
    def short(self) -> Mapping[str, str]:
        """Map the stem of an abbreviation to the stem that it is short for, and months by three letters."""
        pairs = dict(pair.split("=") for pair in self.data["short"].split())
        pairs |= {month[:3]: month for month in MONTHS} | {"sept": "september"}
        pairs |= {day[:3]: day for day in self.data["weekdays"]}
        return {self.stem(one): self.stem(other) for one, other in pairs.items()}

    @cached_property
    def measures(self) -> Mapping[str, frozenset[str]]:
        """Map the base of a unit to the stems for what it measures."""
        return {base: frozenset(map(self.stem, text.split())) for base, text in self.data["measures"].items()}

    @cached_property
    def degrees(self) -> Mapping[str, Degree]:
        """Map the stem of an adjective to its ways."""
        found = {}
        for word, text in self.data["degrees"].items():
            ways = (part.split() for part in text.split("|"))
            signs = {"up": 1, "down": -1}
            found[word] = Degree(tuple((signs[way], tuple(map(self.stem, ideas))) for way, *ideas in ways))
        return found

    def listed(self, name: str) -> frozenset[str]:
        """Return the stems of one of the lists of words."""
        words = self.data[name]
        return frozenset(map(self.stem, words.split() if isinstance(words, str) else words))

    @cached_property
    def phrases(self) -> Mapping[tuple[str, ...], list[tuple[str, Any]]]:
        """Map the folded words of a phrase to its kinds and values."""
        found = defaultdict(list)
        for kind, value, text in self._entries():
            found[tuple(token.low for token in self.tokens(text))].append((kind, value))
        for n, end in product(range(1, 201), ("st", "nd", "rd", "th")):
            found[(f"{n}{end}",)].append(("ordinal", n))
        return found

    def _entries(self) -> Iterator[tuple[str, Any, str]]:
        for kind, told in self.data["phrases"].items():
            for value, texts in (told if isinstance(told, dict) else {kind: told}).items():
                yield from ((kind, value, text) for text in texts.split(";"))
        for word in self.data["degrees"]:
            yield "degree", word, word
            yield from (("superlative", word, form) for form in self._compared(word, "est"))
            yield from (("comparative", word, form) for form in self._compared(word, "er"))
        yield from (("ordinal", n, text) for n, text in enumerate(self.data["ordinals"]) if n)

    def _compared(self, word: str, end: str) -> set[str]:
        """Return the forms "tallest" or "taller" of an adjective, one of them with "most" or "more"."""
        is_most = end == "est"
        irregular = {form for form, of in self.forms.items() if of == word and form.endswith("st") == is_most}
        base = word[:-1] + "i" if word.endswith("y") else word.removesuffix("e")
        return {base + end, base + base[-1] + end, f"{'most' if is_most else 'more'} {word}"} | irregular

    def _groups(self, lines: Iterable[str]) -> Mapping[str, frozenset[str]]:
        found: dict[str, frozenset[str]] = defaultdict(frozenset)
        for line in lines:
            stems = frozenset(self.stem(word) for word in re.split(r"[\s-]+", line))
            for stem in stems:
                found[stem] = found[stem] | stems - {stem}
        return found

    def are_kin(self, one: str, other: str) -> bool:
        """Tell whether two stems are forms of one word, as "publish" and "publisher" are."""
        base = alike(one, other)
        ends = one[base:], other[base:]
        return base >= 4 and all(not end or end in self.suffixes for end in ends)


def alike(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many items or letters two sequences begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


ENGLISH = Language(read_yaml(resources.files(__package__).joinpath("words.yaml").read_text("utf-8")))
