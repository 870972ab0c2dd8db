"""MaxSim equals what its formula says, document by document."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.retrieval.late import maxsim as module
from chameleon.retrieval.late.maxsim import maxsim


def unit(generator: numpy.random.Generator, count: int, dimensions: int) -> Any:
    vectors = generator.standard_normal((count, dimensions)).astype(numpy.float32)
    return vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)


def plain(query: Any, tokens: Any, offsets: Any) -> list[float]:
    """The formula, in double precision."""
    documents = [tokens[a:b].astype(float) for a, b in pairwise(offsets)]
    return [
        sum(max(float(one @ token) for token in document) for one in query.astype(float))
        if len(document)
        else 0.0
        for document in documents
    ]


def made(seed: int, counts: list[int], dimensions: int, asked: int) -> tuple[Any, Any, Any]:
    generator = numpy.random.default_rng(seed)
    offsets = numpy.concatenate([[0], numpy.cumsum(counts)]).astype(numpy.int64)
    return unit(generator, asked, dimensions), unit(generator, sum(counts), dimensions), offsets


@given(
    seed=st.integers(0, 2**32 - 1),
    counts=st.lists(st.one_of(st.just(0), st.just(1), st.integers(0, 40)), max_size=12),
    dimensions=st.sampled_from([1, 2, 7, 16, 128]),
    asked=st.integers(0, 33),
    block=st.sampled_from([1, 5, 64, 1 << 16]),
    half=st.booleans(),
)
def test_it_equals_the_plain_formula(
    seed: int, counts: list[int], dimensions: int, asked: int, block: int, half: bool
) -> None:
    query, tokens, offsets = made(seed, counts, dimensions, asked)
    if half:
        tokens = tokens.astype(numpy.float16)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK", block)
        patch.setattr(module, "HALF_BLOCK", block)
        found = maxsim(query, tokens, offsets)
        assert found.dtype == numpy.float32
        assert found == pytest.approx(plain(query, tokens, offsets), abs=1e-5)
        chosen = numpy.random.default_rng(seed).permutation(len(counts))[: len(counts) // 2 + 1]
        picked = maxsim(query, tokens, offsets, chosen)
        assert picked == pytest.approx(found[chosen], abs=1e-5)


@pytest.mark.parametrize("kind", ["float32", "float16"])
def test_callers_in_several_threads_do_not_share_memory(kind: str) -> None:
    query, tokens, offsets = made(3, [30, 0, 500, 7] * 60, 16, 8)
    tokens = tokens.astype(kind)
    wanted = plain(query, tokens, offsets)
    with ThreadPoolExecutor(4) as callers:
        for found in callers.map(lambda _: maxsim(query, tokens, offsets), range(12)):
            assert found == pytest.approx(wanted, abs=1e-5)


def test_half_precision_is_read_exactly_to_the_smallest_number() -> None:
    numbers = numpy.arange(1 << 16, dtype=numpy.uint16).view(numpy.float16)
    numbers = numbers[numpy.isfinite(numbers)]
    one = numpy.ones((1, 1), numpy.float32)
    found = maxsim(one, numbers[:, None], numpy.arange(len(numbers) + 1))
    assert (found == numbers.astype(numpy.float32)).all()


def test_a_document_may_be_chosen_twice_and_the_tokens_may_be_on_disk(tmp_path: Any) -> None:
    query, tokens, offsets = made(1, [3, 0, 9000, 2], 4, 5)
    numpy.save(tmp_path / "tokens.npy", tokens)
    mapped = numpy.load(tmp_path / "tokens.npy", mmap_mode="r")
    chosen = numpy.array([2, 0, 2, 1])
    assert maxsim(query, mapped, offsets, chosen) == pytest.approx(maxsim(query, tokens, offsets)[chosen])


@pytest.mark.parametrize("offsets", [[], [0, 3], [1, 4], [0, 3, 2, 4], [0, 5]])
def test_offsets_that_do_not_divide_the_tokens_are_refused(offsets: list[int]) -> None:
    query, tokens, _ = made(1, [4], 4, 2)
    with pytest.raises(ValueError, match="offsets"):
        maxsim(query, tokens, numpy.array(offsets, numpy.int64))


def test_other_dimensions_are_refused() -> None:
    query, tokens, offsets = made(1, [4], 4, 2)
    with pytest.raises(ValueError, match="does not fit"):
        maxsim(query[:, :3], tokens, offsets)
