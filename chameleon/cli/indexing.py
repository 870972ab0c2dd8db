"""`chameleon index`: the tables and texts of files and folders into an index."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from chameleon.cli.options import ModelOptions
from chameleon.cli.setup import connect, model_for
from chameleon.cli.terminal import Progress, echo, echo_json, is_quiet, is_verbose, say
from chameleon.cli.words import spent_in_words
from chameleon.documents.indexing import Summary, index_files
from chameleon.errors import InputError, NoModel
from chameleon.figures import in_time
from chameleon.llm.choose import with_end
from chameleon.retrieval.make import settings_at
from chameleon.retrieval.spec import RetrieverSpec
from chameleon.text import counted, harmless
from chameleon.usage import Meter, Usage, recording

_SUMMARIES = "chameleon.modules.documents.summaries"
_MOST_SHOWN = 20
_EMBEDDED = "a few a second on one processor. --retriever lexical finds them by words alone."


def index_tables(
    sources: Sequence[Path], out: Path, retriever: str | None, model: ModelOptions | None, *, as_json: bool
) -> int:
    """Index, with summaries by a `model` where one is given, say what was done, and return the exit code."""
    spec = RetrieverSpec.read(retriever) if retriever is not None else None
    summaries, why = _summaries_by(model) if model else (None, "")
    if why and not as_json:
        say(f"Summaries by {harmless(why)}.")
    if not as_json:
        with suppress(InputError):  # told below
            if named := settings_at(out, spec).embeddings:
                say(f"Each new table or passage is embedded by {harmless(named['name'])}: {_EMBEDDED}")
    with recording(Meter()) as recorder, Progress("file") as progress:

        def show(done: int, total: int, name: str) -> None:
            progress.total = total
            if is_verbose() and name:
                say(f"{done + 1:,} of {counted(total, 'file')}: {harmless(name)}")
            progress.show(done, lambda: name or "writing the index")

        summary = index_files(sources, out, spec, show, summaries)
    usage = sum((call.usage for call in recorder.calls), Usage())
    if as_json:
        asked = {"model": summaries.llm.name, "why": why, "usage": usage.to_json()} if summaries else {}
        echo_json(to_json(summary) | asked)
    else:
        stored = sum(call.cached for call in recorder.calls)
        done = "\n".join(filter(None, (in_words(summary), spent_in_words(usage, stored))))
        echo(_held(summary) if is_quiet() else done)
    if summary.faults and not is_quiet():
        faults = [f"  {harmless(f'{one.where}: {one.why}')}" for one in summary.faults]
        echo("\n".join([f"{counted(len(faults), 'warning')}: not read", *_first(faults)]), err=True)
    return 0 if summary.files or summary.unchanged or summary.vanished else 1


def _summaries_by(options: ModelOptions) -> tuple[Any, str]:
    """Connect to the model that writes summaries, and say which one it is and why. Raises `NoModel`."""
    from chameleon.inventory.schema import ModelSpec

    choice = model_for(options)
    if choice.model is None:
        raise NoModel(f"summaries are written by a model: {choice.why}")
    settings = ModelSpec.model_validate(options.params).connection()
    llm = connect(choice, settings, options)
    params = {name: value for name, value in options.params.items() if name not in settings}
    why = str(choice if options.store == "replay" else with_end(choice))
    summaries = import_module(_SUMMARIES)
    return summaries.Summaries(llm.with_params(**{"max_tokens": summaries.MAX_TOKENS, **params})), why


def in_words(summary: Summary) -> str:
    """Say what was done, in a few lines."""
    tables = f"{counted(summary.tables, 'table')} with {counted(summary.rows, 'row')}"
    texts = [counted(summary.passages, "passage")] * bool(summary.passages)
    read = f"Read {' and '.join([tables] * bool(summary.tables) + texts)}"
    done = f"{read} in {counted(summary.files, 'file')}" if summary.files else "Nothing new to read"
    lines = [f"{done}, {in_time(summary.seconds)}."]
    if summary.unchanged:
        lines.append(f"Unchanged: {counted(summary.unchanged, 'file')}.")
    if summary.vanished:
        lines.append(f"Gone, and taken out: {counted(summary.vanished, 'file')}.")
    if layout := len(summary.left_out) - len(summary.faults):
        lines.append(f"Skipped, as layout of a page: {counted(layout, 'table')}.")
    if summary.without:
        lines.append(f"Without a table or text: {counted(summary.without, 'file')}.")
    lines += _first([f"Note: {harmless(f'{note.where} {note.what}').rstrip('.')}." for note in summary.notes])
    if summary.others:
        kinds = ", ".join(f"{count} {harmless(kind)}" for kind, count in summary.others.most_common())
        lines.append(f"Skipped, as other kinds: {kinds}.")
    return "\n".join([*lines, _held(summary)])


def _held(summary: Summary) -> str:
    held = (counted(count, kind) for kind, count in summary.held.items() if count or kind == "table")
    return f"The index {harmless(str(summary.index))} holds {' and '.join(held)}."


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
        "passages": summary.passages,
        "files": summary.files,
        "without": summary.without,
        "unchanged": summary.unchanged,
        "gone": summary.vanished,
        "skipped": dict(summary.others),
        "layout": [{"where": one.where, "why": one.why} for one in summary.left_out if not one.is_fault],
        "warnings": [{"where": one.where, "why": one.why} for one in summary.faults],
        "notes": [{"where": note.where, "what": note.what} for note in summary.notes],
        "held": {f"{kind}s": count for kind, count in summary.held.items()},
        "seconds": round(summary.seconds, 3),
    }
