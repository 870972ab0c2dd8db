"""`chameleon index`: the tables of files and folders into an index."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from chameleon.cli.out import echo, echo_json
from chameleon.documents.found import LeftOut
from chameleon.documents.indexing import Summary, index_files
from chameleon.text import harmless

_SECONDS_BETWEEN_NAMES, _SECONDS_BETWEEN_LINES = 0.1, 10.0
_MOST_SHOWN = 20


def index_and_tell(sources: Sequence[Path], out: Path, retriever: str | None, *, as_json: bool) -> int:
    """Index, say what was done and what was left out, and return the exit code."""
    if retriever is not None:
        from chameleon.retrieval.parts import check_retriever

        check_retriever(retriever)
    with _Progress() as progress:
        summary = index_files(sources, out, retriever, progress.show)
    if as_json:
        echo_json(to_json(summary))
    else:
        echo(in_words(summary))
    for line in warnings(summary.faults):
        echo(line, err=True)
    return 0 if summary.files or summary.unchanged else 1


def in_words(summary: Summary) -> str:
    """What was done, in a few lines."""
    read = f"Read {_many(summary.tables, 'table')} with {_many(summary.rows, 'row')}"
    done = f"{read} in {_many(summary.files, 'file')}" if summary.files else "Nothing new to read"
    lines = [f"{done}, {summary.seconds:.1f} s."]
    if summary.damaged:
        lines.insert(0, f"The index was damaged, and is built anew: {harmless(summary.damaged)}.")
    if summary.unchanged:
        lines.append(f"Unchanged: {_many(summary.unchanged, 'file')}.")
    if summary.vanished:
        lines.append(f"Gone, and taken out: {_many(summary.vanished, 'file')}.")
    if layout := len(summary.left_out) - len(summary.faults):
        lines.append(f"Passed over: {_many(layout, 'table')} that only lay out a page.")
    if summary.without:
        lines.append(f"Without a table: {_many(summary.without, 'file')}.")
    lines += _first([f"Note: {harmless(f'{note.where} {note.what}')}." for note in summary.notes])
    if summary.others:
        kinds = ", ".join(f"{count} {harmless(kind)}" for kind, count in summary.others.most_common())
        lines.append(f"Skipped, as other kinds: {kinds}.")
    lines.append(f"The index {harmless(str(summary.index))} holds {_many(summary.held, 'table')}.")
    return "\n".join(lines)


def warnings(faults: Sequence[LeftOut]) -> list[str]:
    """What could not be read, a line for each, and how many there are."""
    if not faults:
        return []
    lines = [f"  {harmless(f'{one.where}: {one.why}')}" for one in faults]
    return [f"{_many(len(faults), 'warning')}: not read", *_first(lines)]


def _first(lines: Sequence[str]) -> list[str]:
    """The first of the lines, and how many more there are."""
    more = len(lines) - _MOST_SHOWN
    return [*lines[:_MOST_SHOWN], *([f"  and {more} more (--json lists all)"] if more > 0 else [])]


def to_json(summary: Summary) -> dict[str, Any]:
    """The summary as one JSON object."""
    return {
        "index": str(summary.index),
        "tables": summary.tables,
        "rows": summary.rows,
        "files": summary.files,
        "without": summary.without,
        "unchanged": summary.unchanged,
        "gone": summary.vanished,
        "skipped": dict(summary.others),
        "layout": [{"where": one.where, "why": one.why} for one in summary.left_out if not one.is_fault],
        "warnings": [{"where": one.where, "why": one.why} for one in summary.faults],
        "notes": [{"where": note.where, "what": note.what} for note in summary.notes],
        "held": summary.held,
        "damaged": summary.damaged,
        "seconds": round(summary.seconds, 3),
    }


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


class _Progress:
    """Which file is being read: one line that changes on a terminal, a line now and then elsewhere."""

    def __init__(self) -> None:
        self._on_terminal = sys.stderr.isatty()
        self._pause = _SECONDS_BETWEEN_NAMES if self._on_terminal else _SECONDS_BETWEEN_LINES
        self._shown_at = time.monotonic()

    def __enter__(self) -> _Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._on_terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def show(self, done: int, total: int, name: str) -> None:
        """Say that the next file is this one; "" when all are read."""
        said = f"{done:,} of {total:,} files: {harmless(name)}" if name else "writing the index"
        now = time.monotonic()
        if name and now - self._shown_at < self._pause:
            return
        self._shown_at = now
        if self._on_terminal:
            width = shutil.get_terminal_size((80, 24)).columns - 1
            print(f"\r\x1b[K{said[:width]}", end="", file=sys.stderr, flush=True)
        elif name:
            print(said, file=sys.stderr, flush=True)
