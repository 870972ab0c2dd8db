"""A problem of an evaluation as a sample of Inspect: its messages, events, usage and verdict."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from chameleon.evaluation.results import Result
from chameleon.evaluation.run import verdict_of
from chameleon.state import Event, Nested, Plan, RunEnded, RunStarted, StepRecord
from chameleon.usage import Call, Usage
from chameleon.values import to_json

if TYPE_CHECKING:
    from inspect_ai.event import Event as InspectEvent
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ChatMessage, ModelOutput, ModelUsage

NO_MODEL = "none/none"
_OF_ROLES = {"human": "user", "ai": "assistant"}
_STOPS: Mapping[str, Any] = {
    "length": "max_tokens",
    "tool_calls": "tool_calls",
    "content_filter": "content_filter",
}
_PARAMETERS = ("frequency_penalty", "max_tokens", "presence_penalty", "seed", "temperature", "top_k", "top_p")
Happened = tuple[float, float, Plan | StepRecord | RunEnded]
"""When an event began and ended, in seconds since 1970, and the event."""


def sample_of(result: Result, events: Sequence[Event], scorer: str, ended_at: float) -> EvalSample:
    """Return a problem with its calls, steps and verdict as a sample.

    What was declined or failed is incorrect; its explanation says which. `ended_at` is when it ended at the
    latest, for logs that do not say when a run began.
    """
    from inspect_ai.log import EvalError, EvalSample
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import Score

    begun = events[0] if events and isinstance(events[0], RunStarted) else None
    given: Mapping[str, Any] = begun.input if begun else {}
    answer = None if result.answer is None else as_text(result.answer)
    verdict, failed = verdict_of(result), result.failed
    value: Any = {True: "C", False: "I", None: dict(result.grades)}[result.correct]
    score = Score(
        value=value,
        answer=answer,
        explanation=f"{verdict}: {result.error}" if result.error else verdict,
        metadata={"verdict": verdict, **dict(result.grades)},
    )
    run = InspectRun(events, begun.at or ended_at if begun else ended_at)
    output = run.reply(run.calls[-1]) if run.calls else ModelOutput.from_content("", answer or "")
    if answer:
        output.completion = answer
    target = result.gold if isinstance(result.gold, list | tuple) else [result.gold]
    return EvalSample(
        id=result.id,
        epoch=1,
        input=as_text(given.get("question", "")),
        choices=[*map(as_text, given.get("choices") or ())] or None,
        target=as_text(target[0]) if len(target) == 1 else [*map(as_text, target)],
        messages=run.messages,
        output=output,
        scores={scorer: score},
        metadata={
            "plan": list(result.plan),
            "columns": list(result.columns),
            "declined": result.declined,
            "failed": failed,
            "answer": result.answer,
            **({"skipped": dict(result.passed_over)} if result.passed_over else {}),
            **({"conversation": result.sequence} if result.sequence else {}),
        },
        events=run.events,
        model_usage=run.usage,
        started_at=in_utc(run.happened[0][0]) if run.happened else None,
        completed_at=in_utc(run.happened[-1][1]) if run.happened else None,
        total_time=result.seconds,
        working_time=result.seconds,
        error=EvalError(message=str(result.error), traceback="", traceback_ansi="") if failed else None,
    )


class InspectRun:
    """What happened in a run, as Inspect has it; laid one after the other from `start`.

    `happened` are plans, steps and the end, those of inventories within before the step that ran them.
    """

    def __init__(self, events: Sequence[Event], start: float) -> None:
        self.happened = list(self._timeline(events, start))
        self.calls = [call for _, _, event in self.happened for call in event.calls]

    def _timeline(self, events: Sequence[Event], start: float) -> Iterator[Happened]:
        within = start
        for event in events:
            if isinstance(event, Nested):
                for happened in self._timeline([event.event], within):
                    within = happened[1]
                    yield happened
            elif isinstance(event, Plan | StepRecord | RunEnded):
                end = max(start + (0.0 if isinstance(event, RunEnded) else event.seconds), within)
                yield start, end, event
                start = within = end

    @property
    def usage(self) -> dict[str, ModelUsage]:
        """Return what the calls of each model used."""
        usage: dict[str, Usage] = {}
        for call in self.calls:
            usage[call.model] = usage.get(call.model, Usage()) + call.usage
        return {inspect_name(model): usage_of(spent) for model, spent in usage.items()}

    @property
    def messages(self) -> list[ChatMessage]:
        """Return what was said in the calls in turn; what a call repeats of the one before stands once."""
        messages: list[ChatMessage] = []
        before: list[tuple[str, str]] = []
        for call in self.calls:
            said = list(call.messages)
            new = said[len(before) :] if said[: len(before)] == before else said
            messages += [self.message(role, text) for role, text in new]
            messages.append(self.reply(call).message)
            before = [*said, ("assistant", call.text)]
        return messages

    @property
    def events(self) -> list[InspectEvent]:
        """Return model calls as model events, and each step, after its calls, as the event of a tool."""
        return [event for each in self.happened for event in self._events(*each)]

    def _events(
        self, start: float, end: float, event: Plan | StepRecord | RunEnded
    ) -> Iterator[InspectEvent]:
        from inspect_ai.event import ModelEvent, ToolEvent
        from inspect_ai.model import GenerateConfig
        from inspect_ai.tool import ToolCallError

        at, until = datetime.fromtimestamp(start, UTC), datetime.fromtimestamp(end, UTC)
        for call in event.calls:
            config = {name: call.params[name] for name in _PARAMETERS if call.params.get(name) is not None}
            yield ModelEvent(
                timestamp=at,
                model=inspect_name(call.model),
                input=[self.message(role, text) for role, text in call.messages],
                tools=[],
                tool_choice="none",
                config=GenerateConfig.model_validate(config),
                output=self.reply(call),
                error=call.error or None,
                cache="read" if call.cached else None,
                retries=call.attempts - 1 or None,
                completed=until,
                working_time=call.seconds,
            )
        if isinstance(event, StepRecord):
            yield ToolEvent(
                timestamp=at,
                id=f"{event.step.module}-{start:.6f}",
                function=event.step.module,
                arguments=to_json(event.step.args or {}),
                result=as_text(event.output) if event.output is not None else "",
                error=ToolCallError(type="unknown", message=str(event.error)) if event.error else None,
                failed=event.error is not None or None,
                completed=until,
                working_time=event.seconds,
            )

    @staticmethod
    def message(role: str, text: str) -> ChatMessage:
        """Return a message; one of a role that Inspect lacks is the user's."""
        from inspect_ai.model import (
            ChatMessageAssistant,
            ChatMessageSystem,
            ChatMessageTool,
            ChatMessageUser,
        )

        match _OF_ROLES.get(role, role):
            case "system":
                return ChatMessageSystem(content=text)
            case "assistant":
                return ChatMessageAssistant(content=text)
            case "tool":
                return ChatMessageTool(content=text)
            case _:
                return ChatMessageUser(content=text)

    @staticmethod
    def reply(call: Call) -> ModelOutput:
        """Return the reply of a call, with the tools that it called."""
        from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, ModelOutput
        from inspect_ai.tool import ToolCall

        tools = [
            ToolCall(id=str(each["id"]), function=str(each["name"]), arguments=dict(each["args"]))
            for each in call.tool_calls
        ]
        model = inspect_name(call.model)
        message = ChatMessageAssistant(content=call.text, tool_calls=tools or None, model=model)
        choice = ChatCompletionChoice(message=message, stop_reason=_STOPS.get(call.finish, "stop"))
        usage, error = usage_of(call.usage), call.error or None
        return ModelOutput(model=model, choices=[choice], usage=usage, time=call.seconds, error=error)


def usage_of(usage: Usage) -> ModelUsage:
    """Return the usage; what the provider did not say counts as 0, for Inspect has no unknown."""
    from inspect_ai.model import ModelUsage

    read, written = usage.input_tokens or 0, usage.output_tokens or 0
    return ModelUsage(
        input_tokens=read,
        output_tokens=written,
        total_tokens=read + written,
        input_tokens_cache_read=usage.cached_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        total_cost=usage.cost,
    )


def inspect_name(model: str | None) -> str:
    """Return what Inspect calls a model: "openai/gpt-6-luna"."""
    return model.replace(":", "/", 1) if model else NO_MODEL


def as_text(value: Any) -> str:
    """Return a text as it is, and anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(to_json(value), ensure_ascii=False)


def in_utc(seconds: float) -> str:
    """Write a time, given in seconds since 1970, as Inspect has it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()
