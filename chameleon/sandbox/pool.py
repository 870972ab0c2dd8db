"""The zygotes of one kind, shared between threads."""

from __future__ import annotations

import threading
from collections.abc import Callable

from chameleon.errors import SandboxUnavailable
from chameleon.sandbox.zygote import Zygote


class Pool:
    """At most `size` zygotes of one kind, started when first needed."""

    def __init__(self, make: Callable[[], Zygote], size: int) -> None:
        self._make, self._size = make, size
        self._lock = threading.Condition()
        self._idle: list[Zygote] = []
        self._made: list[Zygote] = []
        self._live = 0
        self._closed = False

    def take(self) -> Zygote:
        with self._lock:
            while not self._idle and self._live >= self._size and not self._closed:
                self._lock.wait()
            if self._closed:
                raise SandboxUnavailable("the executor is closed")
            if self._idle:
                return self._idle.pop()
            self._live += 1
        try:
            zygote = self._make()
        except BaseException:
            self._release()
            raise
        self._made.append(zygote)
        return zygote

    def give(self, zygote: Zygote) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(zygote)
                self._lock.notify()
                return
        zygote.kill()

    def drop(self, zygote: Zygote) -> None:
        """End a zygote that was taken and will not come back."""
        zygote.kill()
        self._made.remove(zygote)
        self._release()

    def _release(self) -> None:
        with self._lock:
            self._live -= 1
            self._lock.notify()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            self._lock.notify_all()
        for zygote in idle:
            zygote.kill()

    def start_afresh(self) -> None:
        """In a forked copy of the process: the zygotes, and whoever holds the lock, are the parent's."""
        for zygote in self._made:
            zygote.forget()
        self._lock = threading.Condition()
        self._idle, self._made, self._live = [], [], 0
