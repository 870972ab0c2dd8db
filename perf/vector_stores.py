"""How fast the stores of vectors are made and searched, beside FAISS's exact search, and what they find.

    python perf/vector_stores.py [--vectors 20000] [--size 384]

The vectors are made: points around centres, a tenth as many, as texts about the same things are; queries are
other points around them, each of which is a text that the embedding model knows. PostgreSQL is measured where
CHAMELEON_PGVECTOR names a server. Searches are for ten documents of one vector each; the median of three runs
over all queries, one at a time and all at once.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import faiss
import numpy
from langchain_core.embeddings import Embeddings

from chameleon.retrieval.embeddings import Embedder
from chameleon.retrieval.engine import DIGEST
from chameleon.retrieval.faiss_vectors import FaissVectors
from chameleon.retrieval.vector_stores import StoreVectors, store_of
from chameleon.retrieval.vectors import Vectors

K, QUERIES, RUNS, AT_ONCE = 10, 200, 3, 64


class Known(Embeddings):
    """Gives the vectors that texts stand for: their places in the matrix."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        places = [int(text) if text.isdecimal() else 0 for text in texts]
        found: list[list[float]] = self.matrix[places].tolist()
        return found

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


def points(count: int, centres: Any, chance: Any) -> Any:
    """Unit vectors around the centres."""
    near = centres[chance.integers(len(centres), size=count)]
    found = near + 0.6 * chance.standard_normal(near.shape).astype(numpy.float32) / numpy.sqrt(near.shape[1])
    return (found / numpy.linalg.norm(found, axis=1, keepdims=True)).astype(numpy.float32)


def per_second(vectors: Vectors, queries: Sequence[str], at_once: int) -> float:
    """Queries a second."""
    taken = []
    vectors.nearest(queries, K)  # what follows embeds nothing anew
    for _ in range(RUNS):
        begun = time.perf_counter()
        for start in range(0, len(queries), at_once):
            vectors.nearest(queries[start : start + at_once], K)
        taken.append(time.perf_counter() - begun)
    return len(queries) / statistics.median(taken)


def shown(name: str, vectors: Vectors, documents: int, queries: Sequence[str], exact: Any) -> None:
    begun = time.perf_counter()
    for start in range(0, documents, AT_ONCE):
        some = range(start, min(start + AT_ONCE, documents))
        vectors.change((), [(number << DIGEST, [str(number)]) for number in some])
    vectors.save()
    taken = time.perf_counter() - begun
    rows = [{number for number, _ in found} for found in vectors.nearest(queries, K)]
    shared = sum(len(found & set(best)) for found, best in zip(rows, exact.tolist(), strict=True))
    alone, together = (per_second(vectors, queries, at_once) for at_once in (1, len(queries)))
    print(f"{name:<16}{taken:8.1f} s{alone:10,.0f}{together:10,.0f}{shared / exact.size:8.3f}", flush=True)


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
    theirs = faiss.IndexFlatIP(given.size)
    theirs.add(made)
    exact = theirs.search(queries, K)[1]
    texts = [str(given.vectors + number) for number in range(QUERIES)]
    for name in ("flat", "hnsw", *(["pgvector"] if os.environ.get("CHAMELEON_PGVECTOR") else [])):
        model = Embedder(Known(numpy.concatenate([made, queries])))
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            vectors: Vectors = (
                StoreVectors(folder / "stored.npy", store_of(name, model, folder))
                if name == "pgvector"
                else FaissVectors(folder / "faiss.index", model, name)
            )
            shown(name, vectors, given.vectors, texts, exact)


if __name__ == "__main__":
    main()
