"""What is shown while something takes its time: on stderr, at a terminal, and gone when it is done."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Self

from chameleon.cli.out import counted, draws_on, give_way_to, is_quiet, say
from chameleon.text import harmless

_PATIENCE = 0.7  # seconds before anything is shown
_SECONDS_BETWEEN_LINES = 10.0


class Activity:
    """Say at a terminal what is going on, once that takes a second, with the time that it takes.

    Every `show` begins anew; whatever is printed meanwhile takes it away.
    """

    def __init__(self, text: str = "") -> None:
        self._draws = draws_on(sys.stderr) and not is_quiet()
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._bar: Any = None
        self.show(text)

    def show(self, text: str) -> None:
        """Say that this goes on now; "" for nothing."""
        self.hide()
        if not self._draws or not text:
            return
        give_way_to(self)
        timer = threading.Timer(_PATIENCE, lambda: self._draw(harmless(text), timer))
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
        from rich.console import Console
        from rich.progress import Progress as Bar
        from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

        said = TextColumn("{task.description}", markup=False)
        bar = Bar(
            SpinnerColumn(),
            said,
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        bar.add_task(text, total=None)
        bar.tasks[0].start_time = bar.get_time() - _PATIENCE
        with self._lock:
            if self._timer is timer:  # else it is over by now
                self._bar = bar
                bar.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.hide()
        give_way_to(None)


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
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            columns = BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
            said = TextColumn("{task.fields[said]}", markup=False)
            self._bar = Bar(*columns, said, console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task("", total=self.total, completed=self.done, said="")
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, done: int, said: Callable[[], str] = str) -> None:
        """Show that so many are done, and what else there is to say."""
        self.done = done
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=self.total, said=harmless(said()))
            return
        now = time.monotonic()
        if now - self._shown_at < _SECONDS_BETWEEN_LINES:
            return
        self._shown_at = now
        of = f"{done:,} of {counted(self.total, self.noun)}" if self.total else counted(done, self.noun)
        say(": ".join(filter(None, (of, harmless(said())))))
