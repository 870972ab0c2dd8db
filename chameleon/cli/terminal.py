"""What all commands print, and progress: nothing that a stranger wrote steers the terminal."""

from __future__ import annotations

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
    """Ctrl-C; an exception of our own, since the command-line library would swallow KeyboardInterrupt."""

    code = 130
    word = "interrupted"


class Terminated(Interrupted):
    """SIGTERM, as `docker stop` and systemd send it: it ends a command as Ctrl-C does, and a chat too."""

    code = 143
    word = "terminated"


@dataclass
class Output:
    """Where results go, how much else is said, and what hides what is drawn before the next text."""

    results: TextIO | None = None
    quiet: bool = False
    verbose: bool = False
    hide: Callable[[], None] | None = None


output = Output()  # there is one terminal


@contextmanager
def results_alone(*, quiet: bool = False, verbose: bool = False) -> Iterator[None]:
    """Keep stdout for `echo` and `echo_json`: what the code of tools prints goes to stderr.

    `quiet` leaves out notes, progress and warnings; `verbose` shows all that is logged.
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
    """Tell whether a person at a terminal can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def asked(question: str) -> str:
    """Ask at the terminal, and return the line that is answered, in small letters; "" where input ends."""
    echo(question, err=True, nl=False)
    sys.stderr.flush()
    return sys.stdin.readline().lower()


def terminal_width() -> int:
    """Return how many places a line may have, 40 at least."""
    return max(40, shutil.get_terminal_size((100, 24)).columns)


def _draws_on(stream: TextIO) -> bool:
    """Tell whether a stream is a terminal that takes escape codes, and whose user wants them."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return stream.isatty() and not plain


def echo(text: str, *, err: bool = False, nl: bool = True, style: Style = "") -> None:
    """Print a text for people, on stdout or, with `err`, on stderr; at a terminal in a style.

    Characters that are invisible or steer a terminal become U+FFFD. Line breaks stay: a name or a reply that
    must stay on one line goes through `harmless` or `one_line` before.
    """
    if output.hide is not None:
        output.hide()
    text = harmless_lines(text)
    if style and text and _draws_on(sys.stderr if err else output.results or sys.stdout):
        text = typer.style(text, **{style: True})
    typer.echo(text, None if err else output.results, err=err, nl=nl)


def echo_json(value: Any) -> None:
    """Print a value as JSON: letters as they are, and what is invisible or steers a terminal escaped."""
    text = json.dumps(value, ensure_ascii=False)
    if not text.isprintable():
        text = "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in text)
    echo(text)


class ReplyPrinter:
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
            echo("", err=True)
        self._is_open = False


def say(text: str, style: Style = "dim") -> None:
    """Print what is no result on stderr, so that stdout is the result alone; nothing where that is wanted."""
    if not output.quiet:
        echo(text, err=True, style=style)
        sys.stderr.flush()


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
    """Show at a terminal what is being done, once it takes a while; whatever is printed takes it away."""

    def __init__(self, text: str = "") -> None:
        self._lock = threading.RLock()
        self._timer: threading.Timer | None = None
        self._bar: Any = None
        self.show(text)

    def show(self, text: str) -> None:
        """Say what is being done now; "" for nothing."""
        self.hide()
        if output.quiet or not text or not _draws_on(sys.stderr):
            return
        output.hide = self.hide
        self._timer = threading.Timer(_SECONDS_BEFORE_ACTIVITY, self._draw, [harmless(text)])
        self._timer.daemon = True
        self._timer.start()

    def hide(self) -> None:
        """Take it away until something else is shown."""
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
            if self._timer is threading.current_thread():  # else it is over by now
                self._bar = bar
                bar.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.hide()
        output.hide = None


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
        if _draws_on(sys.stderr) and not output.quiet:
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
