"""The command line: `chameleon ask`, `plan`, `check`, `list`, `doctor` and `sandbox`."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
import warnings
from typing import NoReturn


class Interrupted(BaseException):
    """Ctrl-C; an exception of our own, since the command-line library would swallow KeyboardInterrupt."""


def main() -> None:
    """Run the command line; whatever goes wrong is one line on stderr and exit code 1."""
    from chameleon.cli.app import app
    from chameleon.errors import ChameleonError

    _prepare()
    try:
        app(prog_name="chameleon")
    except ChameleonError as error:
        _complain(str(error))
    except Interrupted:
        print("chameleon: interrupted", file=sys.stderr, flush=True)
        os._exit(130)  # threads that wait for a model must not hold the terminal
    except BrokenPipeError:
        _drop_output()
        sys.exit(1)
    except Exception as error:
        if os.environ.get("CHAMELEON_TRACEBACK"):
            raise
        if isinstance(error, OSError) and error.strerror:
            _drop_output()
            _complain(f"{error.strerror}{f': {error.filename}' if error.filename else ''}")
        told = " ".join(f"{type(error).__name__}: {error}".split())[:500]
        _complain(f"a fault of ours: {told} (CHAMELEON_TRACEBACK=1 shows where)")


def _prepare() -> None:
    signal.signal(signal.SIGINT, _interrupt)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that cannot show a character must not end the run
            stream.reconfigure(errors="backslashreplace")
    warnings.showwarning = _warn
    log = logging.getLogger("chameleon")
    if not log.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(_Formatter("chameleon: %(message)s"))
        log.addHandler(handler)


class _Formatter(logging.Formatter):
    """A log message on one line: servers' words and names stand in it."""

    def format(self, record: logging.LogRecord) -> str:
        return _harmless(super().format(record))


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    """Tell what a library warns of as one line, without the place in its code."""
    print(f"chameleon: {_harmless(str(message))[:300]}", file=sys.stderr)


def _interrupt(*_: object) -> NoReturn:
    raise Interrupted


def _complain(told: str) -> NoReturn:
    print(f"chameleon: {_harmless(told)}", file=sys.stderr)
    sys.exit(1)


def _harmless(text: str) -> str:
    from chameleon.text import harmless

    return harmless(text)


def _drop_output() -> None:
    """What cannot be written must not be tried again when Python ends."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
