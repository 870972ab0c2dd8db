"""Reason and act: a model calls modules as tools, sees their results, and calls again or answers."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pydantic import PositiveInt

from chameleon.core.events import Plan, Step, StepRecord
from chameleon.core.llm_module import FOR_GOOD, AsksModel
from chameleon.core.module import Module
from chameleon.core.plan_text import parse_plan
from chameleon.core.planner import Planner
from chameleon.core.prompt import Messages, output_text
from chameleon.core.state import State
from chameleon.errors import (
    Declined,
    EmptyReply,
    InventoryError,
    ModelError,
    PlanError,
    ReplayMiss,
    ToolsRefused,
)
from chameleon.inventory import Card, Inventory
from chameleon.llm.tools import CallingText, ResultText, ToolCall
from chameleon.planners import react_reply as written
from chameleon.planners.descriptions import inputs_of, rules_in_words
from chameleon.planners.shortlist import ShowsCards
from chameleon.planners.turns import Turn
from chameleon.quoting import Quoted, block, untagged
from chameleon.retrieval.embeddings import AUTO
from chameleon.table.grounding import alone, lists_only, unverified
from chameleon.text import MAX_TEXT_TOKENS, as_name, nearest, no_answer, one_line, says_unknown
from chameleon.usage import current_recorder

if TYPE_CHECKING:
    from chameleon.llm import Reply

FINAL, MORE = "model_answer", "more_tools"
_ANSWER_HINT = 'To answer, begin with "Answer:".'
_MAX_REASON_CHARS = 300
_ECHO_WORDS = 3  # an answer that ends like the last fault repeats it
# Messages of Chameleon about a faulty reply, which a small model may repeat as its answer.
_FAULT = re.compile(
    r"the reply (?:has no (?:list|answer|plan)|repeats the same mistake)"
    r"|there is no (?:module|tool) '[^']*'\. (?:Did you|There are)",
    re.IGNORECASE,
)
_CALL_HINT = "Call a tool that gives it, then answer."
_REPEAT_FAULT = "the same call was made twice and returned the same"
_REPEAT_HINT = "Answer now, from what was found."
_LAST_TURN_NOTE = "This is the last turn: call nothing more, and answer from what was found."
_CUT_OFF = "the reply was cut off"
# Errors whose message is meant for the model.
_SHOWN_ERRORS = ("StepRejected", "BadArguments", "PlanError", "InnerDeclined", "InnerBudget")


class ModelAnswer(Module):
    """Gives the answer that a planner's model wrote."""

    reads = ()

    def run(self, state: State, *, answer: str) -> str:
        recorder = current_recorder()
        if recorder is not None and recorder.hear is not None:
            recorder.hear(None)  # text from a tool's model does not count
            recorder.hear(answer)
        return answer


class MoreTools(Module):
    """Makes further tools callable, by their names: from the next turn on."""

    reads = ()

    def run(self, state: State, *, names: list[str]) -> dict[str, Any]:
        return {"names": names, "note": "They can be called now."}


class React(ShowsCards, AsksModel, Planner):
    """Lets the model call modules, several at once if it likes, until it answers (ReAct; Yao et al., 2023).

    After each turn the model sees the result of every call; a failed call does not end the run, unless the
    module's `on_error` says so. A reply without a call is the answer, or `last`, a list of modules, answers
    from the results: by default the last module in the inventory's rules. The model may call in `max_turns`
    turns, and must answer in the next.

    Args:
        native: whether it gets the modules as its provider's tools, with `auto` if it is known to support
            them; otherwise their cards are in the prompt, and calls in its text.
        max_output_tokens: how much of each output it sees; `max_text_tokens`: of each text of the input.
        checked: whether an answer must come from a tool's result, or from a cell if nothing is to be
            computed; otherwise the model is asked once more, and then the run declines.
        shortlist, always, hidden, embeddings, max_card_tokens: as for `one_shot`.
    """

    prompt = "planners/react"
    returns_full_plan = False
    extra_modules = MappingProxyType({FINAL: ModelAnswer(), MORE: MoreTools()})

    def __init__(
        self,
        last: str | list[str] | None = None,
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
        checked: bool = False,
    ) -> None:
        if native not in (True, False, "auto"):
            raise InventoryError(f"native is {native!r}", hint="Use true, false or auto.")
        super().__init__(shortlist, max_card_tokens, always, hidden, embeddings)
        self.last = [last] if isinstance(last, str) else last
        self.max_turns, self.native, self.checked = max_turns, native, checked
        self.max_output_tokens, self.max_text_tokens = max_output_tokens, max_text_tokens

    def card_text(self, card: Card) -> str:
        """Return the model's description of a module, in its provider's form."""
        return json.dumps(self.as_tool(card), ensure_ascii=False)

    @property
    def referenced_modules(self) -> Mapping[str, Collection[str]]:
        return {"last": self.last or ()}

    def continue_after_failure(self, state: State) -> bool:
        """Return True: the model sees a failure and decides what to do."""
        return True

    def propose(self, state: State, inventory: Inventory) -> Plan:
        last = self._last(inventory)
        turns = list(Turn.all_of(state))
        valid = [turn for turn in turns if not turn.plan.refused]  # the model may correct the others
        if valid and valid[-1].plan.names == tuple(step.module for step in last or (Step(FINAL),)):
            return Plan((), self.name)
        if len(valid) > self.max_turns:
            raise PlanError(f"the model used all its turns ({self.max_turns}) without an answer")
        refused = turns[-1].plan.refused if turns else ""
        since = takewhile(lambda turn: turn.plan.refused, reversed(turns))  # since the last valid turn
        repeats = any(turn.plan.refused.startswith(_REPEAT_FAULT) for turn in since)
        is_last = len(valid) == self.max_turns or repeats  # the model must answer now
        reply, is_native = self._reply(state, inventory, turns, is_last=is_last)
        steps = self._steps(reply, inventory, is_native=is_native, is_last=is_last)
        if not steps:  # a reply without a call
            answer = written.answer_in(reply.text)
            # A small model may copy the message that refused its last reply, here without the hint.
            fault, words = refused.partition(". ")[0].split(), answer.rstrip(".").split()
            if not last and (answer in ("", "[]", "{}") or written.is_arguments(answer, inventory)):
                raise PlanError("the reply has no answer", hint=_ANSWER_HINT)
            if not last and (why := no_answer(answer)):
                raise PlanError(why, hint=_ANSWER_HINT)
            if not last and says_unknown(answer):
                raise Declined("the model found no answer", hint=one_line(answer, _MAX_REASON_CHARS))
            is_echo = len(words) > _ECHO_WORDS < len(fault) and words[-_ECHO_WORDS:] == fault[-_ECHO_WORDS:]
            if is_echo or _FAULT.match(answer):
                raise PlanError("the reply repeats the same mistake", hint=_ANSWER_HINT)
            if self.checked and not last:
                answer = alone(answer, state.executed[-1].output if valid else None)
                if why := self._unverified(answer, state):
                    is_final = is_last or refused.startswith(why)  # it was already asked once more
                    raise Declined(why) if is_final else PlanError(why, hint=_CALL_HINT)
            return Plan(last or (Step(FINAL, {"answer": answer}),), self.name)
        if len(valid) == self.max_turns:
            hint = f"{_LAST_TURN_NOTE} For more, raise max_turns."
            raise PlanError(f"it called tools in all {self.max_turns} turns without an answer", hint=hint)
        if len(valid) > 1 and valid[-1].plan.steps == steps and valid[-1].came_to_the_same(valid[-2]):
            raise Declined(_REPEAT_FAULT) if repeats else PlanError(_REPEAT_FAULT, hint=_REPEAT_HINT)
        return Plan(steps, self.name)

    def _unverified(self, answer: str, state: State) -> str:
        known = [each for each in (state.table, *(state.input.get("tables") or ())) if each is not None]
        runs = (each for each in state.executed if each.error is None and each.step.module not in self.hidden)
        results = [each.output for each in runs if not any(lists_only(each.output, table) for table in known)]
        return unverified(answer, state.input.get("question", ""), known, results)

    def _last(self, inventory: Inventory) -> tuple[Step, ...]:
        """Return the steps that answer from the results."""
        names = inventory.rules.last[:1] if self.last is None else self.last
        return tuple(map(Step, names))

    def _offer(
        self, state: State, inventory: Inventory, *, native: bool
    ) -> tuple[list[Card], dict[str, str]]:
        """Return the cards of the next turn, requested ones first, and short texts of the others."""
        records = [each for each in state.executed if each.step.module == MORE and each.error is None]
        requested = [name for record in records for name in record.output["names"]]
        cards, others = self.cards(state, inventory, named=True, first=requested)
        answering = {step.module for step in self._last(inventory)}
        cards = [card for card in cards if card.name not in answering]
        if native and others:
            cards.append(Card(MORE, MoreTools.description, "", inventory.arguments[MORE]))
        return cards, {name: text for name, text in others.items() if name not in answering}

    def _reply(
        self, state: State, inventory: Inventory, turns: Sequence[Turn], *, is_last: bool
    ) -> tuple[Reply, bool]:
        """Ask with tools if the model supports them, else in text; return whether it used tools."""
        is_cut = any(plan.refused.startswith(_CUT_OFF) for plan in state.plans)
        options = {**self._stop_params, "whole": not is_cut}  # it already had more room
        # The model continues in the form in which it started.
        has_called = any(turn.said and turn.said.tool_calls for turn in turns)
        is_certain = self.native is True or has_called
        offer = "known" if is_certain else self.model.offers("tools") if self.native else ""
        if self.native and self.model.is_replay:  # the store knows how the recorded run asked
            offer = offer or "known"
        if offer == "try" and turns:
            offer = ""
        history: Messages = [each for turn in turns for each in self._turn_messages(turn, in_text=is_last)]
        history += [("user", _LAST_TURN_NOTE)] if is_last else []
        works = None  # it may not have seen the tools, or need none
        try:
            if offer:
                try:
                    prompt, cards = self._prompt(state, inventory, turns, native=True)
                    tools = [] if is_last and has_called else [*map(self.as_tool, cards)]
                    reply = self._whole(self.model.ask([*prompt, *history], tools=tools, **options))
                except ModelError as problem:
                    worth = (ReplayMiss, ToolsRefused) if offer == "known" else ModelError
                    if is_certain or not isinstance(problem, worth) or isinstance(problem, FOR_GOOD):
                        raise
                    works = None if isinstance(problem, ReplayMiss) else False
                else:
                    if offer == "known" or reply.tool_calls:
                        self.model.learn("tools", works=True)
                        return reply, True
            prompt, _ = self._prompt(state, inventory, turns, native=False)
            reply = self._whole(self.model.ask([*prompt, *history], **options))
            if offer == "try" or works is False:
                self.model.learn("tools", works=works)
            return reply, False
        except EmptyReply as empty:
            raise PlanError(empty.what, hint="Call a tool, or answer.") from None

    def _whole(self, reply: Reply) -> Reply:
        if reply.truncated:
            raise PlanError(_CUT_OFF, hint="Call a tool, or answer, in fewer words.")
        return reply

    def _steps(
        self, reply: Reply, inventory: Inventory, *, is_native: bool, is_last: bool
    ) -> tuple[Step, ...]:
        """Return the calls of a reply; none if it answers. Raises `PlanError`."""
        if reply.tool_calls:
            return tuple(self.step_of(call, inventory) for call in reply.tool_calls)
        text = reply.text.strip()
        answers = is_last and written.ANSWER.search(text)
        if called := () if answers else written.call_in_code(text, inventory):
            return called
        tools = [name for name in inventory.modules if name not in inventory.brought]
        names, answer = {*map(as_name, tools)}, written.ANSWER.match(text)
        rest = text[answer.end() :] if answer else ""
        if written.is_written_call(rest, names):
            text = rest
        elif answer or (is_native and not written.is_written_call(text, names)):
            return ()
        try:
            return parse_plan(text, tools, inventory.takes, inventory.aliases)
        except PlanError as problem:
            is_named = any(as_name(word) in names for word in written.WORDS.findall(text))
            if written.ANSWER.search(text) and not written.ACTION.search(text):
                return ()
            if not (is_native or is_named or written.LIKE_A_CALL.search(text)):
                return ()
            hint = f"Call it as a tool. {_ANSWER_HINT}" if is_native else _ANSWER_HINT
            raise PlanError(problem.what, hint=f"{problem.hint} {hint}".strip()) from None

    def _prompt(
        self, state: State, inventory: Inventory, turns: Sequence[Turn], *, native: bool
    ) -> tuple[Messages, list[Card]]:
        """Return the prompt and the cards, which the prompt contains if the model gets no tools."""
        cards, others = self._offer(state, inventory, native=native)
        start = next((turn.start for turn in turns if not turn.plan.refused), len(state.executed))
        results = (block(each.step.module, self._result_of(each)) for each in state.executed[:start])
        slots: dict[str, Any] = {
            "rules": [rule for rule in rules_in_words(inventory) if not rule.startswith("A plan ")],
            "inputs": inputs_of(state, self.max_text_tokens),
            "found": Quoted("\n".join(results)),
            "takes_arguments": any(inventory.takes),
            "others": [*others.values()],
            "last": ", ".join(step.module for step in self._last(inventory)),
        }
        return self._template.render(slots | ({"modules": cards} if cards and not native else {})), cards

    def _turn_messages(self, turn: Turn, *, in_text: bool) -> Messages:
        """Return the messages of a turn: the model's reply, and each call's result or why it has none.

        With `in_text` calls are also written as text, because providers reject calls without tools.
        """
        calls = [ToolCall(**call) for call in turn.said.tool_calls] if turn.said else []
        text = turn.said.text if turn.said else ""
        if calls and in_text:
            text, calls = "\n".join([*filter(None, [text]), *map(str, turn.plan.steps or calls)]), []
        if turn.plan.refused:
            results = [f"That will not do: {turn.plan.refused}"] * max(len(calls), 1)
        else:
            results = [self._result_of(record) if record else "It was not called." for record in turn.results]
        if calls and turn.said:
            pairs = zip(map(untagged, results), calls, strict=False)
            answers = [("tool", ResultText(each, call.id, call.name)) for each, call in pairs]
            return [("assistant", CallingText(text, calls, turn.said.blocks)), *answers]
        if not turn.plan.refused:
            results = [block(step.module, each) for step, each in zip(turn.plan.steps, results, strict=False)]
        return [("assistant", text or "(nothing)"), ("user", "\n".join(results))]

    def _result_of(self, record: StepRecord) -> str:
        """Write a module's output, or why it failed, with only as much detail as the model may see."""
        if record.error is None:
            return output_text(record.output, self.max_output_tokens)
        return f"Failed: {record.error.advice if record.error.kind in _SHOWN_ERRORS else record.error.reason}"

    @staticmethod
    def as_tool(card: Card) -> dict[str, Any]:
        """Return a card in the form of a model's tool."""
        parameters = card.arguments.schema if card.arguments else {"type": "object", "properties": {}}
        described = " ".join(filter(None, (card.description, card.when)))
        return {"name": card.name, "description": described, "parameters": parameters}

    @staticmethod
    def step_of(call: ToolCall, inventory: Inventory) -> Step:
        """Return the step of a call. Raises `PlanError` for an unknown module or unreadable arguments."""
        if call.fault:
            raise PlanError(f"the arguments of {call.name[:60]} cannot be read: {call.fault}")
        names = {as_name(name): name for name in inventory.modules}
        name = call.name if call.name in inventory.modules else names.get(as_name(call.name))
        names_given = call.args.get("names") if name == MORE else None
        requested = [str(each) for each in names_given] if isinstance(names_given, list) else []
        missing = [each for each in requested if each not in inventory.present]
        if name is None or (name in inventory.brought and name != MORE):
            missing = [call.name]
        if name is None or missing:
            hint = nearest(missing[0], [each for each in inventory.present if each not in inventory.brought])
            raise PlanError(f"there is no tool {missing[0][:60]!r}", hint=hint)
        return Step(name, call.args or None)
