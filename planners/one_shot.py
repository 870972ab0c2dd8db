"""Chameleon's planner: one call to a model gives the whole plan (Lu et al., 2023)."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import PositiveInt

from chameleon.core.conversation import HISTORY
from chameleon.core.events import Step
from chameleon.core.llm_module import AsksModel, Structured
from chameleon.core.plan_text import parse_plan
from chameleon.core.planner import Planner, planned, repair_turns
from chameleon.core.prompt import TableView, slots_of
from chameleon.core.state import State
from chameleon.errors import EmptyReply, PlanError
from chameleon.inventory import Inventory
from chameleon.planners.plan_schema import plan_schema
from chameleon.planners.shortlist import ShowsCards
from chameleon.planners.told import inputs_of, rules_in_words
from chameleon.retrieval.embeddings import AUTO
from chameleon.text import MAX_TEXT_TOKENS

_CUT_OFF = "the reply was cut off"


class OneShot(ShowsCards, AsksModel, Planner):
    """Shows the model the module cards and demonstrations, and reads the module names in its reply.

    A plan that was refused, or a step that failed, is answered in a further turn that names the fault.
    With `structured: true` the reply is held to a JSON schema whose names are the inventory's modules, with
    `auto`, the default, where the model offers that or nobody knows. Of each text it sees the first
    `max_text_tokens`. `shortlist`, `always`, `hidden`, `embeddings` and `max_card_tokens` say which cards
    of a large inventory it shows.

    The prompt `planners/one_shot` fits any inventory and any input. Of modules that take arguments the model
    gives these, as the card tells them.
    """

    prompt = "planners/one_shot"

    def __init__(
        self,
        structured: Structured = "auto",
        shortlist: PositiveInt = 40,
        always: list[str] | None = None,
        embeddings: str = AUTO,
        max_text_tokens: PositiveInt = MAX_TEXT_TOKENS,
        *,
        hidden: list[str] | None = None,
        max_card_tokens: PositiveInt = 3_200,
    ) -> None:
        super().__init__(shortlist, max_card_tokens, always, hidden, embeddings)
        self.structured, self.max_text_tokens = structured, max_text_tokens

    def propose(self, state: State, inventory: Inventory) -> Sequence[Step]:
        if planned(state):
            return ()
        cards, others = self.cards(state, inventory, named="others?" in self._template.slots)
        typed = "types?" in self._template.slots
        slots = slots_of(state, TableView(max_text_tokens=self.max_text_tokens), typed=typed) | {
            "modules": cards,
            "others": [*others.values()],
            "rules": list(rules_in_words(inventory)),
            "inputs": inputs_of(state, self.max_text_tokens),
            "takes_arguments": any(card.arguments for card in cards),
        }
        if "inputs" in self._template.variables:  # they hold the conversation
            slots.pop(HISTORY, None)
        messages = [*self._template.render(slots), *repair_turns(state)]
        named = [card for card in inventory.cards if card.name in others]
        schema = plan_schema([*cards, *named], inventory.rules.max_steps) if self.structured else None
        try:
            whole = not any(plan.refused.startswith(_CUT_OFF) for plan in state.plans)  # it had its room
            reply = self._replies(messages, schema=schema, whole=whole, **self._stop_params)[0]
        except EmptyReply as empty:
            raise PlanError(empty.what, hint="Reply with the list alone.") from None
        if reply.truncated:
            raise PlanError(_CUT_OFF, hint="Reply with the list alone.")
        return parse_plan(reply.text, inventory.modules, inventory.takes, inventory.aliases)
