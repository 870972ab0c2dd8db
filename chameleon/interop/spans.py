"""A run as spans, following OpenTelemetry's conventions for generative AI (v0.1.0, in development).

A run is a workflow, a plan plans, a step executes a tool, a model call chats; the run of an inventory inside
a step is below that step. Ids are derived from the log, so the same log gives the same spans. The log has
the start time of a run and durations: spans are laid out one after another from there.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from chameleon.core.events import Approval, Event, Nested, Plan, RunEnded, RunStarted, StepRecord
from chameleon.core.log import event_to_json, json_line
from chameleon.core.state import State
from chameleon.text import redact
from chameleon.usage import Call, is_amount
from chameleon.values import to_json

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

Attributes = Mapping[str, str | bool | int | float | list[str]]
NEXT_IDS: ContextVar[tuple[int, int]] = ContextVar("ids of the trace and the span that is started next")
PROVIDERS: Mapping[str, str] = {
    "anthropic_bedrock": "aws.bedrock",
    "azure_ai": "azure.ai.inference",
    "azure_openai": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "bedrock_converse": "aws.bedrock",
    "google_anthropic_vertex": "gcp.vertex_ai",
    "google_genai": "gcp.gemini",
    "google_vertexai": "gcp.vertex_ai",
    "ibm": "ibm.watsonx.ai",
    "mistralai": "mistral_ai",
    "xai": "x_ai",
}
"""Names of providers in the conventions, where LangChain's differ."""
MAX_TEXT_CHARS = 100_000
PARAMETERS: Mapping[str, type[int] | type[float]] = {
    **dict.fromkeys(("max_tokens", "seed", "top_k"), int),
    **dict.fromkeys(("frequency_penalty", "presence_penalty", "temperature", "top_p"), float),
}
_ROLES = {"human": "user", "ai": "assistant"}


class RunSpans:
    """Writes a run's events as spans: `add` ends the completed ones, and `close` the run's own.

    Args:
        tracer: starts the spans, with ids from `NEXT_IDS`.
        started: the first event.
        content: also write texts: questions, prompts, replies, arguments, outputs, error messages.
        key: separates runs that start alike, for example the id of a problem.
        conversation: the id of the conversation that the run is a turn of.
        below: the span of the step that the run is inside of.
    """

    def __init__(
        self,
        tracer: Tracer,
        started: RunStarted,
        *,
        content: bool = False,
        key: str = "",
        conversation: str = "",
        below: Span | None = None,
    ) -> None:
        self.tracer, self.content, self.conversation = tracer, content, conversation
        self.name = started.inventory
        self.start = self.now = started.at or time.time()
        self._state = State() if content else None
        self._inner: RunSpans | None = None
        self._step_span: Span | None = None  # of the step that runs an inventory
        self._plans = self._steps = 0
        if below is None:
            self._trace = _digest(json_line({"key": key, **event_to_json(started)}), 32)
        else:
            self._trace = f"{below.get_span_context().trace_id:032x}"
        operation = "invoke_agent" if below else "invoke_workflow"
        self._root = self._started(operation, self.name, self.start, below, "run")
        if below is None:  # its name before v0.1.0
            self._root.set_attribute("gen_ai.workflow.name", _sendable(self.name))
        if self._state is not None:
            self._state = self._state.after(started)
            question = _message("user", started.input.get("question"))
            self._write(self._root, "gen_ai.input.messages", [question])

    def add(self, event: Event) -> None:
        """Write an event."""
        if self._state is not None:
            self._state = self._state.after(event)
        match event:
            case Plan():
                self._plan(event)
            case Nested():
                self._nested(event)
            case StepRecord():
                self._step(event)
            case Approval():
                steps = [step.module for step in event.steps]
                fields: dict[str, Any] = {"said": event.said, "by": event.by, "steps": steps}
                self._note("approval", {f"chameleon.approval.{key}": each for key, each in fields.items()})
            case RunEnded():
                seconds = sum(round(call.seconds, 6) for call in event.calls)
                self._calls(event.calls, self._root, self.now, seconds)
                self.now += seconds
                self._root.set_attribute("chameleon.ended", event.reason)
                if event.error is not None:
                    self._fail(self._root, event.error.kind, str(event.error))

    def close(self, scores: Iterable[tuple[str, Attributes]] = ()) -> None:
        """End the span of the run, even if it stopped early; `scores` say how it was judged."""
        for name, attributes in scores:
            self._note(name, attributes)
        if self._state is not None and self._state.answer is not None:
            self._write(self._root, "gen_ai.output.messages", [_message("assistant", self._state.answer)])
        self._root.end(_nanoseconds(self.now))

    def _plan(self, plan: Plan) -> None:
        seconds = round(plan.seconds, 6)  # as in the log
        span = self._started("plan", self.name, self.now, self._root, "plan", self._plans)
        attributes = {"by": plan.by, "kind": plan.kind, "steps": list(plan.names)}
        span.set_attributes({f"chameleon.plan.{key}": _sendable(each) for key, each in attributes.items()})
        if plan.refused:
            self._fail(span, "PlanRefused", plan.refused)
        self._calls(plan.calls, span, self.now, seconds)
        self.now, self._plans = self.now + seconds, self._plans + 1
        span.end(_nanoseconds(self.now))

    def _nested(self, event: Nested) -> None:
        inside = event.event
        if isinstance(inside, RunStarted):
            # Only the clock shows which steps ran at the same time.
            start = max(inside.at, self.start) if inside.at else self.now
            self._step_span = self._step_started(event.module, start)
            self._inner = RunSpans(
                self.tracer,
                replace(inside, at=start),
                content=self.content,
                conversation=self.conversation,
                below=self._step_span,
            )
        elif self._inner is not None:
            self._inner.add(inside)
            if isinstance(inside, RunEnded):
                self._inner.close()

    def _step(self, record: StepRecord) -> None:
        start, seconds = self.now, round(record.seconds, 6)
        end = start + seconds
        if (inner := self._inner) is not None:
            start, end = inner.start, max(inner.start + seconds, inner.now)
            if inner._root.is_recording():  # it was dropped or stopped
                inner.close()
        span = self._step_span or self._step_started(record.step.module, start)
        attributes: dict[str, Any] = {"chameleon.seconds": seconds}
        if record.step.redo is not None:
            attributes["chameleon.step.attempt"] = record.step.redo.attempt
        if record.dropped:
            attributes["chameleon.step.dropped"] = True
        span.set_attributes(attributes)
        if record.error is not None:
            self._fail(span, record.error.kind, str(record.error))
        if self.content:
            self._write(span, "gen_ai.tool.call.arguments", to_json(record.step.args or {}))
            self._write(span, "gen_ai.tool.call.result", to_json(record.output))
        self._calls(record.calls, span, start, seconds)
        span.end(_nanoseconds(end))
        self.now, self._steps = max(self.now, end), self._steps + 1
        self._inner = self._step_span = None

    def _step_started(self, module: str, start: float) -> Span:
        span = self._started("execute_tool", module, start, self._root, "step", self._steps)
        span.set_attributes(_sendable({"gen_ai.tool.name": module, "gen_ai.tool.type": "function"}))
        return span

    def _calls(self, calls: Sequence[Call], below: Span, start: float, seconds: float) -> None:
        """Write model calls in sequence, or in parallel if their times add up to more than `seconds`."""
        end = start + seconds
        is_parallel = sum(round(call.seconds, 6) for call in calls) > seconds
        for number, call in enumerate(calls):
            provider, colon, model = call.model.partition(":")
            model = model if colon else call.model
            provider = PROVIDERS.get(provider, provider) if colon else "unknown"
            span = self._started("chat", model, start, below, "call", number)
            span.set_attributes(_sendable(_of_call(call, provider, model)))
            if call.error:
                self._fail(span, call.error.partition(":")[0], call.error)
            if self.content:
                messages = [_message(role, text) for role, text in call.messages]
                self._write(span, "gen_ai.input.messages", messages)
                self._write(span, "gen_ai.output.messages", [_reply(call)])
            call_end = min(start + round(call.seconds, 6), end)
            span.end(_nanoseconds(call_end))
            start = start if is_parallel else call_end

    def _started(
        self, operation: str, name: str, start: float, below: Span | None, *place: str | int
    ) -> Span:
        """Start a span; its id is derived from its place below another."""
        from opentelemetry.context import Context
        from opentelemetry.trace import SpanKind, set_span_in_context

        parent = f"{below.get_span_context().span_id:016x}" if below else ""
        id = _digest("/".join(map(str, (self._trace, parent, *place))).encode(), 16)
        NEXT_IDS.set((int(self._trace, 16), int(id, 16)))
        attributes = {"gen_ai.operation.name": operation}
        if operation != "chat":
            attributes["gen_ai.agent.name"] = self.name
        if self.conversation:
            attributes["gen_ai.conversation.id"] = self.conversation
        return self.tracer.start_span(
            _sendable(f"{operation} {name}"),
            set_span_in_context(below) if below else Context(),
            SpanKind.CLIENT if operation == "chat" else SpanKind.INTERNAL,
            _sendable(attributes),
            start_time=_nanoseconds(start),
        )

    def _note(self, name: str, attributes: Attributes) -> None:
        self._root.add_event(name, _sendable(attributes), _nanoseconds(self.now))

    def _fail(self, span: Span, kind: str, message: str) -> None:
        from opentelemetry.trace import Status, StatusCode

        if kind == "Declined":  # declining is also an answer
            span.set_attribute("chameleon.declined", True)
            return
        span.set_attribute("error.type", kind)
        span.set_status(Status(StatusCode.ERROR, _text(message) if self.content and message else None))

    def _write(self, span: Span, name: str, value: Any) -> None:
        span.set_attribute(name, _text(json.dumps(value, ensure_ascii=False)))


def score(name: str, value: float | None, label: str) -> tuple[str, Attributes]:
    """Return the event that says how a run was judged; without a `value`, only the label."""
    attributes: dict[str, Any] = {"gen_ai.evaluation.name": name, "gen_ai.evaluation.score.label": label}
    if value is not None:
        attributes["gen_ai.evaluation.score.value"] = float(value)
    return "gen_ai.evaluation.result", attributes


def conversation_id(first: RunStarted) -> str:
    """Return the id of the conversation that starts with this run."""
    return _digest(b"conversation" + json_line(event_to_json(first)), 32)


def _of_call(call: Call, provider: str, model: str) -> dict[str, Any]:
    usage = call.usage
    attributes: dict[str, Any] = {
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": model,
        "gen_ai.response.finish_reasons": [call.finish] if call.finish else None,
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens or None,
        "gen_ai.usage.reasoning.output_tokens": usage.reasoning_tokens or None,
        "chameleon.usage.cost": usage.cost,
        "chameleon.attempts": call.attempts if call.attempts > 1 else None,
        "chameleon.sample": call.sample or None,
        "chameleon.from_store": call.cached or None,
        "chameleon.dropped_parameters": sorted(call.dropped) or None,
    }
    for name, kind in PARAMETERS.items():
        if is_amount(value := call.params.get(name)) and abs(value) < 2**63:
            attributes[f"gen_ai.request.{name}"] = kind(value)
    return {name: value for name, value in attributes.items() if value is not None}


def _message(role: str, value: Any) -> dict[str, Any]:
    text = value if isinstance(value, str) else json.dumps(to_json(value), ensure_ascii=False)
    return {"role": _ROLES.get(role, role), "parts": [{"type": "text", "content": text}]}


def _reply(call: Call) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"type": "text", "content": call.text}] if call.text else []
    for each in call.tool_calls:
        tool = {"id": each["id"], "name": each["name"], "arguments": dict(each["args"])}
        parts.append({"type": "tool_call", **tool})
    return {"role": "assistant", "parts": parts, "finish_reason": call.finish or "stop"}


def _text(text: str) -> str:
    """Return a text without secrets, cut if it is very long."""
    text = _sendable(redact(text))
    return text if len(text) <= MAX_TEXT_CHARS else f"{text[:MAX_TEXT_CHARS]}…"


def _sendable(value: Any) -> Any:
    """Replace characters invalid in UTF-8: half a surrogate pair would block a whole batch."""
    if isinstance(value, Mapping):
        return {name: _sendable(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_sendable(each) for each in value]
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _nanoseconds(seconds: float) -> int:
    return max(round(seconds * 1e6), 0) * 1000  # in whole microseconds, as in the log


def _digest(data: bytes, length: int) -> str:
    return hashlib.sha256(data).hexdigest()[:length]
