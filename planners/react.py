"""Reason and act: a model calls modules as tools, sees what came back, and calls again or answers."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pydantic import PositiveInt

from chameleon.errors import EmptyReply, InventoryError, PlanError, ReplayMiss, ToolsRefused
from chameleon.inventory import Card, Inventory
from chameleon.llm.tools import CallingText, ResultText, ToolCall
from chameleon.llm_module import AsksModel
from chameleon.module import Module
from chameleon.plan_text import parse_plan
from chameleon.planner import Planner
from chameleon.planners.shortlist import ShowsCards
from chameleon.planners.told import inputs_of, output_text, rules_in_words
from chameleon.prompt import Messages
from chameleon.quoting import Quoted, block, untagged
from chameleon.retrieval.embeddings import AUTO
from chameleon.state import Plan, State, Step, StepRecord
from chameleon.text import MAX_TEXT_TOKENS, as_name, nearest
from chameleon.usage import Call

if TYPE_CHECKING:
    from chameleon.llm import Reply

FINAL, MORE = "model_answer", "more_tools"
_OWN = ("proposed", "replan")  # repairs and fallbacks are the executor's
_ANSWER = re.compile(r"^[\s*#_>]*(?:final )?answer[\s*_]*:[\s*_]*", re.IGNORECASE | re.MULTILINE)
_LAST_TURN = "This is the last turn: call nothing more, and answer from what was found."
_CUT_OFF = "the reply was cut off"
_TOLD = ("StepRejected", "BadArguments", "PlanError", "InnerDeclined")  # what they say is meant to be read


class ModelAnswer(Module):
    """Gives the answer that a planner's model wrote."""

    reads = ()

    def run(self, state: State, *, answer: str) -> str:
        return answer


class MoreTools(Module):
    """Makes further tools callable, by their names: from the next turn on."""

    reads = ()

    def run(self, state: State, *, names: list[str]) -> dict[str, Any]:
        return {"names": names, "note": "They can be called now."}


class React(ShowsCards, AsksModel, Planner):
    """Lets the model call modules, several at once if it likes, until it answers (ReAct; Yao et al., 2023).

    After each turn the model sees what every call came to; one that failed does not end the run, unless the
    module's `on_error` says so. Its reply without a call is the answer, or `last`, a list of modules, answers
    from what was found: by default what the rules of the inventory put last. It is asked `max_turns` times at
    most.

    - `native`: whether it is given the modules as its provider's tools, as `auto` where it is known to take
      some; else their cards stand in the prompt, and calls in its text.
    - `max_output_tokens`: how much of each output it sees; `max_text_tokens`: of each text of the input.
    - `shortlist`, `always`, `hidden`, `embeddings`, `max_card_tokens`: as for `one_shot`.
    """

    prompt = "planners/react"
    whole = False
    brings = MappingProxyType({FINAL: ModelAnswer(), MORE: MoreTools()})

    def __init__(
        self,
        last: list[str] | None = None,
        *,
        max_turns: PositiveInt = 12,
        native: bool | str = "auto",
        max_output_tokens: PositiveInt = 2_000,
        max_text_tokens: PositiveInt = MAX_TEXT_TOKENS,
        shortlist: PositiveInt = 40,
        max_card_tokens: PositiveInt = 3_200,
        always: list[str] | None = None,
        hidden: list[str] | None = None,
        embeddings: str = AUTO,
    ) -> None:
        if native not in (True, False, "auto"):
            raise InventoryError(f"native is {native!r}", hint="Write true, false or auto.")
        super().__init__(shortlist, max_card_tokens, always, hidden, embeddings)
        self.last, self.max_turns, self.native = last, max_turns, native
        self.max_output_tokens, self.max_text_tokens = max_output_tokens, max_text_tokens

    def told(self, card: Card) -> str:
        """Return what the model is told of a module, as its provider has it."""
        return json.dumps(_tool(card), ensure_ascii=False)

    def goes_on_after(self, state: State) -> bool:
        """Return that the model is told of a failure, and decides what to do."""
        return True

    def propose(self, state: State, inventory: Inventory) -> Plan:
        last = self._last(inventory)
        taken = [plan for plan in state.plans if not plan.refused and plan.kind in _OWN]
        if taken and taken[-1].names == tuple(step.module for step in last or (Step(FINAL),)):
            return Plan((), self.name)
        if len(taken) > self.max_turns:
            raise PlanError(f"the model has been asked {self.max_turns} times and has not answered")
        reply = self._reply(state, inventory, is_last=len(taken) == self.max_turns)
        steps = self._steps(reply, inventory)
        if not steps:
            return Plan(last or (Step(FINAL, {"answer": _as_argument(_answer(reply.text))}),), self.name)
        if len(taken) == self.max_turns:
            raise PlanError("nothing more can be called", hint=_LAST_TURN)
        if len(taken) > 1 and taken[-1].steps == taken[-2].steps == steps and _gave_the_same(steps, state):
            raise PlanError(
                "that was called twice, and gave the same", hint="Answer, or call something else."
            )
        return Plan(steps, self.name)

    def _last(self, inventory: Inventory) -> tuple[Step, ...]:
        """Return the steps that answer from what was found."""
        for name in self.last or ():
            if name not in inventory.modules:
                raise InventoryError(
                    f"`last` names a module {name!r} that the inventory does not have",
                    where=f"the planner of {inventory.name}",
                    hint=nearest(name, inventory.modules),
                )
        names = inventory.rules.last[:1] if self.last is None else self.last
        return tuple(map(Step, names))

    def _offer(self, state: State, inventory: Inventory, *, native: bool) -> tuple[list[Card], list[str]]:
        """Return the cards of the tools for the next turn, and the names of others.

        Native tools that the model has asked for by name are among the cards, before all others.
        """
        asked = [
            name
            for record in state.executed
            if record.step.module == MORE and record.error is None
            for name in record.output["names"]
        ]
        view = copy.copy(self)
        view.always = (*dict.fromkeys([*asked, *self.always]),)
        cards, others = ShowsCards.cards(view, state, inventory, named=True)
        answering = {step.module for step in self._last(inventory)}
        cards = [card for card in cards if card.name not in answering]
        if native and others:
            cards.append(Card(MORE, MoreTools.description, "", inventory.arguments[MORE]))
        return cards, [name for name in others if name not in answering]

    def _reply(self, state: State, inventory: Inventory, *, is_last: bool) -> Reply:
        """Ask with tools where the model takes them, else in text."""
        is_cut = any(plan.refused.startswith(_CUT_OFF) for plan in state.plans)
        options = {**self.stop_params, "whole": not is_cut}  # it had its room
        may_be = self.model.is_replay or self.model.offers_tools  # a replay knows what was asked
        is_certain = self.native is True or _called(state)
        try:
            if is_certain or (self.native and may_be):
                try:
                    cards, others = self._offer(state, inventory, native=True)
                    messages = self._messages(state, inventory, (cards, others), is_last=is_last, native=True)
                    return self._whole(self.model.ask(messages, tools=[*map(_tool, cards)], **options))
                except (ToolsRefused, ReplayMiss) as problem:
                    if is_certain:
                        raise
                    if isinstance(problem, ToolsRefused):
                        self.model.refuse_tools()
            offer = self._offer(state, inventory, native=False)
            messages = self._messages(state, inventory, offer, is_last=is_last, native=False)
            return self._whole(self.model.ask(messages, **options))
        except EmptyReply as empty:
            raise PlanError(empty.what, hint="Call a tool, or answer.") from None

    def _whole(self, reply: Reply) -> Reply:
        if reply.truncated:
            raise PlanError(_CUT_OFF, hint="Call a tool, or answer, in fewer words.")
        return reply

    def _steps(self, reply: Reply, inventory: Inventory) -> tuple[Step, ...]:
        """Return the calls of a reply; none for one that answers. Raises `PlanError`."""
        if reply.tool_calls:
            return tuple(_step(call, inventory) for call in reply.tool_calls)
        text = reply.text.strip()
        if _ANSWER.match(text):
            return ()
        try:
            return parse_plan(text, inventory.modules, inventory.takes)
        except PlanError:
            if _ANSWER.search(text) or not _looks_like_a_call(text, inventory):
                return ()
            raise

    def _messages(
        self,
        state: State,
        inventory: Inventory,
        offer: tuple[list[Card], list[str]],
        *,
        is_last: bool,
        native: bool,
    ) -> Messages:
        """Return the prompt, and all turns so far with what came of them."""
        cards, others = offer
        turns = list(_turns(state))
        before = state.executed[: turns[0].start] if turns else state.executed
        rules = [rule for rule in rules_in_words(inventory) if not rule.startswith("A plan ")]
        slots: dict[str, Any] = {
            "rules": rules,
            "inputs": inputs_of(state, self.max_text_tokens),
            "found": Quoted("\n".join(block(each.step.module, self._came_to(each)) for each in before)),
            "takes_arguments": any(card.arguments for card in cards),
            "others": others,
            "last": ", ".join(step.module for step in self._last(inventory)),
        }
        messages = self.template.render(slots | ({} if native else {"modules": cards}))
        for turn in turns:
            messages += self._turn(turn)
        return [*messages, ("user", _LAST_TURN)] if is_last else messages

    def _turn(self, turn: Turn) -> Messages:
        """Tell what the model said, and what came of each call or why there was none."""
        calls = [ToolCall(**call) for call in turn.said.tool_calls] if turn.said else []
        said = turn.said.text if turn.said else ""
        if turn.plan.refused:
            told = [f"That will not do: {turn.plan.refused}"] * max(len(calls), 1)
        else:
            told = [self._came_to(record) if record else "It was not called." for record in turn.records]
        if calls and turn.said:
            results = (
                ("tool", ResultText(untagged(text), call.id, call.name))
                for text, call in zip(told, calls, strict=False)
            )
            return [("assistant", CallingText(said, calls, turn.said.blocks)), *results]
        if not turn.plan.refused:
            told = [block(step.module, text) for step, text in zip(turn.plan.steps, told, strict=False)]
        return [("assistant", said or "(nothing)"), ("user", "\n".join(told))]

    def _came_to(self, record: StepRecord) -> str:
        """Write what a module gave, or why it failed: of a failure no more than is meant to be read."""
        if record.error is None:
            return output_text(record.output, self.max_output_tokens)
        return f"Failed: {record.error.advice if record.error.kind in _TOLD else record.error.reason}"


class Turn:
    """A plan, what the model said for it, and what came of its steps; `start` is the first of these."""

    def __init__(self, plan: Plan, records: Sequence[StepRecord | None], start: int) -> None:
        self.plan, self.records, self.start = plan, records, start
        self.said: Call | None = plan.calls[-1] if plan.calls else None


def _turns(state: State) -> Iterator[Turn]:
    """Yield the planner's turns; a step that was redone or replaced counts by what it last came to."""
    records, place = state.executed, 0
    plans = [plan for plan in state.plans if plan.kind in _OWN]
    for number, plan in enumerate(plans):
        if plan.refused:
            yield Turn(plan, (), place)
            continue
        following = next((each for each in plans[number + 1 :] if not each.refused), None)
        start = _find(records, plan.steps[0], place)
        end = len(records) if following is None else _find(records, following.steps[0], start + 1)
        yield Turn(plan, _results(plan.steps, records[start:end]), start)
        place = end


def _find(records: Sequence[StepRecord], step: Step, start: int) -> int:
    """Return the place of the first record of a step from there on; the end where there is none."""
    found = (place for place in range(start, len(records)) if records[place].step == step)
    return next(found, len(records))


def _results(steps: Sequence[Step], records: Sequence[StepRecord]) -> list[StepRecord | None]:
    """Return the record of each step: the first of its own, and of a module that was redone the last."""
    left, found = list(records), list[StepRecord | None]()
    for step in steps:
        record = next((each for each in left if each.step == step), None)
        if record is not None:
            left.remove(record)
        found.append(record)
    redone = {record.step.module: record for record in left if record.step.redo is not None}
    return [redone.get(step.module, record) for step, record in zip(steps, found, strict=True)]


def _gave_the_same(steps: Sequence[Step], state: State) -> bool:
    count = len(steps)
    last, before = state.executed[-count:], state.executed[-2 * count : -count]
    return [record.output for record in last] == [record.output for record in before]


def _tool(card: Card) -> dict[str, Any]:
    """Return a card as models take tools."""
    parameters = card.arguments.schema if card.arguments else {"type": "object", "properties": {}}
    described = " ".join(filter(None, (card.description, card.when)))
    return {"name": card.name, "description": described, "parameters": parameters}


def _step(call: ToolCall, inventory: Inventory) -> Step:
    """Return the step of a call. Raises `PlanError` for one that names no module, or cannot be read."""
    if call.fault:
        raise PlanError(f"the arguments of {call.name[:60]} cannot be read: {call.fault}")
    names = {as_name(name): name for name in inventory.modules}
    name = call.name if call.name in inventory.modules else names.get(as_name(call.name))
    if name == MORE:
        asked = call.args.get("names")
        for each in asked if isinstance(asked, list) else ():
            if each not in inventory.modules:
                raise PlanError(
                    f"there is no tool {str(each)[:60]!r}", hint=nearest(str(each), inventory.present)
                )
    elif name is None or name in inventory.brought:
        raise PlanError(f"there is no tool {call.name[:60]!r}", hint=nearest(call.name, inventory.present))
    return Step(name, call.args or None)


def _called(state: State) -> bool:
    """Return whether the model has called tools in this run: it goes on in the form that it began."""
    return any(call.tool_calls for plan in state.plans for call in plan.calls)


def _looks_like_a_call(text: str, inventory: Inventory) -> bool:
    """Return whether a text is meant as a call: it begins as JSON, or with the name of a module."""
    head = re.match(r"[\s`]*(?:json)?\s*(?:[\[{]|<tool_call>|([\w-]+)\s*\()", text)
    return head is not None and (head[1] is None or as_name(head[1]) in map(as_name, inventory.modules))


def _as_argument(text: str) -> str:
    """Write a text so that it stands for itself, and for no output of a step."""
    return f"${text}" if text.startswith("$") else text


def _answer(text: str) -> str:
    """Return what stands behind "Answer:", or the whole text where nothing does."""
    found = [*_ANSWER.finditer(text)]
    return text[found[-1].end() :].strip() if found else text.strip()
