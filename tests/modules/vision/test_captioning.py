"""Calls of many threads become few calls of the work, and each gets its own result."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from chameleon.modules.vision.captioning import Batches


class Work:
    """Doubles numbers, refuses 3, and waits in its first batch until `calls` more are waiting."""

    def __init__(self, most: int, calls: int = 0) -> None:
        self.sizes: list[int] = []
        self.begun = threading.Event()
        self.calls, self._running = calls, threading.Lock()
        self.batches = Batches(self, most)

    def __call__(self, items: Sequence[int]) -> list[int]:
        assert self._running.acquire(blocking=False), "one batch runs at a time"
        self.sizes.append(len(items))
        self.begun.set()
        while len(self.sizes) == 1 and len(self.batches._waiting) < self.calls:
            threading.Event().wait(0.001)
        self._running.release()
        if 3 in items:
            raise ValueError("three")
        return [2 * item for item in items]


def test_what_comes_while_a_batch_runs_is_the_next_batch_as_far_as_it_may_be() -> None:
    work = Work(most=4, calls=6)
    with ThreadPoolExecutor(7) as pool:
        first = pool.submit(work.batches, 10)
        assert work.begun.wait(10)
        others = [pool.submit(work.batches, item) for item in range(11, 17)]
        assert [each.result(10) for each in (first, *others)] == [2 * item for item in range(10, 17)]
    assert work.sizes == [1, 4, 2]


def test_a_failure_reaches_its_caller_alone_and_the_next_batch_runs() -> None:
    work = Work(most=4, calls=4)
    with ThreadPoolExecutor(5) as pool:
        pool.submit(work.batches, 10)
        assert work.begun.wait(10)
        others = [pool.submit(work.batches, item) for item in range(1, 5)]
        assert [others[place].result(10) for place in (0, 1, 3)] == [2, 4, 8]
        with pytest.raises(ValueError, match="three"):
            others[2].result(10)
    assert work.batches(1) == 2


def test_too_few_results_are_an_error_and_nobody_waits_for_ever() -> None:
    with pytest.raises(ValueError, match="shorter"):
        Batches(lambda items: [], 1)(1)
