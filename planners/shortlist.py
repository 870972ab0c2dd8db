"""Choose which modules of a large inventory to show a planner: those whose cards fit the question.

The descriptions of all modules must fit the model's context (the Chameleon paper names this as its limit). Of
many, a planner sees the most relevant, by words (BM25; Robertson et al., 1995) and by meaning.
"""

import logging
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import accumulate
from typing import Any

from chameleon.core.conversation import HISTORY, turns
from chameleon.core.state import State
from chameleon.errors import InventoryError
from chameleon.inventory import Card, Inventory
from chameleon.retrieval import embeddings as models
from chameleon.retrieval.analysis import terms
from chameleon.retrieval.ranking import TextCollection
from chameleon.text import estimated_tokens, nearest

_log = logging.getLogger(__name__)
_MAX_QUERY_CHARS = 4_000
_CARDS_SHARE = 0.4  # of the tokens, for whole cards if other modules are listed by name
# The weight of a BM25 score next to a cosine, and of a piece of a word next to a word; how many neighbors
# crowd a card, and by how much. Chosen on one half of the tools of the tests, and reported on the other.
_WORD_WEIGHT, _PIECE_WEIGHT, _N_NEIGHBORS, _CROWDING_WEIGHT = 0.2, 0.3, 10, 0.75


class ShowsCards:
    """A planner that shows a model the cards of an inventory, or only the fitting ones if it is large.

    Args:
        shortlist: the number of modules above which an inventory is large, and how many cards to show then.
        max_card_tokens: the same for the estimated tokens of the cards.
        always: modules that may be needed for any question.
        hidden: modules that are never shown.
        embeddings: "auto", "none" or the name of a model: see docs/shortlist.md.
    """

    def __init__(
        self,
        shortlist: int,
        max_card_tokens: int,
        always: list[str] | None,
        hidden: list[str] | None,
        embeddings: str,
    ) -> None:
        self.shortlist, self.max_card_tokens = shortlist, max_card_tokens
        self.always = tuple(always or ())
        self.hidden: Collection[str] = frozenset(hidden or ())
        if embeddings not in (models.AUTO, models.NONE):
            models.check_name(embeddings)
        self.embeddings = embeddings

    def runtime_info(self, inventory: Inventory) -> Mapping[str, Any]:
        """Return the choice of `auto` on this machine, if the inventory is large, loading nothing."""
        return {"embeddings": self._embeddings_here()} if self._is_large(inventory) else {}

    def check(self) -> None:
        """Raise `MissingPackage` if the named embeddings are not available, loading nothing."""
        if self.embeddings not in (models.AUTO, models.NONE):
            models.require_embeddings(self.embeddings)

    def card_text(self, card: Card) -> str:
        """Return the text that shows a module to the model."""
        return f"- {card.name}{card.signature}: {card.description} {card.when}".rstrip()

    def cards(
        self, state: State, inventory: Inventory, *, named: bool = False, first: Sequence[str] = ()
    ) -> tuple[list[Card], dict[str, str]]:
        """Return the cards to show, and short texts of the other modules by name.

        Args:
            named: also list the others, by name, or as `convert(amount)` if that fits; else none are listed.
            first: modules to show before others.
        """
        cards = {card.name: card for card in inventory.cards if card.name not in self.hidden}
        if not self._is_large(inventory):
            return [*cards.values()], {}
        name = self._embeddings_here()
        if name == models.NONE and self.embeddings == models.AUTO:
            _warn_about_words()
        refused = [step.module for plan in state.plans if plan.refused for step in plan.steps]
        always = [*first, *self.always, *(module for module in refused if module in inventory.modules)]
        dense = None if name == models.NONE else partial(models.embedder, name)
        order = by_relevance(inventory, state, always, dense)
        sizes = {each: estimated_tokens(self.card_text(card)) for each, card in cards.items()}
        room = self.max_card_tokens * (_CARDS_SHARE if named else 1)

        def fits(chosen: Collection[str]) -> bool:
            return len(chosen) <= self.shortlist and sum(sizes.get(each, 0) for each in chosen) <= room

        shown = shortlist(inventory, state, order, fits)
        spare = self.max_card_tokens - sum(sizes.get(card.name, 0) for card in shown)
        others = [cards[each] for each in order if named and each in cards and cards[each] not in shown]
        names = [estimated_tokens(f"{card.name}, ") for card in others]
        names = names[: sum(total <= spare for total in accumulate(names))]  # only the first of thousands
        spare, briefs = spare - sum(names), dict[str, str]()
        for card, size in zip(others, names, strict=False):
            longer = estimated_tokens(f"{card.call}, ") - size
            briefs[card.name] = card.call if longer <= spare else card.name
            spare -= longer if longer <= spare else 0
        _log.info("%d modules shown, %d more by name; embeddings: %s", len(shown), len(briefs), name)
        return [card for card in shown if card.name in cards], briefs

    def _is_large(self, inventory: Inventory) -> bool:
        tokens = sum(estimated_tokens(self.card_text(card)) for card in inventory.cards)
        return len(inventory.cards) > self.shortlist or tokens > self.max_card_tokens

    def _embeddings_here(self) -> str:
        return models.automatic() if self.embeddings == models.AUTO else self.embeddings


@cache
def _warn_about_words() -> None:
    """Warn once per process what a shortlist without embeddings cannot find."""
    what = "modules are chosen by words only: a card with other words is not found"
    _log.warning('%s. pip install "chameleon-compose[embeddings]", or set `embeddings: none`', what)


def shortlist(
    inventory: Inventory, state: State, order: Sequence[str], fits: Callable[[Collection[str]], bool]
) -> list[Card]:
    """Return the cards of the first modules in an order that fit together, each with its needs."""
    chosen = list[str]()
    for name in order:
        more = [*dict.fromkeys([*chosen, *_with_needs(name, inventory, state, order)])]
        chosen = more if fits(more) else chosen
    return [card for card in inventory.cards if card.name in chosen]


def _with_needs(name: str, inventory: Inventory, state: State, order: Sequence[str]) -> list[str]:
    """Return a module with its neighbors by the rules, and the first writers of the keys it reads."""
    needed, waiting = list[str](), [name]
    while waiting:
        if (each := waiting.pop()) in needed:
            continue
        needed.append(each)
        waiting += [*inventory.rules.needs.get(each, []), *filter(None, [inventory.rules.next.get(each)])]
        for keys in inventory.access[each].missing(set(state.keys)):
            writers = [n for n in order if any(map(inventory.access[n].may_write, keys.split("|")))]
            waiting += [] if {*writers} & {*needed} else writers[:1]
    return needed


def by_relevance(
    inventory: Inventory, state: State, always: Sequence[str], dense: Callable[[], models.Embedder] | None
) -> list[str]:
    """Return the modules that can run for this question: generally needed ones, then the most relevant."""
    for name in (name for name in always if name not in inventory.modules):
        what = f"`always` of the planner of {inventory.name} names an unknown module: {name!r}"
        raise InventoryError(what, hint=nearest(name, inventory.modules))
    scores = _by_words(inventory.cards, _question(state))
    if dense is not None:
        # Scores are added instead of ranks, which are random if no word is shared (Bruch et al., 2023).
        cosines = _by_meaning(inventory.cards, _question(state), dense())
        scores = [float(cosine) + _WORD_WEIGHT * score for cosine, score in zip(cosines, scores, strict=True)]
    names = (card.name for card in inventory.cards)
    ranked = [name for _, name in sorted(zip(scores, names, strict=True), key=lambda pair: -pair[0])]
    keys, usable = set(state.keys), set[str]()
    while ready := {n for n in ranked if n not in usable and not inventory.access[n].missing(keys)}:
        usable |= ready
        keys |= {key for name in ready for key in inventory.access[name].writes}
    ranked = [name for name in ranked if name in usable]
    reads = {name: {key for keys in inventory.access[name].required for key in keys} for name in ranked}
    readers = Counter(key for keys in reads.values() for key in keys)
    few = max(1, len(reads) // 50)  # a question with a picture needs the few modules that read one
    rare = {key for key in state.keys if key.startswith("input.") and readers[key] <= few}
    first = [*inventory.fallback, *inventory.rules.last, *(n for n in always if n not in inventory.left_out)]
    return [*dict.fromkeys([*first, *(name for name in ranked if reads[name] & rare), *ranked])]


def _question(state: State) -> str:
    """Return the question with its text, choices, and the caption and columns of its table."""
    data = state.input
    earlier = (turn["question"] for turn in turns(data.get(HISTORY)))
    parts = [data.get("question", ""), *earlier, data.get("text", ""), *(data.get("choices") or ())]
    parts += [state.table.caption, *state.table.header] if state.table is not None else []
    return " ".join(part for part in parts if isinstance(part, str))[:_MAX_QUERY_CHARS]


def _by_words(cards: Sequence[Card], question: str) -> list[float]:
    """Return the BM25 score of each card as a share of the bound for this question: from 0 to about 1."""
    names = (f"{card.name.replace('_', ' ')} {card.when}" for card in cards)  # they count twice
    texts = [2 * _tokens(name) + _tokens(card.description) for name, card in zip(names, cards, strict=True)]
    collection = TextCollection(texts)
    weights = {token: _PIECE_WEIGHT if token[0] == "*" else 1.0 for token in _tokens(question)}
    bound = collection.bound(weights) or 1.0
    return [score / bound for score in collection.scores(weights)]


@lru_cache(maxsize=16_384)
def _tokens(text: str) -> tuple[str, ...]:
    """Return the words of a text, and their pieces of four letters: "Mongo" finds `mongodb_find`."""
    words = terms(text)
    return (*words, *(f"*{word[n : n + 4]}" for word in words for n in range(len(word) - 3)))


def _by_meaning(cards: Sequence[Card], question: str, embedder: models.Embedder) -> Any:
    """Return the cosine of each card with the question, minus how close it is to its neighbors."""
    import numpy

    # A card near every other says little (CSLS; Conneau et al., 2018, with cards as queries).
    vectors = embedder.passages([f"{card.description} {card.when}".rstrip() for card in cards])
    cosines = vectors @ vectors.T
    numpy.fill_diagonal(cosines, -1.0)
    crowding = numpy.sort(cosines, axis=1)[:, -_N_NEIGHBORS:].mean(axis=1)
    return vectors @ embedder.query(question) - _CROWDING_WEIGHT * crowding
