"""The command line: `chameleon ask`, `plan`, `check`, `list`, `doctor` and others; `app.py` has them all."""

import atexit
import contextlib
import gc
import logging
import os
import signal
import sys
import warnings
from typing import NoReturn


def main() -> None:
    """Run the command line; any error becomes one line on stderr and exit code 1."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        os.environ["_TYPER_FORCE_DISABLE_TERMINAL"] = "1"  # its help would be bold even so
    # Loaded modules stay, and collecting garbage in them, now and at exit, takes a fifth of a short command.
    gc.set_threshold(100_000)
    atexit.register(gc.freeze)
    from chameleon.cli.app import app_for, settings_for
    from chameleon.cli.hints import in_options
    from chameleon.cli.terminal import Interrupted, Terminated
    from chameleon.errors import ChameleonError, lack_of, show_traceback
    from chameleon.text import harmless

    def interrupt(number: int, _: object) -> NoReturn:
        raise Terminated if number == signal.SIGTERM else Interrupted

    def complain(what: str) -> NoReturn:
        print(f"chameleon: {harmless(what)}", file=sys.stderr)
        sys.exit(1)

    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGTERM, interrupt)
    _open_streams()
    _clean_streams()
    try:
        # `compare` was called `grid`, and an experiment a grid.
        arguments = ["compare" if word == "grid" else word for word in sys.argv[1:2]] + sys.argv[2:]
        if arguments[:2] == ["list", "grids"]:
            arguments[1] = "experiments"
        settings = settings_for(arguments)
        values = settings and settings.values
        app_for(arguments)(arguments, prog_name="chameleon", obj=settings, default_map=values)
    except ChameleonError as error:
        show_traceback(error)
        lack = lack_of(error)
        complain(str(lack.at(error.where) if lack else in_options(error)))
    except Interrupted as stop:
        print(f"chameleon: {stop.word}", file=sys.stderr, flush=True)
        if (servers := sys.modules.get("chameleon.interop.mcp_pipes")) is not None:
            servers.end_servers()  # which `os._exit` would not do
        os._exit(stop.code)  # threads that wait for a model must not hold the terminal
    except BrokenPipeError:
        _drop_output()
        sys.exit(1)
    except Exception as error:
        show_traceback(error)
        if isinstance(error, OSError) and error.strerror:
            _drop_output()
            failure: ChameleonError = lack_of(error) or ChameleonError(error.strerror)
            complain(str(failure.at(str(error.filename or ""))))
        what = " ".join(f"{type(error).__name__}: {error}".split())[:500]
        complain(f"a bug in Chameleon: {what} (CHAMELEON_DEBUG=1 shows where)")


def _open_streams() -> None:
    """Replace each closed standard stream by an empty one, so that no file gets its number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))  # the lowest free number


def _clean_streams() -> None:
    """Write each warning and log message as one line, and characters that a terminal lacks as escapes."""
    from chameleon.cli.terminal import echo
    from chameleon.text import harmless

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            try:
                echo(f"chameleon: {harmless(self.format(record))}", err=True)  # may quote a server
            except Exception:
                self.handleError(record)

    def warn(message: Warning | str, *_: object, **__: object) -> None:
        print(f"chameleon: {harmless(str(message))[:300]}", file=sys.stderr)

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a character that the terminal cannot show must not end the run
            stream.reconfigure(errors="backslashreplace")
    warnings.showwarning = warn
    warnings.simplefilter("ignore", SyntaxWarning)  # about programs by models, which are only parsed
    log = logging.getLogger("chameleon")
    if not log.handlers:
        log.addHandler(Handler())


def _drop_output() -> None:
    """Drop output that cannot be written, so that Python does not try again at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
