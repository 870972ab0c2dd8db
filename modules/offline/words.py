"""Tokens and stems of a text, and the data of a language from a file such as `english.yaml`."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from importlib import resources
from itertools import product
from typing import Any, NamedTuple

from chameleon.lazy import cached_property
from chameleon.retrieval.analysis import folded
from chameleon.table.amounts import UNITS
from chameleon.table.dates import MONTHS
from chameleon.yaml_text import read_yaml

Stems = tuple[str, ...]
FILES = ("english", "german")
_TOKEN = re.compile(  # a time, date, fraction, figure, word or sign
    r"\d{1,2}:\d{2}(?!\s?[AaPp]\.?[Mm]|[\d:])|\d{1,2}[:.]\d{2}\s?[AaPp]\.?[Mm]\b\.?|\d{4}-\d\d(?:-\d\d)?(?![\d-])"
    r"|\d{1,2}[/.-]\d{1,2}[/.-]\d{4}(?!\d)|(?<![\d/])\d+/\d+(?![\d/])"
    r"|(?:(?<![^\s(=<>$€£¥])-)?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|\d+(?![^\W_]))|[^\W_]+|[%$€£¥°#?]"
)
_MINUS = re.compile(r"(?<!\S)[-−–] ?([$€£¥]?)(?=\d)")  # "-€5" is a number of euros
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?|\d+/[1-9]\d*")
_FIGURE_WITH = re.compile(r"(\d[\d,]*(?:\.\d+)?)([^\W\d_]+)")
_MAX_FIGURE_CHARS = 40
_SIGNS = {"up": 1, "down": -1}


class Token(NamedTuple):
    """A word, figure or sign: as written, folded, and its stem; `number` is set for figures."""

    text: str
    low: str
    stem: str
    number: Fraction | None = None
    listed: bool = False  # whether a comma precedes it


class Language:
    """The data of one language. `phrases` maps folded words to what they may be: (kind, value)."""

    units = UNITS

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data, self.name = data, str(data["language"])
        self.forms = dict(pair.split("=") for pair in data["forms"].split())
        self.filler, self.request = frozenset(data["filler"].split()), frozenset(data["request"].split())
        self.suffixes = frozenset(data["suffixes"].split())
        self._spelling = [(re.compile(form), plain) for form, plain in data["spelling"]]
        self._stems: dict[str, str] = {}
        self.lists = {name: self._set(words) for name, words in data["lists"].items()}
        verbs = (line.split(":") for line in data["licenses"])
        # Stems of verbs, each with the stems of columns that make it plausible for a table.
        self.licenses = {self.stem(verb): self._set(words) for verb, words in verbs}
        # Stems of abbreviations, each with the stem of the full word.
        short = (pair.split("=") for pair in data["short"].split())
        self.short = {self.stem(one): self.stem(other) for one, other in short}
        tens = {word: Fraction(number) for word, number in data["tens"].items()}
        self.numbers = tens | {word: Fraction(n) for n, word in enumerate(data["numbers"].split())}
        # Names of months in the language, each with the English one.
        self.months = dict(zip(data["months"].split() or MONTHS, MONTHS, strict=True))

    def stem(self, low: str) -> str:
        """Return a folded word without its endings: plurals, -ed, -ing."""
        if (stem := self._stems.get(low)) is None:
            stem = self.forms.get(low, low)
            for form, plain in self._spelling:
                stem = form.sub(plain, stem)
            self._stems[low] = stem
        return stem

    def tokens(self, text: str) -> list[Token]:
        """Cut a text into tokens; a figure joined to a unit or scale, such as 5km, becomes two."""
        tokens, end, text = list[Token](), 0, _MINUS.sub(r"\1-", text)
        for match in _TOKEN.finditer(text):
            for part in self._parts(match[0]):
                low = folded(part)
                is_number = bool(_NUMBER.fullmatch(low)) and low.isascii() and len(low) < _MAX_FIGURE_CHARS
                number = Fraction(low.replace(",", "")) if is_number else None
                stem = low if is_number else self.stem(low)
                tokens.append(Token(part, low, stem, number, "," in text[end : match.start()]))
                end = match.end()
        return tokens

    def _parts(self, text: str) -> Iterable[str]:
        joined = _FIGURE_WITH.fullmatch(text)
        is_unit = joined and (joined[2].lower() in self.units or joined[2].lower() in self.data["scales"])
        return (joined[1], {"in": "inches"}.get(joined[2], joined[2])) if joined and is_unit else (text,)

    def stems(self, text: str) -> Stems:
        """Return the stems of a text; names such as unit_price and UnitPrice are split into words."""
        text = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])|(?<=[a-z]{2})(?=[A-Z])", " ", text.replace("_", " "))
        return tuple(self.short.get(token.stem, token.stem) for token in self.tokens(text))

    def _set(self, words: str) -> frozenset[str]:
        return frozenset(map(self.stem, words.split()))

    @cached_property
    def ideas(self) -> Mapping[str, set[str]]:
        """Map a stem to the stems of related words."""
        related: dict[str, set[str]] = defaultdict(set)
        for stems in map(self._set, self.data["ideas"]):
            for stem in stems:
                related[stem] |= stems - {stem}
        return related

    @cached_property
    def things(self) -> Mapping[str, set[str]]:
        """Map a stem to the sorts of thing that it may name."""
        sorts: dict[str, set[str]] = defaultdict(set)
        for sort, words in self.data["things"].items():
            for stem in self._set(words):
                sorts[stem].add(sort)
        return sorts

    @cached_property
    def degrees(self) -> Mapping[str, Sequence[tuple[int, Stems]]]:
        """Map an adjective to its directions (1 up, -1 down), each with the stems that it grades."""
        degrees = {}
        for word, text in self.data["degrees"].items():
            grades = (part.split() for part in text.split("|"))
            degrees[word] = [(_SIGNS[sign], tuple(map(self.stem, ideas))) for sign, *ideas in grades]
        return degrees

    @cached_property
    def phrases(self) -> Mapping[Stems, list[tuple[str, Any]]]:
        """Map the folded words of a phrase to its kinds and values."""
        phrases = defaultdict(list)
        for kind, value, text in self._entries():
            phrases[tuple(token.low for token in self.tokens(text))].append((kind, value))
        return phrases

    def _entries(self) -> Iterator[tuple[str, Any, str]]:
        for kind, entries in self.data["phrases"].items():
            for value, texts in (entries if isinstance(entries, dict) else {kind: entries}).items():
                yield from ((kind, value, text) for text in texts.split(";"))
        for word, kind in product(self.data["degrees"], ("degree", "comparative", "superlative")):
            yield from ((kind, word, form) for form in self._graded(word, kind))
        for n, text in enumerate(self.data["ordinals"].split(), 2):
            yield "ordinal", n, text
        for n, end in product(range(2, 201), self.data["ordinal_ends"].split()):
            yield "ordinal", n, f"{n}{end}"

    def _graded(self, word: str, kind: str) -> set[str]:
        """Return the forms of an adjective: "tallest" and "most tall" for "tall"."""
        grades = self.data["grades"][kind]
        base = word[:-1] + "i" if word.endswith("y") else word.removesuffix("e")
        plain = {base + end for end in grades["ends"].split()} if kind != "degree" else {word}
        plain |= {base + base[-1] + end for end in grades["ends"].split()} if grades["doubles"] else set()
        before = {f"{more} {word}" for more in grades["before"].split()}
        forms = (form for form, of in self.forms.items() if of == word)
        irregular = {form for form in forms if re.search(grades["form"], form)}
        return plain | before | irregular

    def are_kin(self, one: str, other: str) -> bool:
        """Return whether two stems are forms of one word, such as "publish" and "publisher"."""
        base = alike(one, other)
        ends = one[base:], other[base:]
        return base >= 4 and all(not end or end in self.suffixes for end in ends)  # letters in common

    def known(self, text: str) -> int:
        """Return how many words of a text are function words of this language."""
        lows = [token.low for token in self.tokens(text)]
        return sum(low in self.filler or low in self.request or (low,) in self.phrases for low in lows)


def alike(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the common beginning of two sequences."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


@cache
def language(name: str = FILES[0]) -> Language:
    """Return a language by the name of its file, read once."""
    return Language(read_yaml(resources.files(__package__).joinpath(f"{name}.yaml").read_text("utf-8")))


def language_of(question: str) -> Language:
    """Return the language that knows the most function words of a question; on a tie, the first."""
    return max(map(language, FILES), key=lambda each: each.known(question))
