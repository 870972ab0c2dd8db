"""Output and progress of all commands; text from others cannot control the terminal."""

import json
import logging
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import Any, Literal, Self, TextIO

import typer

from chameleon.text import counted, harmless, harmless_lines

Style = Literal["", "bold", "dim"]
_SECONDS_BEFORE_ACTIVITY = 0.7
_SECONDS_BETWEEN_LINES = 10.0


class Interrupted(BaseException):
    """Ctrl-C; a separate exception because the command-line library would swallow KeyboardInterrupt."""

    code = 130
    word = "interrupted"


class Terminated(Interrupted):
    """SIGTERM, as sent by `docker stop` and systemd; like Ctrl-C it ends a command, but also a chat."""

    code = 143
    word = "terminated"


@dataclass
class Output:
    """Where results go, how much else is printed, and a function that hides progress before the next text."""

    results: TextIO | None = None
    quiet: bool = False
    verbose: bool = False
    hide: Callable[[], None] | None = None


output = Output()  # there is one terminal


@contextmanager
def results_alone(*, quiet: bool = False, verbose: bool = False) -> Iterator[None]:
    """Reserve stdout for `echo` and `echo_json`; anything that the code of tools prints goes to stderr.

    Args:
        quiet: hide notes, progress and warnings.
        verbose: show all log messages.
    """
    output.results, output.quiet, output.verbose = sys.stdout, quiet, verbose
    log = logging.getLogger("chameleon")
    level = log.level
    if quiet or verbose:
        log.setLevel(logging.ERROR if quiet else logging.DEBUG)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        output.results, output.quiet, output.verbose = None, False, False
        log.setLevel(level)


def is_attended() -> bool:
    """Return whether there is a user at a terminal to ask."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def asked(question: str) -> str:
    """Ask at the terminal, and return the answered line in lower case, or "" at the end of input."""
    echo(question, err=True, nl=False)
    sys.stderr.flush()
    return sys.stdin.readline().lower()


def terminal_width() -> int:
    """Return the width of a line in characters, at least 40."""
    return max(40, shutil.get_terminal_size((100, 24)).columns)


def _draws_on(stream: TextIO) -> bool:
    """Return whether a stream is a terminal that takes escape codes, and the user wants them."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return stream.isatty() and not plain


def echo(text: str, *, err: bool = False, nl: bool = True, style: Style = "") -> None:
    """Print a text for people on stdout or, with `err`, on stderr; the style is for terminals.

    Characters that are invisible or control a terminal become U+FFFD. Line breaks are kept: call `harmless`
    or `one_line` first for a name or reply that must stay on one line.
    """
    if output.hide is not None:
        output.hide()
    text = harmless_lines(text)
    if style and text and _draws_on(sys.stderr if err else output.results or sys.stdout):
        text = typer.style(text, **{style: True})
    typer.echo(text, None if err else output.results, err=err, nl=nl)


def echo_json(value: Any) -> None:
    """Print a value as JSON, escaping only characters that are invisible or control a terminal."""
    text = json.dumps(value, ensure_ascii=False)
    if not text.isprintable():
        text = "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in text)  # \u escapes
    echo(text)


class ReplyPrinter:
    """Shows a model's reply on stderr as it arrives."""

    def __init__(self) -> None:
        self._is_open = False

    def __call__(self, piece: str | None) -> None:
        """Show the next piece; None means that another reply begins."""
        if piece is None:
            self.end()
            piece = "(another reply:) "
        echo(piece, err=True, nl=False)
        sys.stderr.flush()
        self._is_open = not piece.endswith("\n")

    def end(self) -> None:
        """End the line."""
        if self._is_open:
            echo("", err=True)
        self._is_open = False


def say(text: str, style: Style = "dim") -> None:
    """Print a message on stderr, so that stdout has only the result; prints nothing if output is quiet."""
    if not output.quiet:
        echo(text, err=True, style=style)
        sys.stderr.flush()


def _bar(*columns: str, redirects: bool = True) -> Any:
    """Create a progress bar with these columns of `rich.progress`, followed by a text.

    With `redirects`, text that is printed meanwhile appears above it.
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
    """Show the current activity at a terminal if it takes a while; any other output removes it."""

    def __init__(self, text: str = "") -> None:
        self._lock = threading.RLock()
        self._timer: threading.Timer | None = None
        self._bar: Any = None
        self.show(text)

    def show(self, text: str) -> None:
        """Show a new activity, or nothing for ""."""
        self.hide()
        if output.quiet or not text or not _draws_on(sys.stderr):
            return
        output.hide = self.hide
        self._timer = threading.Timer(_SECONDS_BEFORE_ACTIVITY, self._draw, [harmless(text)])
        self._timer.daemon = True
        self._timer.start()

    def hide(self) -> None:
        """Hide the activity until another is shown."""
        with self._lock:
            timer, bar = self._timer, self._bar
            self._timer = self._bar = None
        if timer is not None:
            timer.cancel()
        if bar is not None:
            bar.stop()

    def _draw(self, text: str) -> None:
        bar = _bar("SpinnerColumn", "TimeElapsedColumn", redirects=False)
        bar.add_task(text, total=None)
        with self._lock:
            if self._timer is threading.current_thread():  # else it has already ended
                self._bar = bar
                bar.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.hide()
        output.hide = None


class Progress:
    """Show how many of `total` things are done, or without a total how many so far.

    At a terminal, a bar that disappears at the end; elsewhere, a line every ten seconds.
    """

    def __init__(self, noun: str, total: int | None = None, done: int = 0) -> None:
        self.noun, self.total, self.done = noun, total, done
        self._shown_at = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        if _draws_on(sys.stderr) and not output.quiet:
            self._bar = _bar("BarColumn", "MofNCompleteColumn", "TimeRemainingColumn")
            self._bar.start()
            self._task = self._bar.add_task("", total=self.total, completed=self.done)
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, done: int, describe: Callable[[], str] = str) -> None:
        """Show how many are done, and what `describe` returns."""
        self.done = done
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=self.total, description=harmless(describe()))
            return
        now = time.monotonic()
        if now - self._shown_at < _SECONDS_BETWEEN_LINES:
            return
        self._shown_at = now
        of = f"{done:,} of {counted(self.total, self.noun)}" if self.total else counted(done, self.noun)
        say(": ".join(filter(None, (of, harmless(describe())))))
