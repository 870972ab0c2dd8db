"""The OpenTelemetry SDK for runs: ids from the log, a restricted session, and a count of sent spans."""

import logging
import os
import threading
from collections.abc import Sequence
from typing import Any

import requests
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON

from chameleon.interop.spans import NEXT_IDS

_TIMEOUT_SECONDS = 5.0
_TIMEOUTS = ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT")
_MAX_WAITING, _BATCH, _DELAY_MILLISECONDS = 65_536, 512, 500  # spans in the queue, and in a request


class Collector(BatchSpanProcessor):
    """Sends spans to a collector in the background, in batches; `made` and `sent` count them."""

    def __init__(self, url: str) -> None:
        logging.getLogger("opentelemetry").addHandler(logging.NullHandler())  # losses are reported once
        self.made = self.sent = 0
        self.session = CollectorSession()
        self._count = threading.Lock()
        super().__init__(_Exporter(url, self), _MAX_WAITING, _DELAY_MILLISECONDS, _BATCH)
        resource = Resource({"service.name": "chameleon"}).merge(OTELResourceDetector().detect())
        provider = TracerProvider(ALWAYS_ON, resource, shutdown_on_exit=False, id_generator=_LogIds())
        provider.add_span_processor(self)
        self.tracer = provider.get_tracer("chameleon")

    def on_end(self, span: ReadableSpan) -> None:
        with self._count:
            self.made += 1
        super().on_end(span)


class _Exporter(OTLPSpanExporter):
    def __init__(self, url: str, collector: Collector) -> None:
        timeout = None if any(map(os.environ.get, _TIMEOUTS)) else _TIMEOUT_SECONDS
        super().__init__(url, timeout=timeout, session=collector.session)
        self.collector = collector

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = super().export(spans)
        if result is SpanExportResult.SUCCESS:
            self.collector.sent += len(spans)
        return result


class CollectorSession(requests.Session):
    """Follows no redirect and reads no reply; `fault` says why the last request failed."""

    fault = ""

    def request(self, method: Any, url: Any, *args: Any, **options: Any) -> requests.Response:
        """Raise `requests.HTTPError` unless the status is 2xx."""
        options |= {"allow_redirects": False, "stream": True}
        try:
            with super().request(method, url, *args, **options) as response:
                if not 200 <= response.status_code < 300:
                    raise requests.HTTPError(f"HTTP {response.status_code} {response.reason}")
                return response
        except Exception as problem:
            is_answer = isinstance(problem, requests.HTTPError)
            self.fault = str(problem) if is_answer else f"no answer ({type(problem).__name__})"
            raise


class _LogIds(IdGenerator):
    """Gives a span the ids derived from its run's log."""

    def generate_trace_id(self) -> int:
        return NEXT_IDS.get()[0]

    def generate_span_id(self) -> int:
        return NEXT_IDS.get()[1]
