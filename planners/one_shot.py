"""Chameleon's planner: one model call returns the whole plan (Lu et al., 2023)."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from pydantic import PositiveInt

from chameleon.core.conversation import HISTORY
from chameleon.core.events import Step
from chameleon.core.llm_module import AsksModel, Structured
from chameleon.core.plan_text import parse_plan
from chameleon.core.planner import Planner, planned, repair_turns
from chameleon.core.prompt import Prompt, TableView, slots_of
from chameleon.core.state import State
from chameleon.errors import EmptyReply, PlanError
from chameleon.inventory import Inventory
from chameleon.planners.descriptions import inputs_of, rules_in_words
from chameleon.planners.plan_schema import plan_schema
from chameleon.planners.shortlist import ShowsCards
from chameleon.retrieval.embeddings import AUTO
from chameleon.text import MAX_TEXT_TOKENS

_PLAN_LINE = re.compile(r"^(Modules: \[.*\]\n\n)", re.MULTILINE)  # ends an example in a prompt
_LEAD = re.compile(r"^Here are \w+ examples\.\n\n", re.MULTILINE)  # introduces the examples
_NAME = re.compile(r"\"(\w+)\"")
_CUT_OFF = "the reply was cut off"


class OneShot(ShowsCards, AsksModel, Planner):
    """Shows the model the module cards and demonstrations, and reads the module names in its reply.

    If a plan was refused or a step failed, it asks again with another message that names the fault. The
    prompt `planners/one_shot` fits any inventory and any input. For modules with arguments the model writes
    these too, as their cards describe.

    Args:
        structured: whether the reply must follow a JSON schema whose names are the inventory's modules;
            with "auto" only if the model supports that or is unknown.
        max_text_tokens: how much of each text it shows.
        shortlist, max_card_tokens: an inventory with more modules, or longer cards, is shown in part.
        always, hidden: modules that are shown for any question, or never.
        embeddings: how the others are chosen: see docs/shortlist.md.
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
        prompt = without_examples(self._template, inventory.left_out)
        cards, others = self.cards(state, inventory, named="others?" in prompt.slots)
        has_types = "types?" in prompt.slots
        slots = slots_of(state, TableView(max_text_tokens=self.max_text_tokens), typed=has_types) | {
            "modules": cards,
            "others": [*others.values()],
            "rules": list(rules_in_words(inventory)),
            "inputs": inputs_of(state, self.max_text_tokens),
            "takes_arguments": any(card.arguments for card in cards),
        }
        if "inputs" in prompt.variables:  # they hold the conversation
            slots.pop(HISTORY, None)
        messages = [*prompt.render(slots), *repair_turns(state)]
        brief_cards = [card for card in inventory.cards if card.name in others]
        schema = plan_schema([*cards, *brief_cards], inventory.rules.max_steps) if self.structured else None
        try:
            whole = not any(plan.refused.startswith(_CUT_OFF) for plan in state.plans)  # had more room
            reply = self._replies(messages, schema=schema, whole=whole, **self._stop_params)[0]
        except EmptyReply as empty:
            raise PlanError(empty.what, hint="Reply with the list alone.") from None
        if reply.truncated:
            raise PlanError(_CUT_OFF, hint="Reply with the list alone.")
        return parse_plan(reply.text, inventory.modules, inventory.takes, inventory.aliases)


@lru_cache(maxsize=64)
def without_examples(prompt: Prompt, modules: frozenset[str]) -> Prompt:
    """Return a prompt without the examples whose plan names one of these modules.

    An example ends with a line "Modules: […]", and starts after the previous one or after the line that
    introduces the examples.
    """
    if not modules:
        return prompt
    sections = tuple((role, _text_without(text, modules)) for role, text in prompt.sections)
    return replace(prompt, sections=sections)


def _text_without(text: str, modules: frozenset[str]) -> str:
    lead = _LEAD.search(text)
    if lead is None:
        return text
    *examples, rest = _PLAN_LINE.split(text[lead.end() :])
    pairs = zip(examples[::2], examples[1::2], strict=True)
    remaining = [body + plan for body, plan in pairs if modules.isdisjoint(_NAME.findall(plan))]
    return f"{text[: lead.start()]}Here are examples.\n\n{''.join(remaining)}{rest}"
