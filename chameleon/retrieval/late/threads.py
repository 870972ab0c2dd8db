"""Work on blocks in threads of our own, while numpy's matrix product is held to one thread each.

numpy's BLAS runs one product in many threads and waits for the last of them; the maximum that follows it has
one thread. Where each of our threads does a product and its maximum, all processors are busy with both, and
none waits for one that another program holds.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from importlib import import_module
from typing import Any


def processors() -> int:
    """How many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def threads_for(tokens: int, least: int) -> int:
    """How many threads share these tokens, each at least so many; one where none can be held to one."""
    return min(processors(), tokens // least) if _library() is not None else 1


def shared(work: Callable[[Sequence[slice]], None], blocks: Sequence[slice], threads: int) -> None:
    """Do the work on all blocks: in this thread, or each of several takes every so many-th of them."""
    if threads < 2 or len(blocks) < 2:
        work(blocks)
        return
    with _ONE_EACH.held():
        for done in [_pool(threads).submit(work, blocks[first::threads]) for first in range(threads)]:
            done.result()


class _OneThreadEach:
    """Holds the matrix product to one thread as long as somebody wants it, from whatever thread.

    One thread of its own sets the limit and takes it back: threadpoolctl lets no other.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders = 0
        self._keeper: ThreadPoolExecutor | None = None
        self._limit = contextlib.ExitStack()

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        self._count(+1)
        try:
            yield
        finally:
            self._count(-1)

    def _count(self, more: int) -> None:
        with self._lock:
            self._holders += more
            if self._holders == max(more, 0):
                self._keeper = self._keeper or ThreadPoolExecutor(1, "chameleon-limit")
                self._keeper.submit(self._set if more > 0 else self._limit.close).result()

    def _set(self) -> None:
        self._limit.enter_context(_library().limit(limits=1, user_api="blas"))


_ONE_EACH = _OneThreadEach()


@lru_cache(maxsize=1)
def _library() -> Any:
    """The control of the libraries that numpy uses; None without the package threadpoolctl."""
    import_module("numpy")  # the controller knows the libraries that are loaded
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController().select(user_api="blas")


@lru_cache(maxsize=1)
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, "chameleon-maxsim")
