"""`chameleon recall`: how well a retriever finds the tables of questions."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from chameleon.cli.out import Progress, counted, echo, echo_json, say
from chameleon.errors import InputError
from chameleon.evaluation.recall import check_gold, measure, read_corpus, read_queries

if TYPE_CHECKING:
    from chameleon.retrieval.document import Document
    from chameleon.retrieval.index import Index


def measure_recall(
    corpus: Path, queries: Path, name: str, *, named_only: bool, kept: Path | None, as_json: bool
) -> None:
    """Index the corpus unless it is an index, search for each query, and show the figures.

    Args:
        name: the retriever that searches.
        named_only: search only the tables that queries name.
        kept: the folder where the index stays, or None.
    """
    from chameleon.retrieval.index import Index
    from chameleon.retrieval.names import retriever
    from chameleon.retrieval.parts import AUTO, check_retriever

    check_retriever(name)
    asked = read_queries(queries)
    wanted = {query.gold for query in asked} if named_only else None
    with ExitStack() as close:
        if not corpus.is_dir():
            index = _build(read_corpus(corpus), name, wanted, kept, close)
        elif kept is not None:
            raise typer.BadParameter("the corpus is an index already", param_hint="--index")
        else:
            index = Index.open(corpus)
            if wanted is not None:
                built_for = index.retriever if name == AUTO and index.retriever else name
                index = _build(index.documents(), built_for, wanted, None, close)
        check_gold(index.ids, asked)
        measured = measure(index, retriever(index, name), asked)
        documents = counted(len(index), "document")
    found, unmatched = measured.to_json(), measured.unmatched
    if as_json:
        echo_json(found | {"unmatched": unmatched})
        return
    echo(f"{counted(len(asked), 'query')} over {documents}, retriever {name}\n")
    for figure, value in found.items():
        if figure.startswith(("recall", "mrr")):
            echo(f"{figure:<12}{value:.4f}")
    echo("")
    if unmatched:  # these have a rank though nothing of their query matched them
        whose = "its table" if unmatched == 1 else "their tables"
        ranked = "ranked after all that was found, as the corpus has them"
        echo(f"{counted(unmatched, 'query')} matched nothing of {whose}: {ranked}")
    echo(f"{found['queries_per_second']:,.0f} queries a second")


def _build(
    documents: Iterable[Document], name: str, wanted: set[str] | None, kept: Path | None, close: ExitStack
) -> Index:
    """Build an index of the documents that are wanted; None wants all."""
    from chameleon.retrieval.index import Index
    from chameleon.retrieval.parts import parts_for

    count = 0

    def chosen() -> Iterator[Document]:
        nonlocal count
        for document in documents:
            if wanted is None or document.id in wanted:
                count += 1
                yield document
                progress.show(count)

    folder = kept or Path(close.enter_context(tempfile.TemporaryDirectory(prefix="chameleon-")))
    begun = time.monotonic()
    with Progress("table") as progress:
        index = Index.build(folder, chosen(), parts_for(name), retriever=name)
    if len(index) != count:
        raise InputError(
            f"the index holds {counted(len(index), 'document')}, the corpus {count:,}",
            where=str(folder),
            hint="Name another folder for the index.",
        )
    say(f"{counted(count, 'table')} indexed in {time.monotonic() - begun:.1f} s.")
    return index
