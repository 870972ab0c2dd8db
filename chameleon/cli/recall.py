"""`chameleon recall`: how well a retriever finds the tables of questions."""

from __future__ import annotations

import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from chameleon.cli.terminal import Progress, echo, echo_json, say
from chameleon.errors import InputError
from chameleon.evaluation.recall import check_gold, measure, read_corpus, read_queries
from chameleon.figures import in_time
from chameleon.text import counted

if TYPE_CHECKING:
    from chameleon.retrieval.index import Index
    from chameleon.retrieval.spec import RetrieverSpec


def measure_recall(
    corpus: Path, queries: Path, name: str, *, summaries: bool, kept: Path | None, as_json: bool
) -> None:
    """Index the corpus unless it is an index, search for each query, and show the figures.

    Args:
        name: the retriever that searches, by name or as a mapping of YAML.
        summaries: index the summaries of the tables too.
        kept: the folder where the index stays, or None.
    """
    from chameleon.retrieval.index import Index
    from chameleon.retrieval.make import make_retriever
    from chameleon.retrieval.spec import RetrieverSpec

    spec = RetrieverSpec.read(name)
    asked = read_queries(queries)
    if corpus.is_dir() and kept is not None:
        raise typer.BadParameter("the corpus is an index already", param_hint="--index")
    with ExitStack() as close:
        if corpus.is_dir():
            index = Index.open(corpus)
        else:
            folder = kept or Path(close.enter_context(tempfile.TemporaryDirectory(prefix="chameleon-")))
            index = _build(corpus, folder, spec, summaries=summaries)
        check_gold(index.ids, asked)
        measured = measure(index, make_retriever(index, spec), asked)
        documents = counted(len(index), "document")
    found, unmatched = measured.to_json(), measured.unmatched
    if as_json:
        echo_json(found | {"unmatched": unmatched})
        return
    echo(f"{counted(len(asked), 'query')} over {documents}, retriever {spec}\n")
    for figure, value in found.items():
        if figure.startswith(("recall", "mrr")):
            echo(f"{figure:<12}{value:.4f}")
    echo("")
    if unmatched:
        echo(f"{counted(unmatched, 'query')} found nothing of the table that answers.")
    echo(f"{found['queries_per_second']:,.0f} queries a second")


def _build(corpus: Path, folder: Path, spec: RetrieverSpec, *, summaries: bool) -> Index:
    """Build an index of the corpus alone."""
    from chameleon.retrieval.make import build_index

    begun, documents = time.monotonic(), read_corpus(corpus, summaries=summaries)
    with Progress("table") as progress:
        index = build_index(folder, documents, spec, progress.show)
    if len(index) != progress.done:
        what = f"the index holds {counted(len(index), 'document')}, the corpus {progress.done:,}"
        raise InputError(what, where=str(folder), hint="Name another folder for the index.")
    say(f"{counted(progress.done, 'table')} indexed in {in_time(time.monotonic() - begun)}.")
    return index
