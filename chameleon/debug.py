"""`CHAMELEON_DEBUG=1`: where an error was raised is printed, as Python tells it."""

from __future__ import annotations

import os
import sys
import traceback

from chameleon.text import harmless_lines, redact


def show_traceback(problem: BaseException) -> None:
    """Print the traceback of an error on stderr where `CHAMELEON_DEBUG` asks for it, without secrets."""
    if os.environ.get("CHAMELEON_DEBUG", "0") not in ("", "0"):
        told = "".join(traceback.format_exception(problem))
        sys.stderr.write(harmless_lines(redact(told)))
