"""Gather what several threads ask for at the same time into batches."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Batches(Generic[Item, Result]):
    """A function of many items that threads call with one each; it runs on what has come together.

    One batch runs at a time, in the thread of one of its callers; what comes meanwhile is the next batch.

    - `work`: takes items, returns as many results in their order. What it raises, all its callers get.
    - `most`: the largest batch.
    - `wait`: how many seconds a batch that is not full waits for more to come.
    """

    def __init__(
        self, work: Callable[[Sequence[Item]], Sequence[Result]], *, most: int, wait: float = 0.0
    ) -> None:
        self._work = work
        self._most = most
        self._wait = wait
        self._waiting: deque[tuple[Item, Future[Result]]] = deque()
        self._came = threading.Condition()
        self._turn = threading.Lock()

    def __call__(self, item: Item) -> Result:
        """Return the result for one item; block until the batch that it is in has run."""
        future: Future[Result] = Future()
        with self._came:
            self._waiting.append((item, future))
            self._came.notify()
        while not future.done():
            with self._turn:
                if not future.done():
                    self._run_batch()
        return future.result()

    def _run_batch(self) -> None:
        with self._came:
            self._came.wait_for(lambda: len(self._waiting) >= self._most, self._wait)
            batch = [self._waiting.popleft() for _ in range(min(self._most, len(self._waiting)))]
        try:
            results = self._work([item for item, _ in batch])
            for (_, future), result in zip(batch, results, strict=True):
                future.set_result(result)
        except Exception as problem:
            if len(batch) == 1:
                batch[0][1].set_exception(problem)
                return
            for item, future in batch:  # one odd item must not spoil those that it came with
                self._run_alone(item, future)
        finally:  # Ctrl-C goes on from here; the callers in other threads must not wait for ever
            for _, future in batch:
                if not future.done():
                    future.cancel()

    def _run_alone(self, item: Item, future: Future[Result]) -> None:
        try:
            future.set_result(self._work([item])[0])
        except Exception as problem:
            future.set_exception(problem)
