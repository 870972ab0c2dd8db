"""How fast tables are indexed and found, beside rank-bm25, bm25s, FTS5 and tantivy, and what it costs.

    python perf/retrieval.py [--tables 16500] [--data FOLDER] [--curve 1000 10000 100000] [--only curve]

All searchers get the same terms: those of our analysis, repeated by the weights of their fields. They keep
them in memory or in a folder as they do by themselves; each runs in a process of its own, with one thread.
Ours reads tables, analyses them, writes them to disk, and is opened by another process; what the analysis
takes, which the others are spared, has a line of its own. "bm25s, own tokens" reads the same raw text,
by its own tokenizer.
Seconds are the processor's, so that other load on the machine changes little; waiting for the disk is not in
them. "one by one" is a call for each question, "all at once" one call for all. Memory is what the process
holds more than before (PSS): a mapped file counts as far as it is in memory.

The tables are made up (`made_tables.py`); with --data, a folder with `wikitq/tables.jsonl.gz`,
`fetaqa/tables.jsonl.gz` and `tabfact/corpus.jsonl.gz`, those come first. The curve builds an index of each
size on disk, then opens it in a new process that may address no more than 4 GiB: "held" is what that process
holds more than before beside mapped files, after as many questions by each of the two retrievers, "PSS" with
the files as far as they are in memory, from where the system may drop them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import psutil
from made_tables import made_table, made_tables, question_about
from timings import surroundings, table

from chameleon.evaluation.recall import read_corpus
from chameleon.retrieval.analysis import terms
from chameleon.retrieval.document import Document
from chameleon.retrieval.index import Index
from chameleon.retrieval.layout import Layout
from chameleon.retrieval.make import build_index, make_retriever

REAL = ("wikitq/tables.jsonl.gz", "fetaqa/tables.jsonl.gz", "tabfact/corpus.jsonl.gz")
LIMIT = 4 << 30
K = 10

Search = Callable[[Sequence[str]], list[str]]
"""The best documents' ids for the terms of a question."""


def corpus(count: int, data: Path | None) -> Iterator[Document]:
    """So many tables, the real ones first."""
    real = chain.from_iterable(read_corpus(data / name) for name in REAL) if data else iter(())
    named = (Document(f"{n} {document.id}", document.table) for n, document in enumerate(real))
    return islice(chain(named, made_tables(count)), count)


def terms_of(document: Document) -> list[str]:
    return list(Layout.of(document).weighted())


def pss() -> int:
    """Bytes of memory that are this process's alone, with its share of what is shared."""
    return int(psutil.Process().memory_full_info().pss)


def anonymous() -> int:
    """Bytes of memory that are no mapped file: what the system cannot drop and read again."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("RssAnon:")[2].split()[0]) * 1024


def rank_bm25(terms: list[list[str]], ids: list[str], _: Path) -> Search:
    import numpy
    from rank_bm25 import BM25Okapi

    index = BM25Okapi(terms)

    def search(asked: Sequence[str]) -> list[str]:
        scores = index.get_scores(asked)
        best = numpy.argpartition(-scores, K)[:K]
        return [ids[n] for n in best[numpy.argsort(-scores[best])]]

    return search


def bm25s(terms: list[list[str]], ids: list[str], _: Path, backend: str = "numpy") -> Search:
    import bm25s

    index = bm25s.BM25(k1=1.5, b=0.75, backend=backend)
    index.index(terms, show_progress=False)
    options = {"backend_selection": "numba"} if backend == "numba" else {}

    def search_all(asked: Sequence[Sequence[str]]) -> list[list[str]]:
        known = [[term for term in one if term in index.vocab_dict] for one in asked]
        found, _ = index.retrieve(known, k=K, show_progress=False, **options)
        return [[ids[n] for n in row] for row in found.tolist()]

    def search(asked: Sequence[str]) -> list[str]:
        return search_all([asked])[0]

    search.all = search_all  # type: ignore[attr-defined]
    return search


def bm25s_own(documents: Sequence[Document]) -> float:
    """Return the seconds that bm25s takes from raw text, by its own tokenizer."""
    import bm25s

    def index() -> None:
        raw = ["\n".join(cells_of(document)) for document in documents]
        made = bm25s.BM25(k1=1.5, b=0.75)
        made.index(bm25s.tokenize(raw, stopwords="en", show_progress=False), show_progress=False)

    return seconds(index)


def cells_of(document: Document) -> Iterator[str]:
    assert document.table is not None
    yield from (document.table.caption, *document.table.header, *chain.from_iterable(document.table.rows))


def bm25s_numba(terms: list[list[str]], ids: list[str], folder: Path) -> Search:
    return bm25s(terms, ids, folder, "numba")


def fts5(terms: list[list[str]], ids: list[str], folder: Path) -> Search:
    connection = sqlite3.connect(folder / "fts5.sqlite")
    connection.execute(
        "CREATE VIRTUAL TABLE t USING fts5(id UNINDEXED, body, tokenize=\"unicode61 tokenchars '_'\")"
    )
    connection.executemany("INSERT INTO t VALUES (?, ?)", zip(ids, map(" ".join, terms), strict=True))
    connection.execute("INSERT INTO t(t) VALUES ('optimize')")
    connection.commit()

    def search(asked: Sequence[str]) -> list[str]:
        said = " OR ".join(f'"{term}"' for term in asked)
        sql = f"SELECT id FROM t WHERE t MATCH ? ORDER BY rank LIMIT {K}"
        return [id for (id,) in connection.execute(sql, (said,))]

    return search


def tantivy(terms: list[list[str]], ids: list[str], folder: Path) -> Search:
    import tantivy as package

    builder = package.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    builder.add_text_field("body", tokenizer_name="whitespace")
    schema = builder.build()
    index = package.Index(schema, path=str(folder))
    writer = index.writer(heap_size=256 << 20, num_threads=1)
    for id, said in zip(ids, terms, strict=True):
        writer.add_document(package.Document(id=[id], body=[" ".join(said)]))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def search(asked: Sequence[str]) -> list[str]:
        clauses = [(package.Occur.Should, package.Query.term_query(schema, "body", term)) for term in asked]
        hits = searcher.search(package.Query.boolean_query(clauses), limit=K).hits
        return [searcher.doc(place)["id"][0] for _, place in hits]

    return search


OTHERS = {
    "rank-bm25": rank_bm25,
    "bm25s": bm25s,
    "bm25s, numba": bm25s_numba,
    "SQLite FTS5": fts5,
    "tantivy": tantivy,
}
OURS = ("chameleon bm25", "chameleon lexical")


def questions(documents: Sequence[Document], count: int) -> list[str]:
    chosen = random.Random(1).choices(documents, k=count)
    return [question_about(document, number) for number, document in enumerate(chosen)]


def seconds(work: Callable[[], object]) -> float:
    """The processor's seconds that work takes, which other load changes little."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def measure(name: str, count: int, data: Path | None, asked: int) -> dict[str, Any]:
    """Index and search with one system, in this process."""
    documents = list(corpus(count, data))
    asking = questions(documents, asked)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if name in OURS:
            found = _ours(name.partition(" ")[2], documents, asking, folder / "index")
        else:
            found = _other(name, documents, asking, folder)
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return {**found, "disk": size / count, "memory": found["memory"] / count}


def _ours(name: str, documents: list[Document], asking: list[str], folder: Path) -> dict[str, Any]:
    taken = seconds(lambda: build_index(folder, documents, name))  # before anything is remembered
    analysis = seconds(lambda: [Layout.of(document) for document in documents])
    said = folder.with_name("questions.json")
    said.write_text(json.dumps(asking))
    found = alone("--search", str(folder), "--said", str(said), "--name", name)
    said.unlink()
    return {"analysis": analysis, "index": taken, "bm25s": bm25s_own(documents), **found}


def search(folder: Path, asking: list[str], name: str) -> dict[str, Any]:
    """Open one of our indexes and search it, in this process."""
    make_retriever(build_index(folder.with_name("warm"), [made_table(0)], name), name).search("warm")
    shutil.rmtree(folder.with_name("warm"))
    before = pss()
    index = Index.open(folder)
    searched = make_retriever(index, name)
    searched.search(asking[0], K)
    memory = pss() - before
    one = seconds(lambda: [searched.search(question, K) for question in asking])
    batch = seconds(lambda: searched.search_many(asking, K))
    found = {"one": len(asking) / one, "batch": len(asking) / batch, "memory": memory}
    return {**found, "first": [searched.search(each, 1)[0].id for each in asking[:200]]}


def _other(name: str, documents: list[Document], asking: list[str], folder: Path) -> dict[str, Any]:
    said, ids = [terms_of(document) for document in documents], [document.id for document in documents]
    asked = [list(terms(question)) for question in asking]
    made: list[Search] = []
    OTHERS[name]([["a", "b"], ["b", "c"]] * K, ["1", "2"] * K, _fresh(folder))  # imports, and compiles
    before = pss()
    taken = seconds(lambda: made.append(OTHERS[name](said, ids, _fresh(folder))))
    search = made[0]
    search(asked[0])
    memory = pss() - before
    few = asked if seconds(lambda: search(asked[1])) < 0.01 else asked[:200]
    one = seconds(lambda: [search(each) for each in few])
    everything = getattr(search, "all", None)
    batch = seconds(lambda: everything(asked)) if everything else None
    return {
        "index": taken,
        "one": len(few) / one,
        "batch": len(asked) / batch if batch else None,
        "memory": memory,
        "first": [(search(each) or [""])[0] for each in asked[:200]],
    }


def _fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def alone(*arguments: str) -> dict[str, Any]:
    """What this script prints when it is run with these arguments, in a process of its own."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    command = [sys.executable, str(Path(__file__)), *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def compare(count: int, data: Path | None, asked: int) -> None:
    """Print one table of all systems."""
    given = ["--tables", str(count), "--questions", str(asked), *(["--data", str(data)] if data else [])]
    found = {name: alone("--system", name, *given) for name in (*OURS, *OTHERS)}
    best = found[OURS[0]]["first"]
    rows = []
    for name, figures in found.items():
        same = sum(a == b for a, b in zip(figures["first"], best, strict=True))
        batch = f"{figures['batch']:,.0f}" if figures["batch"] else "–"
        one, memory, disk = f"{figures['one']:,.0f}", f"{figures['memory']:,.0f}", f"{figures['disk']:,.0f}"
        rows.append([name, f"{figures['index']:.1f}", one, batch, memory, disk, f"{same / 2:.0f} %"])
        if "analysis" in figures and name == OURS[0]:
            rows.append(["  of it the analysis", f"{figures['analysis']:.1f}", "", "", "", "", ""])
            rows.append(["bm25s, own tokens", f"{figures['bm25s']:.1f}", "", "", "", "", ""])
    header = [
        "",
        "index, s",
        "one by one, q/s",
        "all at once, q/s",
        "memory, B/table",
        "disk, B/table",
        "same first",
    ]
    table(f"{count:,} tables, {asked:,} questions, {K} documents each", header, rows)


class Timed:
    """Documents, and the seconds that making them took, by the clock and of the processor."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents, self.clock, self.busy = iter(documents), 0.0, 0.0

    def __iter__(self) -> Iterator[Document]:
        while True:
            clock, busy = time.perf_counter(), time.process_time()
            document = next(self._documents, None)
            self.clock += time.perf_counter() - clock
            self.busy += time.process_time() - busy
            if document is None:
                return
            yield document


def build(count: int, folder: Path) -> dict[str, Any]:
    documents, begun = Timed(made_tables(count)), time.perf_counter()
    busy = seconds(lambda: build_index(folder, documents, "lexical"))
    taken = time.perf_counter() - begun
    return {"busy": busy - documents.busy, "clock": taken - documents.clock, "peak": _peak()}


def _peak() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def serve(count: int, folder: Path, asked: int) -> dict[str, Any]:
    """Open an index and search it, with no more than 4 GiB of addresses."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
    chosen = random.Random(2).choices(range(count), k=asked)
    asking = [question_about(made_table(number), number) for number in chosen]
    before, bare, opened = pss(), anonymous(), []
    taken = seconds(lambda: opened.append(Index.open(folder)))
    found: dict[str, Any] = {"open": taken}
    for name in ("bm25", "lexical"):
        searched = make_retriever(opened[0], name)
        searched.search_many(asking[:20], K)
        found[name] = len(asking) / seconds(lambda s=searched: s.search_many(asking, K))
        hits = searched.search_many(asking, K)
        right = [f"made-{n}" == (row[0].id if row else "") for n, row in zip(chosen, hits, strict=True)]
        found[f"{name} first"] = sum(right) / len(right)
    return {**found, "held": anonymous() - bare, "mapped": pss() - before}


def curve(sizes: Sequence[int], asked: int) -> None:
    """Print one table of what each size of a collection costs."""
    rows = []
    for count in sizes:
        with tempfile.TemporaryDirectory() as folder:
            built = alone("--build", folder + "/index", "--tables", str(count))
            size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
            served = alone("--serve", folder + "/index", "--tables", str(count), "--questions", str(asked))
        rows.append(
            [
                f"{count:,}",
                f"{built['busy']:,.1f}",
                f"{built['clock']:,.1f}",
                f"{built['peak'] / 1e6:,.0f}",
                f"{size / 1e6:,.0f}",
                f"{served['open'] * 1000:,.0f}",
                f"{served['held'] / 1e6:,.0f}",
                f"{served['mapped'] / 1e6:,.0f}",
                f"{served['bm25']:,.0f}",
                f"{served['lexical']:,.0f}",
            ]
        )
    header = [
        "tables",
        "build, s",
        "by the clock",
        "peak, MB",
        "disk, MB",
        "open, ms",
        "held, MB",
        "PSS, MB",
        "bm25, q/s",
        "lexical, q/s",
    ]
    table("An index on disk by its size; searched in a process limited to 4 GiB of addresses", header, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", type=int, default=16_500)
    parser.add_argument("--questions", type=int, default=1_000)
    parser.add_argument("--data", type=Path, help="a folder with real tables")
    parser.add_argument("--curve", type=int, nargs="*", default=[1_000, 10_000, 100_000], metavar="TABLES")
    parser.add_argument("--only", choices=("compare", "curve"))
    for inner in ("--system", "--build", "--serve", "--search", "--said", "--name"):
        parser.add_argument(inner, help=argparse.SUPPRESS)
    options = parser.parse_args()
    count, asked = options.tables, options.questions
    if options.system:
        print(json.dumps(measure(options.system, count, options.data, asked)))
    elif options.build:
        print(json.dumps(build(count, Path(options.build))))
    elif options.search:
        asking = json.loads(Path(options.said).read_text())
        print(json.dumps(search(Path(options.search), asking, options.name)))
    elif options.serve:
        print(json.dumps(serve(count, Path(options.serve), asked)))
    else:
        print(surroundings("numpy", "bm25s", "rank-bm25", "tantivy", "numba"))
        if options.only != "curve":
            compare(count, options.data, asked)
        if options.only != "compare":
            curve(options.curve, asked)


if __name__ == "__main__":
    main()
