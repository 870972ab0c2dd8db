"""How fast the stores of vectors are made and searched, beside FAISS's exact search, and what they find.

    python perf/vector_stores.py [--vectors 20000] [--size 384]

The vectors are made: points around centres, a tenth as many, as texts about the same things are; queries are
other points around them. PostgreSQL is measured where CHAMELEON_PGVECTOR names a server. Searches are for ten
vectors; the median of three runs over all queries, one at a time and all at once.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import faiss
import numpy

from chameleon.retrieval.vectors.rows import Vectors, write_rows
from chameleon.retrieval.vectors.store import store_named

K, QUERIES, RUNS = 10, 200, 3


def points(count: int, centres: Any, chance: Any) -> Any:
    """Unit vectors around the centres."""
    near = centres[chance.integers(len(centres), size=count)]
    found = near + 0.6 * chance.standard_normal(near.shape).astype(numpy.float32) / numpy.sqrt(near.shape[1])
    return (found / numpy.linalg.norm(found, axis=1, keepdims=True)).astype(numpy.float32)


def per_second(search: Callable[[Any], object], queries: Any, at_once: int) -> float:
    """Queries a second."""
    taken = []
    search(queries[:1])
    for _ in range(RUNS):
        begun = time.perf_counter()
        for start in range(0, len(queries), at_once):
            search(queries[start : start + at_once])
        taken.append(time.perf_counter() - begun)
    return len(queries) / statistics.median(taken)


def shown(name: str, seconds: float, search: Callable[[Any], Any], queries: Any, exact: Any) -> None:
    rows = search(queries)
    shared = [len(set(a) & set(b)) for a, b in zip(rows.tolist(), exact.tolist(), strict=True)]
    alone, together = (per_second(search, queries, at_once) for at_once in (1, len(queries)))
    print(
        f"{name:<16}{seconds:8.1f} s{alone:10,.0f}{together:10,.0f}{sum(shared) / exact.size:8.3f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--vectors", type=int, default=20_000)
    parser.add_argument("--size", type=int, default=384)
    given = parser.parse_args()
    chance = numpy.random.default_rng(0)
    centres = points(given.vectors // 10, numpy.zeros((1, given.size), numpy.float32), chance)
    made, queries = points(given.vectors, centres, chance), points(QUERIES, centres, chance)
    print(f"{given.vectors:,} vectors of {given.size}; load {os.getloadavg()[0]:.1f}\n")
    print(f"{'store':<16}{'made in':>10}{'alone':>10}{'at once':>10}{'found':>8}")
    with tempfile.TemporaryDirectory() as folder:
        segment = Path(folder, "segment")
        segment.mkdir()
        write_rows(segment, made, [1] * len(made), numpy.arange(len(made), dtype=numpy.uint64))
        vectors = Vectors([segment], numpy.ones(len(made), numpy.bool_))
        begun = time.perf_counter()
        theirs = faiss.IndexFlatIP(given.size)
        theirs.add(made)
        taken = time.perf_counter() - begun
        exact = theirs.search(queries, K)[1]
        shown("IndexFlatIP", taken, lambda some: theirs.search(some, K)[1], queries, exact)
        for name in ("flat", "hnsw", *(["pgvector"] if os.environ.get("CHAMELEON_PGVECTOR") else [])):
            store, place = store_named(name), Path(folder, "final-0001", name)
            place.mkdir(parents=True)
            begun = time.perf_counter()
            store.write(vectors, place)
            taken = time.perf_counter() - begun
            found = store.open(vectors, place)
            shown(name, taken, lambda some, found=found: found.rows(some, K)[0], queries, exact)


if __name__ == "__main__":
    main()
