"""`chameleon index`: the tables of files and folders into an index."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chameleon.cli.out import Progress, counted, echo, echo_json
from chameleon.documents.indexing import Summary, index_files
from chameleon.text import harmless

_MOST_SHOWN = 20


def index_tables(sources: Sequence[Path], out: Path, retriever: str | None, *, as_json: bool) -> int:
    """Index, say what was done and what was left out, and return the exit code."""
    if retriever is not None:
        from chameleon.retrieval.spec import RetrieverSpec

        RetrieverSpec.read(retriever)
    with Progress("file") as progress:

        def show(done: int, total: int, name: str) -> None:
            progress.total = total
            progress.show(done, lambda: name or "writing the index")

        summary = index_files(sources, out, retriever, show)
    if as_json:
        echo_json(to_json(summary))
    else:
        echo(in_words(summary))
    if summary.faults:
        faults = [f"  {harmless(f'{one.where}: {one.why}')}" for one in summary.faults]
        echo("\n".join([f"{counted(len(faults), 'warning')}: not read", *_first(faults)]), err=True)
    return 0 if summary.files or summary.unchanged else 1


def in_words(summary: Summary) -> str:
    """Say what was done, in a few lines."""
    read = f"Read {counted(summary.tables, 'table')} with {counted(summary.rows, 'row')}"
    done = f"{read} in {counted(summary.files, 'file')}" if summary.files else "Nothing new to read"
    lines = [f"{done}, {summary.seconds:.1f} s."]
    if summary.damaged:
        lines.insert(0, f"The index was damaged, and is built anew: {harmless(summary.damaged)}.")
    if summary.unchanged:
        lines.append(f"Unchanged: {counted(summary.unchanged, 'file')}.")
    if summary.vanished:
        lines.append(f"Gone, and taken out: {counted(summary.vanished, 'file')}.")
    if layout := len(summary.left_out) - len(summary.faults):
        lines.append(f"Skipped, as layout of a page: {counted(layout, 'table')}.")
    if summary.without:
        lines.append(f"Without a table: {counted(summary.without, 'file')}.")
    lines += _first([f"Note: {harmless(f'{note.where} {note.what}')}." for note in summary.notes])
    if summary.others:
        kinds = ", ".join(f"{count} {harmless(kind)}" for kind, count in summary.others.most_common())
        lines.append(f"Skipped, as other kinds: {kinds}.")
    lines.append(f"The index {harmless(str(summary.index))} holds {counted(summary.held, 'table')}.")
    return "\n".join(lines)


def _first(lines: Sequence[str]) -> list[str]:
    """Return the first of the lines, and how many more there are."""
    more = len(lines) - _MOST_SHOWN
    return [*lines[:_MOST_SHOWN], *([f"  and {more} more (--json lists all)"] if more > 0 else [])]


def to_json(summary: Summary) -> dict[str, Any]:
    """Return the summary as one JSON object."""
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
