"""How far a command is: a bar on a terminal, a line now and then elsewhere; always on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, Self

from chameleon.cli.out import counted, say
from chameleon.text import harmless

_SECONDS_BETWEEN_LINES = 10.0


class Progress:
    """Show how many of `total` things are done; without a total, how many so far."""

    def __init__(self, noun: str, total: int | None = None, done: int = 0) -> None:
        self.noun, self.total, self.done = noun, total, done
        self._shown_at = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            columns = BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
            said = TextColumn("{task.fields[said]}", markup=False)
            self._bar = Bar(*columns, said, console=Console(stderr=True))
            self._bar.start()
            self._task = self._bar.add_task("", total=self.total, completed=self.done, said="")
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, done: int, said: Callable[[], str] = str) -> None:
        """Show that so many are done, and what else there is to say."""
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=self.total, said=harmless(said()))
            return
        now = time.monotonic()
        if now - self._shown_at < _SECONDS_BETWEEN_LINES:
            return
        self._shown_at = now
        of = f"{done:,} of {counted(self.total, self.noun)}" if self.total else counted(done, self.noun)
        say(": ".join(filter(None, (of, harmless(said())))))
