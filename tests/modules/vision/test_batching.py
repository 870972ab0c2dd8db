"""Calls of many threads become few calls of the work, and each gets its own result."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from chameleon.modules.vision.batching import Batches


def together(batches: Batches[int, int], items: Sequence[int]) -> list[int]:
    """The results of items that as many threads ask for at the same time."""
    begin = threading.Barrier(len(items))

    def ask(item: int) -> int:
        begin.wait()
        return batches(item)

    with ThreadPoolExecutor(len(items)) as pool:
        return list(pool.map(ask, items))


def test_calls_at_the_same_time_are_one_batch() -> None:
    seen: list[list[int]] = []

    def double(items: Sequence[int]) -> list[int]:
        seen.append(list(items))
        return [2 * item for item in items]

    batches = Batches(double, most=16, wait=5.0)
    assert together(batches, range(16)) == [2 * item for item in range(16)]
    assert len(seen) == 1 and sorted(seen[0]) == list(range(16))


def test_no_batch_is_larger_than_allowed_and_only_one_runs_at_a_time() -> None:
    running = threading.Lock()
    sizes: list[int] = []

    def same(items: Sequence[int]) -> Sequence[int]:
        assert running.acquire(blocking=False)
        sizes.append(len(items))
        running.release()
        return items

    batches = Batches(same, most=4, wait=0.01)
    assert together(batches, range(30)) == list(range(30))
    assert max(sizes) <= 4 and sum(sizes) == 30


def test_what_comes_while_a_batch_runs_is_the_next_batch() -> None:
    begun, go_on = threading.Event(), threading.Event()
    sizes: list[int] = []

    def slow(items: Sequence[int]) -> Sequence[int]:
        sizes.append(len(items))
        begun.set()
        assert go_on.wait(10)
        return items

    batches = Batches(slow, most=8)
    with ThreadPoolExecutor(6) as pool:
        first = pool.submit(batches, 0)
        assert begun.wait(10)
        others = [pool.submit(batches, item) for item in range(1, 6)]
        while len(batches._waiting) < 5:
            time.sleep(0.001)
        go_on.set()
        assert first.result() == 0 and [other.result() for other in others] == [1, 2, 3, 4, 5]
    assert sizes == [1, 5]


def test_a_failure_reaches_its_caller_alone_and_the_next_batch_runs() -> None:
    def picky(items: Sequence[int]) -> Sequence[int]:
        if 3 in items:
            raise ValueError("three")
        return items

    batches = Batches(picky, most=4, wait=5.0)
    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(batches, item) for item in range(4)]
        assert [future.result(10) for future in futures[:3]] == [0, 1, 2]
        with pytest.raises(ValueError, match="three"):
            futures[3].result(10)
    batches = Batches(picky, most=1)
    assert batches(1) == 1


def test_too_few_results_are_an_error_and_nobody_waits_for_ever() -> None:
    with pytest.raises(ValueError, match="shorter"):
        Batches(lambda items: [], most=1)(1)
