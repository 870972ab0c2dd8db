"""Send runs to an OpenTelemetry collector (OTLP over HTTP): as they happen, or from their logs.

    with Traces("http://localhost:4318") as traces:
        for event in executor.stream(given):
            traces.event(event)

`spans.py` defines what is sent of a run. A collector that does not answer costs a run only a warning.
"""

import logging
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from itertools import chain
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

from chameleon.core.conversation_log import runs_in
from chameleon.core.events import Event, RunStarted
from chameleon.errors import InputError, require
from chameleon.evaluation.results import Result
from chameleon.evaluation.run import read_run
from chameleon.interop.spans import Attributes, RunSpans, conversation_id, score

_PATH = "/v1/traces"
_RUNS_AT_ONCE = 100  # of a folder: their spans are sent together

_log = logging.getLogger("chameleon")


def address_of(url: str) -> str:
    """Return the address to post spans to: `/v1/traces` is added to a collector's address.

    Raises `InputError` for anything but an HTTP address, and for one that contains a password.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        what = f"{url!r:.100} is not the address of a collector"
        raise InputError(what, hint="Use one such as http://localhost:4318.")
    if parts.username or parts.password or parts.query:
        what = "the address of the collector contains a secret"
        raise InputError(what, hint="Set the variable OTEL_EXPORTER_OTLP_HEADERS=api-key=SECRET instead.")
    path = parts.path.rstrip("/")
    return parts._replace(path=path if path.endswith(_PATH) else path + _PATH, fragment="").geturl()


class Traces(AbstractContextManager["Traces"]):
    """Sends the spans of runs to a collector; safe to use from many threads.

    `event` takes the events of a run as they happen, `end` ends it, and `close` sends the rest and logs one
    warning with the number of lost spans. With `content`, texts are sent too, without secrets: questions,
    prompts, replies, arguments and outputs. Headers, certificates and timeouts come from the standard
    variables, such as `OTEL_EXPORTER_OTLP_HEADERS`.

    Raises `MissingPackage` without the extra `otlp`, and `InputError` for an invalid address.
    """

    def __init__(self, url: str, *, content: bool = False) -> None:
        self.url, self.content = address_of(url), content
        exporter = "opentelemetry.exporter.otlp.proto.http"
        require("opentelemetry-exporter-otlp-proto-http", "spans are sent with", "otlp", module=exporter)
        from chameleon.interop.collector import Collector

        self.collector = Collector(self.url)
        self._runs: dict[str, RunSpans] = {}

    def event(self, event: Event, key: str = "", conversation: str = "") -> None:
        """Send the spans that end with an event of a run.

        Args:
            key: separates runs that happen at once.
            conversation: the id of the conversation that the run is a turn of (`spans.conversation_id`).
        """
        if isinstance(event, RunStarted):
            self.end(key)
            tracer, content = self.collector.tracer, self.content
            self._runs[key] = RunSpans(tracer, event, content=content, key=key, conversation=conversation)
        elif (run := self._runs.get(key)) is not None:
            run.add(event)

    def end(self, key: str = "", scores: Iterable[tuple[str, Attributes]] = ()) -> None:
        """Send the span of a whole run, even if it stopped early."""
        if (run := self._runs.pop(key, None)) is not None:
            run.close(scores)

    def flush(self) -> bool:
        """Wait until all ended spans are sent; return whether all arrived."""
        self.collector.force_flush()
        return self.collector.sent == self.collector.made

    def close(self) -> int:
        """End a run without a key and send the rest; warn about lost spans, and return their number."""
        self.end()
        self.collector.shutdown()  # type: ignore[no-untyped-call]
        made, fault = self.collector.made, self.collector.session.fault
        if lost := made - self.collector.sent:
            _log.warning("%d of %d spans did not reach %s: %s", lost, made, self.url, fault or "time ran out")
        return lost

    def __exit__(self, *_: object) -> None:
        self.close()


def export_log(path: Path, traces: Traces) -> int:
    """Send the runs of a log; return how many. Raises `LogError` for another file, `InputError`."""
    runs = runs_in(path)
    conversation = conversation_id(cast("RunStarted", runs[0][0])) if len(runs) > 1 else ""
    for event in chain.from_iterable(runs):
        traces.event(event, conversation=conversation)
    traces.end()
    return len(runs)


def export_run_dir(path: Path, traces: Traces) -> int:
    """Send the runs of an evaluation's folder, one trace per problem with a result; return how many.

    Stops at the first loss. Raises as `read_run` does.
    """
    run = read_run(path)
    benchmark, count = str(run.settings["benchmark"]), 0
    for result, events in run.with_events(list(run.results)):
        for event in events:
            traces.event(event, result.id, result.sequence)
        traces.end(result.id, scores_of(result, benchmark))
        count += 1
        if count % _RUNS_AT_ONCE == 0 and not traces.flush():
            break
    return count


def scores_of(result: Result, benchmark: str) -> Iterator[tuple[str, Attributes]]:
    """Yield the scores of a problem: whether it is right, and each of its grades."""
    label = result.verdict
    if result.correct is not None:
        yield score(benchmark, result.correct, label)
    for name, grade in result.grades.items():
        yield score(f"{benchmark} {name}", grade, label)
