"""Measure how often the table of a question is found first or in the top ten, compared with other engines.

    python perf/recall_of_tables.py FOLDER [--collections wikitq tabfact] [--questions 1000] [--vectors]

FOLDER holds the tables and questions of WikiTQ, FeTaQA and TabFact. Each engine reads the same raw text
(caption, header and cells) with its tokenizer: bm25s (English stop words), SQLite FTS5 (Porter's stemmer,
columns weighted 3 : 2 : 1 like ours), tantivy (`en_stem`), rank-bm25 (unstemmed words). Ours are `bm25` and
`lexical`, and with --vectors also `dense` (MiniLM) and `blend`, which embed every table.

A second table has processor seconds, which other load on the machine hardly changes. Ours write their index
to disk; the others keep it in memory.
"""

import argparse
import re
import sqlite3
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

from timings import surroundings, table

from chameleon.evaluation.recall import Query, read_corpus, read_queries
from chameleon.retrieval.document import Document
from chameleon.retrieval.make import build_index, make_retriever

COLLECTIONS = {
    "wikitq": ("wikitq/tables.jsonl.gz", "wikitq/queries.jsonl"),
    "fetaqa": ("fetaqa/tables.jsonl.gz", "fetaqa/queries.jsonl"),
    "tabfact": ("tabfact/corpus.jsonl.gz", "tabfact/queries.jsonl.gz"),
}
K = 10
Find = Callable[[str], Sequence[str]]
"""The ids of the first ten documents for a question."""


def fields(document: Document) -> tuple[str, str, str]:
    """Return the caption, the header and the cells of a table as texts."""
    assert document.table is not None
    cells = chain.from_iterable(document.table.rows)
    return document.table.caption, " ".join(document.table.header), "\n".join(cells)


def rank_bm25(documents: Sequence[Document]) -> Find:
    import numpy
    from rank_bm25 import BM25Okapi

    def words(text: str) -> list[str]:
        return re.findall(r"\w+", text.lower())

    index = BM25Okapi([words(" ".join(fields(document))) for document in documents])

    def find(question: str) -> list[str]:
        best = numpy.argsort(-index.get_scores(words(question)), kind="stable")[:K]
        return [documents[n].id for n in best]

    return find


def bm25s(documents: Sequence[Document]) -> Find:
    import bm25s

    index = bm25s.BM25()
    texts = ["\n".join(fields(document)) for document in documents]
    index.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)

    def find(question: str) -> list[str]:
        asked = bm25s.tokenize([question], stopwords="en", show_progress=False)
        found, _ = index.retrieve(asked, k=K, show_progress=False)
        return [documents[n].id for n in found[0].tolist()]

    return find


def fts5(documents: Sequence[Document]) -> Find:
    connection = sqlite3.connect(":memory:")
    connection.execute(
        'CREATE VIRTUAL TABLE t USING fts5(id UNINDEXED, caption, header, cells, tokenize="porter unicode61")'
    )
    connection.executemany(
        "INSERT INTO t VALUES (?, ?, ?, ?)", ((each.id, *fields(each)) for each in documents)
    )

    def find(question: str) -> list[str]:
        said = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
        sql = f"SELECT id FROM t WHERE t MATCH ? ORDER BY bm25(t, 0, 3, 2, 1) LIMIT {K}"
        return [id for (id,) in connection.execute(sql, (said,))]

    return find


def tantivy(documents: Sequence[Document]) -> Find:
    import tantivy as package

    builder = package.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    builder.add_text_field("body", tokenizer_name="en_stem")
    index = package.Index(builder.build())
    writer = index.writer(256 << 20, 1)
    for document in documents:
        writer.add_document(package.Document(id=document.id, body="\n".join(fields(document))))
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def find(question: str) -> list[str]:
        query = index.parse_query(" ".join(re.findall(r"\w+", question.lower())), ["body"])
        return [searcher.doc(place)["id"][0] for _, place in searcher.search(query, K).hits]

    return find


OTHERS: Mapping[str, Callable[[Sequence[Document]], Find]] = {
    "rank-bm25": rank_bm25,
    "bm25s": bm25s,
    "SQLite FTS5": fts5,
    "tantivy": tantivy,
}


@dataclass(frozen=True)
class Measured:
    """The results of one engine on one collection, and the processor seconds that it takes."""

    recall_at_1: float
    recall_at_10: float
    seconds_to_build: float
    questions_per_second: float


def measured(build: Callable[[], Callable[[list[str]], Sequence[Sequence[str]]]], queries: Sequence[Query]):
    """Build an index and ask it all questions."""
    started = time.process_time()
    find = build()
    built = time.process_time()
    results = find([query.text for query in queries])
    searched = time.process_time()
    first = sum(ids[:1] == [query.gold] for ids, query in zip(results, queries, strict=True))
    ten = sum(query.gold in ids for ids, query in zip(results, queries, strict=True))
    n = len(queries)
    return Measured(first / n, ten / n, built - started, n / (searched - built))


def measure(documents: Sequence[Document], queries: Sequence[Query], *, vectors: bool) -> dict[str, Measured]:
    """Return the figures of each engine on one collection."""

    def other(make: Callable[[Sequence[Document]], Find]):
        search = make(documents)
        return lambda texts: [list(search(text)) for text in texts]

    def ours(name: str, folder: str):
        retriever = make_retriever(build_index(folder, documents, name), name)
        return lambda texts: [[hit.id for hit in hits] for hits in retriever.search_many(texts, K)]

    results = {name: measured(partial(other, make), queries) for name, make in OTHERS.items()}
    for name in ("bm25", "lexical", *(("dense", "blend") if vectors else ())):
        with tempfile.TemporaryDirectory() as folder:
            results[f"chameleon {name}"] = measured(partial(ours, name, folder), queries)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--collections", nargs="*", choices=COLLECTIONS, default=list(COLLECTIONS))
    parser.add_argument("--questions", type=int, help="the first so many of each collection")
    parser.add_argument("--vectors", action="store_true", help="embed the tables with MiniLM, too")
    options = parser.parse_args()
    columns: dict[str, dict[str, Measured]] = {}
    for name in options.collections:
        corpus, asked = (options.folder / file for file in COLLECTIONS[name])
        queries = read_queries(asked)[: options.questions]
        columns[name] = measure(list(read_corpus(corpus)), queries, vectors=options.vectors)
    engines = next(iter(columns.values()))

    def rows(show: Callable[[Measured], str]) -> list[list[str]]:
        return [[engine, *(show(column[engine]) for column in columns.values())] for engine in engines]

    recalls = rows(lambda each: f"{each.recall_at_1:.3f} {each.recall_at_10:.3f}")
    speeds = rows(lambda each: f"{each.seconds_to_build:.2f} s, {each.questions_per_second:,.0f} /s")
    table("recall@1 and recall@10", ["", *columns], recalls)
    table("Seconds to build, and questions a second", ["", *columns], speeds)
    print(surroundings("tantivy", "bm25s", "rank-bm25"))


if __name__ == "__main__":
    main()
