"""`chameleon recall`: how well a retriever finds the tables of questions."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from chameleon.cli.counts import counted
from chameleon.cli.out import echo, echo_json, say
from chameleon.errors import InputError
from chameleon.evaluation.recall import Query, Recall, check_gold, measure, read_corpus, read_queries
from chameleon.retrieval.retriever import Hit, Retriever

if TYPE_CHECKING:
    from chameleon.retrieval.document import Document
    from chameleon.retrieval.index import Index

_SECONDS_BETWEEN_LINES = 10.0


@dataclass(frozen=True)
class Asked:
    """What the command line names: a corpus or an index, the queries, and how they are searched for.

    `kept` is the folder where the index stays, or None.
    """

    corpus: Path
    queries: Path
    retriever: str
    named_only: bool
    kept: Path | None


def measure_recall(asked: Asked, *, as_json: bool) -> int:
    """Index the corpus unless it is an index, search for each query, show the figures; the exit code."""
    from chameleon.retrieval.names import retriever
    from chameleon.retrieval.parts import check_retriever

    check_retriever(asked.retriever)
    queries = read_queries(asked.queries)
    with ExitStack() as close:
        index = _index(asked, queries, close)
        check_gold(index.ids, queries)
        watched = _Watched(retriever(index, asked.retriever), queries)
        found = measure(index, watched, queries)
        unmatched = watched.unmatched
        if as_json:
            echo_json(found.to_json() | {"unmatched": unmatched})
        else:
            echo(_shown(found, len(index), asked.retriever, unmatched))
    return 0


def _index(asked: Asked, queries: Sequence[Query], close: ExitStack) -> Index:
    """The index that is searched: the one that is named, or one that is built of the corpus."""
    from chameleon.retrieval.index import Index
    from chameleon.retrieval.parts import AUTO

    if not asked.corpus.is_dir():
        return _built(asked, queries, read_corpus(asked.corpus), close)
    if asked.kept is not None:
        raise typer.BadParameter("the corpus is an index already", param_hint="--index")
    given = Index.open(asked.corpus)
    if not asked.named_only:
        return given
    wanted = given.retriever if asked.retriever == AUTO and given.retriever else asked.retriever
    return _built(replace(asked, retriever=wanted), queries, given.documents(), close)


def _built(asked: Asked, queries: Sequence[Query], documents: Iterable[Document], close: ExitStack) -> Index:
    from chameleon.retrieval.index import Index
    from chameleon.retrieval.parts import parts_for

    wanted = {query.gold for query in queries} if asked.named_only else None
    folder = asked.kept or Path(close.enter_context(tempfile.TemporaryDirectory(prefix="chameleon-")))
    counter = _Counted(documents, wanted)
    begun = time.monotonic()
    index = Index.build(folder, counter, parts_for(asked.retriever), retriever=asked.retriever)
    if len(index) != counter.count:
        raise InputError(
            f"the index holds {counted(len(index), 'document')}, the corpus {counter.count:,}",
            where=str(folder),
            hint="Name another folder for the index.",
        )
    say(f"{counted(len(index), 'table')} indexed in {time.monotonic() - begun:.1f} s.")
    return index


class _Counted:
    """The documents that are wanted, counted while they go by; None wants all."""

    def __init__(self, documents: Iterable[Document], wanted: set[str] | None) -> None:
        self._documents, self._wanted = documents, wanted
        self.count = 0

    def __iter__(self) -> Iterator[Document]:
        told = time.monotonic()
        for document in self._documents:
            if self._wanted is None or document.id in self._wanted:
                self.count += 1
                yield document
                if time.monotonic() - told >= _SECONDS_BETWEEN_LINES:
                    told = time.monotonic()
                    say(f"{counted(self.count, 'table')} so far.")


class _Watched(Retriever):
    """A retriever, and for how many queries it never found the table, however deep it was asked."""

    def __init__(self, watched: Retriever, queries: Sequence[Query]) -> None:
        self._watched, self._queries = watched, queries
        self._many: list[tuple[Sequence[str], list[list[Hit]]]] = []
        self._gold: dict[str, set[str]] = {}
        for query in queries:
            self._gold.setdefault(query.text, set()).add(query.gold)
        self._found: set[Query] = set()

    def search(self, query: str, k: int = 10) -> list[Hit]:
        hits = self._watched.search(query, k)
        self._look(query, hits)
        return hits

    def search_many(self, queries: Sequence[str], k: int = 10) -> list[list[Hit]]:
        found = self._watched.search_many(queries, k)
        self._many.append((queries, found))  # looked at later: these searches are timed
        return found

    @property
    def unmatched(self) -> int:
        """The queries whose table was among no hits."""
        for texts, found in self._many:
            for text, hits in zip(texts, found, strict=True):
                self._look(text, hits)
        self._many.clear()
        return sum(query not in self._found for query in self._queries)

    def _look(self, text: str, hits: Sequence[Hit]) -> None:
        gold = self._gold[text]
        self._found.update(Query(text, hit.id) for hit in hits if hit.id in gold)


def _shown(found: Recall, documents: int, retriever: str, unmatched: int) -> str:
    figures = found.to_json()
    lines = [
        f"{counted(found.n, 'query')} over {counted(documents, 'document')}, retriever {retriever}",
        "",
        *(f"{name:<12}{figures[name]:.4f}" for name in figures if name.startswith(("recall", "mrr"))),
        "",
        *_about_unmatched(unmatched),
        f"{found.queries_per_second:,.0f} queries a second",
    ]
    return "\n".join(lines)


def _about_unmatched(count: int) -> list[str]:
    """What is to be known of tables that have a rank though nothing of their query matched them."""
    if not count:
        return []
    queries, whose = counted(count, "query"), "its table" if count == 1 else "their tables"
    return [f"{queries} matched nothing of {whose}: ranked after all that was found, as the corpus has them"]
