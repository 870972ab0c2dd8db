"""The best sums over columns: all of them in order, whatever is looked at."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy
from hypothesis import given
from hypothesis import strategies as st

from chameleon.retrieval.lexical.best import Column, Sums, sums_at

COUNT = 300


def columns_of(seed: int, count: int, few: bool) -> list[Column]:
    chance = numpy.random.default_rng(seed)
    found = []
    for _ in range(count):
        size = int(chance.integers(1, COUNT)) if chance.random() < 0.6 else int(chance.integers(1, 12))
        positions = numpy.sort(chance.choice(COUNT, size, replace=False)).astype(numpy.uint32)
        scale = chance.lognormal(0, 2)
        drawn = chance.integers(1, 4, size) / 3 if few else chance.random(size)
        scores = (drawn * scale).astype(numpy.float32)
        found.append(Column(positions, scores))
    return found


def expected(columns: list[Column], k: int) -> tuple[list[int], list[float]]:
    scores, met = numpy.zeros(COUNT, numpy.float32), set()
    for column in columns:
        scores[column.positions] += column.scores
        met |= set(column.positions.tolist())
    order = sorted(met, key=lambda position: (-scores[position], position))[:k]
    return order, scores[order].tolist()


@given(
    seed=st.integers(0, 10**6),
    count=st.integers(0, 7),
    few=st.booleans(),
    k=st.sampled_from([0, 1, 2, 5, 10, 50, 1000]),
)
def test_they_are_those_of_a_full_sort(seed: int, count: int, few: bool, k: int) -> None:
    columns, sums = columns_of(seed, count, few), Sums(COUNT)
    for _ in range(2):  # the second finds the thread's array as the first has left it
        positions, scores = sums.best(columns, k)
        assert (positions.tolist(), scores.tolist()) == expected(columns, k)
    everywhere = numpy.arange(COUNT, dtype=numpy.uint32)
    found, best = sums.best(columns, COUNT)
    assert sums_at(columns, everywhere)[found].tolist() == best.tolist()


def test_columns_of_a_negative_idf() -> None:
    columns = [*columns_of(1, 3, few=False)]
    columns[1] = Column(columns[1].positions, -columns[1].scores)
    positions, scores = Sums(COUNT).best(columns, 20)
    assert (positions.tolist(), scores.tolist()) == expected(columns, 20)


def test_one_serves_all_threads() -> None:
    asked = [columns_of(seed, 5, few=True) for seed in range(60)]
    sums = Sums(COUNT)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda columns: sums.best(columns, 10), asked))
    for columns, (positions, scores) in zip(asked, found, strict=True):
        assert (positions.tolist(), scores.tolist()) == expected(columns, 10)
