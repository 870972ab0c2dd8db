"""How far an evaluation is: a bar on a terminal, a line now and then elsewhere; always on stderr."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

from chameleon.evaluation.evaluate import Spending
from chameleon.evaluation.results import Tally
from chameleon.usage import Usage

_SECONDS_BETWEEN_LINES = 10.0


class Progress:
    """Shows the running counts of a tally that has `total` problems to come to."""

    def __init__(self, total: int, tally: Tally, spending: Spending) -> None:
        self.total, self.tally, self.spending = total, tally, spending
        self._shown_at = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            columns = BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
            said = TextColumn("{task.fields[said]}", markup=False)
            self._bar = Bar(*columns, said, console=Console(stderr=True))
            self._bar.start()
            self._task = self._bar.add_task("", total=self.total, completed=self.tally.all.n, said="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self) -> None:
        """Show that the tally has one more."""
        if self._bar is not None:
            self._bar.update(
                self._task, completed=self.tally.all.n, said=running(self.tally, self.spending.usage)
            )
            return
        now = time.monotonic()
        if now - self._shown_at >= _SECONDS_BETWEEN_LINES:
            self._shown_at = now
            print(
                f"{self.tally.all.n:,} of {self.total:,}: {running(self.tally, self.spending.usage)}",
                file=sys.stderr,
                flush=True,
            )


def running(tally: Tally, usage: Usage) -> str:
    """ "accuracy 0.912, answered 950 (0.960), failed 2, $0.0132"."""
    name, value = next(iter(tally.figures(tally.all).items()))
    parts = [f"{name} {_fraction(value)}"]
    if tally.answered.n < tally.all.n:
        _, value = next(iter(tally.figures(tally.answered).items()))
        parts.append(f"answered {tally.answered.n:,} ({_fraction(value)})")
    if tally.failed:
        parts.append(f"failed {tally.failed:,}")
    if usage.calls:
        cost = usage.cost
        parts.append(f"{usage.calls:,} calls, " + ("cost unknown" if cost is None else f"${cost:.4f}"))
    return ", ".join(parts)


def _fraction(accuracy: float | None) -> str:
    return "–" if accuracy is None else f"{accuracy:.3f}"
