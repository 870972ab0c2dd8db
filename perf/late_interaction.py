"""How near scoring by late interaction comes to the bare matrix product that it cannot do without.

    python -m venv /tmp/perf && /tmp/perf/bin/pip install -e '.[programs]' -r perf/requirements.txt
    /tmp/perf/bin/python perf/late_interaction.py [--documents 10000] [--repeats 11]

Documents of random unit vectors, their lengths drawn evenly, against a query of 32 tokens; 128 dimensions as
in ColBERT, 384 as in MiniLM. The ways take turns; a ratio is the bare product's median time over the way's.

- bare product: `tokens @ query.T`, as one would write it, with memory of its own for the result.
- bare product, memory ready: the same into memory that was written before, the least that can be measured.
- Chameleon: `maxsim`, tokens in float32 and in float16.
- padded batches: 64 documents at a time, padded to the longest of them, masked, then the maximum.

numpy's matrix product takes as many threads as OPENBLAS_NUM_THREADS says, by default one for each processor.
On a machine that others use as well its threads wait for each other: measure with one.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy
from measuring import Figure, surroundings, table

from chameleon.retrieval.late.maxsim import maxsim

ASKED = 32
Way = Callable[[], Any]


def unit(generator: numpy.random.Generator, count: int, dimensions: int) -> Any:
    vectors = generator.standard_normal((count, dimensions), dtype=numpy.float32)
    vectors /= numpy.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def padded(query: Any, tokens: Any, offsets: Any, batch: int = 64) -> Any:
    scores, counts = [], numpy.diff(offsets)
    for first in range(0, len(counts), batch):
        some = counts[first : first + batch]
        there = numpy.arange(some.max()) < some[:, None]
        block = numpy.zeros((*there.shape, tokens.shape[1]), numpy.float32)
        block[there] = tokens[offsets[first] : offsets[first + len(some)]]
        products = block @ query.T
        products[~there] = -numpy.inf
        scores.append(products.max(axis=1).sum(axis=1))
    return numpy.concatenate(scores)


def ways(documents: int, shortest: int, longest: int, dimensions: int) -> dict[str, Way]:
    generator = numpy.random.default_rng(documents)
    counts = generator.integers(shortest, longest + 1, documents)
    offsets = numpy.concatenate([[0], numpy.cumsum(counts)])
    query, tokens = unit(generator, ASKED, dimensions), unit(generator, int(offsets[-1]), dimensions)
    halves = tokens.astype(numpy.float16)
    ready = numpy.zeros((len(tokens), ASKED), numpy.float32)
    found: dict[str, Way] = {
        "bare product": lambda: tokens @ query.T,
        "bare product, memory ready": lambda: numpy.matmul(tokens, query.T, out=ready),
        "Chameleon, float32": lambda: maxsim(query, tokens, offsets),
        "Chameleon, float16": lambda: maxsim(query, halves, offsets),
        "padded batches": lambda: padded(query, tokens, offsets),
    }
    numpy.testing.assert_allclose(found["Chameleon, float32"](), found["padded batches"](), atol=1e-4)
    return found


def measured(compared: dict[str, Way], repeats: int) -> dict[str, Figure]:
    """Milliseconds of each way, the ways taking turns, after one turn that does not count."""
    seconds: dict[str, list[float]] = {name: [] for name in compared}
    for _ in range(repeats + 1):
        for name, way in compared.items():
            begun = time.perf_counter()
            way()
            seconds[name].append(time.perf_counter() - begun)
    return {name: Figure([value * 1000 for value in values[1:]]) for name, values in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=11)
    options = parser.parse_args()
    many, few = options.documents, options.documents // 10
    sizes = [(many, 60, 180, 128), (few, 60, 180, 128), (many, 8, 32, 128), (few, 200, 500, 128)]
    header = ["", "ms: median (least–most)", "documents/s", "ratio", "ratio, memory ready"]
    for documents, shortest, longest, dimensions in [*sizes, (few * 2, 60, 180, 384)]:
        figures = measured(ways(documents, shortest, longest, dimensions), options.repeats)
        bare, ready = (figures[name].median for name in ("bare product", "bare product, memory ready"))
        rows = [
            [
                name,
                f.shown(),
                f"{documents / f.median * 1000:,.0f}",
                *(f"{b / f.median:.2f}" for b in (bare, ready)),
            ]
            for name, f in figures.items()
        ]
        table(f"{documents:,} documents of {shortest}–{longest} tokens × {dimensions}", header, rows)
    print(surroundings("numpy"))


if __name__ == "__main__":
    main()
