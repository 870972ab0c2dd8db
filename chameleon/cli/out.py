"""What all commands print goes through here: nothing that a stranger wrote steers the terminal."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, Self, TextIO

import typer

from chameleon.text import harmless, harmless_lines

_SECONDS_BETWEEN_LINES = 10.0
_PIECE = 10_000  # characters


_results: TextIO | None = None


class Interrupted(BaseException):
    """Ctrl-C; an exception of our own, since the command-line library would swallow KeyboardInterrupt."""


@contextmanager
def results_alone() -> Iterator[None]:
    """Keep stdout for `echo` and `echo_json`: what the code of tools prints goes to stderr."""
    global _results  # noqa: PLW0603 - as sys.stdout is, which it stands for
    _results = sys.stdout
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _results = None


def results() -> TextIO:
    """Return the stream of the results, for a protocol that writes there itself."""
    return _results or sys.stdout


def echo(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print a text for people, on stdout or, with `err`, on stderr.

    Characters that are invisible or steer a terminal become U+FFFD. Line breaks stay: a name or a reply that
    is to be one line goes through `harmless` before.
    """
    typer.echo(harmless_lines(text), None if err else _results, err=err, nl=nl)


def echo_json(value: Any) -> None:
    """Print a value as JSON: letters as they are, and what is invisible or steers a terminal escaped."""
    text = json.dumps(value, ensure_ascii=False)
    parts = []
    for start in range(0, len(text), _PIECE):
        piece = text[start : start + _PIECE]
        if not piece.isprintable():
            piece = "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in piece)
        parts.append(piece)
    typer.echo("".join(parts), _results)


class ReplyStream:
    """Shows a model's reply on stderr while it comes."""

    def __init__(self) -> None:
        self._is_open = False

    def __call__(self, piece: str | None) -> None:
        """Show the next piece; None says that another reply begins."""
        if piece is None:
            self.end()
            piece = "(another reply:) "
        echo(piece, err=True, nl=False)
        sys.stderr.flush()
        self._is_open = not piece.endswith("\n")

    def end(self) -> None:
        """End the line."""
        if self._is_open:
            say("")
        self._is_open = False


def say(text: str) -> None:
    """Print what is no result on stderr, so that stdout is the table or the JSON object alone."""
    echo(text, err=True)
    sys.stderr.flush()


def counted(number: int, name: str) -> str:
    """Write a number with its noun: "1 problem", "2,000 problems", "3 replies"."""
    several = f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
    return f"{number:,} {name if number == 1 else several}"


def one_line(text: str, most: int = 400) -> str:
    """Return the beginning of a text, fit for one line of a terminal."""
    return harmless(text[:most]) + ("…" if len(text) > most else "")


class Progress:
    """Show how many of `total` things are done; without a total, how many so far.

    A bar on a terminal, a line now and then elsewhere; always on stderr.
    """

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
