"""What is shown while something takes its time: on stderr, at a terminal, and gone when it is done."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Self

from chameleon.cli.out import draws_on, give_way_with, is_quiet, say
from chameleon.text import counted, harmless

_PATIENCE = 0.7  # seconds before anything is shown
_PATIENCE_WITH_PIPES, _LEAST_PATIENCE = 3.0, 0.3
_SECONDS_BETWEEN_LINES = 10.0


def _bar(*columns: str, redirects: bool = True) -> Any:
    """Make a bar with these columns of `rich.progress`, and a text after them.

    With `redirects` what is printed meanwhile appears above it.
    """
    from rich import progress
    from rich.console import Console

    return progress.Progress(
        *(getattr(progress, column)() for column in columns),
        progress.TextColumn("{task.description}", markup=False),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=redirects,
        redirect_stderr=redirects,
    )


class Activity:
    """Say at a terminal what is going on, once that takes a second, with the time that it takes.

    Every `show` begins anew; whatever is printed meanwhile takes it away. Elsewhere each is
    a line, once all of it takes some seconds.
    """

    def __init__(self, text: str = "") -> None:
        self._draws = draws_on(sys.stderr)
        self._lock, self._begun = threading.Lock(), time.monotonic()
        self._timer: threading.Timer | None = None
        self._bar: Any = None
        self.show(text)

    def show(self, text: str) -> None:
        """Say that this goes on now; "" for nothing."""
        self.hide()
        if is_quiet() or not text:
            return
        give_way_with(self.hide)
        begun = self._begun + _PATIENCE_WITH_PIPES - time.monotonic()
        patience = _PATIENCE if self._draws else max(begun, _LEAST_PATIENCE)
        timer = threading.Timer(patience, lambda: self._draw(harmless(text), timer))
        timer.daemon = True
        with self._lock:
            self._timer = timer
        timer.start()

    def hide(self) -> None:
        """Take it away until something else is shown."""
        with self._lock:
            timer, bar = self._timer, self._bar
            self._timer = self._bar = None
        if timer is not None:
            timer.cancel()
        if bar is not None:
            bar.stop()

    def _draw(self, text: str, timer: threading.Timer) -> None:
        bar = _bar("SpinnerColumn", "TimeElapsedColumn", redirects=False) if self._draws else None
        with self._lock:
            if self._timer is not timer:  # it is over by now
                return
            if bar is not None:
                self._bar = bar
                bar.add_task(text, total=None)
                bar.start()
        if bar is None:
            say(f"{text} …")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.hide()
        give_way_with(None)


class Progress:
    """Show how many of `total` things are done; without a total, how many so far.

    A bar at a terminal, which is gone when all is done; a line now and then elsewhere.
    """

    def __init__(self, noun: str, total: int | None = None, done: int = 0) -> None:
        self.noun, self.total, self.done = noun, total, done
        self._shown_at = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        if draws_on(sys.stderr) and not is_quiet():
            self._bar = _bar("BarColumn", "MofNCompleteColumn", "TimeRemainingColumn")
            self._bar.start()
            self._task = self._bar.add_task("", total=self.total, completed=self.done)
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, done: int, said: Callable[[], str] = str) -> None:
        """Show that so many are done, and what else there is to say."""
        self.done = done
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=self.total, description=harmless(said()))
            return
        now = time.monotonic()
        if now - self._shown_at < _SECONDS_BETWEEN_LINES:
            return
        self._shown_at = now
        of = f"{done:,} of {counted(self.total, self.noun)}" if self.total else counted(done, self.noun)
        say(": ".join(filter(None, (of, harmless(said())))))
