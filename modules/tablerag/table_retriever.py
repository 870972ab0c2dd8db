"""Find the table that a question is about in an index (TableRAG)."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import NonNegativeInt, PositiveInt

from chameleon import Module, State, Table
from chameleon.core.conversation import queries_of
from chameleon.core.module import Traits
from chameleon.core.prompt import table_text
from chameleon.errors import Declined, InputError
from chameleon.retrieval.document import Document
from chameleon.retrieval.manifest import MANIFEST
from chameleon.retrieval.ranking import similarities
from chameleon.retrieval.spec import RetrieverSpec
from chameleon.text import estimated_tokens

if TYPE_CHECKING:
    from chameleon.retrieval.index import Index
    from chameleon.retrieval.retriever import Hit, Retriever

_MAX_NEAREST = 8  # documents shown by a declined run
_FIRST_ROWS, _MAX_CELL_CHARS = 3, 60  # how many rows of a table it shows, and characters per cell
_SHOWN_ROWS = 25  # rows of a table in a prompt
_MAX_ROWS = 2_000  # rows of a table that are compared with the question


class TableRetriever(Module):
    """Finds the table that the question is about in an index of tables. For questions without a table."""

    reads = ("input.question", "input.index?", "input.table?", "input.passages?", "input.history?")
    writes = "input.table, input.tables, input.passages, cache.retrieved, cache.nearest, cache.sources"
    traits = Traits(non_text=("cache.retrieved", "cache.nearest", "cache.sources"))

    def __init__(
        self,
        retriever: str | dict[str, Any] = "auto",
        k: PositiveInt = 5,
        *,
        tables: PositiveInt | None = None,
        max_tokens: PositiveInt = 6_000,
        passages: NonNegativeInt | None = None,
        index: str = "",
        within: str = "",
    ) -> None:
        """Take settings, all optional.

        Without an index, the table that comes with the question stays; with both, the index is searched. The
        query is only the question; no document in an index contains a question. In a conversation, results
        for the question by itself alternate with results for it together with the last turns.

        Args:
            retriever: how to search the index: {first: bm25, rerank: evidence} and the like, or a name.
            k: how many documents to find. The first table becomes `table`, the others `tables`, and documents
                without a table `passages`.
            tables: how many tables to keep, None for all. After the first, tables are kept only while they
                fit in `max_tokens` together, estimated from their first 25 rows.
            passages: how many passages to find in addition to the `k` tables, in a separate search. Finding
                no table is then acceptable; the nearest documents of both kinds are noted in case the run
                declines.
            index: the folder of the index, if the question comes without one.
            within: a subfolder of the index, for several indexes of the same tables, such as "plain" and
                "summaries".
        """
        self.retriever = RetrieverSpec.read(retriever)
        self.k, self.tables, self.max_tokens = k, tables, max_tokens
        self.passages, self.index, self.within = passages, index, within

    def check(self) -> None:
        """Raise `MissingPackage` if the retriever needs a package that is not installed."""
        from chameleon.retrieval import engine
        from chameleon.retrieval.make import settings_for

        settings_for(self.retriever)
        engine.load()

    def run(self, state: State) -> dict[str, Any]:
        path = str(state.input.get("index") or self.index)
        if not path:
            if self.within:
                raise InputError(f"there is no index to find {self.within} in", hint="Name its folder.")
            if "table" not in state.input:
                raise InputError("neither a table nor an index is given")
            return {"note": "no index is given, so the given table is used"}
        index, retriever = opened(str(Path(path) / self.within) if self.within else path, self.retriever)
        queries = queries_of(state.input)
        if self.passages is None:
            hits = _hits(retriever, queries, self.k)
        else:
            hits = _hits(retriever, queries, self.k, "table")
            hits += _hits(retriever, queries, self.passages, "passage")
        pairs = [(hit, index.document(hit.id)) for hit in hits]
        if not pairs or (self.passages is None and not any(document.table for _, document in pairs)):
            raise Declined("nothing in the index matches the question")
        entries = [
            {"id": hit.id, "name": each.name, "score": float(hit.score), "source": dict(each.source)}
            for hit, each in pairs
        ]
        documents = [document for _, document in pairs]
        with_table = [each for each, document in zip(entries, documents, strict=True) if document.table]
        tables = self.kept([(each.table, each.title) for each in documents if each.table is not None])
        texts = [each for each in documents if each.table is None and each.text]
        return {
            "retrieved": entries,
            "tables": tables,
            "passages": list(map(passage_of, texts)),
            "sources": [source_of(each) for each in with_table[: len(tables) if self.tables else 1]],
            **({} if self.passages is None else {"nearest": nearest(index, queries[-1], documents)}),
        }

    def kept(self, candidates: Sequence[tuple[Table, str]]) -> list[Table]:
        """Return the tables to keep; one without a caption gets the title of its document."""
        tables, left = list[Table](), self.max_tokens
        for table, title in candidates[: self.tables]:
            text = table_text(table.take_rows(range(min(_SHOWN_ROWS, len(table.rows)))), style="pipe")
            left -= estimated_tokens(text)
            if left < 0 and tables:
                break
            tables.append(table if table.caption.strip() else table.with_caption(title))
        return tables

    def update_input(self, input: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        if "retrieved" not in output:
            return {}
        changes: dict[str, Any] = {"tables": output["tables"][1:]}
        if output["tables"]:
            changes["table"] = output["tables"][0]
        if passages := [*(input.get("passages") or ()), *output["passages"]]:
            changes["passages"] = passages
        return changes

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        """Note the documents found, and `sources`: the table to answer from unless a module changes it."""
        return {key: output[key] for key in ("retrieved", "sources", "nearest") if key in output}


def _hits(retriever: Retriever, queries: Sequence[str], k: int, *kind: Any) -> list[Hit]:
    """Return the first `k` hits of the queries, alternating between them, best first."""
    by_id: dict[str, Hit] = {}
    for hits in zip_longest(*(retriever.search(query, k, *kind) for query in queries)):
        for hit in hits:
            if hit is not None:
                by_id.setdefault(hit.id, hit)
    return list(by_id.values())[:k]


def passage_of(document: Document) -> dict[str, Any]:
    """Return a passage in the form of the input: title, text, and its place, if known."""
    source = {"heading": "", **document.source} if "file" in document.source else document.source
    place = {key: source[key] for key in ("file", "heading", "page") if key in source}
    return {"title": document.name, "text": document.text, **place}


def nearest(index: Index, query: str, documents: Sequence[Document]) -> list[dict[str, Any]]:
    """Return the documents nearest to a query as sources with their text, or some rows of a table."""
    scores = index.evidence(query, [index.place(each.id) for each in documents])
    in_order = sorted(zip(scores, documents, strict=True), key=lambda pair: -pair[0])
    sources = []
    for number, (_, each) in enumerate(in_order[:_MAX_NEAREST], 1):
        if each.table is None:
            name = {} if "file" in each.source else {"heading": each.name}
            sources.append({"passage": number, **name, **each.source, "text": each.text})
            continue
        rows = similarities(query, [" ".join(row) for row in each.table.rows[:_MAX_ROWS]], "bm25")
        first = sorted(range(len(rows)), key=lambda row: -rows[row])[:_FIRST_ROWS]  # ties keep their order
        text = table_text(each.table.take_rows(sorted(first)), style="pipe", max_cell=_MAX_CELL_CHARS)
        sources.append({"id": each.id, "table": each.name, **each.source, "text": text})
    return sources


def source_of(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a retrieved table as a source: its id, name and place."""
    return {"id": table["id"], "table": table["name"], **table["source"]}


_lock = threading.Lock()  # lru_cache alone may open an index twice


def opened(path: str, retriever: RetrieverSpec) -> tuple[Index, Retriever]:
    """Return the index in this folder, and a retriever over it. Raises as `opened_index`."""
    index = opened_index(path)
    with _lock:
        return index, _open_retriever(index, retriever)


def opened_index(path: str) -> Index:
    """Return the index in this folder, opened once for all threads.

    An index that was rebuilt is reopened; up to eight stay open, and the least recently used is closed first.
    Raises `InputError` for a folder without an index.
    """
    folder = Path(path).expanduser()
    try:
        stat = (folder / MANIFEST).stat()
    except OSError:
        what = "the folder is not an index" if folder.is_dir() else "there is no such index"
        raise InputError(what, where=path) from None
    with _lock:
        return _open_index(str(folder), (stat.st_ino, stat.st_mtime_ns, stat.st_size))


@lru_cache(maxsize=8)
def _open_index(path: str, build: tuple[int, ...]) -> Index:  # `build` only serves as a cache key
    from chameleon.retrieval.index import Index

    return Index.open(path)


@lru_cache(maxsize=8)
def _open_retriever(index: Index, spec: RetrieverSpec) -> Retriever:
    from chameleon.retrieval.make import make_retriever

    return make_retriever(index, spec)
