"""Let synchronous code wait in an event loop without a thread: `ask` and `aask`, `run` and `arun` are one.

`run` puts synchronous code into a greenlet of its own. Where that code waits, by `wait` or what is made of
it, the greenlet is left and the event loop goes on with others, as SQLAlchemy's `greenlet_spawn` does. From
anywhere else the same functions block: they start no loop in the caller's thread.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import cache, partial
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from chameleon.errors import ModuleError

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")
P = ParamSpec("P")

_MOST_THREADS = 1_024  # for code that blocks; they are started as they are needed
_bridged: set[Any] = set()  # the greenlets that `run` has made and that have not ended


class LoopThread:
    """An event loop in a daemon thread of its own, started when it is first needed."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """Return the loop, which runs."""
        import asyncio

        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name=self._name, daemon=True).start()
            return self._loop

    @property
    def is_here(self) -> bool:
        """Tell whether the code that asks runs in this loop's thread."""
        return self._loop is not None and getattr(self._loop, "_thread_id", None) == threading.get_ident()

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Let the coroutine run there. Raises `ModuleError` in that thread, which would wait for itself."""
        import asyncio

        if self.is_here:
            work.close()
            raise ModuleError(
                "a coroutine called synchronous code that waits", hint="Await `arun` or `aask` in it instead."
            )
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def forget(self) -> None:
        """Leave the loop to the parent, in a forked copy of the process."""
        self._lock, self._loop = threading.Lock(), None


_left_alone: set[Any] = set()  # asyncio keeps no task alive
wire, _modules = LoopThread("chameleon-wire"), LoopThread("chameleon-modules")
"""Where requests to models run, whoever makes them; and coroutines of modules that run without a loop."""


async def run(work: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """Run synchronous code in a greenlet, in the context of the caller; raise what it raises.

    When the task is cancelled, `asyncio.CancelledError` is raised where the code waits.
    """
    from greenlet import greenlet

    made = greenlet(partial(work, *args, **named))
    made.gr_context = copy_context()
    _bridged.add(made)
    try:
        found = made.switch()
        while not made.dead:
            try:
                told = await found
            except BaseException:
                found = made.throw(*sys.exc_info())
            else:
                found = made.switch(told)
        return cast(T, found)
    finally:
        _bridged.discard(made)


def is_bridged() -> bool:
    """Tell whether `run` has called the code that asks."""
    if not _bridged:
        return False
    from greenlet import getcurrent

    return getcurrent() in _bridged


def wait(work: Awaitable[T]) -> T:
    """Wait for what is to be awaited in the loop below; only for code that is bridged."""
    from greenlet import getcurrent

    found: T = getcurrent().parent.switch(work)
    return found


def on_wire(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in the loop of requests, and wait for its end."""
    if wire.is_here:
        return wait(work)
    future = wire.submit(work)
    try:
        return result(future)
    except BaseException:
        future.cancel()  # whoever waited was interrupted or cancelled; an end of its own stays
        raise


def result(future: Future[T], timeout: float | None = None) -> T:
    """Wait for the result of a future. Raises `TimeoutError` after that many seconds; the work goes on."""
    if future.done() or not is_bridged():
        return future.result(timeout)
    import asyncio

    async def in_time() -> T:
        shared = asyncio.wrap_future(future)
        done, _ = await asyncio.wait([shared], timeout=timeout)
        if not done:
            raise TimeoutError
        return shared.result()

    return wait(in_time())


def in_time(work: Callable[[], T], seconds: float) -> T:
    """Run bridged code for so long. Raises `TimeoutError` after that; the work goes on by itself."""
    import asyncio

    async def timed() -> T:
        task = asyncio.ensure_future(run(work))
        _left_alone.add(task)
        task.add_done_callback(_heard)
        try:
            done, _ = await asyncio.wait([task], timeout=seconds)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if not done:
            raise TimeoutError
        return task.result()

    return wait(timed())


def _heard(task: asyncio.Task[Any]) -> None:
    """Take note of how work ended that nobody may wait for any more."""
    _left_alone.discard(task)
    _ = task.cancelled() or task.exception()


def sleep(seconds: float) -> None:
    """Sleep."""
    if not is_bridged():
        time.sleep(seconds)
        return
    import asyncio

    wait(asyncio.sleep(seconds))


def awaited(work: Coroutine[Any, Any, T]) -> T:
    """Wait for a coroutine: in the loop below, else in one that all such coroutines share."""
    return wait(work) if is_bridged() else _modules.submit(work).result()


def may_block(work: Callable[..., Any]) -> bool:
    """Tell whether code is none of ours: nobody knows what it waits for."""
    return not str(getattr(work, "__module__", "")).startswith("chameleon.")


def in_thread(work: Callable[[], T]) -> T:
    """Call what blocks, in a thread where a loop would be held up."""
    return result(_threads().submit(copy_context().run, work)) if is_bridged() else work()


def in_this_loop(hear: Callable[P, None]) -> Callable[P, None]:
    """Return the function for other threads to call: it is called in the loop that runs here."""
    import asyncio

    loop, here = asyncio.get_running_loop(), threading.get_ident()

    def told(*args: P.args, **named: P.kwargs) -> None:
        if threading.get_ident() == here:
            hear(*args, **named)
        else:
            loop.call_soon_threadsafe(partial(hear, *args, **named))

    return told


def each(works: Sequence[Callable[[], T]], most: int, name: str) -> list[T | BaseException]:
    """Call several at once, `most` at a time; return what they return or raise, in their order."""
    if not is_bridged():
        with ThreadPoolExecutor(max(1, min(len(works), most)), name) as pool:
            futures = [pool.submit(copy_context().run, work) for work in works]
        return [future.exception() or future.result() for future in futures]
    import asyncio

    turns = asyncio.Semaphore(most)

    async def one(work: Callable[[], T]) -> T:
        async with turns:
            return await run(work)

    async def all_of_them() -> list[T | BaseException]:
        return await asyncio.gather(*map(one, works), return_exceptions=True)

    return wait(all_of_them())


@cache
def _threads() -> ThreadPoolExecutor:
    """Return the threads for what blocks, those of the process."""
    return ThreadPoolExecutor(_MOST_THREADS, "chameleon-module")


def _forget() -> None:
    for each_loop in (wire, _modules):
        each_loop.forget()
    _threads.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
