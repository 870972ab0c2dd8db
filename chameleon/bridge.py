"""Let synchronous code wait in an event loop without a thread: `ask` and `aask`, `run` and `arun` are one.

`run` puts synchronous code into its own greenlet. When that code waits, with `wait` or a function based on
it, the greenlet is left and the event loop continues with others, as in SQLAlchemy's `greenlet_spawn`. From
anywhere else the same functions block: they start no loop in the caller's thread.
"""

from __future__ import annotations

import inspect
import os
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import Context, copy_context
from functools import cache, partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from greenlet import getcurrent, greenlet

from chameleon.errors import ModuleError

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")
P = ParamSpec("P")

_AWAIT_HINT = "Await `arun` or `aask` in it instead."
_MAX_THREADS = 1_024  # for code that blocks; started as needed
_greenlets: set[Any] = set()  # the unfinished greenlets of `run`


class LoopThread:
    """An event loop in its own daemon thread, started when first needed."""

    _loop: asyncio.AbstractEventLoop | None
    _thread: int | None

    def __init__(self, name: str) -> None:
        self._name = name
        self.forget()

    @property
    def is_here(self) -> bool:
        """Return whether the caller runs in this loop's thread."""
        return self._thread == threading.get_ident()

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run the coroutine in the loop."""
        import asyncio

        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                thread = threading.Thread(target=self._loop.run_forever, name=self._name, daemon=True)
                thread.start()
                self._thread = thread.ident
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    def forget(self) -> None:
        """Start without a loop: after a fork it stays with the parent."""
        self._lock, self._loop, self._thread = threading.Lock(), None, None


_background_tasks: set[Any] = set()  # asyncio does not keep tasks alive
wire, _modules = LoopThread("chameleon-wire"), LoopThread("chameleon-modules")
"""The loop of all requests to models; and one for coroutines of modules that run without a loop."""


async def run(work: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """Run synchronous code in a greenlet, in the caller's context. Raises whatever it raises.

    If the task is cancelled, `asyncio.CancelledError` is raised where the code waits.
    """
    return await _run_in(copy_context(), partial(work, *args, **named))


async def _run_in(context: Context, work: Callable[[], T]) -> T:
    import asyncio

    code = greenlet(work)
    code.gr_context = context  # otherwise a greenlet starts with an empty one
    _greenlets.add(code)
    try:
        switched = code.switch()
        while not code.dead:
            waiting, inner = switched
            try:
                value, failure = await asyncio.get_running_loop().create_task(_catch(waiting), context=inner)
            except BaseException as problem:
                failure = problem
            if failure is None:
                switched = code.switch(value)
            else:
                switched = code.throw(type(failure), failure, failure.__traceback__)
        return cast(T, switched)
    finally:
        _greenlets.discard(code)


async def _catch(work: Awaitable[T]) -> tuple[T | None, BaseException | None]:
    """Return the awaited result or the exception, because no loop passes on every exception."""
    import asyncio

    try:
        return await work, None
    except asyncio.CancelledError:
        raise
    except BaseException as failure:
        return None, failure


def is_bridged() -> bool:
    """Return whether the caller runs inside `run`."""
    return bool(_greenlets) and getcurrent() in _greenlets


def wait(work: Awaitable[T]) -> T:
    """Await an object in the loop below, in the current context; only for bridged code."""
    return cast(T, getcurrent().parent.switch((work, copy_context())))  # the parent is in `_run_in`


def on_wire(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in the loop of requests, and wait for it."""
    if wire.is_here and is_bridged():
        return wait(work)
    future = wire.submit(work)
    try:
        return result(future)
    except BaseException:
        future.cancel()  # the waiting caller was interrupted or cancelled; no effect if it already ended
        raise


def stream_on_wire(
    work: Callable[[Callable[[str], None]], Coroutine[Any, Any, T]], on_piece: Callable[[str], None]
) -> T:
    """Run a coroutine in the loop of requests; `on_piece` gets its pieces where the caller waits."""
    if is_bridged():
        return on_wire(work(in_this_loop(on_piece)))
    pieces: SimpleQueue[str | None] = SimpleQueue()
    future = wire.submit(work(pieces.put))
    future.add_done_callback(lambda _: pieces.put(None))  # ends the loop below
    try:
        while (piece := pieces.get()) is not None:
            on_piece(piece)
        return future.result()
    except BaseException:
        future.cancel()
        raise


def result(future: Future[T], timeout: float | None = None) -> T:
    """Wait for the result of a future. Raises `TimeoutError` after that many seconds; the work continues.

    Everything the work had called in the loop below has been called by then.
    """
    if not is_bridged():
        return future.result(timeout)
    import asyncio

    async def done() -> None:
        loop, ended = asyncio.get_running_loop(), asyncio.Event()

        def wake(_: Future[T]) -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(ended.set)

        future.add_done_callback(wake)
        async with asyncio.timeout(timeout):
            await ended.wait()

    wait(done())
    return future.result()


def in_time(work: Callable[[], T], seconds: float) -> T:
    """Run bridged code. Raises `TimeoutError` after `seconds`; the work continues by itself."""
    import asyncio

    context = copy_context()

    async def timed() -> T:
        task = asyncio.ensure_future(_run_in(context, work))
        _background_tasks.add(task)
        task.add_done_callback(_retrieve)
        try:
            done, _ = await asyncio.wait([task], timeout=seconds)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if not done:
            raise TimeoutError
        return task.result()

    return wait(timed())


def _retrieve(task: asyncio.Task[Any]) -> None:
    """Retrieve the outcome of work that nobody may be waiting for."""
    _background_tasks.discard(task)
    _ = task.cancelled() or task.exception()


def sleep(seconds: float) -> None:
    """Sleep without blocking the loop if bridged."""
    if not is_bridged():
        time.sleep(seconds)
        return
    import asyncio

    wait(asyncio.sleep(seconds))


def awaited(work: Coroutine[Any, Any, T]) -> T:
    """Wait for a coroutine: in the loop below, else in one that these coroutines share.

    Raises `ModuleError` in the thread of the shared loop, which would wait for itself.
    """
    if is_bridged():
        return wait(work)
    if _modules.is_here:
        work.close()
        raise ModuleError("a coroutine called synchronous code that waits", hint=_AWAIT_HINT)
    value, failure = _modules.submit(_catch(work)).result()
    if failure is not None:
        raise failure
    return cast(T, value)


def may_block(work: Callable[..., Any]) -> bool:
    """Return whether code is not Chameleon's own, and so may wait for anything."""
    return not str(getattr(work, "__module__", "")).startswith("chameleon.")


def in_thread(work: Callable[[], T]) -> T:
    """Make a blocking call, in a thread if it would block a loop."""
    return result(_threads().submit(copy_context().run, work)) if is_bridged() else work()


def called(work: Callable[[], Any], *, blocks: bool) -> Any:
    """Call code that may be a user's and may be async; return its final result."""
    value = in_thread(work) if blocks else work()
    return awaited(value) if inspect.iscoroutine(value) else value


def in_this_loop(listener: Callable[P, None]) -> Callable[P, None]:
    """Return a function for other threads that calls `listener` in the loop running here."""
    import asyncio

    loop, thread = asyncio.get_running_loop(), threading.get_ident()

    def forwarded(*args: P.args, **named: P.kwargs) -> None:
        if threading.get_ident() == thread:
            listener(*args, **named)
        else:
            loop.call_soon_threadsafe(partial(listener, *args, **named))

    return forwarded


def each(works: Sequence[Callable[[], T]], most: int, name: str) -> list[T | BaseException]:
    """Call several functions in parallel, `most` at a time; return results or exceptions in order."""
    if not is_bridged():
        with ThreadPoolExecutor(max(1, min(len(works), most)), name) as pool:
            futures = [pool.submit(copy_context().run, work) for work in works]  # contexts cannot be shared
        return [future.exception() or future.result() for future in futures]
    import asyncio

    turns = asyncio.Semaphore(most)

    async def one(work: Callable[[], T], context: Context) -> T:
        async with turns:
            return await _run_in(context, work)

    async def all_of_them() -> list[T | BaseException]:
        return await asyncio.gather(*map(one, works, contexts), return_exceptions=True)

    contexts = [copy_context() for _ in works]
    return wait(all_of_them())


@cache
def _threads() -> ThreadPoolExecutor:
    """Return the process's threads for blocking calls."""
    return ThreadPoolExecutor(_MAX_THREADS, "chameleon-module")


if hasattr(os, "register_at_fork"):
    for forget in (wire.forget, _modules.forget, _threads.cache_clear):
        os.register_at_fork(after_in_child=forget)
