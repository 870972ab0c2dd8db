"""A receiver of OpenTelemetry on this machine, and the tree of the spans that it got."""

import gzip
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.local_server import JsonHandler, LocalServer


@dataclass
class Received:
    trace: str
    id: str
    parent: str
    name: str
    kind: int
    start: int
    end: int
    status: int
    message: str
    attributes: dict[str, Any]
    events: list[tuple[str, int, dict[str, Any]]]
    below: list["Received"] = field(default_factory=list)

    def outline(self) -> Any:
        return (self.name, [each.outline() for each in self.below]) if self.below else self.name

    def lines(self, keys: tuple[str, ...] = (), depth: int = 0) -> list[str]:
        told = ", ".join(f"{key} {self.attributes[key]}" for key in keys if key in self.attributes)
        took = f"{(self.end - self.start) / 1e6:.1f} ms"
        own = f"{'  ' * depth}{self.name}  {took}{f'  [{told}]' if told else ''}"
        events = [f"{'  ' * (depth + 1)}* {name} {values}" for name, _, values in self.events]
        return [own, *events, *(line for each in self.below for line in each.lines(keys, depth + 1))]


class OtlpReceiver(LocalServer):
    """Keeps the spans that are posted to `/v1/traces`; `status` and `body` are how it answers."""

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.status, self.body = 200, ""
        self.bodies, self.headers = list[bytes](), list[dict[str, str]]()

    @property
    def spans(self) -> list[Received]:
        told = [ExportTraceServiceRequest.FromString(body) for body in self.bodies]
        scopes = [scope for each in told for part in each.resource_spans for scope in part.scope_spans]
        return [_read(span) for scope in scopes for span in scope.spans]

    @property
    def traces(self) -> list[Received]:
        spans = {span.id: span for span in self.spans}
        for span in sorted(spans.values(), key=lambda each: each.start):
            if span.parent:
                spans[span.parent].below.append(span)
        return sorted((span for span in spans.values() if not span.parent), key=lambda each: each.start)


class _Handler(JsonHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        known = self.path == "/v1/traces"
        self.owner.headers.append(self.lowered())
        if known and self.owner.status == 200:
            self.owner.bodies.append(body)
        length = str(10**12) if self.owner.body else "0"
        self.head(self.owner.status if known else 404, {"Content-Length": length, "Location": "/elsewhere"})
        while self.owner.body == "endless":
            self.wfile.write(b"x" * 65_536)


def _read(span: Any) -> Received:
    ids = span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex()
    times, told = (span.start_time_unix_nano, span.end_time_unix_nano), span.status
    events = [(event.name, event.time_unix_nano, _values(event.attributes)) for event in span.events]
    values = _values(span.attributes)
    return Received(*ids, span.name, span.kind, *times, told.code, told.message, values, events)


def _values(attributes: Any) -> dict[str, Any]:
    return {each.key: _value(each.value) for each in attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    found = getattr(value, kind)
    return [_value(each) for each in found.values] if kind == "array_value" else found
