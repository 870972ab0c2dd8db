"""A run as spans, by OpenTelemetry's conventions for generative AI (v0.1.0, in development).

A run is a workflow, a plan plans, a step executes a tool, a model call chats; what an inventory does inside a
step lies below that step. Ids come from the log, so that the same log gives the same spans. The log has the
time at which a run began, and durations: spans are laid one after the other from there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from chameleon.log import json_line
from chameleon.state import (
    Approval,
    Dropped,
    Event,
    Nested,
    Plan,
    RunEnded,
    RunStarted,
    State,
    StepRecord,
)
from chameleon.text import redact
from chameleon.usage import Call, is_amount
from chameleon.values import to_json

Value = str | bool | int | float | list[str]
SpanEvent = tuple[str, float, Mapping[str, Value]]
"""Its name, its time in seconds since 1970, and its attributes."""
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
"""What the conventions call providers that LangChain calls otherwise."""
LONGEST_TEXT = 100_000
_PARAMETERS = {
    "frequency_penalty": float,
    "max_tokens": int,
    "presence_penalty": float,
    "seed": int,
    "temperature": float,
    "top_k": int,
    "top_p": float,
}
_OF_ROLES = {"human": "user", "ai": "assistant"}


@dataclass
class RunSpan:
    """A span of a run; `start` and `end` are seconds since 1970. `error` is the class of a failure.

    `trace` has 32 hexadecimal digits, `id` and `parent` have 16; the parent of the outermost is "".
    """

    name: str
    trace: str
    id: str
    parent: str
    start: float
    end: float
    attributes: dict[str, Value] = field(default_factory=dict)
    events: list[SpanEvent] = field(default_factory=list)
    error: str = ""
    message: str = ""
    is_client: bool = False


def spans_of(
    events: Sequence[Event],
    *,
    content: bool = False,
    key: str = "",
    conversation: str = "",
    ended_at: float = 0.0,
    scored: Iterable[SpanEvent] = (),
) -> list[RunSpan]:
    """Return the spans of a whole run, or of what there is of one: see `RunSpans`.

    A log that does not say when it began is laid so that it ends at `ended_at`.
    """
    begun = events[0] if events else None
    if not isinstance(begun, RunStarted):
        return []

    def laid_from(start: float) -> tuple[RunSpans, list[RunSpan]]:
        run = RunSpans(begun, content=content, key=key, conversation=conversation, start=start)
        return run, [span for event in events[1:] for span in run.add(event)]

    run, spans = laid_from(0.0)
    if not begun.at and ended_at:
        run, spans = laid_from(ended_at - run.now)
    return [*spans, run.close(scored)]


class RunSpans:
    """Makes spans of a run's events as they come: `add` gives those that end, `close` the run's own.

    Texts (questions, prompts, replies, arguments, outputs, what errors say) are left out without `content`.
    `key` tells runs apart that begin alike, as the id of a problem does. `start` is when the run began, in
    seconds since 1970, where its log does not say. `conversation` is the id of the conversation that it is a
    turn of. `below` is the span of the step that it runs in.
    """

    def __init__(
        self,
        begun: RunStarted,
        *,
        content: bool = False,
        key: str = "",
        conversation: str = "",
        start: float = 0.0,
        below: RunSpan | None = None,
    ) -> None:
        self.content, self.conversation, self.name = content, conversation, begun.inventory
        self.start = self.now = begun.at or start
        self.timed = begun.at > 0
        self._inner: RunSpans | None = None
        self._state = State() if content else None
        self._count = self._steps = 0
        self.root = RunSpan(
            "", below.trace if below else "", "", below.id if below else "", self.now, self.now
        )
        if below is None:
            identity = json_line(
                {
                    "key": key,
                    "at": begun.at,
                    "inventory": begun.inventory,
                    "input": to_json(begun.input),
                    "settings": to_json(begun.settings),
                }
            )
            self.root.trace = hashlib.sha256(identity).hexdigest()[:32]
        self.root.id = self._id_of("run", self.root.parent)
        operation = "invoke_agent" if below else "invoke_workflow"
        self.root.name = f"{operation} {self.name}"
        self.root.attributes |= self._named(operation)
        if below is None:  # as it was called before v0.1.0
            self.root.attributes["gen_ai.workflow.name"] = self.name
        if self._state is not None:
            self._state = self._state.after(begun)
            self._write("gen_ai.input.messages", self.root, [_message("user", begun.input.get("question"))])

    def add(self, event: Event) -> Iterator[RunSpan]:
        """Yield the spans that have ended with this event, those below a span before it."""
        if self._state is not None:
            self._state = self._state.after(event)
        match event:
            case Plan():
                yield from self._plan(event)
            case Nested():
                yield from self._nested(event)
            case StepRecord():
                yield from self._step(event)
            case Approval():
                told = {"chameleon.approval.said": event.said, "chameleon.approval.by": event.by}
                steps = [step.module for step in event.steps]
                self.root.events.append(("approval", self.now, {**told, "chameleon.approval.steps": steps}))
            case Dropped():
                told = {"gen_ai.request.model": event.model, "chameleon.parameter": event.parameter}
                self.root.events.append(("parameter dropped", self.now, told))
            case RunEnded():
                yield from self._calls(
                    event.calls, self.root, sum(round(call.seconds, 6) for call in event.calls)
                )
                self.now = self.root.end
                self.root.attributes["chameleon.ended"] = event.reason
                if event.error is not None:
                    self._fail(self.root, event.error.kind, str(event.error))

    def close(self, scored: Iterable[SpanEvent] = ()) -> RunSpan:
        """Return the span of the run, as far as it has come; `scored` tells how it was judged."""
        self.root.end = max(self.root.end, self.now)
        self.root.events += [(name, self.root.end, attributes) for name, _, attributes in scored]
        if self._state is not None and self._state.answer is not None:
            self._write("gen_ai.output.messages", self.root, [_message("assistant", self._state.answer)])
        return self.root

    def _plan(self, plan: Plan) -> Iterator[RunSpan]:
        seconds = round(plan.seconds, 6)  # as in the log
        span = self._span("plan", f"plan {self.name}", seconds)
        span.attributes |= {
            **self._named("plan"),
            "chameleon.plan.by": plan.by,
            "chameleon.plan.kind": plan.kind,
            "chameleon.plan.steps": list(plan.names),
        }
        if plan.refused:
            self._fail(span, "PlanRefused", plan.refused)
        yield from self._calls(plan.calls, span, seconds)
        self.now = span.end
        yield span

    def _nested(self, event: Nested) -> Iterator[RunSpan]:
        """Yield what ended in the run of an inventory, whose step ends later."""
        inside = event.event
        if isinstance(inside, RunStarted):
            step = self._step_span(event.module)
            # The clock tells where steps ran side by side; a run that is laid by durations alone has none.
            step.start = max(inside.at, self.start) if self.timed and inside.at else self.now
            inside = replace(inside, at=step.start if self.timed else 0.0)
            self._inner = RunSpans(inside, content=self.content, start=step.start, below=step)
            self._inner.conversation = self.conversation
        elif self._inner is not None:
            yield from self._inner.add(inside)
            if isinstance(inside, RunEnded):
                yield self._inner.close()

    def _step(self, record: StepRecord) -> Iterator[RunSpan]:
        span, seconds = self._step_span(record.step.module), round(record.seconds, 6)
        if (inner := self._inner) is not None:
            span.start, span.end = inner.start, max(inner.start + seconds, inner.now)
            if "chameleon.ended" not in inner.root.attributes:  # it was taken back, or stopped
                yield inner.close()
        else:
            span.end = self.now + seconds
        span.attributes["chameleon.seconds"] = seconds
        if record.step.redo is not None:
            span.attributes["chameleon.step.attempt"] = record.step.redo.attempt
        if record.dropped:
            span.attributes["chameleon.step.dropped"] = True
        if record.error is not None:
            self._fail(span, record.error.kind, str(record.error))
        if self.content:
            self._write("gen_ai.tool.call.arguments", span, to_json(record.step.args or {}))
            self._write("gen_ai.tool.call.result", span, to_json(record.output))
        yield from self._calls(record.calls, span, seconds)
        self.now, self._inner, self._steps = max(self.now, span.end), None, self._steps + 1
        yield span

    def _step_span(self, module: str) -> RunSpan:
        """Begin the span of the step that is under way: it has the same id until it ends."""
        span = self._span("step", f"execute_tool {module}", 0.0, self._steps)
        span.attributes |= self._named("execute_tool")
        span.attributes |= {"gen_ai.tool.name": module, "gen_ai.tool.type": "function"}
        return span

    def _calls(self, calls: Sequence[Call], below: RunSpan, seconds: float) -> Iterator[RunSpan]:
        """Yield the spans of model calls: one after the other, or side by side where they took longer."""
        side_by_side = sum(round(call.seconds, 6) for call in calls) > seconds
        start = below.start
        if below is self.root:
            start, below.end = self.now, self.now + seconds
        for number, call in enumerate(calls):
            provider, colon, model = call.model.partition(":")
            model = model if colon else call.model
            end = min(start + round(call.seconds, 6), below.end)
            span = RunSpan(
                f"chat {model}", below.trace, self._id_of("call", below.id, number), below.id, start, end
            )
            span.is_client = True
            span.attributes |= _of_call(
                call, PROVIDERS.get(provider, provider) if colon else "unknown", model
            )
            if self.conversation:
                span.attributes["gen_ai.conversation.id"] = self.conversation
            if call.error:
                self._fail(span, call.error.partition(":")[0], call.error)
            if self.content:
                asked = [_message(role, text) for role, text in call.messages]
                self._write("gen_ai.input.messages", span, asked)
                self._write("gen_ai.output.messages", span, [_reply(call)])
            yield span
            start = start if side_by_side else end

    def _named(self, operation: str) -> dict[str, Value]:
        named: dict[str, Value] = {"gen_ai.operation.name": operation, "gen_ai.agent.name": self.name}
        return named | ({"gen_ai.conversation.id": self.conversation} if self.conversation else {})

    def _span(self, kind: str, name: str, seconds: float, number: int | None = None) -> RunSpan:
        """Begin a span below the run, at this point of it."""
        if number is None:
            number, self._count = self._count, self._count + 1
        id = self._id_of(kind, self.root.id, number)
        return RunSpan(name, self.root.trace, id, self.root.id, self.now, self.now + seconds)

    def _id_of(self, *place: str | int) -> str:
        written = "/".join(map(str, (self.root.trace, *place)))
        return hashlib.sha256(written.encode()).hexdigest()[:16]

    def _fail(self, span: RunSpan, kind: str, message: str) -> None:
        if kind == "Declined":  # an answer of its own
            span.attributes["chameleon.declined"] = True
            return
        span.error = span.attributes["error.type"] = kind
        span.message = _bounded(message) if self.content else ""

    def _write(self, name: str, span: RunSpan, value: Any) -> None:
        span.attributes[name] = _bounded(json.dumps(value, ensure_ascii=False))


def score_event(name: str, value: float | None, label: str) -> SpanEvent:
    """Return the event that tells how a run was judged; `value` is left out where there is none."""
    told: dict[str, Value] = {"gen_ai.evaluation.name": name, "gen_ai.evaluation.score.label": label}
    if value is not None:
        told["gen_ai.evaluation.score.value"] = float(value)
    return "gen_ai.evaluation.result", 0.0, told


def conversation_id(first: RunStarted) -> str:
    """Return the id of the conversation that begins with this run."""
    identity = json_line({"at": first.at, "input": to_json(first.input), "settings": to_json(first.settings)})
    return hashlib.sha256(b"conversation" + identity).hexdigest()[:32]


def _of_call(call: Call, provider: str, model: str) -> dict[str, Value]:
    usage = call.usage
    told: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
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
    }
    for name, kind in _PARAMETERS.items():
        if is_amount(value := call.params.get(name)) and abs(value) < 2**63:
            told[f"gen_ai.request.{name}"] = kind(value)
    return {name: value for name, value in told.items() if value is not None}


def _message(role: str, value: Any) -> dict[str, Any]:
    text = value if isinstance(value, str) else json.dumps(to_json(value), ensure_ascii=False)
    return {"role": _OF_ROLES.get(role, role), "parts": [{"type": "text", "content": text}]}


def _reply(call: Call) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"type": "text", "content": call.text}] if call.text else []
    for each in call.tool_calls:
        parts.append(
            {"type": "tool_call", "id": each["id"], "name": each["name"], "arguments": dict(each["args"])}
        )
    return {"role": "assistant", "parts": parts, "finish_reason": call.finish or "stop"}


def _bounded(text: str) -> str:
    """Return a text without secrets, cut where it is very long."""
    text = redact(text)
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"
