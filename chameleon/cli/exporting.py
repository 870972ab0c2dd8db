"""`chameleon export`, and the `--otlp` of the commands that run: spans, and logs for Inspect."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from chameleon.cli.options import SpanOptions
from chameleon.cli.out import counted, say
from chameleon.cli.progress import Activity
from chameleon.state import Event, RunStarted

if TYPE_CHECKING:
    from chameleon.interop.otlp import Traces


class RunSender:
    """Sends the events of one run after the other; nothing without `traces`.

    Where they are turns of a conversation, `first` is the run that it begins with.
    """

    def __init__(self, traces: Traces | None, *, conversation: bool = False) -> None:
        self.traces, self.conversation = traces, conversation
        self.first: RunStarted | None = None

    def __call__(self, event: Event) -> None:
        if self.traces is None:
            return
        id = ""
        if isinstance(event, RunStarted):
            self.first = self.first or event
            if self.conversation:
                from chameleon.interop.spans import conversation_id

                id = conversation_id(self.first)
        self.traces.event(event, conversation=id)


@contextmanager
def sending(options: SpanOptions, *, conversation: bool = False) -> Iterator[RunSender]:
    """Yield what sends the events of runs, and send what is left at the end."""
    with receiver(options) as traces:
        try:
            yield RunSender(traces, conversation=conversation)
        finally:
            if traces is not None:
                traces.end()


@contextmanager
def receiver(options: SpanOptions) -> Iterator[Traces | None]:
    """Yield what sends spans to an address, or None without one. Raises as `Traces` does."""
    if options.otlp is None:
        if options.content:
            raise typer.BadParameter("there is no --otlp to send texts to", param_hint="--content")
        yield None
        return
    from chameleon.interop.otlp import Traces

    with Traces(options.otlp, content=options.content) as traces:
        yield traces


def send_spans(source: Path, url: str, *, content: bool, follow: bool) -> int:
    """Send what a log or an evaluation's folder holds; return the exit code, 1 where not all arrived."""
    from chameleon.interop.otlp import Traces, export_log, export_run_dir

    traces = Traces(url, content=content)
    is_folder = source.is_dir()
    with Activity(f"sending the spans of {source}"):
        try:
            count = export_run_dir(source, traces) if is_folder else export_log(source, traces, follow=follow)
        finally:
            lost = traces.close()
    if not lost:
        sent = counted(traces.collector.sent, "span")
        say(f"Sent {sent} of {counted(count, 'problem' if is_folder else 'run')}.")
    return int(lost > 0)


def write_for_inspect(source: Path, file: Path) -> int:
    """Write an evaluation's folder as a log of Inspect; return the exit code."""
    from chameleon.interop.inspect_log import write_inspect_log

    with Activity(f"writing {file}"):
        count = write_inspect_log(source, file)
    say(f"Wrote {counted(count, 'problem')} to {file}; `inspect view --log-dir {file.parent}` shows it.")
    return 0
