"""Runs sent to a receiver of OpenTelemetry (OTLP over HTTP): as they happen, or from their logs.

    with Traces("http://localhost:4318") as traces:
        for event in executor.stream(given):
            traces.event(event)
        traces.end()

What is sent of a run stands in `spans.py`. A receiver that does not answer costs a run nothing but a warning.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from chameleon.errors import InputError, LogError, OtherFormat, require
from chameleon.evaluation.results import Result
from chameleon.evaluation.run import read_run, verdict_of
from chameleon.evaluation.run_dir import EVENTS
from chameleon.interop.spans import (
    RunSpan,
    RunSpans,
    SpanEvent,
    conversation_id,
    score_event,
    spans_of,
)
from chameleon.log import event_from_json, read_line
from chameleon.state import Event, RunEnded, RunStarted

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

_PATH = "/v1/traces"
_TIMEOUT_S, _PAUSE_S, _POLL_S = 5.0, 30.0, 0.1
_MOST_WAITING, _BATCH = 65_536, 512
_TIMEOUTS = ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT")

_log = logging.getLogger("chameleon")


def address_of(url: str) -> str:
    """Return where spans are posted: `/v1/traces` is added to the address of a receiver.

    Raises `InputError` for what is no address of HTTP, or has a password in it.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError("the receiver of spans has an address such as http://localhost:4318")
    if parts.username or parts.password or parts.query:
        raise InputError(
            "the address of the receiver has a secret in it",
            hint="Give it in the variable OTEL_EXPORTER_OTLP_HEADERS, as api-key=SECRET.",
        )
    path = parts.path.rstrip("/")
    return parts._replace(path=path if path.endswith(_PATH) else path + _PATH, fragment="").geturl()


class Traces:
    """Sends the spans of runs to a receiver; safe to use from many threads.

    `event` takes the events of a run as they happen, `end` ends it, and `close` sends what is left: then one
    warning tells what did not arrive. With `content` texts are sent as well, without secrets: questions,
    prompts, replies, arguments and outputs. Headers, certificates and time-outs are those of the standard
    variables, as `OTEL_EXPORTER_OTLP_HEADERS`. `in_turn` sends in the caller's thread, as many as there are.

    Raises `MissingPackage` without the extra `otlp`, and `InputError` for what is no address.
    """

    def __init__(self, url: str, *, content: bool = False, in_turn: bool = False) -> None:
        self.url, self.content = address_of(url), content
        self.made = self.sent = 0
        self._runs: dict[str, RunSpans] = {}
        self._lock = threading.Lock()
        self._convert, self._post, self._flush = _pipeline(self.url, self._sent, in_turn=in_turn)

    def event(self, event: Event, key: str = "", conversation: str = "") -> None:
        """Send what has ended with an event of a run; `key` tells it from others that run beside it."""
        if isinstance(event, RunStarted):
            begun = RunSpans(event, content=self.content, key=key, conversation=conversation)
            self._runs[key] = begun
        elif (run := self._runs.get(key)) is not None:
            self.send(run.add(event))

    def end(self, key: str = "", scored: Iterable[SpanEvent] = ()) -> None:
        """Send the span of a run as a whole, also of one that stopped on its way."""
        if (run := self._runs.pop(key, None)) is not None:
            self.send([run.close(scored)])

    def send(self, spans: Iterable[RunSpan]) -> None:
        """Send spans that have ended."""
        for span in spans:
            with self._lock:
                self.made += 1
                self._post(self._convert(span))

    def close(self) -> int:
        """Send what waits; warn of spans that did not arrive, and return how many."""
        self._flush()
        lost = self.made - self.sent
        if lost:
            _log.warning("%d of %d spans did not reach %s", lost, self.made, self.url)
        return lost

    def _sent(self, count: int) -> None:
        self.sent += count

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _pipeline(
    url: str, sent: Callable[[int], None], *, in_turn: bool
) -> tuple[Callable[[RunSpan], ReadableSpan], Callable[[ReadableSpan], None], Callable[[], None]]:
    """Return how a span is converted, how it is posted, and how what waits is sent."""
    exporter = "opentelemetry.exporter.otlp.proto.http"
    require("opentelemetry-exporter-otlp-proto-http", "spans are sent with", "otlp", module=exporter)
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import Event as Told
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

    logging.getLogger("opentelemetry").addHandler(logging.NullHandler())  # what is lost is told once, by us

    class Receiver(SpanExporter):
        """Counts what arrived; after a failure nothing is tried for a while."""

        def __init__(self) -> None:
            timeout = None if any(map(os.environ.get, _TIMEOUTS)) else _TIMEOUT_S
            self.inner, self.not_before = OTLPSpanExporter(url, timeout=timeout), 0.0

        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            if time.monotonic() < self.not_before:
                return SpanExportResult.FAILURE
            if (result := self.inner.export(spans)) is SpanExportResult.SUCCESS:
                sent(len(spans))
            else:
                self.not_before = time.monotonic() + _PAUSE_S
            return result

        def shutdown(self) -> None:
            self.inner.shutdown()  # type: ignore[no-untyped-call]

    resource = Resource({"service.name": "chameleon"}).merge(OTELResourceDetector().detect())
    scope = InstrumentationScope("chameleon")
    sampled = TraceFlags(TraceFlags.SAMPLED)

    def convert(span: RunSpan) -> ReadableSpan:
        def context(id: str) -> SpanContext:
            return SpanContext(int(span.trace, 16), int(id, 16), is_remote=False, trace_flags=sampled)

        return ReadableSpan(
            _sendable(span.name),
            context(span.id),
            context(span.parent) if span.parent else None,
            resource,
            _sendable(span.attributes),
            [Told(name, _sendable(attributes), _nanoseconds(at)) for name, at, attributes in span.events],
            kind=SpanKind.CLIENT if span.is_client else SpanKind.INTERNAL,
            status=Status(StatusCode.ERROR, _sendable(span.message) or None) if span.error else Status(),
            start_time=_nanoseconds(span.start),
            end_time=_nanoseconds(span.end),
            instrumentation_scope=scope,
        )

    receiver = Receiver()
    if not in_turn:
        processor = BatchSpanProcessor(receiver, _MOST_WAITING, 500, _BATCH)
        return convert, processor.on_end, processor.shutdown
    waiting: list[ReadableSpan] = []

    def flush() -> None:
        if waiting:
            receiver.export(waiting)
            waiting.clear()

    def stop() -> None:
        flush()
        receiver.shutdown()

    def post(span: ReadableSpan) -> None:
        waiting.append(span)
        if len(waiting) >= _BATCH:
            flush()

    return convert, post, stop


def _sendable(value: Any) -> Any:
    """Replace what UTF-8 cannot hold: half a surrogate pair would keep a whole batch from being sent."""
    if isinstance(value, Mapping):
        return {name: _sendable(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_sendable(each) for each in value]
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _nanoseconds(seconds: float) -> int:
    return max(round(seconds * 1e6), 0) * 1000


def export_log(path: Path, traces: Traces, *, follow: bool = False) -> int:
    """Send the runs of a log; return how many there are.

    A log that grows is followed until its run ends. Raises `LogError` for what is no log, `InputError` for a
    file that cannot be read.
    """
    if follow:
        for event in _followed(path):
            if isinstance(event, RunStarted):
                traces.end()
            traces.event(event)
        traces.end()
        return 1
    runs: list[list[Event]] = []
    for event in _events_in(path):
        if isinstance(event, RunStarted):
            runs.append([])
        elif not runs:
            raise LogError("line 1 belongs to no run", where=str(path), hint="Name another file.")
        runs[-1].append(event)
    ended_at = path.stat().st_mtime
    first = runs[0][0] if runs else None
    is_conversation = len(runs) > 1 and isinstance(first, RunStarted)
    conversation = conversation_id(first) if is_conversation and isinstance(first, RunStarted) else ""
    for events in runs:
        traces.send(spans_of(events, content=traces.content, conversation=conversation, ended_at=ended_at))
    return len(runs)


def _followed(path: Path) -> Iterator[Event]:
    """Yield the events of a log as they are written, until its run ends; one that is not there is awaited."""
    place = number = 0
    while True:
        lines: list[bytes] = []
        if path.exists():
            with path.open("rb") as file:
                if file.seek(0, os.SEEK_END) < place:  # the end of a run that failed was taken back
                    place = number = 0
                file.seek(place)
                lines = [line for line in file if line.endswith(b"\n")]
        last: Event | None = None
        for line in lines:
            place, number = place + len(line), number + 1
            yield (last := _event_of(line, number, path))
        if isinstance(last, RunEnded):
            return
        time.sleep(_POLL_S)


def export_run_dir(path: Path, traces: Traces) -> int:
    """Send the runs of an evaluation's folder, one trace for each problem that has a result; return how many.

    Raises as `read_run` does.
    """
    run = read_run(path)
    benchmark, ended_at = str(run.settings["benchmark"]), (path / EVENTS).stat().st_mtime
    count = 0
    for result, events in run.with_events(list(run.results)):
        count += 1
        traces.send(
            spans_of(
                events,
                content=traces.content,
                key=result.id,
                conversation=result.sequence,
                ended_at=ended_at,
                scored=scored_events(result, benchmark),
            )
        )
    return count


def scored_events(result: Result, benchmark: str) -> Iterator[SpanEvent]:
    """Yield how a problem was judged: whether it is right, or each of its grades."""
    label = verdict_of(result)
    if result.correct is not None:
        yield score_event(benchmark, result.correct, label)
    for name, grade in result.grades.items():
        yield score_event(f"{benchmark} {name}", grade, label)


def _events_in(path: Path) -> Iterator[Event]:
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.endswith(b"\n"):
                    yield _event_of(line, number, path)
    except OSError as problem:
        raise InputError(f"cannot read the log: {problem.strerror}", where=str(path)) from problem


def _event_of(line: bytes, number: int, path: Path) -> Event:
    try:
        data: Any = read_line(line)
        return event_from_json(data)
    except OtherFormat as problem:
        raise problem.at(str(path)) from problem
    except (ValueError, LogError) as problem:
        raise LogError(f"line {number} is not an event ({problem})", where=str(path)) from problem
