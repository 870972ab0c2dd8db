"""`chameleon index` and `recall`: index files and folders, and measure how well they are found."""

import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

from chameleon.cli.options import ModelOptions, origin
from chameleon.cli.setup import connect, model_for
from chameleon.cli.terminal import Progress, echo, echo_json, output, say
from chameleon.cli.wording import spent_in_words
from chameleon.documents.indexing import Summary, index_files
from chameleon.errors import InputError, NoModel
from chameleon.evaluation.recall import check_gold, measure, read_corpus, read_queries
from chameleon.figures import in_time
from chameleon.inventory.schema import ModelSpec
from chameleon.retrieval.index import Index
from chameleon.retrieval.make import build_index, make_retriever
from chameleon.retrieval.spec import RetrieverSpec
from chameleon.text import counted, harmless
from chameleon.usage import Meter, Usage, recording

_SUMMARIES = "chameleon.modules.documents.summaries"
_MAX_LINES, _MAX_PLACES = 20, 5


def index_tables(
    options: ModelOptions,
    sources: list[Path],
    out: Path,
    retriever: str | None,
    *,
    summaries: bool,
    as_json: bool,
) -> int:
    """Index files, with summaries by a model if requested, report the result, and return the exit code."""
    if options.model and not origin("model") and not summaries:
        raise typer.BadParameter("a model is used only with --summaries", param_hint="--model")
    spec = RetrieverSpec.read(retriever) if retriever is not None else None
    writer, why = _summaries_by(options) if summaries else (None, "")
    if why and not as_json:
        say(f"Summaries by {harmless(why)}.")
    with recording(Meter()) as recorder, Progress("file") as progress:

        def show(done: int, total: int, name: str) -> None:
            progress.total = total
            if output.verbose and name:
                say(f"{done + 1:,} of {counted(total, 'file')}: {harmless(name)}")
            progress.show(done, lambda: name or "writing the index")

        summary = index_files(sources, out, spec, show, writer)
    usage = sum((call.usage for call in recorder.calls), Usage())
    if as_json:
        data = {"model": writer.llm.name, "why": why, "usage": usage.to_json()} if writer else {}
        echo_json(to_json(summary) | data)
    else:
        usage_text = spent_in_words(usage, sum(call.cached for call in recorder.calls))
        echo(_contents(summary) if output.quiet else f"{in_words(summary)}\n{usage_text}".rstrip())
    if summary.faults and not output.quiet:
        by_reason: dict[str, list[str]] = {}  # report a missing package once
        for one in summary.faults:
            by_reason.setdefault(one.why, []).append(one.where)
        faults = [f"  {harmless(f'{_place_list(places)}: {why}')}" for why, places in by_reason.items()]
        warnings = counted(len(summary.faults), "warning")
        echo("\n".join([f"{warnings}: not read", *_head(faults)]), err=True)
    return 0 if summary.files or summary.unchanged or summary.vanished else 1


def _place_list(places: Sequence[str]) -> str:
    """Write "a.docx, b.html and 12 more"."""
    more = len(places) - _MAX_PLACES
    return ", ".join(places[:_MAX_PLACES]) + (f" and {more:,} more" if more > 0 else "")


def _summaries_by(options: ModelOptions) -> tuple[Any, str]:
    """Return a writer of summaries, and its model with the reason for it. Raises `NoModel`."""
    choice = model_for(options)
    if choice.model is None:
        raise NoModel("summaries need a model, and none is named", code="no-model")
    settings = ModelSpec.model_validate(options.params).connection()
    llm = connect(choice, settings, options)
    params = {name: value for name, value in options.params.items() if name not in settings}
    summaries = import_module(_SUMMARIES)
    return summaries.Summaries(llm.with_params(**{"max_tokens": summaries.MAX_TOKENS, **params})), str(choice)


def in_words(summary: Summary) -> str:
    """Describe the result of indexing in a few lines."""
    tables = f"{counted(summary.tables, 'table')} with {counted(summary.rows, 'row')}"
    texts = [counted(summary.passages, "passage")] * bool(summary.passages)
    contents = f"Read {' and '.join([tables] * bool(summary.tables) + texts)}"
    result = f"{contents} in {counted(summary.files, 'file')}" if summary.files else "Nothing new to read"
    layout = len(summary.left_out) - len(summary.faults)
    counts = {
        "Unchanged": (summary.unchanged, "file"),
        "Deleted, and removed from the index": (summary.vanished, "file"),
        "Skipped as page layout": (layout, "table"),
        "Without a table or text": (summary.without, "file"),
    }
    lines = [f"{result}, {in_time(summary.seconds)}."]
    lines += [f"{label}: {counted(*each)}." for label, each in counts.items() if each[0]]
    lines += _head([f"Note: {harmless(f'{note.where} {note.what}').rstrip('.')}." for note in summary.notes])
    if summary.others:
        kinds = ", ".join(f"{count} {harmless(kind)}" for kind, count in summary.others.most_common())
        lines.append(f"Skipped unsupported kinds: {kinds}.")
    return "\n".join([*lines, _contents(summary)])


def _contents(summary: Summary) -> str:
    counts = (counted(count, kind) for kind, count in summary.held.items() if count or kind == "table")
    return f"The index {harmless(str(summary.index))} holds {' and '.join(counts)}."


def _head(lines: Sequence[str]) -> list[str]:
    """Return the first lines, and how many more there are."""
    more = len(lines) - _MAX_LINES
    return [*lines[:_MAX_LINES], *([f"  and {more} more (--json lists all)"] if more > 0 else [])]


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


def measure_recall(
    corpus: Path, queries: Path, retriever: str, *, summaries: bool, index: Path | None, as_json: bool
) -> None:
    """Index the corpus unless it is an index, run each query, and show the figures.

    Args:
        retriever: its name, or a mapping of YAML.
        summaries: index the summaries of the tables too.
        index: the folder to keep the index in, or None.
    """
    spec = RetrieverSpec.read(retriever)
    questions = read_queries(queries)
    if corpus.is_dir() and index is not None:
        raise typer.BadParameter("the corpus is already an index", param_hint="--index")
    with ExitStack() as close:
        if corpus.is_dir():
            searched = Index.open(corpus)
        else:
            folder = index or Path(close.enter_context(tempfile.TemporaryDirectory(prefix="chameleon-")))
            searched = _build(corpus, folder, spec, summaries=summaries)
        check_gold(searched.ids, questions)
        measured = measure(searched, make_retriever(searched, spec), questions)
        documents = counted(len(searched), "document")
    figures, unmatched = measured.to_json(), measured.unmatched
    if as_json:
        echo_json(figures | {"unmatched": unmatched})
        return
    echo(f"{counted(len(questions), 'query')} over {documents}, retriever {spec}\n")
    for figure, value in figures.items():
        if figure.startswith(("recall", "mrr")):
            echo(f"{figure:<12}{value:.4f}")
    echo("")
    if unmatched:
        echo(f"{counted(unmatched, 'query')} did not find the table that answers.")
    echo(f"{figures['queries_per_second']:,.0f} queries a second")


def _build(corpus: Path, folder: Path, spec: RetrieverSpec, *, summaries: bool) -> Index:
    """Build an index of only the corpus."""
    started, documents = time.monotonic(), read_corpus(corpus, summaries=summaries)
    with Progress("table") as progress:
        index = build_index(folder, documents, spec, progress.show)
    if len(index) != progress.done:
        what = f"the index holds {counted(len(index), 'document')}, but the corpus has {progress.done:,}"
        raise InputError(what, where=str(folder), hint="Name another folder for the index.")
    say(f"{counted(progress.done, 'table')} indexed in {in_time(time.monotonic() - started)}.")
    return index
