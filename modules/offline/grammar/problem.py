"""A question with its table, and the account of which of its words a reading has used."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from chameleon.modules.offline.grammar.deeds import implied_by, implied_by_topic, row_nouns
from chameleon.modules.offline.grammar.lexicon import (
    FILLERS,
    IMPLIED,
    ORDINALS,
    SMALL_WORDS,
    STEERING,
    SYNONYMS,
    word_set,
)
from chameleon.modules.offline.grammar.shapes import is_money, measures, stem_and_leaf, with_first_line
from chameleon.modules.offline.grammar.units import plot_places
from chameleon.modules.offline.grammar.unnamed import naming_places, spans_rows
from chameleon.modules.offline.grammar.words import Word, agents, sentences, stem, stem_set, stems, tokenize
from chameleon.table import Table

_RISKY_STORY = word_set("ignore exclude suppose assume discount coupon half")
_SPAN_WORDS = word_set("day week month year game hour minute season")


@dataclass(frozen=True)
class Draft:
    """One possible reading: a program, what it computes in words, and the words it accounts for.

    `read` are positions in `Problem.words`; the names of `columns` count as read as well. `whole_text`
    demands that every sentence is read, not the asked one only; `loose` lets plain lower-case words
    pass, for shapes of tables in which nothing else can be meant.
    """

    code: str
    reading: str
    read: frozenset[int]
    columns: frozenset[int] = frozenset()
    whole_text: bool = False
    loose: bool = False


@dataclass(frozen=True)
class Problem:
    """A question cut into words, with the table, choices and unit that came with it."""

    question: str
    table: Table
    choices: tuple[str, ...] = ()
    unit: str = ""

    @cached_property
    def words(self) -> tuple[Word, ...]:
        return tuple(word for index, text in enumerate(self.sentences) for word in tokenize(text, index))

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        return tuple(sentences(self.question))

    @cached_property
    def asked_sentence(self) -> int:
        """The last sentence that asks; the last one of all where none ends with a question mark."""
        asking = [index for index, text in enumerate(self.sentences) if text.rstrip('"” ').endswith("?")]
        if asking:
            return asking[-1]
        open_ones = [i for i, text in enumerate(self.sentences) if not _is_instruction(text)]
        return open_ones[-1] if open_ones else 0

    @cached_property
    def asked(self) -> tuple[int, ...]:
        """Positions of the words of the asked sentence."""
        return tuple(i for i, word in enumerate(self.words) if word.sentence == self.asked_sentence)

    @cached_property
    def story(self) -> tuple[int, ...]:
        """Positions of the words around it that are no instruction on the form of the answer."""
        return tuple(
            i
            for i, word in enumerate(self.words)
            if word.sentence != self.asked_sentence and not _is_instruction(self.sentences[word.sentence])
        )

    @cached_property
    def topic_texts(self) -> tuple[tuple[str, ...], ...]:
        """What the table and the story are about: stems of caption, unit and story, text by text."""
        story = [text for i, text in enumerate(self.sentences) if i != self.asked_sentence]
        texts = [self.table.caption.replace("_", " "), self.unit, *story]
        return tuple(tuple(word.stem for word in tokenize(text)) for text in texts)

    @cached_property
    def topic(self) -> frozenset[str]:
        return with_synonyms(word for text in self.topic_texts for word in text)

    @cached_property
    def naming(self) -> frozenset[int]:
        """The places of words that say what the numbers of the table are, where it does not."""
        if stem_and_leaf(self.table) is not None:
            return plot_places(self.words, self.asked, self.topic_texts)
        return naming_places(self.words, self.asked, self.topic, self.table)

    @cached_property
    def _pairs(self) -> frozenset[tuple[str, str]]:
        return frozenset(pair for text in self.topic_texts for pair in pairwise(text))

    def header_stems(self, columns: frozenset[int]) -> frozenset[str]:
        own = frozenset(
            word for i in columns for word in (*stems(self.table.header[i]), *agents(self.table.header[i]))
        )
        known = with_synonyms(own).union(*(implied for named, implied in _IMPLIED if named & own))
        chosen = frozenset(columns)
        others = (name for i, name in enumerate(self.table.header) if i not in chosen)
        implied = implied_by(self.table, chosen) | self._implied_by_topic
        return known | implied - {word for name in others for word in stems(name)}

    @cached_property
    def _implied_by_topic(self) -> frozenset[str]:
        """The verbs of trade that the topic lets pass, where all numbers are amounts of money."""
        implied = implied_by_topic(frozenset(word for text in self.topic_texts for word in text))
        columns = measures(self.table) if implied else ()
        is_all_money = all(is_money(v) or v.kind == "empty" for column in columns for v in column.values)
        return implied if columns and is_all_money else frozenset()

    def _named_elsewhere(self, draft: Draft) -> frozenset[str]:
        """The stems that only names of columns hold which the reading does not use."""
        others = [i for i in range(len(self.table.header)) if i not in draft.columns]
        words = frozenset(word for i in others for word in stems(self.table.header[i]))
        return words - {"number", "amount"} if draft.columns else frozenset()

    def unread(self, draft: Draft) -> tuple[Word, ...]:
        """The words of importance that `draft` leaves unread; none means that it may be believed."""
        header = self.header_stems(draft.columns)
        places = (*self.story, *self.asked) if draft.whole_text else self.asked
        left = [i for i in places if i not in draft.read and not self._passes(i, header, draft)]
        if not draft.whole_text:
            left += [i for i in self.story if i not in draft.read and self._is_risky(i)]
        return tuple(self.words[i] for i in sorted(left))

    def _passes(self, place: int, header: frozenset[str], draft: Draft) -> bool:
        word = self.words[place]
        plain = word.text.lower().removesuffix("'s").removesuffix("’s")
        if word.kind == "mark" or (plain in SMALL_WORDS and plain != "s") or place in self.naming:
            return True
        if word.kind != "word" or plain in STEERING:
            if plain in {self.table.header[i].strip().lower() for i in draft.columns}:
                return True
            return self._is_phrase_of_topic(place)
        if word.stem in header:
            return True
        if plain in row_nouns(self.table):
            return not self.is_counted(place)
        if plain in _UNSURE and not draft.whole_text:
            return draft.loose
        if (plain, self._text(place + 1)) in _LEADING or (plain == "sales" and "make" in header):
            return True
        if plain == "may" and word.is_name:  # the month, which the table may not have
            return False
        if plain in FILLERS:
            return word.stem not in self._named_elsewhere(draft)
        if not draft.whole_text and word.stem in self.topic and word.stem not in self._named_elsewhere(draft):
            return True
        return draft.loose and not word.is_name

    def _text(self, place: int) -> str:
        return self.words[place].text.lower() if place < len(self.words) else ""

    def is_counted(self, place: int) -> bool:
        """Whether "how many" or "the number of" stands before the word, adjectives aside."""
        before = [self.words[i].text.lower() for i in range(max(place - 4, 0), place)]
        if "per" in before:
            return False
        return any(pair in _COUNTING for pair in pairwise(before))

    def _is_phrase_of_topic(self, place: int) -> bool:
        """Whether the word stands beside the same neighbour in the caption or the story."""
        if self.words[place].kind == "number" and self.words[place].stem in self.topic_texts[0]:
            return True
        neighbours = [i for i in (place - 1, place + 1) if 0 <= i < len(self.words)]
        pairs = [tuple(self.words[j].stem for j in sorted((place, i))) for i in neighbours]
        return any(
            pair in self._pairs
            and not set(pair) & SMALL_WORDS
            and not any(len(s) < 2 and not s.isdigit() for s in pair)
            for pair in pairs
        )

    def _is_risky(self, place: int) -> bool:
        word = self.words[place]
        following = self.words[place + 1 : place + 3]
        if word.kind in {"number", "date", "time"}:
            is_span = bool(following) and following[0].stem in _SPAN_WORDS
            if following and self._is_asked_too(word.stem, following[0].stem):
                return False  # "5-star"
            return not is_span and place not in self._spans_rows
        if word.text.lower() == "half" and any(near.stem in _SPAN_WORDS for near in following):
            return False  # "in half an hour"
        if word.text.lower() in ORDINALS and self.words[place - 1].number is not None and place:
            return True  # "one-fourth of"
        if word.stem in _PRICING and not self._is_about_prices:
            return False
        return word.stem in _RISKY_STORY

    @cached_property
    def _spans_rows(self) -> frozenset[int]:
        return spans_rows(self.words, self.story, self.table)

    def _is_asked_too(self, first: str, second: str) -> bool:
        """Whether the asked sentence has these two stems side by side."""
        return (first, second) in pairwise(self.words[i].stem for i in self.asked)

    @cached_property
    def _is_about_prices(self) -> bool:
        """Whether a discount would change numbers here: amounts of money that are not changes themselves."""
        names = {word for name in self.table.header for word in stems(name)}
        values = [value for column in self.table.columns for value in column.values]
        return "chang" not in names and bool(names & _PRICING or any(map(is_money, values)))


def with_synonyms(words: Iterable[str]) -> frozenset[str]:
    known = frozenset(words)
    return known.union(*(group for group in _SYNONYM_STEMS if group & known))


def problem(question: str, table: Table, choices: Sequence[str] | None, unit: str | None) -> Problem:
    return Problem(question.strip(), with_first_line(table), tuple(choices or ()), unit or "")


def _is_instruction(sentence: str) -> bool:
    """Whether it only says how to look or what form to give: "Simplify your answer."."""
    words = [word for word in tokenize(sentence) if word.kind != "mark"]
    return "?" not in sentence and all(
        word.kind == "word" and (word.text.lower() in FILLERS or word.text.lower() in _INSTRUCTIONS)
        for word in words
    )


_UNSURE = word_set("will would should could might")
_LEADING = frozenset({("result", "in"), ("results", "in"), ("resulted", "in"), ("leads", "to")})
_PRICING = stem_set("price cost fare fee discount coupon")
_COUNTING = frozenset({("how", "many"), ("number", "of"), ("count", "of")})
_INSTRUCTIONS = word_set(
    """
    simplify fraction fractions following below schedule timetable chart lowest terms
    """
)
_IMPLIED = tuple(
    (frozenset(stem(word) for word in named), frozenset(stem(word) for word in implied))
    for named, implied in IMPLIED
)
_SYNONYM_STEMS = tuple(frozenset(stem(word) for word in group) for group in SYNONYMS)
