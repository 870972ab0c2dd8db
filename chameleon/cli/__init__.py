"""The command line: `chameleon ask`, `plan`, `check`, `list`, `doctor` and `sandbox`."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line; every error of ours is one line on stderr and exit code 1."""
    from chameleon.cli.app import app
    from chameleon.errors import ChameleonError

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that cannot show a character must not end the run
            stream.reconfigure(errors="backslashreplace")
    try:
        app(prog_name="chameleon")
    except ChameleonError as error:
        from chameleon.table.terminal import harmless

        print(f"chameleon: {harmless(str(error))}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("chameleon: interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        if os.environ.get("CHAMELEON_TRACEBACK"):
            raise
        told = " ".join(f"{type(error).__name__}: {error}".split())[:500]
        print(f"chameleon: a fault of ours: {told} (CHAMELEON_TRACEBACK=1 shows where)", file=sys.stderr)
        sys.exit(1)
