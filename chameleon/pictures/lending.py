"""Things that only one thread at a time may use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import LifoQueue
from typing import Generic, TypeVar

T = TypeVar("T")


class Lending(Generic[T]):
    """Lends out up to `most` equal things, each to one thread at a time; others wait.

    A thing is made when it is first needed, so that a program with one thread holds one.
    """

    def __init__(self, make: Callable[[], T], most: int) -> None:
        self._make = make
        self._idle: LifoQueue[T | None] = LifoQueue()
        for _ in range(most):
            self._idle.put(None)

    @contextmanager
    def lend(self) -> Iterator[T]:
        thing = self._idle.get()
        try:
            if thing is None:
                thing = self._make()
            yield thing
        finally:
            self._idle.put(thing)
