"""`chameleon export`, and the `--otlp` of the commands that run: spans, and logs for Inspect."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from chameleon.cli.options import SpanOptions
from chameleon.cli.terminal import Activity, say
from chameleon.text import counted

if TYPE_CHECKING:
    from chameleon.interop.otlp import Traces


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


def send_spans(source: Path, url: str, *, content: bool) -> int:
    """Send what a log or an evaluation's folder holds; return the exit code, 1 where not all arrived."""
    from chameleon.interop.otlp import Traces, export_log, export_run_dir

    traces = Traces(url, content=content)
    is_folder = source.is_dir()
    with Activity(f"sending the spans of {source}"):
        try:
            count = export_run_dir(source, traces) if is_folder else export_log(source, traces)
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
