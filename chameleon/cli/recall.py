"""`chameleon recall`: how well a retriever finds the tables of questions."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from chameleon.cli.out import counted, echo, echo_json, say
from chameleon.cli.progress import Progress
from chameleon.errors import InputError
from chameleon.evaluation.recall import Query, check_gold, measure, read_corpus, read_queries
from chameleon.retrieval.retriever import Hit, Retriever

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
        watched = _Watched(retriever(index, name), asked)
        found = measure(index, watched, asked).to_json()
        unmatched = watched.unmatched(asked)
        documents = counted(len(index), "document")
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


class _Watched(Retriever):
    """A retriever, and for how many queries it never found the table, however deep it was asked."""

    def __init__(self, watched: Retriever, queries: Sequence[Query]) -> None:
        self._watched, self._wanted = watched, set(queries)
        self._timed: list[tuple[Sequence[str], list[list[Hit]]]] = []

    def search(self, query: str, k: int = 10) -> list[Hit]:
        hits = self._watched.search(query, k)
        self._wanted.difference_update(Query(query, hit.id) for hit in hits)
        return hits

    def search_many(self, queries: Sequence[str], k: int = 10) -> list[list[Hit]]:
        found = self._watched.search_many(queries, k)
        self._timed.append((queries, found))  # looked at later: these searches are timed
        return found

    def unmatched(self, queries: Sequence[Query]) -> int:
        """Count the queries whose table was among no hits."""
        for texts, many in self._timed:
            for text, hits in zip(texts, many, strict=True):
                self._wanted.difference_update(Query(text, hit.id) for hit in hits)
        return sum(query in self._wanted for query in queries)
